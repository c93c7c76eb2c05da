# SPDX-License-Identifier: MIT
"""LOCKU (RFC 5661 section 18.12): unlocks a range."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import NfsLockType4, Nfsstat4
from nfsjudge import Harm, Level, expect, must, proves, skip, stated
from suites.nfs4.locks import WRITE_LT, lock_range, opened_by_two, test_range
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, open_file

UNLOCKS = stated(
    "RFC 5661",
    "18.12.3",
    "LOCKU unlocks the byte-range lock specified by the parameters",
    harm=Harm.SUCCESS,
    also={"4.0": ("RFC 7530", "16.12.4")},
)
UNLOCKS_A_PART = stated(
    "RFC 5661",
    "18.12.4",
    "LOCKU of a part of a locked range unlocks that part, or gets NFS4ERR_LOCK_RANGE",
    also={"4.0": ("RFC 7530", "16.12.5")},
)
TYPE_HAS_NO_EFFECT = must(
    "RFC 5661",
    "18.12.3",
    "the server accepts any legal value for locktype, which has no effect on success or failure",
    also={"4.0": ("RFC 7530", "16.12.4")},
)
SEQID_COUNTS = must(
    "RFC 5661",
    "9.4",
    "LOCKU returns the other field of the stateid in its arguments, and increments seqid whenever locks change",
)
RANGE_IS_CHECKED = must(
    "RFC 5661",
    "18.12.3",
    "NFS4ERR_INVAL is returned under the same circumstances as for LOCK",
    also={"4.0": ("RFC 7530", "16.12.4", Level.STATED)},
)


@MINORS
@proves(UNLOCKS, killed_by="locku4-unlocks-nothing")
def test_unlocks(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A range that was unlocked may be locked by another client."""
    pair = opened_by_two(v4, compounds, scratch)
    stateid = lock_range(compounds, pair.mine, WRITE_LT, 0, 10)
    expect(compounds.compound(op.putfh(pair.file), op.locku(stateid, 0, 10))).ok()
    expect(test_range(pair.other, pair.file, WRITE_LT, 0, 10)).ok()


@MINORS
@proves(UNLOCKS_A_PART, killed_by="locku4-unlocks-everything")
def test_middle(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCKU in the middle of a range leaves its ends locked."""
    pair = opened_by_two(v4, compounds, scratch)
    stateid = lock_range(compounds, pair.mine, WRITE_LT, 0, 100)
    reply = compounds.compound(op.putfh(pair.file), op.locku(stateid, 40, 20))
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
    ids=lambda mode: mode.name.lower(),
)
@proves(TYPE_HAS_NO_EFFECT, killed_by="locku4-compares-the-type")
def test_any_type(compounds: Compounds, scratch: Nfs4Scratch, locktype: NfsLockType4) -> None:
    """LOCKU with another lock type unlocks a write lock."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    stateid = lock_range(compounds, opened, WRITE_LT, 0, 10)
    expect(compounds.compound(op.putfh(opened.handle), op.locku(stateid, 0, 10, locktype))).ok()


@MINORS
@proves(SEQID_COUNTS, killed_by="locku4-keeps-the-seqid")
def test_seqid(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCKU returns the stateid of the lock-owner, one seqid on."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    stateid = lock_range(compounds, opened, WRITE_LT, 0, 10)
    unlocked = expect(compounds.compound(op.putfh(opened.handle), op.locku(stateid, 0, 10))).ok().stateid
    expect(unlocked).field("other").equals(stateid.other)
    expect(unlocked).field("seqid").equals(stateid.seqid + 1)


@MINORS
@proves(RANGE_IS_CHECKED, killed_by="locku4-zero-length-is-ok")
def test_zero_length(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCKU of a range without bytes is invalid."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    stateid = lock_range(compounds, opened, WRITE_LT, 0, 10)
    reply = compounds.compound(op.putfh(opened.handle), op.locku(stateid, 0, 0))
    # No bytes are also not exactly those of a lock (section 18.12.4).
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_LOCK_RANGE, because=RANGE_IS_CHECKED)
