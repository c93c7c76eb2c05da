# SPDX-License-Identifier: MIT
"""The fields of a target file that only a client under test has, and those that it does not have."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from dataclasses import dataclass

from nfstargets.clients import is_client
from nfstargets.clients.commands import DOES, BadCommand, ClientCommands, parse_programs
from reports.idlist import OF_CLIENTS
from reports.places import Places

MOUNT: t.Final = "mount"
UMOUNT: t.Final = "umount"
PROGRAM: t.Final = "program"
WORK_TIMEOUT: t.Final = "work_timeout"
_OF_CLIENTS: t.Final = (MOUNT, UMOUNT, PROGRAM, WORK_TIMEOUT)
_OF_SERVERS: t.Final = ("require", "lint", "call_timeout", "lacks", "referral", "control")
_FOR: t.Final = {"client:command": (MOUNT, UMOUNT), "client:program": (PROGRAM,)}
"""The clients that need commands of the user -> the fields that have them."""
_PATTERN: t.Final = frozenset("*?[")
_FOLDER: t.Final = "suites"


@dataclass(frozen=True, slots=True)
class OfClient:
    """How a client is called, and how long it may work."""

    mount: str = ""
    umount: str = ""
    programs: tuple[str, ...] = ()
    """STEP=COMMAND each."""
    work_timeout: int = 0
    """Seconds; 0: the default."""

    def options(self) -> list[str]:
        """The options of `nfsproof run`; in one word each, since a command may begin with a dash."""
        found = [f"--mount={self.mount}"] if self.mount else []
        found += [f"--umount={self.umount}"] if self.umount else []
        found += [f"--program={program}" for program in self.programs]
        found += [f"--work-timeout={self.work_timeout}"] if self.work_timeout else []
        return found

    @property
    def commands(self) -> ClientCommands:
        """The commands, as a `ClientTarget` needs them."""
        return ClientCommands.of(self.mount, self.umount, self.programs)


def refuse_fields(places: Places, table: dict[str, t.Any], target: str, start: int) -> None:
    """Raise the error of the file for a field, or a check, that is for the other kind of target."""
    of_client = is_client(target)
    for key in _OF_SERVERS if of_client else _OF_CLIENTS:
        if key in table:
            line = places.table_below(f"target.{key}", start)
            kind = "client" if of_client else "server"
            raise places.bad(line, key, f"expected none: {target} is a {kind}")
    for word in _checks(table):
        first = word.partition("/")[0].lower()
        is_open = bool(_PATTERN & {*first}) or first == _FOLDER or first.endswith(".py")
        if not is_open and (first == OF_CLIENTS) is not of_client:
            expected = f"checks of clients ({OF_CLIENTS}/...)" if of_client else "checks of servers"
            raise places.bad(start, "checks", f"expected {expected}, seen {word!r:.80}")


def _checks(table: dict[str, t.Any]) -> Iterator[str]:
    """The texts among the checks; what else stands there is reported by the reader of the field."""
    found = table.get("checks", [])
    return (text for text in found if isinstance(text, str)) if isinstance(found, list) else iter(())


def client_fields(
    places: Places, table: dict[str, t.Any], target: str, start: int, line_of_programs: int
) -> OfClient:
    """What the table of a target says of a client. Raises the error of the file."""
    if not is_client(target):
        return OfClient()
    needed = _FOR.get(target, ())
    for key in (MOUNT, UMOUNT, PROGRAM):
        if key in table and key not in needed:
            raise places.bad(start, key, f"expected none: nfsproof starts {target} itself")
    for key in needed:
        if not table.get(key):
            raise places.bad(start, key, f"{target} needs it (docs/clients.md)")
    programs = table.get(PROGRAM, {})
    if not isinstance(programs, dict):
        raise places.bad(start, PROGRAM, "expected a table [target.program]")
    _require_programs(places, programs, line_of_programs)
    found = OfClient(
        places.text(table, MOUNT, start),
        places.text(table, UMOUNT, start),
        tuple(f"{step}={places.text(programs, step, line_of_programs)}" for step in programs),
        places.number(table, WORK_TIMEOUT, 0, start, "seconds"),
    )
    for key, command in ((MOUNT, found.mount), (UMOUNT, found.umount)):
        try:
            ClientCommands.of(command, command, ())
        except BadCommand as error:
            raise places.bad(start, key, str(error)) from error
    return found


def _require_programs(places: Places, programs: dict[str, t.Any], start: int) -> None:
    """Raise the error of the file for a step that there is not, and for a command that means nothing."""
    for step in programs:
        if step not in DOES:
            raise places.bad(start, step, f"expected one of {', '.join(DOES)}")
        try:
            parse_programs([f"{step}={places.text(programs, step, start)}"])
        except BadCommand as error:
            raise places.bad(start, step, str(error).partition(": ")[2]) from error
