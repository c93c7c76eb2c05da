# SPDX-License-Identifier: MIT
"""Byte-range locks of checks."""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner, note_lock, through_grace
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import NfsLockType4, Nfsstat4
from nfsjudge import expect, skip
from suites.nfs4.opens import BOTH, Opened, another_client, open_file

READ_LT: t.Final = NfsLockType4.READ_LT
WRITE_LT: t.Final = NfsLockType4.WRITE_LT
TO_THE_END: t.Final = p.NFS4_MAXFILELEN


def try_lock(
    compounds: Compounds, opened: Opened, locktype: NfsLockType4, offset: int, length: int, **more: t.Any
) -> CompoundReply:
    """The reply to the first LOCK of a lock-owner in an open; of a new one if none is given."""
    more.setdefault("owner", new_state_owner())
    locking = op.lock(opened.stateid, locktype, offset, length, **more)
    reply = through_grace(compounds, op.putfh(opened.handle), locking)
    if reply.status == Nfsstat4.NFS4_OK:
        note_lock(compounds, opened.handle, reply.stateid, offset, length)
    return reply


def lock_range(
    compounds: Compounds,
    opened: Opened,
    locktype: NfsLockType4 = WRITE_LT,
    offset: int = 0,
    length: int = 10,
    **more: t.Any,
) -> p.Stateid4:
    """Lock a range; the stateid of the lock-owner."""
    return expect(try_lock(compounds, opened, locktype, offset, length, **more)).ok().stateid


def try_lock_more(
    compounds: Compounds,
    opened: Opened,
    stateid: p.Stateid4,
    locktype: NfsLockType4,
    offset: int,
    length: int,
) -> CompoundReply:
    """The reply to a further LOCK of a lock-owner."""
    reply = through_grace(compounds, op.putfh(opened.handle), op.lock_more(stateid, locktype, offset, length))
    if reply.status == Nfsstat4.NFS4_OK:
        note_lock(compounds, opened.handle, stateid, offset, length)
    return reply


def test_range(
    compounds: Compounds, file: bytes, locktype: NfsLockType4, offset: int, length: int, **more: t.Any
) -> CompoundReply:
    """The reply to LOCKT, by a lock-owner that has no locks if none is given."""
    more.setdefault("owner", new_state_owner())
    return through_grace(compounds, op.putfh(file), op.lockt(locktype, offset, length, **more))


def need_64_bits(compounds: Compounds, file: bytes) -> None:
    """SKIP on a server of 32-bit offsets, which MUST answer BAD_RANGE to LOCK and LOCKT beyond (section 18.10.3)."""
    if test_range(compounds, file, READ_LT, 1 << 32, 1).status == Nfsstat4.NFS4ERR_BAD_RANGE:
        skip("the server locks no bytes beyond 4 GiB")


test_range.__test__ = False  # type: ignore[attr-defined]


class Pair(t.NamedTuple):
    """A file that two clients have open for reading and writing."""

    file: bytes
    mine: Opened
    other: Compounds
    theirs: Opened


def opened_by_two(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> Pair:
    """A new file, opened by the client of the check and by another one."""
    file = scratch.file("file", b"0123456789")
    other = another_client(v4)
    return Pair(file, open_file(compounds, file, BOTH), other, open_file(other, file, BOTH))
