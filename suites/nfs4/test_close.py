# SPDX-License-Identifier: MIT
"""CLOSE (RFC 5661 section 18.2)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, expect, expect_data, must, observe, proves, should, stated
from suites.nfs4.locks import WRITE_LT, lock_range, test_range
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, READ, WRITE, another_client, open_again, open_file, try_open
from suites.nfs4.test_stateids import ZERO_IS_THE_LATEST

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

LOCKS_DO_NOT_OUTLIVE = must(
    "RFC 5661",
    "18.2.3",
    "CLOSE fails if any locks would exist after it",
    harm=Harm.SUCCESS,
)
REFUSED_WITH_LOCKS = must(
    "RFC 5661", "9.8", "CLOSE that fails because locks would exist after it gets NFS4ERR_LOCKS_HELD"
)
CLOSE_SERVES_AFTER_LOCKU = stated(
    "RFC 5661", "18.2.3", "CLOSE releases the open, once the client has released all of its locks"
)
RETURNS_THE_INVALID_STATEID = should(
    "RFC 5661", "18.2.4", "CLOSE should return the invalid special stateid: other 0, seqid NFS4_UINT32_MAX"
)
ANOTHER_OPEN_IS_NEW = stated(
    "RFC 5661",
    "9.8",
    "CLOSE removes all share reservations of the open-owner on the file: a later OPEN begins with its own bits",
    harm=Harm.DATA,
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


# ---------------------------------------------------------------- locks


@proves(LOCKS_DO_NOT_OUTLIVE, killed_by="close4-leaves-locks")
def test_locked(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """CLOSE of an open with locks leaves no lock, or fails and leaves the file open."""
    file, other = scratch.file("file", b"data"), another_client(v4)
    opened = open_file(compounds, file, BOTH)
    locked = lock_range(compounds, opened, WRITE_LT, 0, 10)
    reply = compounds.compound(op.putfh(file), op.close(opened.stateid))
    observe("CLOSE with locks", reply.status.name)
    if reply.status == Nfsstat4.NFS4_OK:
        expect(test_range(other, file, WRITE_LT, 0, 10), because=LOCKS_DO_NOT_OUTLIVE).ok()
        return
    expect(reply).refused(Nfsstat4.NFS4ERR_LOCKS_HELD, because=REFUSED_WITH_LOCKS)
    expect(test_range(other, file, WRITE_LT, 0, 10)).refused(Nfsstat4.NFS4ERR_DENIED)
    expect(compounds.compound(op.putfh(file), op.read(locked, 0, 4))).ok()


@proves(CLOSE_SERVES_AFTER_LOCKU, killed_by="close4-refuses-lock-owners")
def test_after_locku(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """CLOSE succeeds when all locks of its open are unlocked, though the stateid of the lock-owner is in force."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    stateid = lock_range(compounds, opened, WRITE_LT, 0, 10)
    expect(compounds.compound(op.putfh(opened.handle), op.locku(stateid, 0, 10))).ok()
    expect(compounds.compound(op.putfh(opened.handle), op.close(opened.stateid))).ok()


# ---------------------------------------------------------------- the stateid


@proves(RETURNS_THE_INVALID_STATEID, killed_by="close4-returns-the-stateid")
def test_returned(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """CLOSE returns the invalid special stateid."""
    opened = open_file(compounds, scratch.file("file"))
    reply = expect(compounds.compound(op.putfh(opened.handle), op.close(opened.stateid))).ok()
    found = reply.stateid
    expect((found.seqid, bytes(found.other)), "stateid", of=found, field="seqid").equals(
        (p.INVALID_STATEID.seqid, bytes(p.INVALID_STATEID.other))
    )


@proves(CLOSED_IS_BAD, killed_by="close4-twice-is-ok")
def test_twice(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A second CLOSE with the same stateid is refused."""
    opened = open_file(compounds, scratch.file("file"))
    expect(compounds.compound(op.putfh(opened.handle), op.close(opened.stateid))).ok()
    reply = compounds.compound(op.putfh(opened.handle), op.close(opened.stateid))
    expect(reply).refused(Nfsstat4.NFS4ERR_BAD_STATEID, Nfsstat4.NFS4ERR_OLD_STATEID, because=CLOSED_IS_BAD)


@proves(ZERO_IS_THE_LATEST, killed_by="close4-seqid-zero-is-bad")
def test_seqid_zero(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """CLOSE with a seqid of zero closes a file whose open was changed."""
    file, owner = scratch.file("file"), new_state_owner()
    first = open_file(compounds, file, READ, owner=owner)
    open_again(compounds, first, BOTH, 0, owner)
    latest = p.Stateid4(0, first.stateid.other)
    expect(compounds.compound(op.putfh(file), op.close(latest))).ok()
    tested = compounds.compound(op.putfh(file), op.read(latest, 0, 4))
    expect(tested).refused()


@proves(ANOTHER_OPEN_IS_NEW, killed_by="open4-again-is-what-was-closed")
def test_opened_again(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """An OPEN by the same owner after CLOSE has no access or denial of before."""
    file, owner = scratch.file("file", b"data"), new_state_owner()
    first = open_file(compounds, file, BOTH, p.OPEN4_SHARE_DENY_WRITE, owner=owner)
    expect(compounds.compound(op.putfh(file), op.close(first.stateid))).ok()
    second = open_file(compounds, file, READ, owner=owner)
    reply = compounds.compound(op.putfh(file), op.write(second.stateid, 0, b"more"))
    expect(reply, because=ANOTHER_OPEN_IS_NEW).refused()
    expect(try_open(another_client(v4), file, WRITE), because=ANOTHER_OPEN_IS_NEW).ok()
