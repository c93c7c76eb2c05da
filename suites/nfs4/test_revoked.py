# SPDX-License-Identifier: MIT
"""Delegations that are recalled and not returned (RFC 5661 sections 10.4.5, 10.4.6 and 18.46.3).

The holder answers CB_RECALL and renews its lease, and does nothing else. No text says when exactly a server revokes,
so these checks wait for a lease and more. Where it is not revoked by then, all but the first of them are SKIP.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner
from fixtures.checks.side_by_side import Waiting, side_by_side
from fixtures.checks.target import TargetView
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import expect, expect_that, observe, proves, skip, stated
from suites.nfs4.conflicts import Status, conflicting_open
from suites.nfs4.delegations import ACCESS, KEPT_FOR_A_LEASE, Granted, delegated, seconds_for
from suites.nfs4.leases import lease_to_wait_for, parts

pytestmark = pytest.mark.late

REVOKED_IS_FLAGGED = stated(
    "RFC 5661",
    "18.46.3",
    "SEQUENCE returns RECALLABLE_STATE_REVOKED when a delegation was revoked because it was not returned",
)
FLAGGED_UNTIL_FREED = stated(
    "RFC 5661",
    "18.46.3",
    "RECALLABLE_STATE_REVOKED stays set in all replies to SEQUENCE until FREE_STATEID has acknowledged the loss",
)
REVOKED_IS_INVALID = stated(
    "RFC 5661",
    "10.2.1",
    "the stateid of a revoked delegation gets NFS4ERR_DELEG_REVOKED, ADMIN_REVOKED or EXPIRED",
)
REVOKED_CAN_BE_FREED = stated(
    "RFC 5661", "18.38.3", "FREE_STATEID frees the stateid of a delegation that the server has revoked"
)
_LOST: t.Final = (
    Nfsstat4.NFS4ERR_DELEG_REVOKED,
    Nfsstat4.NFS4ERR_ADMIN_REVOKED,
    Nfsstat4.NFS4ERR_EXPIRED,
    Nfsstat4.NFS4ERR_BAD_STATEID,
)
"""The last one of a server that has forgotten it already (section 8.2.4)."""
_NOTICES: t.Final = 30.0
"""Seconds after a lease in which a server revokes what was not returned."""


def _not_returned(
    target: TargetView, v4: Nfs4Dialect, scratch: Nfs4Scratch, access: str = "read"
) -> Waiting[tuple[Granted, Status | None]]:
    """A delegation that was recalled a lease ago and more, and how the OPEN that needs it ended."""
    lease = lease_to_wait_for(target, v4)
    granted = yield from delegated(v4, scratch, ACCESS[access], size=4)
    conflict = conflicting_open(granted)
    yield from conflict.need_callback(p.CbRecall4Args)
    yield from conflict.outlasts((*parts(lease), lease / 4))
    return granted, (yield from conflict.ends(seconds_for(v4, _NOTICES)))


def _revoked(
    target: TargetView, v4: Nfs4Dialect, scratch: Nfs4Scratch, access: str = "read"
) -> Waiting[Granted]:
    """The same, of a server that has revoked it. SKIP otherwise."""
    granted, reply = yield from _not_returned(target, v4, scratch, access)
    if reply is None or reply.status != Nfsstat4.NFS4_OK:
        skip("the server has not revoked the delegation a lease after its recall, and more")
    granted.lease.need()
    return granted


def _is_flagged(granted: Granted) -> bool:
    """Whether SEQUENCE tells the holder now that something was revoked."""
    flags = expect(granted.holder.renew()).of(p.SEQUENCE).ok().sr_status_flags
    return bool(flags & p.SEQ4_STATUS_RECALLABLE_STATE_REVOKED)


def _expect_flag(granted: Granted, *, is_set: bool) -> None:
    result = expect(granted.holder.renew()).of(p.SEQUENCE).ok()
    seen = bool(result.sr_status_flags & p.SEQ4_STATUS_RECALLABLE_STATE_REVOKED)
    expect(seen, "RECALLABLE_STATE_REVOKED", of=result, field="sr_status_flags").equals(is_set)


@side_by_side(short_lease=True)
@proves(KEPT_FOR_A_LEASE, killed_by="open4-waits-for-ever")
def test_goes_on(target: TargetView, v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """OPEN by another client succeeds about a lease after it has recalled a delegation that is not returned."""
    _, reply = yield from _not_returned(target, v4, scratch)
    seen = "no end of OPEN" if reply is None else reply.status.name
    expect_that(reply is not None and reply.status == Nfsstat4.NFS4_OK, "success of OPEN", seen)


@side_by_side(short_lease=True)
@proves(REVOKED_IS_FLAGGED, killed_by="sequence4-is-silent-about-revocations")
def test_flag(target: TargetView, v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """After a revocation, SEQUENCE tells the holder by RECALLABLE_STATE_REVOKED."""
    granted = yield from _revoked(target, v4, scratch)
    _expect_flag(granted, is_set=True)
    reply = granted.holder.compound(op.putfh(granted.file), op.read(granted.opened, 0, 4))
    observe("READ by the open of a holder that has lost its delegation", reply.status.name)


@side_by_side(short_lease=True)
@proves(FLAGGED_UNTIL_FREED, killed_by="sequence4-tells-revocations-until-tested")
def test_flag_stays(target: TargetView, v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """RECALLABLE_STATE_REVOKED is set in later replies as well, while the stateid is not freed."""
    granted = yield from _revoked(target, v4, scratch)
    if not _is_flagged(granted):
        skip("SEQUENCE does not say that the delegation was revoked: another check judges that")
    granted.holder.compound(op.test_stateid(granted.stateid))
    _expect_flag(granted, is_set=True)


@side_by_side(short_lease=True)
@proves(FLAGGED_UNTIL_FREED, killed_by="sequence4-tells-revocations-for-ever")
def test_flag_ends(target: TargetView, v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """RECALLABLE_STATE_REVOKED is not set any more when the stateid is freed."""
    granted = yield from _revoked(target, v4, scratch)
    freed = granted.holder.compound(op.free_stateid(granted.stateid))
    if freed.status != Nfsstat4.NFS4_OK:
        skip(f"the revoked stateid cannot be freed: FREE_STATEID answers {freed.status.name}", freed)
    _expect_flag(granted, is_set=False)


@side_by_side(short_lease=True)
@proves(REVOKED_CAN_BE_FREED, killed_by="freestateid4-keeps-what-was-revoked")
def test_freed(target: TargetView, v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """FREE_STATEID of a revoked delegation succeeds, or the server has forgotten it: BAD_STATEID."""
    granted = yield from _revoked(target, v4, scratch)
    reply = granted.holder.compound(op.free_stateid(granted.stateid))
    observe("FREE_STATEID of a revoked delegation", reply.status.name)
    if reply.status != Nfsstat4.NFS4ERR_BAD_STATEID:
        expect(reply).ok()


@side_by_side(short_lease=True)
@proves(REVOKED_IS_INVALID, killed_by="teststateid4-revoked-is-valid")
def test_status(target: TargetView, v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """TEST_STATEID says of a revoked delegation that it is DELEG_REVOKED, or invalid otherwise."""
    granted = yield from _revoked(target, v4, scratch)
    tested = expect(granted.holder.compound(op.test_stateid(granted.stateid))).of(p.TEST_STATEID).ok()
    found = list(tested.tsr_status_codes)
    observe("stateid of a revoked delegation", ", ".join(code.name for code in found))
    expect(found, "status codes", of=tested, field="tsr_status_codes").one_of(*([code] for code in _LOST))


@side_by_side(short_lease=True)
@proves(REVOKED_IS_INVALID, killed_by="read4-takes-revoked-delegations")
def test_read(target: TargetView, v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """READ with the stateid of a revoked delegation is refused."""
    granted = yield from _revoked(target, v4, scratch)
    reply = granted.holder.compound(op.putfh(granted.file), op.read(granted.stateid, 0, 4))
    expect(reply).refused(*_LOST, because=REVOKED_IS_INVALID)


_CHANGES: t.Final[dict[str, Callable[[p.Stateid4], XdrType]]] = {
    "write": lambda stateid: op.write(stateid, 0, b"more"),
    "setattr": lambda stateid: op.setattr(Fattr4(size=1), stateid),
}


@side_by_side(short_lease=True)
@pytest.mark.parametrize("what", _CHANGES)
@proves(REVOKED_IS_INVALID, killed_by="changes4-take-revoked-delegations")
def test_changes(target: TargetView, v4: Nfs4Dialect, scratch: Nfs4Scratch, what: str) -> Waiting[None]:
    """WRITE, or SETATTR of the size, with the stateid of a revoked delegation is refused."""
    granted = yield from _revoked(target, v4, scratch, "write")
    reply = granted.holder.compound(op.putfh(granted.file), _CHANGES[what](granted.stateid))
    expect(reply).refused(*_LOST, because=REVOKED_IS_INVALID)
    returned = granted.holder.compound(op.putfh(granted.file), op.delegreturn(granted.stateid))
    observe("DELEGRETURN of a revoked delegation", returned.status.name)


@side_by_side(short_lease=True)
@proves(REVOKED_IS_INVALID, killed_by="open4-claims-revoked-delegations")
def test_claim(target: TargetView, v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """OPEN with CLAIM_DELEG_CUR_FH and the stateid of a revoked delegation is refused."""
    granted = yield from _revoked(target, v4, scratch)
    claim = op.claim_deleg_cur_fh(granted.stateid)
    opening = op.open(claim, p.OPEN4_SHARE_ACCESS_READ, owner=new_state_owner())
    reply = granted.holder.compound(op.putfh(granted.file), opening)
    expect(reply).refused(*_LOST, because=REVOKED_IS_INVALID)
