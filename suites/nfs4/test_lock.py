# SPDX-License-Identifier: MIT
"""LOCK (RFC 5661 section 18.10): byte-range locks."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner, through_grace
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import NfsLockType4, Nfsstat4
from nfsjudge import Harm, Level, expect, must, observe, proves, should, stated
from suites.nfs4.locks import (
    READ_LT,
    TO_THE_END,
    WRITE_LT,
    lock_range,
    need_64_bits,
    opened_by_two,
    test_range,
    try_lock,
    try_lock_more,
)
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, READ, WRITE, another_client, open_file

CONFLICT_IS_DENIED = stated(
    "RFC 5661",
    "15.1.8.3",
    "NFS4ERR_DENIED: an attempt to lock a file is denied",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "13.1.8.4")},
)
READERS_SHARE = stated(
    "RFC 5661", "9.1.2", "READ_LT is a shared lock, WRITE_LT an exclusive one", harm=Harm.DATA
)
DENIED_NAMES_THE_LOCK = stated(
    "RFC 5661",
    "18.10.3",
    "NFS4ERR_DENIED comes with owner, offset, and length of a conflicting lock",
    also={"4.0": ("RFC 7530", "16.10.4")},
)
DENIED_HAS_A_CLIENTID = must(
    "RFC 5661", "18.10.3", "the owner in LOCK4denied has the client id of the conflicting lock"
)
RANGE_IS_CHECKED = must(
    "RFC 5661",
    "18.10.3",
    "a length of zero, or a range that exceeds NFS4_UINT64_MAX, gets NFS4ERR_INVAL",
    also={"4.0": ("RFC 7530", "16.10.4", Level.STATED)},
)
LOCKS_TO_THE_END = stated(
    "RFC 5661",
    "18.10.3",
    "a length of NFS4_UINT64_MAX locks from the offset through the end of the file, however long it is",
    also={"4.0": ("RFC 7530", "16.10.4")},
)
ONE_OWNER_REPLACES = stated(
    "RFC 5661",
    "9.3",
    "an upgrade or downgrade without a conflict succeeds, or the server does not support it",
    also={"4.0": ("RFC 7530", "9.3")},
)
WAITING_IS_NO_OTHER_LOCK = stated(
    "RFC 5661",
    "9.6",
    "READW_LT and WRITEW_LT ask for a read or write lock; a conflict is denied, and the client asks again",
)
LOCKS_THE_REQUEST = stated(
    "RFC 5661",
    "18.10.3",
    "LOCK is for the byte-range of its offset and length: bytes between two locks of an owner are nobody's",
    also={"4.0": ("RFC 7530", "16.10.4")},
)
OWNERS_EXCLUDE_EACH_OTHER = stated(
    "RFC 5661",
    "9.1.1",
    "a lock belongs to a lock-owner: it excludes other lock-owners of the same client like those of others",
    harm=Harm.DATA,
)
UPGRADE_NEEDS_THE_RANGE = stated(
    "RFC 5661",
    "9.3",
    "an upgrade to WRITE_LT that conflicts with a lock of another owner is denied",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "9.3")},
)
SEQIDS_ARE_IGNORED = must(
    "RFC 5661",
    "18.10.3",
    "open_seqid and lock_seqid may have any value and are ignored, as is seqid of OPEN, LOCKU and CLOSE",
)
SAME_OWNER_SAME_STATEID = must(
    "RFC 5661",
    "9.4",
    "LOCK returns the other field of the stateid in its arguments, and increments seqid whenever locks change",
)
OPENMODE_IS_ITS_NAME = should(  # no text says that an open must permit what a lock is for
    "RFC 5661",
    "15.1.8.8",
    "NFS4ERR_OPENMODE: the stateid does not sanction the LOCK, such as a write lock of a file that is open for reading",
    also={"4.0": ("RFC 7530", "13.1.8.9")},
)
REFUSED_LOCKS_NOTHING = stated(
    "RFC 5661", "18.10.3", "LOCK that fails locks nothing, LOCK that succeeds locks its byte-range"
)
OWNERS_CLIENTID_IS_IGNORED = must(
    "RFC 5661",
    "18.10.3",
    "the client may set the clientid in the lock-owner of LOCK to any value, and the server ignores it",
)


@MINORS
@pytest.mark.parametrize(
    ("held", "wanted"),
    [(READ_LT, WRITE_LT), (WRITE_LT, READ_LT), (WRITE_LT, WRITE_LT)],
    ids=["read-write", "write-read", "write-write"],
)
@proves(CONFLICT_IS_DENIED, killed_by="lock4-grants-always")
def test_conflict(
    v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, held: NfsLockType4, wanted: NfsLockType4
) -> None:
    """A lock that conflicts with one of another client is denied."""
    pair = opened_by_two(v4, compounds, scratch)
    lock_range(pair.other, pair.theirs, held, 5, 10)
    expect(try_lock(compounds, pair.mine, wanted, 14, 1)).refused(
        Nfsstat4.NFS4ERR_DENIED, because=CONFLICT_IS_DENIED
    )


@MINORS
@proves(CONFLICT_IS_DENIED, killed_by="lock4-locks-whole-files")
def test_neighbours(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Locks of ranges that touch do not conflict."""
    pair = opened_by_two(v4, compounds, scratch)
    lock_range(pair.other, pair.theirs, WRITE_LT, 5, 10)
    expect(try_lock(compounds, pair.mine, WRITE_LT, 15, 5)).ok()
    expect(try_lock(compounds, pair.mine, WRITE_LT, 0, 5)).ok()


