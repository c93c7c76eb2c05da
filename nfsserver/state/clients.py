# SPDX-License-Identifier: MIT
"""Client records: EXCHANGE_ID, and the confirmation by CREATE_SESSION (RFC 5661 sections 18.35.4 and 18.36.4).

    (none) --EXCHANGE_ID--> unconfirmed --CREATE_SESSION--> confirmed --DESTROY_CLIENTID, expiry--> (none)

An owner has at most one confirmed and one unconfirmed record: the second is of an incarnation that has not made a
session yet.

What must stay true:

- The nine cases of section 18.35.4 are the table `CASES`, and `case_of` finds exactly one for every request. What an
  owner may do is decided by its confirmed record; an unconfirmed one is replaced by every new request.
- A record is confirmed by its first CREATE_SESSION. Only then the earlier incarnation goes, with all that it had.
  Another principal with the same owner (case 3) replaces a record at once, but only one that holds nothing.
- A client id is never used twice in an instance, and differs from those of other instances by its prefix: a client
  that comes with an old one gets STALE_CLIENTID, and knows that the server has restarted.
- `Client.sequence` and `Client.reply` are the reply cache of CREATE_SESSION, of one entry (section 18.36.4): a
  repetition gets the same session again.
- The number of records is bounded (`MOST.clients`): strangers may send EXCHANGE_ID.
"""

from __future__ import annotations

import typing as t
from collections.abc import Hashable, Iterator

from nfsserver.bounds import MOST
from nfsserver.state.records import Client
from nfsserver.state.stateids import StateError

_COUNTERS: t.Final = 1 << 32

Outcome: t.TypeAlias = t.Literal["new", "known", "collision", "NOENT", "NOT_SAME", "PERM"]


class Case(t.NamedTuple):
    """One of the nine cases of section 18.35.4; None is "any"."""

    number: int
    is_update: bool
    """Whether EXCHGID4_FLAG_UPD_CONFIRMED_REC_A is set."""
    is_confirmed: bool
    """Whether the owner has a confirmed record."""
    same_verifier: bool | None
    same_principal: bool | None
    outcome: Outcome


CASES: t.Final = (
    # RFC 5661 section 18.35.4
    Case(1, False, False, None, None, "new"),  # and 4: an unconfirmed record is replaced
    Case(2, False, True, True, True, "known"),
    Case(3, False, True, None, False, "collision"),
    Case(5, False, True, False, True, "new"),  # the confirmed record stays until CREATE_SESSION
    Case(6, True, True, True, True, "known"),
    Case(7, True, False, None, None, "NOENT"),
    Case(8, True, True, False, None, "NOT_SAME"),
    Case(9, True, True, True, False, "PERM"),
)


class _Owner(t.NamedTuple):
    confirmed: Client | None
    unconfirmed: Client | None


class Clients:
    """The records of one instance of the server. `prefix` makes its client ids differ from those of other instances."""

    def __init__(self, prefix: int) -> None:
        self._prefix = prefix % _COUNTERS << 32
        self._last = 0
        self._by_id: dict[int, Client] = {}
        self._owners: dict[bytes, _Owner] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Client]:
        return iter(list(self._by_id.values()))

    def get(self, number: int) -> Client | None:
        """The record of a client id."""
        return self._by_id.get(number)

    def require(self, number: int) -> Client:
        """The record of a client id. Raises STALE_CLIENTID."""
        client = self._by_id.get(number)
        if client is None:
            raise StateError("STALE_CLIENTID")
        return client

    def case_of(self, ownerid: bytes, verifier: bytes, principal: Hashable, *, is_update: bool) -> Case:
        """Which case a request of EXCHANGE_ID is."""
        record = self._owners.get(ownerid, _Owner(None, None)).confirmed
        for case in CASES:
            if case.is_update != is_update or case.is_confirmed != (record is not None):
                continue
            if record is None or (
                case.same_verifier in {None, record.verifier == verifier}
                and case.same_principal in {None, record.principal == principal}
            ):
                return case
        raise AssertionError("the cases are complete")

    def confirmed(self, ownerid: bytes) -> Client | None:
        """The confirmed record of an owner."""
        return self._owners.get(ownerid, _Owner(None, None)).confirmed

    def add(self, ownerid: bytes, verifier: bytes, principal: Hashable, now: float) -> Client:
        """A new unconfirmed record, in place of an unconfirmed one. Raises DELAY."""
        owner = self._owners.get(ownerid, _Owner(None, None))
        if owner.unconfirmed is not None:
            del self._by_id[owner.unconfirmed.id]
        if len(self._by_id) >= MOST.clients:
            raise StateError("DELAY")
        self._last += 1
        client = Client(ownerid, verifier, principal, self._prefix | self._last, now, sequence=0)
        self._by_id[client.id] = client
        self._owners[ownerid] = _Owner(owner.confirmed, client)
        return client

    def confirm(self, client: Client) -> Client | None:
        """Make a record the confirmed one; the record that it takes the place of, which is to be destroyed."""
        old = self._owners[client.ownerid].confirmed
        client.is_confirmed = True
        if old is not None:
            del self._by_id[old.id]
        self._owners[client.ownerid] = _Owner(client, None)
        return old

    def remove(self, client: Client) -> None:
        """Forget a record."""
        if self._by_id.pop(client.id, None) is None:
            return
        owner = self._owners[client.ownerid]
        left = _Owner(*(None if owner is client else owner for owner in owner))
        if left == _Owner(None, None):
            del self._owners[client.ownerid]
        else:
            self._owners[client.ownerid] = left
