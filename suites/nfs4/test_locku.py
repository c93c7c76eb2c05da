# SPDX-License-Identifier: MIT
"""LOCKU (RFC 5661 section 18.12): unlocks a range."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Session4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import NfsLockType4, Nfsstat4
from nfsjudge import Harm, Level, Requirement, expect, proves, skip
from suites.nfs4.locks import WRITE_LT, lock_range, opened_by_two, test_range
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, open_file

UNLOCKS = Requirement(
    rfc="RFC 5661",
    section="18.12.3",
    gist="LOCKU unlocks the byte-range lock specified by the parameters",
    harm=Harm.SUCCESS,
)
UNLOCKS_A_PART = Requirement(
    rfc="RFC 5661",
    section="18.12.4",
    gist="LOCKU of a part of a locked range unlocks that part, or gets NFS4ERR_LOCK_RANGE",
)
TYPE_HAS_NO_EFFECT = Requirement(
    rfc="RFC 5661",
    section="18.12.3",
    level=Level.MUST,
    gist="the server accepts any legal value for locktype, which has no effect on success or failure",
)
SEQID_COUNTS = Requirement(
    rfc="RFC 5661",
    section="9.4",
    level=Level.MUST,
    gist="LOCKU returns the other field of the stateid in its arguments, and increments seqid whenever locks change",
)
RANGE_IS_CHECKED = Requirement(
    rfc="RFC 5661",
    section="18.12.3",
    level=Level.MUST,
    gist="NFS4ERR_INVAL is returned under the same circumstances as for LOCK",
)


@MINORS
@proves(UNLOCKS, killed_by="locku4-unlocks-nothing")
def test_unlocks(v4: Nfs4Dialect, session: Session4, scratch: Nfs4Scratch) -> None:
    """A range that was unlocked may be locked by another client."""
    pair = opened_by_two(v4, session, scratch)
    stateid = lock_range(session, pair.mine, WRITE_LT, 0, 10)
    expect(session.compound(op.putfh(pair.file), op.locku(stateid, 0, 10))).ok()
    expect(test_range(pair.other, pair.file, WRITE_LT, 0, 10)).ok()


@MINORS
@proves(UNLOCKS_A_PART, killed_by="locku4-unlocks-everything")
def test_middle(v4: Nfs4Dialect, session: Session4, scratch: Nfs4Scratch) -> None:
    """LOCKU in the middle of a range leaves its ends locked."""
    pair = opened_by_two(v4, session, scratch)
    stateid = lock_range(session, pair.mine, WRITE_LT, 0, 100)
    reply = session.compound(op.putfh(pair.file), op.locku(stateid, 40, 20))
    if reply.status == Nfsstat4.NFS4ERR_LOCK_RANGE:
        skip("the server unlocks whole ranges only")
    expect(reply).ok()
    expect(test_range(pair.other, pair.file, WRITE_LT, 40, 20)).ok()
    for offset in (0, 39, 60, 99):
        expect(test_range(pair.other, pair.file, WRITE_LT, offset, 1)).refused(Nfsstat4.NFS4ERR_DENIED)


@MINORS
@pytest.mark.parametrize(
    "locktype",
    [NfsLockType4.READ_LT, NfsLockType4.READW_LT, NfsLockType4.WRITEW_LT],
    ids=lambda one: one.name.lower(),
)
@proves(TYPE_HAS_NO_EFFECT, killed_by="locku4-compares-the-type")
def test_any_type(session: Session4, scratch: Nfs4Scratch, locktype: NfsLockType4) -> None:
    """LOCKU with another lock type unlocks a write lock."""
    opened = open_file(session, scratch.file("file"), BOTH)
    stateid = lock_range(session, opened, WRITE_LT, 0, 10)
    expect(session.compound(op.putfh(opened.handle), op.locku(stateid, 0, 10, locktype))).ok()


@MINORS
@proves(SEQID_COUNTS, killed_by="locku4-keeps-the-seqid")
def test_seqid(session: Session4, scratch: Nfs4Scratch) -> None:
    """LOCKU returns the stateid of the lock-owner, one seqid on."""
    opened = open_file(session, scratch.file("file"), BOTH)
    stateid = lock_range(session, opened, WRITE_LT, 0, 10)
    unlocked = expect(session.compound(op.putfh(opened.handle), op.locku(stateid, 0, 10))).ok().stateid
    expect(unlocked).field("other").equals(stateid.other)
    expect(unlocked).field("seqid").equals(stateid.seqid + 1)


@MINORS
@proves(RANGE_IS_CHECKED, killed_by="locku4-zero-length-is-ok")
def test_zero_length(session: Session4, scratch: Nfs4Scratch) -> None:
    """LOCKU of a range without bytes is invalid."""
    opened = open_file(session, scratch.file("file"), BOTH)
    stateid = lock_range(session, opened, WRITE_LT, 0, 10)
    reply = session.compound(op.putfh(opened.handle), op.locku(stateid, 0, 0))
    # No bytes are also not exactly those of a lock (section 18.12.4).
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_LOCK_RANGE, because=RANGE_IS_CHECKED)