@MINORS
@proves(READERS_SHARE, killed_by="lock4-read-locks-exclude")
def test_shared(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Two clients may lock the same range for reading."""
    pair = opened_by_two(v4, compounds, scratch)
    lock_range(pair.other, pair.theirs, READ_LT, 0, 10)
    expect(try_lock(compounds, pair.mine, READ_LT, 0, 10)).ok()


@MINORS
@proves(
    DENIED_NAMES_THE_LOCK,
    DENIED_HAS_A_CLIENTID,
    killed_by=("lock4-denied-has-another-range", "lock4-denied-names-nobody"),
)
def test_denied(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCK4denied has the range, the type and the owner of the lock in the way."""
    pair, owner = opened_by_two(v4, compounds, scratch), new_state_owner()
    lock_range(pair.other, pair.theirs, WRITE_LT, 100, 50, owner=owner)
    reply = try_lock(compounds, pair.mine, READ_LT, 0, TO_THE_END)
    expect(reply).refused(Nfsstat4.NFS4ERR_DENIED)
    denied = reply.of(p.LOCK).denied
    assert denied is not None
    # The range of the request, where the server cannot tell that of the lock (section 18.10.4).
    expect((denied.offset, denied.length), "offset and length", of=denied, field="offset").one_of(
        (100, 50), (0, TO_THE_END)
    )
    expect(denied).field("locktype").equals(WRITE_LT)
    expect(bytes(denied.owner.owner), "owner", of=denied, field="owner.owner").equals(owner)
    expect(denied.owner, because=DENIED_HAS_A_CLIENTID).field("clientid", "client id").equals(
        pair.other.clientid
    )


@MINORS
@pytest.mark.parametrize(
    ("offset", "length"),
    [(0, 0), (10, 0), (p.NFS4_UINT64_MAX, 2), (p.NFS4_UINT64_MAX - 5, 10)],
    ids=["zero", "zero-inside", "last-byte", "beyond"],
)
@proves(RANGE_IS_CHECKED, killed_by="lock4-wrong-range-is-badrange")
def test_invalid_range(compounds: Compounds, scratch: Nfs4Scratch, offset: int, length: int) -> None:
    """A range without bytes, or with bytes that no file can have, is invalid."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    if offset > p.NFS4_UINT32_MAX:
        need_64_bits(compounds, opened.handle)
    expect(try_lock(compounds, opened, WRITE_LT, offset, length)).refused(
        Nfsstat4.NFS4ERR_INVAL, because=RANGE_IS_CHECKED
    )


@MINORS
@proves(LOCKS_TO_THE_END, killed_by="lock4-to-the-end-is-to-the-size")
def test_to_the_end(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A lock to the end of the file excludes bytes that the file does not have yet."""
    pair = opened_by_two(v4, compounds, scratch)
    lock_range(pair.other, pair.theirs, WRITE_LT, 5, TO_THE_END)
    expect(try_lock(compounds, pair.mine, READ_LT, 1 << 30, 1)).refused(
        Nfsstat4.NFS4ERR_DENIED, because=LOCKS_TO_THE_END
    )


@MINORS
@pytest.mark.parametrize(
    ("first", "second"), [(READ_LT, WRITE_LT), (WRITE_LT, READ_LT)], ids=["upgrade", "downgrade"]
)
@proves(ONE_OWNER_REPLACES, killed_by="lock4-own-locks-conflict")
def test_change_type(
    v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, first: NfsLockType4, second: NfsLockType4
) -> None:
    """A lock-owner may lock a range again with the other type; then the range has that type."""
    pair = opened_by_two(v4, compounds, scratch)
    stateid = lock_range(compounds, pair.mine, first, 0, 10)
    reply = try_lock_more(compounds, pair.mine, stateid, second, 0, 10)
    observe("change of the type of a lock", reply.status.name)
    expect(reply).status(Nfsstat4.NFS4_OK, Nfsstat4.NFS4ERR_LOCK_NOTSUPP, Nfsstat4.NFS4ERR_LOCK_RANGE)
    if reply.status == Nfsstat4.NFS4_OK:
        tested = test_range(pair.other, pair.file, READ_LT, 0, 10)
        expect(tested).status(Nfsstat4.NFS4_OK if second == READ_LT else Nfsstat4.NFS4ERR_DENIED)


@MINORS
@proves(
    LOCKS_THE_REQUEST,
    CONFLICT_IS_DENIED,
    killed_by=("lock4-locks-the-gap", "lock4-forgets-the-range-before"),
)
def test_gap(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Two ranges that one owner has locked exclude another client, and the bytes between them do not."""
    pair = opened_by_two(v4, compounds, scratch)
    stateid = lock_range(compounds, pair.mine, WRITE_LT, 0, 10)
    expect(try_lock_more(compounds, pair.mine, stateid, WRITE_LT, 20, 10)).ok()
    expect(test_range(pair.other, pair.file, WRITE_LT, 12, 2), because=LOCKS_THE_REQUEST).ok()
    expect(try_lock(pair.other, pair.theirs, WRITE_LT, 12, 2), because=LOCKS_THE_REQUEST).ok()
    for offset in (5, 25):
        expect(try_lock(pair.other, pair.theirs, WRITE_LT, offset, 2)).refused(
            Nfsstat4.NFS4ERR_DENIED, because=CONFLICT_IS_DENIED
        )


@pytest.mark.parametrize(
    ("held", "wanted"),
    [(READ_LT, WRITE_LT), (WRITE_LT, READ_LT), (WRITE_LT, WRITE_LT)],
    ids=["read-write", "write-read", "write-write"],
)
@proves(OWNERS_EXCLUDE_EACH_OTHER, killed_by="lock4-one-client-has-no-conflicts")
def test_owners_of_one_client(
    compounds: Compounds, scratch: Nfs4Scratch, held: NfsLockType4, wanted: NfsLockType4
) -> None:
    """A lock that conflicts with one of another lock-owner of the same client is denied, by any open of the file."""
    opened = open_file(compounds, scratch.file("file", b"0123456789"), BOTH)
    lock_range(compounds, opened, held, 0, 10)
    for owner in (opened, open_file(compounds, opened.handle, BOTH)):
        expect(try_lock(compounds, owner, wanted, 5, 10)).refused(
            Nfsstat4.NFS4ERR_DENIED, because=OWNERS_EXCLUDE_EACH_OTHER
        )


@pytest.mark.parametrize("reader", ["another-client", "same-client"])
@proves(
    UPGRADE_NEEDS_THE_RANGE,
    READERS_SHARE,
    CONFLICT_IS_DENIED,
    killed_by=("lock4-upgrades-over-readers", "lock4-denied-upgrades-unlock"),
)
def test_upgrade_denied(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, reader: str) -> None:
    """A read lock becomes no write lock while another owner has a read lock of the range, and stays a read lock."""
    pair = opened_by_two(v4, compounds, scratch)
    stateid = lock_range(compounds, pair.mine, READ_LT, 0, 10)
    if reader == "another-client":
        expect(try_lock(pair.other, pair.theirs, READ_LT, 5, 10), because=READERS_SHARE).ok()
    else:
        expect(try_lock(compounds, pair.mine, READ_LT, 5, 10), because=READERS_SHARE).ok()
    reply = try_lock_more(compounds, pair.mine, stateid, WRITE_LT, 0, 10)
    observe("upgrade with another reader", reply.status.name)
    # A server that cannot upgrade says so, whatever the conflict (sections 9.2 and 9.3).
    expect(reply).refused(
        *(Nfsstat4.NFS4ERR_DENIED, Nfsstat4.NFS4ERR_DEADLOCK),
        *(Nfsstat4.NFS4ERR_LOCK_NOTSUPP, Nfsstat4.NFS4ERR_LOCK_RANGE),
        because=UPGRADE_NEEDS_THE_RANGE,
    )
    expect(test_range(pair.other, pair.file, READ_LT, 0, 10), because=READERS_SHARE).ok()
    # Where the reader of this check has no lock.
    expect(test_range(pair.other, pair.file, WRITE_LT, 0, 5)).refused(
        Nfsstat4.NFS4ERR_DENIED, because=CONFLICT_IS_DENIED
    )


@MINORS
@proves(SAME_OWNER_SAME_STATEID, killed_by="lock4-second-keeps-the-seqid")
def test_seqid(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A further LOCK of a lock-owner returns the same stateid, one seqid on."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    first = lock_range(compounds, opened, WRITE_LT, 0, 10)
    second = expect(try_lock_more(compounds, opened, first, WRITE_LT, 20, 10)).ok().stateid
    expect(second).field("other").equals(first.other)
    expect(second).field("seqid").equals(first.seqid + 1)


@MINORS
@proves(OWNERS_CLIENTID_IS_IGNORED, killed_by="lock4-compares-the-clientid")
def test_clientid_of_owner(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """What LOCK returns works in LOCK and LOCKU although the client ID in the lock-owner is another one."""
    opened = open_file(compounds, scratch.file("file", b"0123456789"), BOTH)
    owner = p.StateOwner4(compounds.clientid ^ 1, new_state_owner())
    stateid = lock_range(compounds, opened, WRITE_LT, 0, 2, owner=owner)
    more = expect(try_lock_more(compounds, opened, stateid, WRITE_LT, 4, 2)).ok().stateid
    expect(compounds.compound(op.putfh(opened.handle), op.locku(more, 4, 2))).ok()


@MINORS
@pytest.mark.parametrize("wanted", [NfsLockType4.READW_LT, NfsLockType4.WRITEW_LT], ids=["readw", "writew"])
@proves(WAITING_IS_NO_OTHER_LOCK, killed_by=("lock4-waits-without-a-conflict", "lockt4-waiting-is-free"))
def test_waiting(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, wanted: NfsLockType4) -> None:
    """A lock for which the client would wait is granted or denied at once, as LOCKT says."""
    pair = opened_by_two(v4, compounds, scratch)
    lock_range(pair.other, pair.theirs, WRITE_LT, 0, 10)
    expect(test_range(compounds, pair.file, wanted, 0, 10)).refused(Nfsstat4.NFS4ERR_DENIED)
    expect(try_lock(compounds, pair.mine, wanted, 0, 10)).refused(Nfsstat4.NFS4ERR_DENIED)
    expect(test_range(compounds, pair.file, wanted, 10, 10)).ok()
    expect(try_lock(compounds, pair.mine, wanted, 10, 10)).ok()
    held = test_range(pair.other, pair.file, READ_LT, 10, 10)
    is_free = wanted is NfsLockType4.READW_LT
    expect(held).status(Nfsstat4.NFS4_OK if is_free else Nfsstat4.NFS4ERR_DENIED)


@MINORS
@proves(SEQIDS_ARE_IGNORED, killed_by=("lock4-compares-seqids", "locku4-compares-seqids"))
def test_any_seqid(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN, LOCK, LOCKU and CLOSE succeed with any seqid of an owner."""
    file, seqid = scratch.file("file"), 0x1234_5678
    opened = open_file(compounds, file, BOTH, seqid=seqid)
    first = lock_range(compounds, opened, WRITE_LT, 0, 10, open_seqid=seqid, lock_seqid=seqid)
    more = op.lock_more(first, WRITE_LT, 20, 10, lock_seqid=seqid)
    second = expect(through_grace(compounds, op.putfh(file), more)).ok().stateid
    # Each of one lock, as it was locked: a server may refuse any other range (LOCK_RANGE, section 18.12.4).
    for offset in (0, 20):
        second = (
            expect(compounds.compound(op.putfh(file), op.locku(second, offset, 10, seqid=seqid))).ok().stateid
        )
    expect(second).field("other").equals(first.other)
    expect(compounds.compound(op.putfh(file), op.close(opened.stateid, seqid=seqid))).ok()


@MINORS
@pytest.mark.parametrize("opened", ["reading", "writing"])
@proves(
    REFUSED_LOCKS_NOTHING,
    OPENMODE_IS_ITS_NAME,
    killed_by=("lock4-openmode-locks-all-the-same", "lock4-openmode-is-bad-stateid"),
)
def test_beyond_the_open(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, opened: str) -> None:
    """A lock that the open does not permit is refused by OPENMODE and locks nothing, or it is granted."""
    file = scratch.file("file", b"0123456789")
    access, wanted = (READ, WRITE_LT) if opened == "reading" else (WRITE, READ_LT)
    reply = try_lock(compounds, open_file(compounds, file, access), wanted, 0, 10)
    observe("LOCK that the open does not permit", reply.status.name)
    seen = test_range(another_client(v4), file, WRITE_LT, 0, 10)
    if reply.status == Nfsstat4.NFS4_OK:
        expect(seen).refused(Nfsstat4.NFS4ERR_DENIED)
        return
    expect(seen).ok()
    expect(reply).refused(Nfsstat4.NFS4ERR_OPENMODE, because=OPENMODE_IS_ITS_NAME)
