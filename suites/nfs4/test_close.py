# SPDX-License-Identifier: MIT
"""CLOSE (RFC 5661 section 18.2)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, expect, expect_data, must, proves, stated
from suites.nfs4.locks import lock_range
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, READ, WRITE, another_client, open_file, try_open

RELEASES_SHARES = stated(
    "RFC 5661",
    "18.2.3",
    "CLOSE releases the share reservations of its stateid",
    harm=Harm.SUCCESS,
    also={"4.0": ("RFC 7530", "16.2.4")},
)
CLOSED_IS_BAD = stated(
    "RFC 5661", "15.1.5.2", "NFS4ERR_BAD_STATEID: the stateid does not designate any valid state"
)
SEQID_IS_IGNORED = must("RFC 5661", "18.2.3", "the seqid argument of CLOSE is ignored")
OTHERS_STAY = stated(
    "RFC 5661",
    "18.2.3",
    "state associated with other OPENs is not affected by CLOSE",
    also={"4.0": ("RFC 7530", "16.2.4")},
)

CLOSED_CHANGES_NOTHING = stated(
    "RFC 5661",
    "8.2.4",
    "a stateid is valid until CLOSE returns what it stands for: after that no data is changed with it",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "9.1.4.4")},
)
LOCKS_END_WITH_THE_OPEN = stated(
    "RFC 5661",
    "8.2.4",
    "the stateid of byte-range locks is valid only as long as the file of their open is open",
)


@MINORS
@proves(RELEASES_SHARES, killed_by="close4-keeps-shares")
def test_releases(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """After CLOSE another client may open what was denied."""
    file = scratch.file("file")
    opened = open_file(compounds, file, READ, p.OPEN4_SHARE_DENY_WRITE)
    other = another_client(v4)
    expect(try_open(other, file, WRITE)).refused(Nfsstat4.NFS4ERR_SHARE_DENIED)
    expect(compounds.compound(op.putfh(file), op.close(opened.stateid))).ok()
    expect(try_open(other, file, WRITE)).ok()


@MINORS
@proves(CLOSED_IS_BAD, killed_by="read4-takes-closed-stateids")
def test_closed_stateid(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A stateid that was closed is refused by READ."""
    opened = open_file(compounds, scratch.file("file", b"data"))
    expect(compounds.compound(op.putfh(opened.handle), op.close(opened.stateid))).ok()
    reply = compounds.compound(op.putfh(opened.handle), op.read(opened.stateid, 0, 4))
    expect(reply).status(Nfsstat4.NFS4ERR_BAD_STATEID, Nfsstat4.NFS4ERR_OLD_STATEID, Nfsstat4.NFS4ERR_EXPIRED)


def _closed(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> tuple[bytes, p.Stateid4]:
    """A file of the four bytes ``data``, and a stateid of an open that was closed, or of a lock-owner in it."""
    opened = open_file(compounds, scratch.file("file", b"data"), BOTH)
    stateid = opened.stateid
    if kind == "lock":
        locked = lock_range(compounds, opened)
        # A server may refuse CLOSE while bytes are locked (section 18.2.3).
        stateid = expect(compounds.compound(op.putfh(opened.handle), op.locku(locked, 0, 10))).ok().stateid
    expect(compounds.compound(op.putfh(opened.handle), op.close(opened.stateid))).ok()
    return opened.handle, stateid


@pytest.mark.parametrize("case", ["open-setattr", "lock-setattr", "lock-write"])
@proves(CLOSED_CHANGES_NOTHING, killed_by="changes4-take-closed-stateids")
def test_changes_nothing(compounds: Compounds, scratch: Nfs4Scratch, case: str) -> None:
    """SETATTR of the size, or WRITE, with a stateid of before CLOSE is refused, and the data stay."""
    kind, _, what = case.partition("-")
    file, stateid = _closed(compounds, scratch, kind)
    changing = op.write(stateid, 0, b"more") if what == "write" else op.setattr(p.Fattr4(size=2), stateid)
    reply = compounds.compound(op.putfh(file), changing)
    expect_data(scratch.read(file), b"data", because=CLOSED_CHANGES_NOTHING)
    expect(reply, because=CLOSED_CHANGES_NOTHING).refused()


@proves(LOCKS_END_WITH_THE_OPEN, killed_by="read4-takes-locks-of-closed-opens")
def test_lock_stateid(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ with the stateid of a lock-owner is refused once the open of its locks is closed."""
    file, stateid = _closed(compounds, scratch, "lock")
    reply = compounds.compound(op.putfh(file), op.read(stateid, 0, 4))
    expect(reply, because=LOCKS_END_WITH_THE_OPEN).refused()


@MINORS
@proves(SEQID_IS_IGNORED, killed_by="close4-compares-the-seqid")
def test_any_seqid(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """CLOSE with any seqid succeeds."""
    opened = open_file(compounds, scratch.file("file"))
    expect(compounds.compound(op.putfh(opened.handle), op.close(opened.stateid, seqid=0x1234_5678))).ok()


@MINORS
@proves(OTHERS_STAY, killed_by="close4-closes-for-all")
def test_other_open(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """CLOSE of one owner's OPEN leaves that of another owner."""
    file = scratch.file("file", b"data")
    closed, other = open_file(compounds, file), open_file(compounds, file)
    expect(compounds.compound(op.putfh(file), op.close(closed.stateid))).ok()
    expect(compounds.compound(op.putfh(file), op.read(other.stateid, 0, 4))).ok()
