# SPDX-License-Identifier: MIT
"""LOCK, LOCKT and LOCKU (RFC 5661 sections 9.1 to 9.5 and 18.10 to 18.12): ranges that overlap, split and join."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import NfsLockType4, Nfsstat4
from nfsjudge import Harm, expect, must, observe, proves, skip, stated
from suites.nfs4.locks import (
    READ_LT,
    TO_THE_END,
    WRITE_LT,
    Pair,
    lock_range,
    need_64_bits,
    opened_by_two,
    test_range,
    try_lock,
    try_lock_more,
)
from suites.nfs4.opens import BOTH, another_client, open_file
from suites.nfs4.test_lock import (
    CONFLICT_IS_DENIED,
    ONE_OWNER_REPLACES,
    OWNERS_EXCLUDE_EACH_OTHER,
    READERS_SHARE,
)
from suites.nfs4.test_lockt import FINDS_CONFLICTS, NOTHING_HELD_IS_OK
from suites.nfs4.test_locku import UNLOCKS, UNLOCKS_A_PART

OWNERS_ARE_OF_CLIENTS = stated(
    "RFC 5661",
    "9.1.1",
    "a lock-owner is that of one client: owners of two clients with the same bytes exclude each other",
    harm=Harm.DATA,
)
DENIED_LOCKS_NOTHING = stated(
    "RFC 5661",
    "15.1.8.3",
    "a LOCK that gets NFS4ERR_DENIED is denied as a whole: it locks no part of its range",
    also={"4.0": ("RFC 7530", "13.1.8.4")},
)
LOCKT_LOCKS_NOTHING = stated(
    "RFC 5661",
    "18.11.3",
    "LOCKT tests a lock, and locks nothing",
    also={"4.0": ("RFC 7530", "16.11.4")},
)
LOCKT_NEEDS_NO_OPEN = stated(
    "RFC 5661", "18.11.4", "a client does not have to open the file to test for a lock"
)
LOCKT_KNOWS_THE_CLIENT = stated(
    "RFC 5661",
    "18.11.3",
    "LOCKT returns the client id of the conflicting lock, also if it is that of the session itself",
)
UNLOCKED_IS_NO_ERROR = stated(
    "RFC 5661",
    "18.12.4",
    "LOCKU of a range that its owner has not locked unlocks nothing of others; it may get NFS4ERR_LOCK_RANGE",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.12.5")},
)
LAST_LOCK_COUNTS = must(
    "RFC 5661",
    "9.5",
    "what a lock-owner has locked is as its last LOCK or LOCKU says, whichever open that was sent for",
    harm=Harm.DATA,
)
OPENS_SHARE_LOCK_OWNERS = stated(
    "RFC 5661", "9.5", "a lock-owner can send LOCK and LOCKU of one file by several opens of its client"
)
LOCKS_FAR_BYTES = stated(
    "RFC 5661",
    "18.10.3",
    "bytes may be locked that are not allocated to the file, however far beyond its end",
    also={"4.0": ("RFC 7530", "16.10.4")},
)
_RANGES: t.Final = {
    "same": (100, 50),
    "inside": (110, 10),
    "first": (100, 1),
    "last": (149, 1),
    "around": (50, 200),
    "overlaps-start": (90, 11),
    "overlaps-end": (149, 20),
    "to-the-end": (120, TO_THE_END),
    "touches-start": (90, 10),
    "touches-end": (150, 10),
    "before": (0, 10),
    "after": (1000, TO_THE_END),
}
"""Ranges, compared with the one of 50 bytes from 100."""
_APART: t.Final = {"touches-start", "touches-end", "before", "after"}
_TYPES: t.Final = {"read": READ_LT, "write": WRITE_LT}
_UNSUPPORTED: t.Final = frozenset({Nfsstat4.NFS4ERR_LOCK_RANGE, Nfsstat4.NFS4ERR_LOCK_NOTSUPP})


def _excludes(held: NfsLockType4, wanted: NfsLockType4, where: str) -> bool:
    return where not in _APART and WRITE_LT in (held, wanted)


@pytest.mark.parametrize("held", _TYPES)
@proves(
    CONFLICT_IS_DENIED,
    READERS_SHARE,
    killed_by=("lock4-first-byte-is-free", "lock4-last-byte-is-free", "lock4-touching-conflicts"),
)
def test_matrix(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, held: str) -> None:
    """LOCK by another client is denied exactly where a range of both has a byte in common, and one of them writes."""
    pair = opened_by_two(v4, compounds, scratch)
    lock_range(compounds, pair.mine, _TYPES[held], 100, 50)
    for wanted, locktype in _TYPES.items():
        for where, (offset, length) in _RANGES.items():
            reply = try_lock(pair.other, pair.theirs, locktype, offset, length)
            what = f"LOCK to {wanted} ({where}) of a range that another client has locked to {held}"
            is_denied = _excludes(_TYPES[held], locktype, where)
            _expect(reply, what, is_denied=is_denied)
            if reply.status == Nfsstat4.NFS4_OK:
                unlocking = op.locku(reply.stateid, offset, length)
                expect(pair.other.compound(op.putfh(pair.file), unlocking)).ok()


@pytest.mark.parametrize("held", _TYPES)
@proves(
    FINDS_CONFLICTS, NOTHING_HELD_IS_OK, killed_by=("lockt4-first-byte-is-free", "lockt4-touching-conflicts")
)
def test_tested_matrix(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, held: str) -> None:
    """LOCKT is denied exactly where a range has a byte of another client's lock, and one of them writes."""
    pair = opened_by_two(v4, compounds, scratch)
    lock_range(compounds, pair.mine, _TYPES[held], 100, 50)
    for wanted, locktype in _TYPES.items():
        for where, (offset, length) in _RANGES.items():
            reply = test_range(pair.other, pair.file, locktype, offset, length)
            what = f"LOCKT to {wanted} ({where}) of a range that another client has locked to {held}"
            is_denied = _excludes(_TYPES[held], locktype, where)
            because = FINDS_CONFLICTS if is_denied else NOTHING_HELD_IS_OK
            _expect(reply, what, is_denied=is_denied, because=because)


