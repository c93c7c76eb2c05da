# SPDX-License-Identifier: MIT
"""All that clients hold of files, in one object: the tables, and what concerns more than one of them.

`shares` and `ranges` say who reserved what, and who locked which bytes, for every protocol. Over them, `opens` and
`locks` are NFSv4's: owners of client IDs, with stateids. A protocol without stateids uses the two tables themselves.

What must stay true, and only this module can see to, because it concerns several tables:

- Each open, lock and delegation in force has a stateid, and each stateid is of one in force or of a lost one.
  `revoke` takes the state away and keeps the stateid with the reason, until FREE_STATEID or the end of the client
  (section 8.5).
- Locks go with their open: CLOSE frees them, or is refused while there are ranges (section 18.2.3).
- A file that is gone has nothing in any table (`forget_file`), a client that is gone neither (`release`).
- What a client has lost is known without a search of all its states: `_with_losses` may name a client too many, never
  one too few.
"""

from __future__ import annotations

import typing as t
from collections.abc import Hashable, Iterator

from nfsserver.state.delegations import Delegation, Delegations
from nfsserver.state.locks import Lock, Locks
from nfsserver.state.opens import Open, Opens
from nfsserver.state.ranges import Ranges
from nfsserver.state.shares import Share, Shares
from nfsserver.state.stateids import Kind, Loss, State, StateError, Stateid, Stateids, special
from nfsserver.state.waiters import Waiters


