# SPDX-License-Identifier: MIT
"""FREE_STATEID (RFC 5661 section 18.38)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner
from fixtures.checks.side_by_side import Waiting, side_by_side
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, expect, must, proves, stated
from suites.nfs4.delegations import KEPT_FOR_A_LEASE, delegated
from suites.nfs4.locks import WRITE_LT, lock_range, test_range
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, another_client, open_file

VALID_IS_LOCKS_HELD = stated(
    "RFC 5661", "18.38.3", "a stateid with valid locks of any kind is not freed: NFS4ERR_LOCKS_HELD"
)
FREED_IS_BAD = stated(
    "RFC 5661", "18.38.3", "after FREE_STATEID any subsequent use of the stateid gets NFS4ERR_BAD_STATEID"
)
OUTLIVES_ITS_LOCKS = stated(
    "RFC 5661",
    "8.2.4",
    "the stateid of byte-range locks is valid after the last LOCKU, until CLOSE or FREE_STATEID",
)
UNKNOWN_IS_BAD = stated(
    "RFC 5661", "15.1.5.2", "NFS4ERR_BAD_STATEID: the stateid does not designate any valid state"
)

FREES_ONE_STATEID = stated(
    "RFC 5661",
    "18.38.3",
    "FREE_STATEID frees its stateid: what other stateids stand for stays",
    harm=Harm.DATA,
)
LOCKS_AGAIN = stated(
    "RFC 5661",
    "18.10.3",
    "LOCK with the stateid of an open is for a lock-owner that has no locking state: after FREE_STATEID, too",
)
SEQID_IS_CHECKED = must(  # "the server is required to return", of all stateids that a client sends
    "RFC 5661",
    "8.2.2",
    "FREE_STATEID with a seqid below the current one gets NFS4ERR_OLD_STATEID, above it NFS4ERR_BAD_STATEID",
)


@MINORS
@proves(VALID_IS_LOCKS_HELD, killed_by="freestateid4-frees-everything")
def test_open(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """FREE_STATEID of an open fails with LOCKS_HELD, and the file stays open."""
    opened = open_file(compounds, scratch.file("file", b"data"), BOTH)
    reply = compounds.compound(op.free_stateid(opened.stateid))
    expect(reply).refused(Nfsstat4.NFS4ERR_LOCKS_HELD, because=VALID_IS_LOCKS_HELD)
    expect(compounds.compound(op.putfh(opened.handle), op.read(opened.stateid, 0, 4))).ok()


@MINORS
@proves(VALID_IS_LOCKS_HELD, killed_by="freestateid4-frees-everything")
def test_locked(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """FREE_STATEID of a lock-owner with locks fails with LOCKS_HELD."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    stateid = lock_range(compounds, opened, WRITE_LT, 0, 10)
    reply = compounds.compound(op.free_stateid(stateid))
    expect(reply).refused(Nfsstat4.NFS4ERR_LOCKS_HELD, because=VALID_IS_LOCKS_HELD)