def _expect(reply: CompoundReply, what: str, *, is_denied: bool, because: t.Any = CONFLICT_IS_DENIED) -> None:
    __tracebackhide__ = True
    wanted = Nfsstat4.NFS4ERR_DENIED if is_denied else Nfsstat4.NFS4_OK
    if reply.status not in {Nfsstat4.NFS4ERR_DENIED, Nfsstat4.NFS4_OK}:
        expect(reply, because=because).ok()
    expect(reply.status, what, of=reply.res, field="status", because=because).equals(wanted)


# ---------------------------------------------------------------- one owner


def _replaced(
    v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, *locks: tuple[NfsLockType4, int, int]
) -> tuple[Pair, p.Stateid4]:
    """What a lock-owner has after several LOCKs, and its stateid. SKIP on a server that locks no parts of ranges."""
    pair = opened_by_two(v4, compounds, scratch)
    stateid = lock_range(compounds, pair.mine, *locks[0])
    for locktype, offset, length in locks[1:]:
        reply = try_lock_more(compounds, pair.mine, stateid, locktype, offset, length)
        observe("LOCK of a range that the owner has locked", reply.status.name)
        if reply.status in _UNSUPPORTED:
            skip(f"the server does not support such a LOCK by the owner of the range: {reply.status.name}")
        stateid = expect(reply, because=ONE_OWNER_REPLACES).ok().stateid
    return pair, stateid


def _expect_locked(pair: Pair, *parts: tuple[int, int, NfsLockType4 | None]) -> None:
    """Each part is locked for the other client as this type says, in its first byte and its last one."""
    __tracebackhide__ = True
    for start, end, held in parts:
        for at in (start, end - 1):
            for wanted in (READ_LT, WRITE_LT):
                is_denied = held is not None and WRITE_LT in (held, wanted)
                reply = test_range(pair.other, pair.file, wanted, at, 1)
                what = f"{wanted.name} of byte {at} by another client"
                _expect(reply, what, is_denied=is_denied, because=ONE_OWNER_REPLACES)


