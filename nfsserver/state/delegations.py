# SPDX-License-Identifier: MIT
"""Delegations of files: granted, recalled, returned or revoked (RFC 5661 sections 10.2 to 10.4).

    granted --conflict--> recalled --DELEGRETURN--> (gone)
                             |
                             +--lease time without return--> revoked --FREE_STATEID--> (gone)

The server decides when it grants one. A conflict is answered by the recall of what is in the way; the operation that
caused it waits or is asked to come back (DELAY), until the delegation is returned or revoked.

What must stay true:

- A file has one write delegation and no other one, or any number of read delegations; a client has one of a file at
  most.
- While a delegation of a file is recalled, none is granted: the operation in the way would never be served.
- None is granted against the opens of others: writing needs that nobody else has the file open, reading that nobody
  writes (section 10.4.1). CLAIM_PREVIOUS gives back what a client had before a restart, without comparing: nobody
  else could get anything meanwhile.
- A recall is noted once, with its time (`recall`); whether the callback arrives does not matter for that time.
- `ended` grows with every return and revocation: calls that wait (`nfsserver/waiting.py`) look at it.
- What the holder of a write delegation says of its data serves only the request that brought the question (`Writer`).
- A revoked one is no longer of its file, and still has its stateid, which answers DELEG_REVOKED.

Who calls: `conflicts.clear_way` recalls and revokes, the handlers of OPEN and DELEGRETURN grant and take back, `Held`
ends what a client or a file had. Callbacks are sent by `nfsserver/callbacks.py`: nothing here knows a session.
"""

from __future__ import annotations

import typing as t
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from nfsserver.state.opens import Opens
from nfsserver.state.shares import Share, Shares
from nfsserver.state.stateids import Kind, State, StateError, Stateids

Policy: t.TypeAlias = t.Literal["none", "read", "write"]
"""What is granted: nothing, read delegations only, or either."""


class Said(t.NamedTuple):
    """What the holder of a write delegation has answered to CB_GETATTR; None: it did not say."""

    change: int | None
    size: int | None
    at: float
    """When, in seconds."""


@dataclass(eq=False)
class Writer:
    """What is known of the data that the holder of a write delegation has not sent (section 10.4.3).

    Each GETATTR of another client is a question to the holder: what it has said to one is of no use to the next, since
    it may have written meanwhile. `asked` and `said` are by the client that wants to know.
    """

    change: int = 0
    """Attribute `change` of the file when the delegation was granted."""
    is_modified: bool = False
    """Whether the holder has ever said that it has modified data. That stays: it need not say so again."""
    is_mute: bool = False
    """Whether it does not answer, so that the delegation is recalled instead."""
    asked: dict[Hashable, float] = field(default_factory=dict)
    """When the question was sent that has no answer yet."""
    said: dict[Hashable, Said] = field(default_factory=dict)

    def note(self, asker: Hashable, said: Said | None) -> None:
        """The holder has answered, rightly or not."""
        self.asked.pop(asker, None)
        if said is None:
            self.is_mute = True
        else:
            self.said[asker] = said

    def take(self, asker: Hashable, since: float) -> Said | None:
        """The answer to a question of this client, unless it is older than that. It is of use once."""
        said = self.said.pop(asker, None)
        return None if said is None or said.at < since else said

    def learns(self, said: Said, size: int) -> bool:
        """Whether the file counts as modified, now that the holder has said this; `size` is the one on the server."""
        self.is_modified |= said.change not in {None, self.change} or said.size not in {None, size}
        return self.is_modified


@dataclass(eq=False)
class Delegation(State):
    """A delegation of one file to one client."""

    kind: t.ClassVar[Kind] = "delegation"
    is_write: bool
    recalled_at: float | None = None
    """When its return was first demanded; None: it was not."""
    writer: Writer = field(default_factory=Writer)


class Delegations:
    """The delegations of all clients."""

    def __init__(self, stateids: Stateids, opens: Opens, shares: Shares) -> None:
        self._stateids = stateids
        self._opens = opens
        self._shares = shares
        self._of_file: dict[Hashable, list[Delegation]] = defaultdict(list)
        self.ended = 0
        """How many were returned or revoked."""
        self.answered = 0
        """How many times a holder has answered CB_GETATTR, or failed to."""

    def of_file(self, file: Hashable) -> Iterable[Delegation]:
        """Those of a file that are in force."""
        return tuple(self._of_file.get(file, ()))

    def grant(self, client: Hashable, file: Hashable, access: Share, policy: Policy) -> Delegation | None:
        """A delegation for a client that has just opened a file, if policy and the opens of others allow one.

        Writing: only if nobody else has it open or delegated. Reading: only if nobody else has it open for writing, nor
        a write delegation, nor do this client's own opens write (section 10.4.1).
        """
        delegations = self.of_file(file)
        if policy == "none" or any(
            delegation.client == client or delegation.recalled_at is not None for delegation in delegations
        ):
            return None
        wants_write = bool(access & Share.WRITE)
        all_access, all_deny = self._shares.granted(file)
        if wants_write:
            if policy != "write" or delegations or self._opens.has_others(file, client):
                return None
        elif (
            all_access & Share.WRITE
            or any(delegation.is_write for delegation in delegations)
            or (all_deny & Share.READ and self._opens.has_others(file, client))
        ):
            return None
        made = Delegation(client, file, wants_write)
        try:
            self._stateids.add(made)
        except StateError:
            return None
        self._of_file[file].append(made)
        return made

    def reclaim(self, client: Hashable, file: Hashable, *, is_write: bool) -> Delegation:
        """The delegation that a client had before a restart (CLAIM_PREVIOUS). Raises DELAY."""
        known = next((delegation for delegation in self.of_file(file) if delegation.client == client), None)
        if known is not None:
            return known
        made = Delegation(client, file, is_write)
        self._stateids.add(made)
        self._of_file[file].append(made)
        return made

    def in_the_way(self, file: Hashable, client: Hashable | None, *, changes: bool) -> list[Delegation]:
        """What must be recalled before somebody reads, opens or changes a file.

        `client` None is a caller without a client ID: another version of NFS. `changes`: data, attributes or names.
        """
        return [
            delegation
            for delegation in self.of_file(file)
            if delegation.client != client and (changes or delegation.is_write)
        ]

    def recall(self, delegation: Delegation, now: float) -> bool:
        """Note a recall; whether it is the first of this delegation, so that the callback is to be sent."""
        if delegation.recalled_at is not None:
            return False
        delegation.recalled_at = now
        return True

    def count_of(self, client: Hashable) -> int:
        """How many delegations a client has."""
        return sum(
            delegation.client == client
            for delegations in self._of_file.values()
            for delegation in delegations
        )

    def give_back(self, delegation: Delegation) -> None:
        """DELEGRETURN, or FREE_STATEID of a revoked one."""
        self._forget(delegation)
        self._stateids.remove(delegation)

    def revoke(self, delegation: Delegation) -> None:
        """Take it away: its stateid answers DELEG_REVOKED until it is freed."""
        self._forget(delegation)
        delegation.lost = "DELEG_REVOKED"

    def overdue(self, now: float, patience: float) -> list[Delegation]:
        """Those whose recall is older than `patience` seconds."""
        return [
            delegation
            for delegations in self._of_file.values()
            for delegation in delegations
            if delegation.recalled_at is not None and now - delegation.recalled_at >= patience
        ]

    def _forget(self, delegation: Delegation) -> None:
        self.ended += 1
        delegations = self._of_file.get(delegation.file)
        if delegations is not None and delegation in delegations:
            delegations.remove(delegation)
            if not delegations:
                del self._of_file[delegation.file]