@MINORS
@proves(
    FREED_IS_BAD,
    OUTLIVES_ITS_LOCKS,
    killed_by=("freestateid4-frees-nothing", "locku4-ends-the-stateid"),
)
def test_unlocked(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """FREE_STATEID of a lock-owner without locks succeeds, and its stateid is bad afterwards."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    stateid = lock_range(compounds, opened, WRITE_LT, 0, 10)
    unlocked = expect(compounds.compound(op.putfh(opened.handle), op.locku(stateid, 0, 10))).ok().stateid
    reply = compounds.compound(op.free_stateid(unlocked))
    expect(reply, because=OUTLIVES_ITS_LOCKS).ok()
    tested = expect(compounds.compound(op.test_stateid(unlocked))).of(p.TEST_STATEID).ok()
    expect(
        list(tested.tsr_status_codes),
        "status codes",
        of=tested,
        field="tsr_status_codes",
        because=FREED_IS_BAD,
    ).equals([Nfsstat4.NFS4ERR_BAD_STATEID])


@MINORS
@proves(UNKNOWN_IS_BAD, killed_by="freestateid4-unknown-is-ok")
def test_closed(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """FREE_STATEID of a stateid that was closed fails with BAD_STATEID, or OLD_STATEID if the server keeps it."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    expect(compounds.compound(op.putfh(opened.handle), op.close(opened.stateid))).ok()
    reply = compounds.compound(op.free_stateid(opened.stateid))
    # A server may retain the stateid for the same purpose (section 8.2.4).
    expect(reply).refused(Nfsstat4.NFS4ERR_BAD_STATEID, Nfsstat4.NFS4ERR_OLD_STATEID, because=UNKNOWN_IS_BAD)


@side_by_side
@pytest.mark.late
@proves(VALID_IS_LOCKS_HELD, KEPT_FOR_A_LEASE, killed_by="freestateid4-frees-delegations")
def test_delegation(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """FREE_STATEID of a delegation fails with LOCKS_HELD, and it stays until DELEGRETURN."""
    granted = yield from delegated(v4, scratch, p.OPEN4_SHARE_ACCESS_READ)
    reply = granted.holder.compound(op.free_stateid(granted.stateid))
    granted.need_kept()
    granted.give_back()
    expect(reply).refused(Nfsstat4.NFS4ERR_LOCKS_HELD, because=VALID_IS_LOCKS_HELD)


@proves(FREED_IS_BAD, killed_by="freestateid4-freed-locks-lock")
def test_freed_is_unused(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ, LOCK and LOCKU with a stateid that was freed are refused."""
    opened = open_file(compounds, scratch.file("file", b"data"), BOTH)
    stateid = lock_range(compounds, opened, WRITE_LT, 0, 10)
    unlocked = expect(compounds.compound(op.putfh(opened.handle), op.locku(stateid, 0, 10))).ok().stateid
    expect(compounds.compound(op.free_stateid(unlocked))).ok()
    uses = op.read(unlocked, 0, 4), op.lock_more(unlocked, WRITE_LT, 0, 10), op.locku(unlocked, 0, 10)
    for use in uses:
        reply = compounds.compound(op.putfh(opened.handle), use)
        expect(reply).refused(Nfsstat4.NFS4ERR_BAD_STATEID, because=FREED_IS_BAD)
    expect(test_range(compounds, opened.handle, WRITE_LT, 0, 10)).ok()


@proves(FREES_ONE_STATEID, killed_by="freestateid4-closes-the-file")
def test_open_stays(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """FREE_STATEID of a lock-owner without locks leaves the open of its locks, and locks of other owners."""
    opened = open_file(compounds, scratch.file("file", b"data"), BOTH)
    stateid = lock_range(compounds, opened, WRITE_LT, 0, 10)
    lock_range(compounds, opened, WRITE_LT, 20, 10)
    unlocked = expect(compounds.compound(op.putfh(opened.handle), op.locku(stateid, 0, 10))).ok().stateid
    expect(compounds.compound(op.free_stateid(unlocked))).ok()
    expect(compounds.compound(op.putfh(opened.handle), op.read(opened.stateid, 0, 4))).ok()
    expect(test_range(another_client(v4), opened.handle, WRITE_LT, 20, 10)).refused(Nfsstat4.NFS4ERR_DENIED)


@proves(LOCKS_AGAIN, killed_by="freestateid4-forbids-the-owner")
def test_locks_again(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A lock-owner whose stateid was freed can lock again, as one that has no locks yet."""
    opened, owner = open_file(compounds, scratch.file("file"), BOTH), new_state_owner()
    stateid = lock_range(compounds, opened, WRITE_LT, 0, 10, owner=owner)
    unlocked = expect(compounds.compound(op.putfh(opened.handle), op.locku(stateid, 0, 10))).ok().stateid
    expect(compounds.compound(op.free_stateid(unlocked))).ok()
    again = lock_range(compounds, opened, WRITE_LT, 0, 10, owner=owner)
    expect(test_range(another_client(v4), opened.handle, WRITE_LT, 0, 10)).refused(Nfsstat4.NFS4ERR_DENIED)
    expect(compounds.compound(op.putfh(opened.handle), op.locku(again, 0, 10))).ok()


@pytest.mark.parametrize("step", [-1, 3], ids=["old", "future"])
@proves(SEQID_IS_CHECKED, killed_by="freestateid4-of-any-seqid")
def test_seqid(compounds: Compounds, scratch: Nfs4Scratch, step: int) -> None:
    """FREE_STATEID with a seqid that is not the current one is refused, and frees nothing."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    stateid = lock_range(compounds, opened, WRITE_LT, 0, 10)
    known = expect(compounds.compound(op.putfh(opened.handle), op.locku(stateid, 0, 10))).ok().stateid
    reply = compounds.compound(op.free_stateid(p.Stateid4(known.seqid + step, known.other)))
    wanted = Nfsstat4.NFS4ERR_OLD_STATEID if step < 0 else Nfsstat4.NFS4ERR_BAD_STATEID
    expect(reply).refused(wanted, because=SEQID_IS_CHECKED)
    expect(compounds.compound(op.free_stateid(known))).ok()
