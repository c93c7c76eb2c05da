# SPDX-License-Identifier: MIT
"""Byte-range locks and I/O (RFC 5661 section 9.1.2): a lock is mandatory or advisory, which the server decides.

A mandatory one answers conflicting I/O by NFS4ERR_LOCKED; an advisory one has no effect on I/O. Nothing else is right,
and I/O that does not conflict succeeds with both.
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, NfsLockType4, Nfsstat4
from nfsjudge import Harm, expect, expect_data, observe, proves, should, stated
from suites.nfs4.locks import READ_LT, WRITE_LT, Pair, lock_range, opened_by_two
from suites.nfs4.minors import MINORS

CONFLICT_IS_LOCKED = stated(
    "RFC 5661",
    "9.1.2",
    "a mandatory lock rejects conflicting I/O with NFS4ERR_LOCKED, and an advisory one has no effect on it",
    also={"4.0": ("RFC 7530", "9.1.6")},
)
REFUSED_CHANGES_NOTHING = stated(
    "RFC 5661",
    "9.1.2",
    "mandatory locks prevent conflicting I/O: what is refused writes nothing",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "9.1.6")},
)
ADVISORY_LETS_PASS = stated(
    "RFC 5661",
    "9.1.2",
    "I/O that no mandatory lock conflicts with is served: outside of its range, by its owner, or after it is unlocked",
    harm=Harm.SUCCESS,
    also={"4.0": ("RFC 7530", "9.1.6")},
)
SIZE_HAS_THE_SAME_RULES = should(  # "has the same locking requirements as a WRITE"; it names no status
    "RFC 5661",
    "18.30.3",
    "SETATTR of the size that a mandatory lock prevents should get NFS4ERR_LOCKED, as WRITE does",
)
_BEFORE: t.Final = b"0123456789"
"""What is in the file; `opened_by_two` makes it."""
_LOCKED: t.Final = Nfsstat4.NFS4ERR_LOCKED


def _write(pair: Pair, offset: int, data: bytes) -> CompoundReply:
    """The reply to WRITE of another client than that of the check, by its open."""
    return pair.other.compound(op.putfh(pair.file), op.write(pair.theirs.stateid, offset, data))


def _read(pair: Pair, offset: int, count: int) -> CompoundReply:
    return pair.other.compound(op.putfh(pair.file), op.read(pair.theirs.stateid, offset, count))


@MINORS
@pytest.mark.parametrize("locked", [READ_LT, WRITE_LT], ids=["read", "write"])
@proves(
    CONFLICT_IS_LOCKED,
    REFUSED_CHANGES_NOTHING,
    killed_by=("write4-into-a-lock-is-access", "write4-into-a-lock-is-refused-late"),
)
def test_foreign_write(
    v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, locked: NfsLockType4
) -> None:
    """WRITE into the lock of another client gets LOCKED and writes nothing, or it succeeds."""
    pair = opened_by_two(v4, compounds, scratch)
    stateid = lock_range(compounds, pair.mine, locked, 2, 4)
    reply = _write(pair, 3, b"xx")
    observe("WRITE into the lock of another client", reply.status.name)
    seen = compounds.compound(op.putfh(pair.file), op.read(stateid, 0, 20))
    data = bytes(expect(seen, because=ADVISORY_LETS_PASS).of(p.READ).ok().data)
    written = expect(reply).of(p.WRITE).ok().count if reply.status == Nfsstat4.NFS4_OK else 0
    wanted = _BEFORE[:3] + b"xx"[:written] + _BEFORE[3 + written :]
    expect_data(data, wanted, "data after the WRITE", because=REFUSED_CHANGES_NOTHING)
    expect(reply, because=CONFLICT_IS_LOCKED).status(Nfsstat4.NFS4_OK, _LOCKED)


@MINORS
@proves(CONFLICT_IS_LOCKED, killed_by="read4-of-a-lock-is-access")
def test_foreign_read(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ of what another client has locked for writing gets LOCKED, or it succeeds."""
    pair = opened_by_two(v4, compounds, scratch)
    lock_range(compounds, pair.mine, WRITE_LT, 2, 4)
    reply = _read(pair, 0, 10)
    observe("READ of the lock of another client", reply.status.name)
    expect(reply).status(Nfsstat4.NFS4_OK, _LOCKED)


@MINORS
@proves(ADVISORY_LETS_PASS, killed_by="read4-read-locks-exclude-readers")
def test_both_read(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ of what another client has locked for reading succeeds."""
    pair = opened_by_two(v4, compounds, scratch)
    lock_range(compounds, pair.mine, READ_LT, 2, 4)
    expect(_read(pair, 0, 10)).ok()


@MINORS
@pytest.mark.parametrize("offset", [0, 6], ids=["before", "after"])
@proves(ADVISORY_LETS_PASS, killed_by="write4-locks-lock-whole-files")
def test_outside(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, offset: int) -> None:
    """WRITE next to the lock of another client succeeds."""
    pair = opened_by_two(v4, compounds, scratch)
    lock_range(compounds, pair.mine, WRITE_LT, 2, 4)
    expect(_write(pair, offset, b"xx")).ok()


@MINORS
@proves(ADVISORY_LETS_PASS, killed_by="write4-own-locks-exclude")
def test_own(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """WRITE into a lock with the stateid of its owner succeeds."""
    pair = opened_by_two(v4, compounds, scratch)
    stateid = lock_range(compounds, pair.mine, WRITE_LT, 2, 4)
    expect(compounds.compound(op.putfh(pair.file), op.write(stateid, 3, b"xx"))).ok()


@MINORS
@proves(ADVISORY_LETS_PASS, killed_by="write4-remembers-locks")
def test_unlocked(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """WRITE of another client into what is unlocked again succeeds."""
    pair = opened_by_two(v4, compounds, scratch)
    stateid = lock_range(compounds, pair.mine, WRITE_LT, 2, 4)
    expect(compounds.compound(op.putfh(pair.file), op.locku(stateid, 2, 4))).ok()
    expect(_write(pair, 3, b"xx")).ok()


@MINORS
@proves(
    REFUSED_CHANGES_NOTHING,
    SIZE_HAS_THE_SAME_RULES,
    killed_by=("setattr4-into-a-lock-is-refused-late", "setattr4-into-a-lock-is-inval"),
)
def test_size(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR of a size that cuts off the lock of another client gets LOCKED and cuts nothing, or it succeeds."""
    pair = opened_by_two(v4, compounds, scratch)
    lock_range(compounds, pair.mine, WRITE_LT, 2, 4)
    reply = pair.other.compound(op.putfh(pair.file), op.setattr(Fattr4(size=1), pair.theirs.stateid))
    observe("SETATTR of the size that cuts off a lock", reply.status.name)
    wanted = 1 if reply.status == Nfsstat4.NFS4_OK else len(_BEFORE)
    seen = scratch.attributes(pair.file, "size")
    expect(seen, because=REFUSED_CHANGES_NOTHING).field("size").equals(wanted)
    expect(reply, because=SIZE_HAS_THE_SAME_RULES).status(Nfsstat4.NFS4_OK, _LOCKED)
