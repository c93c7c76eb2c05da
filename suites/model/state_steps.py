# SPDX-License-Identifier: MIT
"""Programs of two clients with two owners each that open, lock and use one file: as data, in words, and drawn."""

from __future__ import annotations

import random
import typing as t
from collections.abc import Iterator
from dataclasses import dataclass

from nfsclient.protocol import nfs4 as p
from suites.model.state_things import END, READ, SIZE, WRITE, File, Opening, Owner, end_of

Verb: t.TypeAlias = t.Literal[
    "OPEN",
    "CLOSE",
    "OPEN_DOWNGRADE",
    "LOCK",
    "LOCKU",
    "LOCKT",
    "READ",
    "WRITE",
    "DELEGRETURN",
    "SETATTR",
    "CREATE",
    "LINK",
    "RENAME",
    "REPLACE",
    "REMOVE",
]
SHORTEST: t.Final = 15
LONGEST: t.Final = 40
"""Steps in a program."""
OFFSETS: t.Final = (0, 0, 1, 8, 10, 10, 16, 20, 30, 50)
LENGTHS: t.Final = (1, 1, 5, 5, 5, 10, 10, 20, END)
_OWNERS: t.Final = tuple(Owner(client, number) for client in (1, 2) for number in (0, 1))
_DENIES: t.Final = (0, 0, 0, 0, 0, READ, WRITE, WRITE, READ | WRITE)
"""By how often they are drawn: who denies much leaves little to the others."""
_VERBS: t.Final[t.Mapping[str, tuple[Verb, ...]]] = {
    "shares": (*("OPEN",) * 6, *("CLOSE",) * 3, *("OPEN_DOWNGRADE",) * 2, "LOCK", "WRITE"),
    "locks": (*("OPEN",) * 3, *("LOCK",) * 9, *("LOCKU",) * 5, "CLOSE", "CLOSE", "LOCKT", "LOCKT"),
    "data": (*("OPEN",) * 3, *("WRITE",) * 8, *("READ",) * 6, "LOCK", "LOCKU", "CLOSE", "OPEN_DOWNGRADE"),
}
"""For each group of properties, by how often they are drawn."""
_DOWNGRADES: t.Final = (
    ((READ, 0), (WRITE, WRITE)),
    ((WRITE, WRITE), (READ, 0)),
    ((WRITE, 0), (READ, READ)),
    ((READ, READ), (WRITE, 0)),
)
"""Access and deny of two OPENs of an owner; OPEN_DOWNGRADE goes back to the first."""
NFS3: t.Final = "NFSv3"
DELEGATION, ANONYMOUS = "delegation", "anonymous"
_BY: t.Final = {
    DELEGATION: " with the stateid of its delegation",
    ANONYMOUS: " with the anonymous stateid",
}
WANTS: t.Final = {
    p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG: ", wants a read delegation",
    p.OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG: ", wants a write delegation",
    p.OPEN4_SHARE_ACCESS_WANT_ANY_DELEG: ", wants a delegation",
    p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG: "",
}
"""The want flags of OPEN, in words."""
_ACCESS: t.Final = ("NONE", "READ", "WRITE", "BOTH")


@dataclass(frozen=True, slots=True, kw_only=True)
class StateStep:
    """One call of an owner. A third party looks at what it has left."""

    owner: Owner
    verb: Verb
    access: int = 0
    deny: int = 0
    offset: int = 0
    length: int = 1
    is_write: bool = False
    """Of LOCK and LOCKT: WRITE_LT."""
    salt: int = 0
    """Which byte WRITE writes."""
    how: str = ""
    """Of READ and WRITE: by which stateid, if not by that of the open; "NFSv3": all calls of that client."""
    want: int = 0
    """Of OPEN: the want flags for delegations."""
    late: int = 0
    """Calls that who has a delegation makes before it is returned for this step; -1: it is not returned for it."""

    @property
    def data(self) -> bytes:
        """What WRITE sends."""
        return bytes([self.salt]) * self.length

    def words(self) -> str:
        """For people: ``owner A of client 2: LOCK WRITE_LT 10 bytes at 20``."""
        return f"{self.owner}: {self.verb}{self._what()}{self._late()}"

    def _late(self) -> str:
        if self.late < 0:
            return ", put off if a delegation is in the way"
        return f"; a delegation in the way is returned after {self.late} calls" if self.late else ""

    def _what(self) -> str:
        length = "all bytes" if self.length == END else f"{self.length} bytes"
        match self.verb:
            case "OPEN" | "OPEN_DOWNGRADE":
                return f" access {_ACCESS[self.access]}, deny {_ACCESS[self.deny]}{WANTS.get(self.want, '')}"
            case "LOCK" | "LOCKT":
                return f" {'WRITE_LT' if self.is_write else 'READ_LT'} {length} at {self.offset}"
            case "READ" | "WRITE":
                return f" {length} at {self.offset}{_BY.get(self.how, '')}"
            case "SETATTR":
                return f" size {self.length}" if self.how == NFS3 else " mode"
            case "REPLACE":
                return ": RENAME of another file over a name"
            case "LOCKU":
                return f" {length} at {self.offset}"
            case _:
                return ""


