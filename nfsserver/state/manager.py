# SPDX-License-Identifier: MIT
"""The state of NFSv4 clients in one object: records, sessions, what they hold; leases, grace, and stable storage.

A restart makes another `StateManager` with the same `StableStorage`: clients that are in it may reclaim, and the grace
period lasts until they all have, or for a lease (RFC 5661 section 8.4.2). Nothing here has a timer: what time changes
is looked at when a request comes.

The life of an instance of the server:

    grace     `waiting` has owners    reclaims by those; everything else that gets state is GRACE
    normal    `waiting` is empty      new state; a reclaim is NO_GRACE

    grace ends when the last of them has completed or has come as another incarnation, or after a lease

The life of a client's lease (section 8.3):

    valid      SEQUENCE has renewed it less than a lease ago
    expired    courteous: it keeps its state until somebody else needs it (section 8.4.3), and may come back;
               otherwise, or on a conflict (`_retrying`): its state is revoked, its stateids answer EXPIRED
    forgotten  it holds nothing and has been silent for `_FORGOTTEN_AFTER` leases: the record is gone

What must stay true:

- Who holds state is in stable storage before the reply that grants it (`note_holder`), with the verifier of its
  incarnation: another incarnation of the same owner must not reclaim what it never had (section 8.4.2.1).
- An owner leaves stable storage when nothing of it may be reclaimed any more: it was destroyed, replaced by a new
  incarnation, completed without holding anything, or did not come within the grace period; and when something was
  taken from it, until it has freed all that it has lost (section 8.4.3: others may have had it since).
- `client.may_reclaim` is decided once, when the record is confirmed; RECLAIM_COMPLETE is said once (COMPLETE_ALREADY).
- A conflict with an expired client is never an answer: that client loses all its state, and the attempt is made
  again, once.
- After an expiry, the lease is renewed only once the client has freed what was lost, or holds something again: until
  then flags of SEQUENCE say so.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field

from nfsserver.state.clients import Clients
from nfsserver.state.delegations import Delegation
from nfsserver.state.held import Held
from nfsserver.state.records import Client
from nfsserver.state.sessions import Sessions
from nfsserver.state.shares import Share
from nfsserver.state.stateids import Loss, StateError, Stateid, special

T = t.TypeVar("T")

_FORGOTTEN_AFTER: t.Final = 10
"""Leases after which a client that only expired is forgotten."""
_LOOKS: t.Final = 4
"""How often in a lease expired clients are looked for."""


@dataclass
class StableStorage:
    """What survives a crash: which incarnations held state (section 8.4.2.1)."""

    holders: dict[bytes, bytes] = field(default_factory=dict)
    """Client owner -> the verifier of its incarnation."""


class Terms(t.NamedTuple):
    """What the server's owner decides."""

    lease: float
    """Seconds."""
    courteous: bool
    """Whether an expired client keeps its state until somebody else needs it (section 8.4.3)."""


