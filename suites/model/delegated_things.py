# SPDX-License-Identifier: MIT
"""A model of a file that may be delegated: who has which delegation of it, and what names it has (RFC 5661 section 10).

A delegation is *out* from the OPEN that grants it until DELEGRETURN. What the server may do besides is not here: it may
recall at any time, and answer DELAY to anything.
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from nfsclient.protocol import nfs4 as p
from suites.model.state_steps import ANONYMOUS, DELEGATION, NFS3, StateStep, imitate, possible
from suites.model.state_things import NFS3_CLIENT, READ, WRITE, File

MOST_NAMES: t.Final = 3
OF_NAMES: t.Final = frozenset({"LINK", "RENAME", "REPLACE", "REMOVE"})
_CHANGING: t.Final = frozenset({"WRITE", "SETATTR", "CREATE", *OF_NAMES})


@dataclass(eq=False, slots=True)
class Delegation:
    """One that is out."""

    client: int
    is_write: bool
    stateid: p.Stateid4 = field(default_factory=lambda: p.ANONYMOUS_STATEID)

    def __str__(self) -> str:
        return f"the {'write' if self.is_write else 'read'} delegation of client {self.client}"


class DelegatedFile(File):
    """The file of a program."""

    def __init__(self) -> None:
        super().__init__()
        self.delegations: list[Delegation] = []
        self.names = [b""]
        """What follows the name of the program. The oldest comes first."""
        self.gone: list[bytes] = []
        """The names that nothing has any more."""
        self.replaced: list[bytes] = []
        """The names that another file has now."""
        self._made = 0

    def new_name(self) -> bytes:
        """One that the file has not had."""
        self._made += 1
        return b"-%d" % self._made

    def of_client(self, client: int) -> Delegation | None:
        """The delegation that a client has."""
        return next((each for each in self.delegations if each.client == client), None)

    def may_write_by(self, delegation: Delegation) -> bool:
        """Whether it is clear what WRITE by a delegation gets: a read delegation adds nothing to an open for it."""
        opens = (opening for owner, opening in self.opens.items() if owner.client == delegation.client)
        return delegation.is_write or not any(opening.access & WRITE for opening in opens)

    def has_open(self, client: int) -> bool:
        """Whether a client has the file open."""
        return any(owner.client == client for owner in self.opens)

    def in_the_way(self, step: StateStep) -> list[Delegation]:
        """The delegations of others that must end before a step is done (sections 10.2 and 10.4.4)."""
        others = [each for each in self.delegations if each.client != step.owner.client]
        if step.verb in _CHANGING and (step.how or step.verb != "WRITE"):
            return [] if step.how == DELEGATION else others
        if step.verb == "OPEN" and step.how != DELEGATION:
            changes = bool(step.access & WRITE or step.deny & READ)
        elif step.verb == "READ" and step.how in {ANONYMOUS, NFS3}:
            changes = False
        else:
            return []
        return [each for each in others if changes or each.is_write]

    def refuses(self, client: int, *, is_write: bool) -> bool:
        """Whether others have what conflicts with a delegation of a client (sections 10.4 and 10.4.1)."""
        if any(each.client != client and (is_write or each.is_write) for each in self.delegations):
            return True
        opens = [opening for owner, opening in self.opens.items() if owner.client != client]
        return any(is_write or opening.access & WRITE for opening in opens)

    def excludes(self, step: StateStep) -> bool:
        """Whether opens or locks of others permit a server to refuse a step that comes without an open."""
        is_write = step.verb not in {"READ", "LINK", "RENAME"}
        needed = WRITE if is_write else READ
        locks = (lock for opening in self.opens.values() for lock in opening.locks)
        return any(opening.deny & needed for opening in self.opens.values()) or any(
            is_write or lock.is_write for lock in locks
        )

    def apply_to_names(self, step: StateStep, new: bytes) -> None:
        """What a step does to the names."""
        match step.verb:
            case "LINK":
                self.names.append(new)
            case "RENAME":
                self.gone.append(self.names[0])
                self.names[0] = new
            case "REMOVE":
                self.gone.append(self.names.pop(0))
            case "REPLACE":
                self.replaced.append(self.names.pop(0))


def may_do(file: DelegatedFile, step: StateStep) -> bool:
    """Whether a step means something where a program comes to it."""
    client = step.owner.client
    found = file.of_client(client)
    if step.verb in {"READ", "WRITE"} and step.how:
        return {
            DELEGATION: found is not None and (step.verb == "READ" or file.may_write_by(found)),
            ANONYMOUS: found is None
            and not file.has_open(client),  # section 10.4.1: not while it has an open
            NFS3: client == NFS3_CLIENT,
        }[step.how]
    is_possible = {
        "DELEGRETURN": found is not None,
        "LINK": len(file.names) < MOST_NAMES,
        "RENAME": True,
        "SETATTR": True,
        "REMOVE": len(file.names) > 1,
        "REPLACE": len(file.names) > 1,
        "CREATE": len(file.data) > 0,
    }.get(step.verb)
    return possible(file, step) if is_possible is None else is_possible


def imitate_delegated(file: DelegatedFile, step: StateStep) -> None:
    """What a server makes of a step that grants whatever it may, and puts off what a delegation is in the way of."""
    in_the_way = file.in_the_way(step)
    if in_the_way and step.late < 0:
        return
    file.delegations = [each for each in file.delegations if each not in in_the_way]
    client = step.owner.client
    match step.verb:
        case "OPEN":
            was_open = step.owner in file.opens
            imitate(file, step)
            is_write = bool(step.access & WRITE)
            wants = step.want != p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG
            is_free = file.of_client(client) is None and not file.refuses(client, is_write=is_write)
            if step.owner in file.opens and not was_open and wants and is_free:
                file.delegations.append(Delegation(client, is_write))
        case "DELEGRETURN":
            file.delegations = [each for each in file.delegations if each.client != client]
        case "LINK" | "RENAME" | "REMOVE" | "REPLACE":
            file.apply_to_names(step, file.new_name())
        case "WRITE":
            found = file.of_client(client)
            if step.how != DELEGATION or (found is not None and found.is_write):
                file.write(step.offset, step.data)
        case "SETATTR" if step.how == NFS3:
            file.data = file.data[: step.length].ljust(step.length, b"\0")
        case "CREATE":
            file.data.clear()
        case _:
            imitate(file, step)
