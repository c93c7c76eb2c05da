# SPDX-License-Identifier: MIT
"""What a client holds on a server: opens, byte-range locks, delegations, and the lease on all of them (RFC 5661).

All of it stands in one `HeldState`. Replies go in (`opened`, `locked`, `delegated`, ...), stateids come out.
Three rules decide about stateids (section 8.2.2):

- `other` names the state, `seqid` counts its changes; of two replies about one state, the later seqid is the newer
  one, with wraparound, and replies may overtake each other;
- an OPEN of a file that the same open owner has open upgrades that open: same `other`, next seqid;
- a byte-range lock has one stateid per lock owner and open, whatever its ranges.

The states, and who moves them:

    open          open --CLOSE (`closed`)--> (gone)        open --the server gave it up (`revoked`)--> lost
    locks         as their open, with which they go
    delegation    granted --CB_RECALL (`recall`)--> recalled --DELEGRETURN, revoked (`returned`)--> (gone)

What must stay true:

- Only replies and callbacks change this; it makes no calls and knows no clock. `highlevel.nfs4.reclaim` acts on it.
- A lost open or lock stays in the table until its user closes it: every later use must fail, and not silently use the
  file again.
- There is one `Open` for a handle and an open owner, one `Locks` for these and a lock owner, one `Delegation` for a
  handle.
- A delegation that is recalled gives no stateid to READ any more (`for_reading`), but stays in the table
  until it is returned: before that the server still counts on it.
- `Lease` counts from the sending of a request that succeeded, never from its reply: the server's
  count began before the reply was here.
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from nfsclient.protocol.nfs4.opens import (
    OPEN4_SHARE_ACCESS_BOTH,
    Open4Res,
    OpenDelegation4,
    OpenDelegationType4,
)
from nfsclient.protocol.nfs4.types import NFS4_MAXFILELEN, NfsLockType4, Stateid4

_HALF: t.Final = 1 << 31
_SEQIDS: t.Final = 1 << 32


def is_newer(seqid: int, than: int) -> bool:
    """Whether a seqid is later than another, with wraparound (section 8.2.2)."""
    return 0 < (seqid - than) % _SEQIDS < _HALF


def newest(known: Stateid4 | None, got: Stateid4) -> Stateid4:
    """Of two stateids the one to use: replies can overtake each other."""
    if known is None or known.other != got.other or is_newer(got.seqid, known.seqid):
        return got
    return known


@dataclass(slots=True, eq=False)
class Open:
    """One file that an open owner has open."""

    handle: bytes
    owner: bytes
    stateid: Stateid4
    access: int
    deny: int
    users: int = 1
    """How many file objects share it: OPENs of one owner are one open."""
    lost: bool = False
    """Whether the server forgot it, and would not have it back."""


@dataclass(frozen=True, slots=True)
class LockRange:
    """One byte-range lock. `length` NFS4_MAXFILELEN reaches to the end of the file."""

    type: NfsLockType4
    offset: int
    length: int = NFS4_MAXFILELEN

    @property
    def end(self) -> int:
        """The first byte after it."""
        return NFS4_MAXFILELEN if self.length == NFS4_MAXFILELEN else self.offset + self.length


@dataclass(slots=True, eq=False)
class Locks:
    """The locks of a lock owner in an open."""

    opened: Open
    owner: bytes
    stateid: Stateid4
    ranges: list[LockRange] = field(default_factory=list)
    lost: bool = False

    def add(self, new: LockRange) -> None:
        """A lock was granted: it replaces what the owner had there."""
        self.remove(new.offset, new.length)
        self.ranges.append(new)

    def remove(self, offset: int, length: int) -> None:
        """A range was unlocked; a lock may be cut in two."""
        end = LockRange(NfsLockType4.READ_LT, offset, length).end
        kept: list[LockRange] = []
        for byte_range in self.ranges:
            if byte_range.end <= offset or end <= byte_range.offset:
                kept.append(byte_range)
                continue
            if byte_range.offset < offset:
                kept.append(LockRange(byte_range.type, byte_range.offset, offset - byte_range.offset))
            if end < byte_range.end:
                rest = NFS4_MAXFILELEN if byte_range.end == NFS4_MAXFILELEN else byte_range.end - end
                kept.append(LockRange(byte_range.type, end, rest))
        self.ranges = kept


@dataclass(slots=True, eq=False)
class Delegation:
    """A file that the server has delegated: nobody else changes it (write: uses it) before a recall (section 10.4)."""

    handle: bytes
    stateid: Stateid4
    type: OpenDelegationType4
    recalled: bool = False
    change: int | None = None
    """Attribute `change` when it was granted, and the size now, where they are known: for CB_GETATTR."""
    size: int | None = None

    @property
    def is_write(self) -> bool:
        """Whether it is one to write, with the times of the file or without (RFC 9754)."""
        kinds = OpenDelegationType4
        return self.type in {kinds.OPEN_DELEGATE_WRITE, kinds.OPEN_DELEGATE_WRITE_ATTRS_DELEG}


class Lease:
    """When the lease must be renewed, and when it may be lost (section 8.3).

    The server counts from when it got a request, so the client counts from when it sent one that succeeded.
    """

    def __init__(self, seconds: float, now: float) -> None:
        self.seconds = seconds
        self.renewed_at = now

    def renewed(self, sent_at: float) -> None:
        """A SEQUENCE that was sent then has succeeded: it renews all leases of the client (section 18.46.3)."""
        self.renewed_at = max(self.renewed_at, sent_at)

    def is_due(self, now: float) -> bool:
        """Whether half of the lease has passed: time for a bare SEQUENCE, if nothing else is sent."""
        return now - self.renewed_at >= self.seconds / 2

    def may_be_lost(self, now: float) -> bool:
        """Whether the server was free to forget everything."""
        return now - self.renewed_at >= self.seconds


class HeldState:
    """Everything that one client holds on one server."""

    def __init__(self) -> None:
        self.opens: dict[tuple[bytes, bytes], Open] = {}
        """(handle, open owner) -> open."""
        self.locks: dict[tuple[bytes, bytes, bytes], Locks] = {}
        """(handle, open owner, lock owner) -> locks."""
        self.delegations: dict[bytes, Delegation] = {}
        """Handle -> delegation."""

    # ------------------------------------------------------------ opens

    def opened(self, handle: bytes, owner: bytes, access: int, deny: int, result: Open4Res) -> Open:
        """OPEN succeeded: a new open, or an upgrade of the one that this owner has (section 18.16.3)."""
        assert result.resok4 is not None
        access &= OPEN4_SHARE_ACCESS_BOTH
        known = self.opens.get((handle, owner))
        if known is not None and known.stateid.other == result.resok4.stateid.other:
            known.stateid = newest(known.stateid, result.resok4.stateid)
            known.access |= access
            known.deny |= deny
            known.users += 1
        else:
            known = self.opens[handle, owner] = Open(handle, owner, result.resok4.stateid, access, deny)
        self.delegated(handle, result.resok4.delegation)
        return known

    def closed(self, opened: Open) -> None:
        """CLOSE succeeded, or there is nothing to close any more. Its locks go with it."""
        self.opens.pop((opened.handle, opened.owner), None)
        for key in [key for key, locks in self.locks.items() if locks.opened is opened]:
            del self.locks[key]

    # ------------------------------------------------------------ locks

    def locked(self, opened: Open, owner: bytes, stateid: Stateid4, new: LockRange) -> Locks:
        """LOCK succeeded."""
        key = (opened.handle, opened.owner, owner)
        locks = self.locks.get(key)
        if locks is None:
            locks = self.locks[key] = Locks(opened, owner, stateid)
        locks.stateid = newest(locks.stateid, stateid)
        locks.add(new)
        return locks

    def locks_of(self, opened: Open, owner: bytes) -> Locks | None:
        """The locks of a lock owner, None before its first."""
        return self.locks.get((opened.handle, opened.owner, owner))

    # ------------------------------------------------------------ delegations

    def delegated(self, handle: bytes, given: OpenDelegation4) -> Delegation | None:
        """Note what OPEN said of a delegation."""
        body = given.read or given.write
        if body is None:
            return None
        delegation = self.delegations[handle] = Delegation(
            handle, body.stateid, given.delegation_type, body.recall
        )
        return delegation

    def looked_at(self, handle: bytes, result: Open4Res, change: int | None, size: int | None) -> None:
        """What GETATTR after an OPEN in the same compound has said, for CB_GETATTR (section 10.4.3).

        `change` is to be that of the grant, also after our writes: the server has these, and none is kept back.
        """
        delegation = self.delegations.get(handle)
        if delegation is None or result.resok4 is None:
            return
        if result.resok4.delegation.write is not None:
            delegation.change = change
        delegation.size = size

    def recall(self, handle: bytes, stateid: Stateid4) -> Delegation | None:
        """Mark a delegation as recalled; None where the client has none like it."""
        delegation = self.delegations.get(handle)
        if delegation is None or delegation.stateid.other != stateid.other:
            return None
        delegation.recalled = True
        return delegation

    def delegations_of(self, types: int) -> list[Delegation]:
        """Those of the types of a bitmap RCA4_TYPE_MASK (section 20.6.2), the oldest first."""
        return [held for held in self.delegations.values() if types >> held.is_write & 1]

    def returned(self, delegation: Delegation) -> None:
        """It was given back, or revoked."""
        if self.delegations.get(delegation.handle) is delegation:
            del self.delegations[delegation.handle]

    # ------------------------------------------------------------ stateids

    def for_reading(self, opened: Open) -> Stateid4:
        """Which stateid a READ carries: the delegation's, else the open's (section 8.2.5)."""
        delegation = self.delegations.get(opened.handle)
        return opened.stateid if delegation is None or delegation.recalled else delegation.stateid

    def revoked(self, stateid: Stateid4) -> Delegation | Open | Locks | None:
        """Forget the state that a stateid belongs to; what it was."""
        for delegation in self.delegations.values():
            if delegation.stateid.other == stateid.other:
                self.returned(delegation)
                return delegation
        for locks in self.locks.values():
            if locks.stateid.other == stateid.other:
                locks.lost = True
                return locks
        for opened in self.opens.values():
            if opened.stateid.other == stateid.other:
                opened.lost = True
                return opened
        return None

    def all_stateids(self) -> list[Stateid4]:
        """Of everything held, for TEST_STATEID."""
        states: list[Open | Locks | Delegation] = [
            *self.opens.values(),
            *self.locks.values(),
            *self.delegations.values(),
        ]
        return [state.stateid for state in states]