class StateManager:
    """All that one instance of the server knows of its clients.

    `number` tells instances apart (64 bits), `now` is a clock in seconds that is never set back.
    """

    def __init__(
        self, number: int, stable: StableStorage, now: Callable[[], float], terms: Callable[[], Terms]
    ) -> None:
        self.now = now
        self._terms = terms
        self.stable = stable
        self.clients = Clients(number >> 32)
        self.sessions = Sessions(number.to_bytes(8, "big"))
        self.held = Held(number >> 32)
        self.waiting = dict(stable.holders)
        """Owners that may still reclaim -> verifier."""
        self._began = now()
        self._next_look = 0.0

    @property
    def lease(self) -> float:
        """The lease time in seconds."""
        return self._terms().lease

    # ------------------------------------------------------------ grace

    @property
    def in_grace(self) -> bool:
        """Whether reclaims are awaited. The end makes those who did not come forgotten."""
        if self.waiting and self.now() - self._began >= self.lease:
            self.end_grace()
        return bool(self.waiting)

    def end_grace(self) -> None:
        """Nobody may reclaim any more."""
        for ownerid in self.waiting:
            self.stable.holders.pop(ownerid, None)
        self.waiting.clear()

    def forget_holders(self) -> None:
        """Nobody may reclaim, neither now nor after the next restart."""
        self.end_grace()
        self.stable.holders.clear()

    def complete(self, client: Client) -> None:
        """RECLAIM_COMPLETE. Raises COMPLETE_ALREADY."""
        if client.has_completed:
            raise StateError("COMPLETE_ALREADY")
        client.has_completed = True
        if self.waiting.pop(client.ownerid, None) is not None and not self._holds(client):
            self.stable.holders.pop(client.ownerid, None)

    def _holds(self, client: Client) -> bool:
        return self.held.has_any(client.id)

    def require_reclaim(self, client: Client) -> None:
        """Whether a client may reclaim now. Raises NO_GRACE, RECLAIM_BAD (section 8.4.2.1)."""
        if client.has_completed or not self.in_grace:
            raise StateError("NO_GRACE")
        if not client.may_reclaim:
            raise StateError("RECLAIM_BAD")

    def require_new_locks(self, client: Client) -> None:
        """Whether a client may get locks that are no reclaims. Raises GRACE."""
        if self.in_grace or not client.has_completed:
            raise StateError("GRACE")

    def note_holder(self, client: Client) -> None:
        """A client got its first state: that is written to stable storage before the reply."""
        if self.held.losses(client.id):
            return  # what it has lost must not be reclaimed, and the record does not say what that is
        if self.stable.holders.get(client.ownerid) != client.verifier:
            self.stable.holders[client.ownerid] = client.verifier

    def note_loss(self, number: Hashable) -> None:
        """Something was taken from a client: after a restart it may reclaim nothing (section 8.4.3)."""
        client = self.clients.get(t.cast("int", number))
        if client is not None:
            self.stable.holders.pop(client.ownerid, None)

    def note_freed(self, client: Client) -> None:
        """A client has freed a stateid: once it knows of all its losses, it may reclaim what it has (section 8.4.3)."""
        if self._holds(client):
            self.note_holder(client)

    # ------------------------------------------------------------ conflicts

    def require_io(
        self,
        stateid: Stateid,
        client: Client | None,
        file: Hashable,
        access: Share,
        span: tuple[int, int] | None = None,
    ) -> None:
        """Whether data may be read or written with a stateid. Raises what `Held.require_io` does, and GRACE.

        `client` None has a special stateid only: any other is BAD_STATEID. With `span`, locks of others on this range
        are mandatory: LOCKED.
        """
        number, slots = (None, 0) if client is None else (client.id, client.slots)
        if self.in_grace and special(stateid) is not None:
            raise StateError("GRACE")

        def attempt() -> None:
            self.held.require_io(stateid, number, file, access, slots=slots)
            if span is not None:
                self.held.require_unlocked(
                    stateid, number, file, span, slots=slots, is_write=bool(access & Share.WRITE)
                )

        self._retrying(file, attempt, {"LOCKED"})

    def require_shareable(self, file: Hashable, access: Share, deny: Share) -> None:
        """Raises SHARE_DENIED, unless the open in the way is of an expired client: then that loses its state."""
        self._retrying(file, lambda: self.held.opens.require_shareable(file, access, deny), {"SHARE_DENIED"})

    def require_unlocked(self, file: Hashable, access: Share) -> None:
        """Raises LOCKED if an open denies access to others: for callers without a stateid."""

        def attempt() -> None:
            if self.held.shares.excludes(file, access):
                raise StateError("LOCKED")

        self._retrying(file, attempt, {"LOCKED"})

    def require_removable(self, file: Hashable) -> None:
        """Raises FILE_OPEN if an open denies writing: REMOVE should leave the name (section 18.25.4)."""

        def attempt() -> None:
            if self.held.shares.granted(file)[1] & Share.WRITE:
                raise StateError("FILE_OPEN")

        self._retrying(file, attempt, {"FILE_OPEN"})

    def retrying_lock(self, file: Hashable, attempt: Callable[[], T]) -> T:
        """An attempt to lock a range, again if what denies it is of an expired client."""
        return self._retrying(file, attempt, {"DENIED"})

    def _retrying(self, file: Hashable, attempt: Callable[[], T], conflicts: Collection[str]) -> T:
        try:
            return attempt()
        except StateError as refusal:
            if refusal.status not in conflicts or not self._expire_holders(file):
                raise
        return attempt()

    def _expire_holders(self, file: Hashable) -> bool:
        """Take the state of expired clients that hold something of a file; whether there were any (section 8.4.3)."""
        holders = {delegation.client for delegation in self.held.of_file(file)}
        expired = [number for number in holders if self.is_id_of_expired(number)]
        for number in expired:
            self.expire(number)
        return bool(expired)

    # ------------------------------------------------------------ clients

    def confirm(self, client: Client) -> None:
        """CREATE_SESSION confirms a record, and ends the earlier incarnation of its owner."""
        client.may_reclaim = self.waiting.get(client.ownerid) == client.verifier
        old = self.clients.confirm(client)
        if old is not None:
            self._empty(old)
            self.stable.holders.pop(old.ownerid, None)
        if not client.may_reclaim:
            self.waiting.pop(client.ownerid, None)

    def destroy(self, client: Client) -> None:
        """Forget a client with all that it has."""
        self._empty(client)
        self.clients.remove(client)
        if client.is_confirmed:
            self.stable.holders.pop(client.ownerid, None)
            self.waiting.pop(client.ownerid, None)

    def _empty(self, client: Client) -> None:
        for session in list(client.sessions.values()):
            self.sessions.remove(session)
        self.held.release(client.id)

    # ------------------------------------------------------------ leases

    def is_expired(self, client: Client) -> bool:
        """Whether the lease of a client is over."""
        return self.now() - client.renewed > self.lease

    def is_id_of_expired(self, number: Hashable) -> bool:
        """Whether a client id is of an expired client."""
        client = self.clients.get(t.cast("int", number))
        return client is not None and self.is_expired(client)

    def expire(self, number: Hashable, why: Loss = "EXPIRED") -> None:
        """Take away what a client holds."""
        self.held.revoke(number, why)
        self.note_loss(number)

    def revoke_delegation(self, delegation: Delegation) -> None:
        """Take away a delegation that was recalled and not returned (section 10.4.5)."""
        self.held.revoke_delegation(delegation)
        self.note_loss(delegation.client)

    def renew(self, client: Client) -> None:
        """A SEQUENCE of this client succeeded. Without anything that was lost, that renews its lease (section 8.3)."""
        if "EXPIRED" not in self.held.losses(client.id) or self._holds(client):
            client.renewed = self.now()

    def look(self) -> None:
        """Deal with leases that ended: called before each request, does something now and then."""
        now = self.now()
        if now < self._next_look:
            return
        self._next_look = now + self.lease / _LOOKS
        for client in self.clients:
            age = now - client.renewed
            if age <= self.lease:
                continue
            holds = self._holds(client)
            if not client.is_confirmed or (not holds and age > _FORGOTTEN_AFTER * self.lease):
                self.destroy(client)
            elif holds and not self._terms().courteous:
                self.expire(client.id)
        for delegation in self.held.delegations.overdue(now, self.lease):
            self.revoke_delegation(delegation)  # who waits for it may make no further call