class Held:
    """The states of one instance of the server; a restart begins with a new one."""

    def __init__(self, instance: int) -> None:
        self.stateids = Stateids(instance)
        self.shares = Shares()
        self.ranges = Ranges()
        self.opens = Opens(self.stateids, self.shares)
        self.locks = Locks(self.stateids, self.ranges)
        self.delegations = Delegations(self.stateids, self.opens, self.shares)
        self.waiters = Waiters()
        self._with_losses: set[Hashable] = set()
        """Clients of which something was taken away, as far as it may matter still."""

    def require(
        self, stateid: Stateid, client: Hashable, file: Hashable, *kinds: Kind, slots: int = 0
    ) -> State:
        """The state of a stateid, in the order of checks of section 8.2.4. Raises `StateError`.

        Special stateids are BAD_STATEID here: who accepts them asks `stateids.special` before.
        """
        state = self.stateids.find(stateid, client, slots=slots)
        if state.file != file or state.kind not in kinds:
            raise StateError("BAD_STATEID")
        return state

    def require_io(
        self, stateid: Stateid, client: Hashable, file: Hashable, access: Share, *, slots: int = 0
    ) -> None:
        """Whether a READ, a WRITE or a SETATTR of the size may be done with a stateid (sections 8.2.5, 9.1.2).

        Raises BAD_STATEID and the like, LOCKED (an open denies it, and the stateid is no open), OPENMODE.
        """
        meaning = special(stateid)
        if meaning in {"current", "invalid"}:
            raise StateError("BAD_STATEID")
        if meaning is not None:
            # The READ bypass stateid may be treated like the anonymous one, and is.
            if self.shares.excludes(file, access):
                raise StateError("LOCKED")
            return
        state = self.require(stateid, client, file, "open", "lock", "delegation", slots=slots)
        if isinstance(state, Delegation):
            if access & Share.WRITE and not state.is_write:
                raise StateError("OPENMODE")
            return
        opened = state.open if isinstance(state, Lock) else t.cast("Open", state)
        if access & Share.WRITE and not opened.access & Share.WRITE:
            raise StateError("OPENMODE")
        # A server may let a file that is open for writing only be read, unless another open denies that (section
        # 9.1.2); this one does.
        may_be_denied = bool(access & Share.READ and not opened.access & Share.READ)
        if may_be_denied and self.shares.excludes(file, Share.READ, besides=opened.key):
            raise StateError("LOCKED")

    def require_unlocked(
        self,
        stateid: Stateid,
        client: Hashable,
        file: Hashable,
        span: tuple[int, int],
        *,
        is_write: bool,
        slots: int = 0,
    ) -> None:
        """Whether no mandatory lock is in the way of I/O on a range (section 9.1.2). Raises LOCKED.

        The stateid of a lock-owner is for this owner, and any other one for all lock-owners of its client.
        """
        state = None if special(stateid) is not None else self.stateids.find(stateid, client, slots=slots)
        for lock in self.locks.of_file(file):
            is_own = (
                lock.key == state.key
                if isinstance(state, Lock)
                else state is not None and lock.client == client
            )
            conflicts = (is_write or held.is_write for held in lock.ranges if held.overlaps(*span))
            if not is_own and any(conflicts):
                raise StateError("LOCKED")

    def of_file(self, file: Hashable) -> Iterator[State]:
        """What clients hold of a file."""
        yield from tuple(self.opens.of_file(file))
        yield from self.locks.of_file(file)
        yield from self.delegations.of_file(file)

    def forget_file(self, file: Hashable) -> None:
        """A file is gone: nobody holds anything of it."""
        for state in tuple(self.of_file(file)):
            self._take(state)
            self.stateids.remove(state)
        self.waiters.forget_file(file)
        self.shares.forget(file)
        self.ranges.forget(file)

    def close(self, opened: Open, *, frees_locks: bool = True) -> None:
        """CLOSE: the opens of an owner and the locks that belong to them. Raises LOCKS_HELD (section 18.2.3)."""
        locks = self.locks.of_open(opened)
        if not frees_locks and any(lock.ranges for lock in locks):
            raise StateError("LOCKS_HELD")
        for lock in locks:
            self.locks.free(lock)
        self.opens.close(opened)

    def free(self, stateid: Stateid, client: Hashable) -> None:
        """FREE_STATEID (section 18.38). Raises LOCKS_HELD, BAD_STATEID, OLD_STATEID."""
        state = self.stateids.find_lost(stateid, client)
        if state.lost is not None:
            self.stateids.remove(state)
        elif isinstance(state, Lock) and not state.ranges:
            self.locks.free(state)
        else:
            raise StateError("LOCKS_HELD")

    def test(self, stateid: Stateid, client: Hashable, *, slots: int = 0) -> str:
        """TEST_STATEID of one stateid: ``OK``, or the name of its status (section 18.48)."""
        try:
            if special(stateid) is not None:
                return "BAD_STATEID"
            self.stateids.find(stateid, client, slots=slots)
        except StateError as error:
            return error.status
        return "OK"

    def release(self, client: Hashable) -> None:
        """Forget all states of a client: its record is gone."""
        self.waiters.forget_client(client)
        for state in self.stateids.of_client(client):
            self._take(state)
            self.stateids.remove(state)

    def revoke(self, client: Hashable, why: Loss) -> None:
        """Take all states of a client away, but keep their stateids: its lease is over."""
        self.waiters.forget_client(client)
        for state in self.stateids.of_client(client):
            if state.lost is None:
                self._take(state)
                state.lost = why
                self.stateids.restore(state)
                self._with_losses.add(client)

    def revoke_delegation(self, delegation: Delegation) -> None:
        """Take away a delegation that was recalled and not returned (section 10.4.5)."""
        self.delegations.revoke(delegation)
        self._with_losses.add(delegation.client)

    def _take(self, state: State) -> None:
        if isinstance(state, Open):
            self.opens.close(state)
        elif isinstance(state, Lock):
            self.locks.free(state)
        elif isinstance(state, Delegation):
            self.delegations.give_back(state)

    def has_any(self, client: Hashable) -> bool:
        """Whether a client holds anything: then DESTROY_CLIENTID answers CLIENTID_BUSY (section 18.50)."""
        return any(state.lost is None for state in self.stateids.of_client(client))

    def losses(self, client: Hashable) -> set[Loss]:
        """Why something was taken from a client that it has not freed yet: SEQUENCE tells it by its flags."""
        if client not in self._with_losses:
            return set()
        lost = {state.lost for state in self.stateids.of_client(client) if state.lost is not None}
        if not lost:
            self._with_losses.discard(client)
        return lost
