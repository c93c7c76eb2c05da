# SPDX-License-Identifier: MIT
"""What an owner can let nfsproof do to a server: the actions, and what carries them out.

`ACTIONS` is the one source: the command line, the target file, its check and the instructions for a person follow it.
"""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nfsclient.similar import similar_text

MANUAL = "manual"
"""Instead of NAME=COMMAND: a person at the terminal does it."""
USUAL_SECONDS = 120.0
"""For one command, and again for the server to answer afterwards."""


class BadControl(ValueError):
    """A text that describes no action."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can be done to a server from outside."""

    name: str
    meaning: str
    """For the help: what the command must do."""
    instruction: str = ""
    """For a person; empty where nobody can be asked to do it."""


ACTIONS: t.Final = {
    action.name: action
    for action in (
        Action(
            "crash",
            "end the server without warning, as a loss of power does, and start it again",
            "Switch the server off without shutting it down (power, reset, kill -9), and start it again.",
        ),
        Action(
            "restart",
            "stop the NFS service in order and start it again",
            "Restart the NFS service of the server in order.",
        ),
        Action("stop", "stop the NFS service in order", "Stop the NFS service of the server in order."),
        Action("start", "start the NFS service, or the machine", "Start the NFS service of the server."),
        Action("touch_locally", "append something to the file $NFSPROOF_PATH on the server, without NFS"),
        Action("remove_locally", "remove the file $NFSPROOF_PATH on the server, without NFS"),
        Action("fill_disk", "use up all room for data in the export"),
        Action("free_disk", "give back what fill_disk took"),
        Action(
            "set_lease",
            "set the lease time of NFSv4 to $NFSPROOF_SECONDS; if that is empty, to its usual value",
        ),
        Action("end_grace", "end the grace time of NLM and NFSv4, in which only reclaims are allowed"),
        Action("drop_caches", "drop all caches of the server that it can read again from its disk"),
    )
}


@dataclass(frozen=True, slots=True)
class Controls:
    """How the actions are carried out."""

    commands: Mapping[str, str] = field(default_factory=dict)
    """Name of an action -> command for the shell."""
    is_manual: bool = False
    seconds: float = USUAL_SECONDS

    def __bool__(self) -> bool:
        return bool(self.commands) or self.is_manual

    def has(self, name: str) -> bool:
        """Whether there is a way to carry out an action."""
        return name in self.commands or (self.is_manual and bool(ACTIONS[name].instruction))

    @property
    def offered(self) -> frozenset[str]:
        """The controls of a `Target` that follow from the actions."""
        pairs = {
            "crash": self.has("crash"),
            "restart": self.has("restart") or (self.has("stop") and self.has("start")),
            "touch_locally": self.has("touch_locally"),
            "fill_disk": self.has("fill_disk") and self.has("free_disk"),
            **{name: self.has(name) for name in ("set_lease", "end_grace", "drop_caches")},
        }
        return frozenset(name for name, can in pairs.items() if can)


_UNDONE_BY: t.Final = {"fill_disk": ("free_disk",)}

NO_CONTROLS: t.Final = Controls()


def parse_controls(texts: Iterable[str], seconds: float = USUAL_SECONDS) -> Controls:
    """Controls from texts ``NAME=COMMAND`` and ``manual``. Raises `BadControl`."""
    commands: dict[str, str] = {}
    is_manual = False
    for text in texts:
        name, equals, command = text.partition("=")
        name, command = name.strip(), command.strip()
        if text.strip() == MANUAL:
            is_manual = True
        elif name not in ACTIONS:
            known = ", ".join(ACTIONS)
            raise BadControl(
                f"unknown action {name!r}{similar_text(name, ACTIONS)}; expected {MANUAL}, or NAME=COMMAND with one of "
                f"the names {known}"
            )
        elif not (equals and command):
            raise BadControl(f"{name}: expected {name}=COMMAND, got no command")
        elif name in commands:
            raise BadControl(f"{name}: expected one command, got two")
        else:
            commands[name] = command
    controls = Controls(commands, is_manual, seconds)
    _refuse_halves(controls)
    return controls


def missing_control(name: str) -> str:
    """Why a check that needs a control cannot be judged on the server of a URL, and what would have to be given."""
    if name not in ACTIONS:
        return f"the control {name} cannot be given for a URL: only servers that nfsproof starts have it"
    needed = " ".join(f"--control {action}=COMMAND" for action in (name, *_UNDONE_BY.get(name, ())))
    return f"needs control of the server, by {needed}"


def _refuse_halves(controls: Controls) -> None:
    """An action without the one that undoes it would leave the server in a state that nobody ends."""
    for name, other in (("stop", "start"), ("fill_disk", "free_disk")):
        if name in controls.commands and not controls.has(other):
            raise BadControl(f"{name} requires {other}: a check must be able to undo it")