def possible(file: File, step: StateStep) -> bool:
    """Whether a step means something where a program comes to it."""
    opening = file.opens.get(step.owner)
    if step.verb in {"OPEN", "LOCKT"}:
        return True
    if opening is None:
        return False
    match step.verb:
        case "OPEN_DOWNGRADE":
            return not opening.locks and (step.access, step.deny) in _subsets(opening)
        case "LOCK":
            return bool(opening.access & (WRITE if step.is_write else READ))
        case "READ":
            return bool(opening.access & READ)
        case "WRITE":
            return bool(opening.access & WRITE)
        case _:
            return True


def _subsets(opening: Opening) -> set[tuple[int, int]]:
    """Access and deny of all parts of the OPENs that are in effect (section 18.18.3)."""
    found = {(0, 0)}
    for access, deny in opening.parts:
        found |= {(access | more, deny | others) for more, others in found}
    return found - {(0, 0)}


def imitate(file: File, step: StateStep) -> None:
    """What a server that grants whatever it may makes of a step."""
    owner, opening = step.owner, file.opens.get(step.owner)
    start, end = step.offset, end_of(step.offset, step.length)
    match step.verb:
        case "OPEN" if not file.is_denied(owner, step.access, step.deny):
            file.opens.setdefault(owner, Opening([])).parts.append((step.access, step.deny))
        case "CLOSE":
            file.opens.pop(owner)
        case "OPEN_DOWNGRADE" if opening is not None:
            opening.parts = [(step.access, step.deny)]
        case "LOCK" if opening is not None and not file.has_conflict(
            owner, start, end, is_write=step.is_write
        ):
            opening.lock(start, end, is_write=step.is_write)
        case "LOCKU" if opening is not None:
            opening.unlock(start, end)


class StateDrawing:
    """Draws a program: the model goes along, so that most steps are possible."""

    def __init__(self, seed: str, group: str) -> None:
        self._random = random.Random(seed)
        self._group = group
        self._file = File()

    def program(self) -> tuple[StateStep, ...]:
        """From `SHORTEST` to `LONGEST` steps."""
        length, steps = self._random.randint(SHORTEST, LONGEST), list[StateStep]()
        while len(steps) < length:
            for step in self._some():
                if possible(self._file, step):
                    imitate(self._file, step)
                    steps.append(step)
        return tuple(steps)

    def _some(self) -> Iterator[StateStep]:
        rng = self._random
        owner, verb = rng.choice(_OWNERS), rng.choice(_VERBS[self._group])
        opening = self._file.opens.get(owner)
        if opening is None and self._group == "shares" and rng.random() < 0.3:
            first, second = rng.choice(_DOWNGRADES)
            yield StateStep(owner=owner, verb="OPEN", access=first[0], deny=first[1])
            yield StateStep(owner=owner, verb="OPEN", access=second[0], deny=second[1])
            yield StateStep(owner=owner, verb="OPEN_DOWNGRADE", access=first[0], deny=first[1])
            return
        if opening is None and verb not in {"OPEN", "LOCKT"}:
            verb = "OPEN"
        access, deny = rng.choice((READ, WRITE, READ | WRITE, READ | WRITE)), rng.choice(_DENIES)
        if self._group != "shares":
            access, deny = READ | WRITE, 0 if rng.random() < 0.9 else deny
        if verb == "OPEN_DOWNGRADE" and opening is not None:
            access, deny = rng.choice(sorted(_subsets(opening)))
        offset, length = rng.choice(OFFSETS), rng.choice(LENGTHS)
        if verb in {"READ", "WRITE"}:
            length = min(length, SIZE - offset)
        yield StateStep(
            owner=owner,
            verb=verb,
            access=access,
            deny=deny,
            offset=offset,
            length=length,
            is_write=rng.random() < 0.5,
            salt=rng.randint(1, 255),
        )