@proves(ONE_OWNER_REPLACES, killed_by="lock4-upgrades-the-whole-range")
def test_upgrade_inside(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A write lock in the middle of a read lock of the same owner leaves a read lock on both sides."""
    pair, _ = _replaced(v4, compounds, scratch, (READ_LT, 0, 100), (WRITE_LT, 40, 20))
    _expect_locked(pair, (0, 40, READ_LT), (40, 60, WRITE_LT), (60, 100, READ_LT), (100, 101, None))


@proves(ONE_OWNER_REPLACES, killed_by="lock4-downgrades-the-whole-range")
def test_downgrade_inside(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A read lock in the middle of a write lock of the same owner leaves a write lock on both sides."""
    pair, _ = _replaced(v4, compounds, scratch, (WRITE_LT, 0, 100), (READ_LT, 40, 20))
    _expect_locked(pair, (0, 40, WRITE_LT), (40, 60, READ_LT), (60, 100, WRITE_LT), (100, 101, None))


@proves(ONE_OWNER_REPLACES, killed_by="lock4-around-keeps-what-was")
def test_around(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A write lock around a read lock of the same owner is a write lock of the whole range."""
    pair, _ = _replaced(v4, compounds, scratch, (READ_LT, 40, 20), (WRITE_LT, 0, 100))
    _expect_locked(pair, (0, 40, WRITE_LT), (40, 60, WRITE_LT), (60, 100, WRITE_LT), (100, 101, None))


@proves(ONE_OWNER_REPLACES, killed_by="lock4-overlap-takes-the-first-type")
def test_overlap(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Where two locks of one owner overlap, the type is that of the second one."""
    pair, _ = _replaced(v4, compounds, scratch, (WRITE_LT, 0, 60), (READ_LT, 40, 60))
    _expect_locked(pair, (0, 40, WRITE_LT), (40, 60, READ_LT), (60, 100, READ_LT), (100, 101, None))


def _unlock(compounds: Compounds, pair: Pair, stateid: p.Stateid4, offset: int, length: int) -> None:
    reply = compounds.compound(op.putfh(pair.file), op.locku(stateid, offset, length))
    observe("LOCKU of a range that is not exactly a lock", reply.status.name)
    if reply.status == Nfsstat4.NFS4ERR_LOCK_RANGE:
        skip("the server unlocks only ranges that were locked as such")
    expect(reply).ok()


def _locked_twice(
    v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, second: int
) -> tuple[Pair, p.Stateid4]:
    """Two write locks of one owner, of 10 bytes each, at 0 and at `second`."""
    pair = opened_by_two(v4, compounds, scratch)
    first = lock_range(compounds, pair.mine, WRITE_LT, 0, 10)
    return pair, expect(try_lock_more(compounds, pair.mine, first, WRITE_LT, second, 10)).ok().stateid


@pytest.mark.parametrize("second", [10, 20], ids=["touching", "apart"])
@proves(UNLOCKS, killed_by="locku4-unlocks-one-range")
def test_unlock_both(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, second: int) -> None:
    """LOCKU of a range with two locks of its owner unlocks both."""
    pair, stateid = _locked_twice(v4, compounds, scratch, second)
    _unlock(compounds, pair, stateid, 0, second + 10)
    expect(test_range(pair.other, pair.file, WRITE_LT, 0, second + 10)).ok()


@proves(UNLOCKS_A_PART, killed_by="locku4-unlocks-from-the-start")
def test_unlock_end(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCKU of the end of a locked range, and beyond, leaves its beginning locked."""
    pair = opened_by_two(v4, compounds, scratch)
    stateid = lock_range(compounds, pair.mine, WRITE_LT, 0, 100)
    _unlock(compounds, pair, stateid, 50, 100)
    _expect_locked(pair, (0, 50, WRITE_LT), (50, 150, None))


@proves(UNLOCKS_A_PART, killed_by="locku4-unlocks-to-the-end")
def test_unlock_start(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCKU of the beginning of a locked range, and before it, leaves its end locked."""
    pair = opened_by_two(v4, compounds, scratch)
    stateid = lock_range(compounds, pair.mine, WRITE_LT, 50, 100)
    _unlock(compounds, pair, stateid, 0, 100)
    _expect_locked(pair, (0, 100, None), (100, 150, WRITE_LT))


@proves(UNLOCKS, killed_by="locku4-to-the-end-is-to-the-size")
def test_unlock_all(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCKU to the end of the file unlocks a lock to the end, with the bytes that the file does not have."""
    pair = opened_by_two(v4, compounds, scratch)
    stateid = lock_range(compounds, pair.mine, WRITE_LT, 0, TO_THE_END)
    expect(compounds.compound(op.putfh(pair.file), op.locku(stateid, 0, TO_THE_END))).ok()
    expect(test_range(pair.other, pair.file, WRITE_LT, 0, TO_THE_END)).ok()


@proves(UNLOCKED_IS_NO_ERROR, killed_by="locku4-unlocks-for-others")
def test_unlock_of_others(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCKU of a range that another client has locked, and the owner has not, leaves it locked."""
    pair = opened_by_two(v4, compounds, scratch)
    lock_range(pair.other, pair.theirs, WRITE_LT, 20, 10)
    stateid = lock_range(compounds, pair.mine, WRITE_LT, 0, 10)
    reply = compounds.compound(op.putfh(pair.file), op.locku(stateid, 20, 10))
    observe("LOCKU of what the owner has not locked", reply.status.name)
    expect(reply).status(Nfsstat4.NFS4_OK, Nfsstat4.NFS4ERR_LOCK_RANGE)
    expect(test_range(compounds, pair.file, WRITE_LT, 20, 10)).refused(
        Nfsstat4.NFS4ERR_DENIED, because=UNLOCKED_IS_NO_ERROR
    )


# ---------------------------------------------------------------- far bytes


@pytest.mark.parametrize("offset", [1 << 31, 1 << 32, 1 << 62], ids=["2-gib", "4-gib", "4-eib"])
@proves(LOCKS_FAR_BYTES, killed_by="lock4-offsets-are-of-31-bits")
def test_far(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, offset: int) -> None:
    """A lock far beyond the end of the file excludes others from its bytes, and from no bytes before them."""
    pair = opened_by_two(v4, compounds, scratch)
    if offset > p.NFS4_UINT32_MAX:
        need_64_bits(compounds, pair.file)
    lock_range(compounds, pair.mine, WRITE_LT, offset, 10)
    expect(test_range(pair.other, pair.file, READ_LT, offset + 9, 1)).refused(
        Nfsstat4.NFS4ERR_DENIED, because=LOCKS_FAR_BYTES
    )
    expect(test_range(pair.other, pair.file, WRITE_LT, 0, 10)).ok()
    expect(test_range(pair.other, pair.file, WRITE_LT, offset + 10, 10)).ok()


# ---------------------------------------------------------------- owners


@proves(OWNERS_ARE_OF_CLIENTS, killed_by="lock4-owners-are-of-all-clients")
def test_same_owner(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A lock that conflicts with one of another client is denied although both lock-owners have the same bytes."""
    pair, owner = opened_by_two(v4, compounds, scratch), new_state_owner()
    lock_range(pair.other, pair.theirs, WRITE_LT, 0, 10, owner=owner)
    expect(try_lock(compounds, pair.mine, WRITE_LT, 5, 10, owner=owner)).refused(
        Nfsstat4.NFS4ERR_DENIED, because=OWNERS_ARE_OF_CLIENTS
    )
    expect(test_range(compounds, pair.file, WRITE_LT, 5, 10, owner=owner)).refused(
        Nfsstat4.NFS4ERR_DENIED, because=OWNERS_ARE_OF_CLIENTS
    )


@proves(
    OWNERS_EXCLUDE_EACH_OTHER,
    LOCKT_KNOWS_THE_CLIENT,
    killed_by=("lockt4-one-client-is-free", "lockt4-own-client-is-zero"),
)
def test_tested_by_same_client(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCKT finds a lock of another lock-owner of the same client, and returns the client id."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    lock_range(compounds, opened, WRITE_LT, 0, 10)
    reply = test_range(compounds, opened.handle, READ_LT, 5, 1)
    expect(reply).refused(Nfsstat4.NFS4ERR_DENIED, because=OWNERS_EXCLUDE_EACH_OTHER)
    denied = reply.of(p.LOCKT).denied
    assert denied is not None
    expect(denied.owner, because=LOCKT_KNOWS_THE_CLIENT).field("clientid", "client id").equals(
        compounds.clientid
    )


@proves(
    LAST_LOCK_COUNTS,
    OPENS_SHARE_LOCK_OWNERS,
    killed_by=("lock4-owners-are-of-one-open", "lock4-opens-keep-their-locks"),
)
def test_two_opens(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A lock-owner that locks a range by another open of its client replaces its own lock, and can unlock it."""
    pair, owner = opened_by_two(v4, compounds, scratch), new_state_owner()
    second = open_file(compounds, pair.file, BOTH)
    lock_range(compounds, pair.mine, WRITE_LT, 0, 10, owner=owner)
    reply = try_lock(compounds, second, READ_LT, 0, 10, owner=owner)
    observe("LOCK of the same range by another open", reply.status.name)
    if reply.status in _UNSUPPORTED:
        skip(f"the server does not support such a LOCK by the owner of the range: {reply.status.name}")
    stateid = expect(reply, because=OPENS_SHARE_LOCK_OWNERS).ok().stateid
    expect(test_range(pair.other, pair.file, READ_LT, 0, 10), because=LAST_LOCK_COUNTS).ok()
    expect(test_range(pair.other, pair.file, WRITE_LT, 0, 10)).refused(
        Nfsstat4.NFS4ERR_DENIED, because=LAST_LOCK_COUNTS
    )
    unlocked = compounds.compound(op.putfh(pair.file), op.locku(stateid, 0, 10))
    expect(unlocked, because=OPENS_SHARE_LOCK_OWNERS).ok()
    expect(test_range(pair.other, pair.file, WRITE_LT, 0, 10), because=LAST_LOCK_COUNTS).ok()


# ---------------------------------------------------------------- what leaves no lock


@proves(DENIED_LOCKS_NOTHING, killed_by="lock4-denied-locks-what-is-free")
def test_denied_locks_nothing(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A LOCK that is denied for a part of its range leaves the rest of it free."""
    pair = opened_by_two(v4, compounds, scratch)
    lock_range(pair.other, pair.theirs, WRITE_LT, 10, 10)
    if try_lock(compounds, pair.mine, WRITE_LT, 0, 30).status == Nfsstat4.NFS4_OK:
        skip("LOCK of a range with a lock of another client is granted: another check judges that")
    for offset in (0, 20):
        expect(test_range(pair.other, pair.file, WRITE_LT, offset, 10), because=DENIED_LOCKS_NOTHING).ok()


@proves(LOCKT_LOCKS_NOTHING, killed_by="lockt4-locks")
def test_test_locks_nothing(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """After LOCKT that finds no conflict, another client can lock the range."""
    pair = opened_by_two(v4, compounds, scratch)
    expect(test_range(compounds, pair.file, WRITE_LT, 0, 10)).ok()
    expect(try_lock(pair.other, pair.theirs, WRITE_LT, 0, 10), because=LOCKT_LOCKS_NOTHING).ok()


@proves(LOCKT_NEEDS_NO_OPEN, killed_by="lockt4-needs-an-open")
def test_without_open(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCKT by a client that does not have the file open finds a lock, and succeeds where there is none."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    lock_range(compounds, opened, WRITE_LT, 0, 10)
    other = another_client(v4)
    expect(test_range(other, opened.handle, READ_LT, 0, 10)).refused(
        Nfsstat4.NFS4ERR_DENIED, because=LOCKT_NEEDS_NO_OPEN
    )
    expect(test_range(other, opened.handle, READ_LT, 10, 10)).ok()
