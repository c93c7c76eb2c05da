# SPDX-License-Identifier: MIT
"""Commands of the user for clients that nfsproof does not know: ``--mount``, ``--umount`` and ``--program``."""

from __future__ import annotations

import re
import shlex
import typing as t
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

DOES: t.Final[dict[str, tuple[str, ...]]] = {
    "read": (),
    "write": ("file",),
    "names": (),
    "create": (),
    "mkdir": (),
    "rmdir": (),
    "remove": (),
    "rename": ("to", "to_url", "to_encoded_url"),
    "link": ("to", "to_url", "to_encoded_url"),
    "symlink": ("target",),
    "truncate": ("size",),
    "chmod": ("mode",),
}
"""The steps that a program can do -> the words that it is given, besides those of `_ALWAYS`."""
PLACE: t.Final = re.compile(r"\{(\w+)\}")
_ALWAYS: t.Final = frozenset({"host", "port", "version", "path", "url", "encoded_url"})


class BadCommand(ValueError):
    """A command for a client that means nothing; it says what was expected."""


@dataclass(frozen=True, slots=True)
class ClientCommands:
    """How a client is called that nfsproof does not know."""

    mount: str = ""
    umount: str = ""
    programs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """STEP -> the words of its command."""

    @classmethod
    def of(cls, mount: str, umount: str, programs: Sequence[str]) -> t.Self:
        """From the values of `--mount`, `--umount` and `--program`. Raises `BadCommand`."""
        if bool(mount) != bool(umount):
            raise BadCommand("--mount and --umount belong together")
        for command in (mount, umount):
            try:
                shlex.split(command)
            except ValueError as error:
                raise BadCommand(f"{command!r}: {error}") from error
        return cls(mount, umount, parse_programs(programs))


NO_COMMANDS: t.Final = ClientCommands()


def parse_programs(texts: Sequence[str]) -> dict[str, list[str]]:
    """STEP -> the words of its command, from ``STEP=COMMAND``. Raises `BadCommand`."""
    found: dict[str, list[str]] = {}
    for text in texts:
        step, equals, command = text.partition("=")
        if not equals or step not in DOES:
            raise BadCommand(
                f"--program {text!r}: expected STEP=COMMAND, where STEP is one of {', '.join(DOES)}"
            )
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise BadCommand(f"--program {text!r}: {error}") from error
        if not words:
            raise BadCommand(f"--program {text!r}: expected a command after the equals sign")
        used = {name for word in words for name in PLACE.findall(word)}
        allowed = _ALWAYS | {*DOES[step]}
        if unknown := sorted(used - allowed):
            names = ", ".join(f"{{{name}}}" for name in sorted(allowed))
            raise BadCommand(f"--program {step}: {{{unknown[0]}}} is not known; there are {names}")
        found[step] = words
    return found
