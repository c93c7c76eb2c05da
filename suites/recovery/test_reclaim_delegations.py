# SPDX-License-Identifier: MIT
"""Delegations of before a restart of the server (RFC 5661 section 10.2.1)."""

from __future__ import annotations

import pytest

from fixtures.checks.across import CRASH, Steps, across
from fixtures.checks.dialects.nfs4 import Nfs4Dialect, new_state_owner
from fixtures.checks.side_by_side import wait_out
from fixtures.checks.target import TargetView
from nfsclient.clients.nfs4 import CompoundReply, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.protocol.nfs4 import OpenDelegationType4 as Type
from nfsjudge import Harm, expect, must, observe, proves, skip, stated
from suites.nfs4.delegations import ACCESS, delegated
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH
from suites.recovery.reclaims import Former, back, leave, need_reclaimed, reclaim_open
from suites.recovery.v4 import file_again

DELEGATIONS_COME_BACK = stated(  # "must be granted those resources", as one of three principles
    "RFC 5661",
    "10.2.1",
    "a delegation that is reclaimed is granted again, as one that is recalled at once if need be",
)
CLAIMS_IN_GRACE = must(
    "RFC 5661",
    "10.2.1",
    "OPEN with CLAIM_DELEGATE_CUR, or by its filehandle, is allowed in the grace period for a reclaimed delegation",
)
IN_FORCE_AGAIN = stated(
    "RFC 5661",
    "10.2.1",
    "a reclaimed delegation is one like others: it ends by its return, or when it is revoked",
    harm=Harm.DATA,
)
_KINDS = pytest.mark.parametrize("kind", ["read", "write"])
DELEGATED = "DELEGATED"
"""The act of these checks: on a server that grants no delegation, the first of them waits for a callback's patience, in
which the leases of the clients of other acts would end."""
_TYPES = {"read": Type.OPEN_DELEGATE_READ, "write": Type.OPEN_DELEGATE_WRITE}

pytestmark = pytest.mark.late


def _holder(v4: Nfs4Dialect, kind: str) -> Former:
    """A client with a delegation. SKIP if the server grants none."""
    granted = wait_out(delegated(v4, v4.scratch, ACCESS[kind], b"f"), v4.connections.loop)
    holder = granted.holder
    assert holder.client is not None
    owner = new_state_owner()
    return Former(holder, holder.client.owner, b"f", granted.file, granted.opened, owner, ACCESS[kind], 0)


def _reclaimed(v4: Nfs4Dialect, had: Former, kind: str) -> tuple[Session, bytes, CompoundReply]:
    """The client after the crash, the file, and the reply to the reclaim of open and delegation."""
    __tracebackhide__ = True
    file = file_again(v4)
    session = back(v4, had, callbacks=True)
    reply = reclaim_open(session, had, file, _TYPES[kind])
    need_reclaimed(reply)
    return session, file, reply


def _stateid(reply: CompoundReply) -> p.Stateid4:
    """The stateid of the delegation. SKIP if there is none, which another check judges."""
    result = reply.of(p.OPEN).resok4
    assert result is not None
    given = result.delegation.read or result.delegation.write
    if given is None:
        skip("the server has granted no delegation again")
    return given.stateid


@MINORS
@_KINDS
@across(CRASH, DELEGATED)
@proves(DELEGATIONS_COME_BACK, killed_by="open4-reclaims-without-delegation")
def test_granted(v4: Nfs4Dialect, target: TargetView, kind: str) -> Steps:
    """A delegation of before a crash is granted again to its client."""
    had = _holder(v4, kind)
    leave(target)
    yield CRASH
    _, _, reply = _reclaimed(v4, had, kind)
    result = reply.of(p.OPEN).resok4
    assert result is not None
    given = result.delegation.read or result.delegation.write
    observe(
        "reclaimed delegation", "recalled at once" if given is not None and given.recall else "not recalled"
    )
    expect(result).field("delegation.delegation_type", "delegation").equals(_TYPES[kind])


@MINORS
@_KINDS
@across(CRASH, DELEGATED)
@proves(IN_FORCE_AGAIN, killed_by="open4-invents-reclaimed-delegations")
def test_known(v4: Nfs4Dialect, target: TargetView, kind: str) -> Steps:
    """The stateid of a reclaimed delegation is valid, and can be returned."""
    had = _holder(v4, kind)
    leave(target)
    yield CRASH
    session, file, reply = _reclaimed(v4, had, kind)
    stateid = _stateid(reply)
    tested = expect(session.compound(op.test_stateid(stateid))).of(p.TEST_STATEID).ok()
    expect(list(tested.tsr_status_codes), "status codes", of=tested, field="tsr_status_codes").equals(
        [Nfsstat4.NFS4_OK]
    )
    expect(session.compound(op.putfh(file), op.delegreturn(stateid))).ok()


@MINORS
@pytest.mark.parametrize("claim", ["name", "fh"])
@across(CRASH, DELEGATED)
@proves(CLAIMS_IN_GRACE, killed_by="open4-delegate-cur-waits-for-grace")
def test_claim(v4: Nfs4Dialect, target: TargetView, claim: str) -> Steps:
    """OPEN with CLAIM_DELEGATE_CUR or CLAIM_DELEG_CUR_FH succeeds in the grace period, by a reclaimed delegation."""
    had = _holder(v4, "write")
    leave(target)
    yield CRASH
    session, file, reply = _reclaimed(v4, had, "write")
    stateid = _stateid(reply)
    where, what = file, op.claim_deleg_cur_fh(stateid)
    if claim == "name":
        where, what = v4.scratch.handle, op.claim_delegate_cur(stateid, b"f")
    reply = session.compound(op.putfh(where), op.open(what, BOTH, owner=new_state_owner()))
    if reply.status == Nfsstat4.NFS4ERR_GRACE:
        expect(reply).field("status", "status of OPEN").equals(Nfsstat4.NFS4_OK)
    expect(reply).ok()
