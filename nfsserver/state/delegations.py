# SPDX-License-Identifier: MIT
"""Delegations of files: granted, recalled, returned or revoked (RFC 5661 sections 10.2 to 10.4).

    granted --conflict--> recalled --DELEGRETURN--> (gone)
                             |
                             +--lease time without return--> revoked --FREE_STATEID--> (gone)

The server decides when it grants one. A conflict is answered by the recall of what is in the way; the operation that
caused it waits or is asked to come back (DELAY), until the delegation is returned or revoked.
"""

from __future__ import annotations

import typing as t
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from nfsserver.state.opens import Opens
from nfsserver.state.shares import Share, Shares
from nfsserver.state.stateids import Kind, State, StateError, Stateids

Policy: t.TypeAlias = t.Literal["none", "read", "write"]
"""What is granted: nothing, read delegations only, or either."""


@dataclass(eq=False)
class Delegation(State):
    """A delegation of one file to one client."""

    kind: t.ClassVar[Kind] = "delegation"
    is_write: bool
    recalled_at: float | None = None
    """When its return was first demanded; None: it was not."""


class Delegations:
    """The delegations of all clients."""

    def __init__(self, stateids: Stateids, opens: Opens, shares: Shares) -> None:
        self._stateids = stateids
        self._opens = opens
        self._shares = shares
        self._of_file: dict[Hashable, list[Delegation]] = defaultdict(list)
        self.ended = 0
        """How many were returned or revoked."""

    def of_file(self, file: Hashable) -> Iterable[Delegation]:
        """Those of a file that are in force."""
        return tuple(self._of_file.get(file, ()))

    def grant(self, client: Hashable, file: Hashable, access: Share, policy: Policy) -> Delegation | None:
        """A delegation for a client that has just opened a file, if policy and the opens of others allow one.

        Writing: only if nobody else has it open or delegated. Reading: only if nobody else has it open for writing, nor
        a write delegation, nor do this client's own opens write (section 10.4.1).
        """
        held = self.of_file(file)
        if policy == "none" or any(one.client == client or one.recalled_at is not None for one in held):
            return None
        wants_write = bool(access & Share.WRITE)
        all_access, all_deny = self._shares.granted(file)
        if wants_write:
            if policy != "write" or held or self._opens.has_others(file, client):
                return None
        elif (
            all_access & Share.WRITE
            or any(one.is_write for one in held)
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
        known = next((one for one in self.of_file(file) if one.client == client), None)
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
        return [one for one in self.of_file(file) if one.client != client and (changes or one.is_write)]

    def recall(self, one: Delegation, now: float) -> bool:
        """Note a recall; whether it is the first of this delegation, so that the callback is to be sent."""
        if one.recalled_at is not None:
            return False
        one.recalled_at = now
        return True

    def give_back(self, one: Delegation) -> None:
        """DELEGRETURN, or FREE_STATEID of a revoked one."""
        self._forget(one)
        self._stateids.remove(one)

    def revoke(self, one: Delegation) -> None:
        """Take it away: its stateid answers DELEG_REVOKED until it is freed."""
        self._forget(one)
        one.lost = "DELEG_REVOKED"

    def overdue(self, now: float, patience: float) -> list[Delegation]:
        """Those whose recall is older than `patience` seconds."""
        return [
            one
            for held in self._of_file.values()
            for one in held
            if one.recalled_at is not None and now - one.recalled_at >= patience
        ]

    def _forget(self, one: Delegation) -> None:
        self.ended += 1
        held = self._of_file.get(one.file)
        if held is not None and one in held:
            held.remove(one)
            if not held:
                del self._of_file[one.file]
