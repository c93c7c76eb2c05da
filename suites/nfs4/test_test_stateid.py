# SPDX-License-Identifier: MIT
"""TEST_STATEID (RFC 5661 section 18.48)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner
from fixtures.checks.side_by_side import Waiting, side_by_side
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, proves, stated
from suites.nfs4.delegations import KEPT_FOR_A_LEASE, delegated
from suites.nfs4.locks import WRITE_LT, lock_range
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, READ, another_client, open_again, open_file

A_STATUS_FOR_EACH = stated(
    "RFC 5661",
    "18.48.3",
    "for each stateid, the status that its use in normal operation would have is returned",
)
SPECIAL_IS_BAD = stated(
    "RFC 5661", "18.48.3", "special stateids are always considered invalid: NFS4ERR_BAD_STATEID"
)

ONLY_THIS_CLIENT = stated(
    "RFC 5661",
    "18.48.3",
    "all stateids are interpreted as being associated with the client for the current session",
)
LOCKS_OUTLIVE_LOCKU = stated(
    "RFC 5661",
    "8.2.4",
    "the stateid of byte-range locks is valid after the last LOCKU, as long as its open is open",
)


def codes(compounds: Compounds, *stateids: p.Stateid4) -> list[Nfsstat4]:
    """The status of each stateid."""
    result = expect(compounds.compound(op.test_stateid(*stateids))).of(p.TEST_STATEID).ok()
    return list(result.tsr_status_codes)


@MINORS
@proves(A_STATUS_FOR_EACH, killed_by="teststateid4-nothing-is-valid")
def test_valid(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """The stateids of an open and of locks are valid, without a current filehandle."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    locked = lock_range(compounds, opened, WRITE_LT, 0, 10)
    expect(codes(compounds, opened.stateid, locked), "status codes", field="tsr_status_codes").equals(
        [Nfsstat4.NFS4_OK] * 2
    )


@MINORS
@proves(A_STATUS_FOR_EACH, killed_by="teststateid4-all-are-valid")
def test_order(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Among stateids of which one was closed, that one is bad."""
    closed, other = (open_file(compounds, scratch.file(name), BOTH) for name in ("one", "other"))
    expect(compounds.compound(op.putfh(closed.handle), op.close(closed.stateid))).ok()
    found = codes(compounds, other.stateid, closed.stateid, other.stateid)
    expect(len(found), "status codes").equals(3)
    expect([found[0], found[2]], "status codes of the open").equals([Nfsstat4.NFS4_OK] * 2)
    expect(found[1], "status code of the stateid that was closed").one_of(
        Nfsstat4.NFS4ERR_BAD_STATEID, Nfsstat4.NFS4ERR_OLD_STATEID, Nfsstat4.NFS4ERR_EXPIRED
    )


@MINORS
@proves(A_STATUS_FOR_EACH, killed_by="teststateid4-ignores-the-seqid")
def test_future_seqid(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A seqid that the stateid never had is bad."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    future = p.Stateid4(opened.stateid.seqid + 5, opened.stateid.other)
    expect(codes(compounds, future), "status codes", field="tsr_status_codes").equals(
        [Nfsstat4.NFS4ERR_BAD_STATEID]
    )


@MINORS
@pytest.mark.parametrize(
    "stateid",
    [p.ANONYMOUS_STATEID, p.READ_BYPASS_STATEID, p.CURRENT_STATEID, p.INVALID_STATEID],
    ids=["anonymous", "bypass", "current", "invalid"],
)
@proves(SPECIAL_IS_BAD, killed_by="teststateid4-all-are-valid")
def test_special(compounds: Compounds, stateid: p.Stateid4) -> None:
    """Special stateids are bad."""
    expect(codes(compounds, stateid), "status codes", field="tsr_status_codes").equals(
        [Nfsstat4.NFS4ERR_BAD_STATEID]
    )


# ---------------------------------------------------------------- each state


@proves(A_STATUS_FOR_EACH, killed_by="teststateid4-old-is-bad")
def test_old_seqid(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A seqid of before an upgrade is old."""
    file, owner = scratch.file("file"), new_state_owner()
    first = open_file(compounds, file, READ, owner=owner)
    open_again(compounds, first, BOTH, 0, owner)
    expect(codes(compounds, first.stateid), "status codes", field="tsr_status_codes").equals(
        [Nfsstat4.NFS4ERR_OLD_STATEID]
    )


@proves(A_STATUS_FOR_EACH, killed_by="teststateid4-zero-is-bad")
def test_seqid_zero(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A seqid of zero is valid: it means the most recent one."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    latest = p.Stateid4(0, opened.stateid.other)
    expect(codes(compounds, latest), "status codes", field="tsr_status_codes").equals([Nfsstat4.NFS4_OK])


@proves(ONLY_THIS_CLIENT, killed_by="teststateid4-asks-all-clients")
def test_other_client(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """The stateids of another client are bad."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    locked = lock_range(compounds, opened, WRITE_LT, 0, 10)
    found = codes(another_client(v4), opened.stateid, locked)
    expect(found, "status codes", field="tsr_status_codes").equals([Nfsstat4.NFS4ERR_BAD_STATEID] * 2)


@proves(LOCKS_OUTLIVE_LOCKU, killed_by="teststateid4-without-locks-is-bad")
def test_unlocked(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """The stateid of a lock-owner is valid after LOCKU of all that it has locked."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    locked = lock_range(compounds, opened, WRITE_LT, 0, 10)
    unlocked = expect(compounds.compound(op.putfh(opened.handle), op.locku(locked, 0, 10))).ok().stateid
    expect(codes(compounds, unlocked), "status codes", field="tsr_status_codes").equals([Nfsstat4.NFS4_OK])


@proves(A_STATUS_FOR_EACH, killed_by="teststateid4-stops-at-a-bad-stateid")
def test_goes_on(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Bad stateids do not end TEST_STATEID, nor its compound: all that follow have their status."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    asked = [p.INVALID_STATEID, opened.stateid, p.ANONYMOUS_STATEID, opened.stateid]
    reply = compounds.compound(op.test_stateid(*asked), op.putfh(opened.handle), op.getfh())
    found = list(expect(reply).of(p.TEST_STATEID).ok().tsr_status_codes)
    expect(reply).ok()
    bad = Nfsstat4.NFS4ERR_BAD_STATEID
    expect(found, "status codes", field="tsr_status_codes").equals(
        [bad, Nfsstat4.NFS4_OK, bad, Nfsstat4.NFS4_OK]
    )


@proves(A_STATUS_FOR_EACH, killed_by="teststateid4-many-are-cut")
def test_many(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """64 stateids get 64 statuses."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    found = codes(compounds, *[opened.stateid] * 64)
    expect(found, "status codes", field="tsr_status_codes").equals([Nfsstat4.NFS4_OK] * 64)


@proves(A_STATUS_FOR_EACH, killed_by="teststateid4-of-nothing-is-inval")
def test_nothing(compounds: Compounds) -> None:
    """TEST_STATEID of no stateids succeeds, without a status."""
    expect(codes(compounds), "status codes", field="tsr_status_codes").equals([])


@side_by_side
@pytest.mark.late
@proves(A_STATUS_FOR_EACH, KEPT_FOR_A_LEASE, killed_by="teststateid4-delegations-are-bad")
def test_delegation(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """The stateid of a delegation that was not recalled is valid."""
    granted = yield from delegated(v4, scratch, p.OPEN4_SHARE_ACCESS_READ)
    found = codes(granted.holder, granted.stateid)
    granted.need_kept()
    granted.give_back()
    expect(found, "status codes", field="tsr_status_codes").equals([Nfsstat4.NFS4_OK])
