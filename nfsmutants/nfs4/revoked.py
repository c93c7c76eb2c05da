# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_revoked.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsserver.nfs4.common import compound_of
from nfsserver.state.delegations import Delegation
from nfsserver.state.stateids import StateError

Open = Call[p.Open4Args, p.Open4Res]
Sequence = Call[p.Sequence4Args, p.Sequence4Res]
_REVOKED: t.Final = p.SEQ4_STATUS_RECALLABLE_STATE_REVOKED


@mutant((p.OPEN, p.SEQUENCE))
def open4_waits_for_ever(call: AnyCall) -> t.Any:
    """OPEN that meets a delegation waits for its return, however long that takes"""
    states = call.server.states
    for delegation in states.held.delegations.overdue(states.now(), 0.0):
        delegation.recalled_at = states.now()
    return call.proceed()


def _flagged(result: p.Sequence4Res, *, is_set: bool) -> p.Sequence4Res:
    if result.sr_resok4 is None:
        return result
    flags = result.sr_resok4.sr_status_flags & ~_REVOKED
    return amend4(result, sr_status_flags=flags | (_REVOKED if is_set else 0))


@mutant(p.SEQUENCE)
def sequence4_is_silent_about_revocations(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE never returns RECALLABLE_STATE_REVOKED"""
    return _flagged(call.proceed(), is_set=False)


@mutant((p.SEQUENCE, p.TEST_STATEID))
def sequence4_tells_revocations_until_tested(call: AnyCall) -> t.Any:
    """SEQUENCE does not return RECALLABLE_STATE_REVOKED any more once the client has sent TEST_STATEID"""
    result, tested = call.proceed(), call.state
    if call.operation is p.TEST_STATEID:
        tested["tested"] = True
        return result
    return _flagged(result, is_set=False) if "tested" in tested else result


@mutant(p.SEQUENCE)
def sequence4_tells_revocations_for_ever(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE returns RECALLABLE_STATE_REVOKED to a client that has lost a delegation once, for ever"""
    result, seen = call.proceed(), call.state
    session = bytes(call.args.sa_sessionid)
    try:
        client = call.server.states.sessions.require(session).client
    except StateError:
        return result
    if call.server.states.held.losses(client.id):
        seen[client.id] = True
    return _flagged(result, is_set=True) if client.id in seen else result


def _lost(call: Call[t.Any, t.Any], stateid: p.Stateid4) -> Delegation | None:
    """The revoked delegation of a stateid."""
    for state in call.server.states.held.stateids.of_client(compound_of(call.context).client.id):
        if state.other == bytes(stateid.other) and isinstance(state, Delegation) and state.lost is not None:
            return state
    return None


@mutant(p.FREE_STATEID)
def freestateid4_keeps_what_was_revoked(
    call: Call[p.FreeStateid4Args, p.FreeStateid4Res],
) -> p.FreeStateid4Res:
    """FREE_STATEID of a revoked delegation gets LOCKS_HELD"""
    if _lost(call, call.args.fsa_stateid) is None:
        return call.proceed()
    return p.FreeStateid4Res(Nfsstat4.NFS4ERR_LOCKS_HELD)


@mutant(p.TEST_STATEID)
def teststateid4_revoked_is_valid(call: Call[p.TestStateid4Args, p.TestStateid4Res]) -> p.TestStateid4Res:
    """TEST_STATEID finds a revoked delegation valid"""
    result = call.proceed()
    if not any(_lost(call, stateid) for stateid in call.args.ts_stateids):
        return result
    return amend4(result, tsr_status_codes=[Nfsstat4.NFS4_OK] * len(call.args.ts_stateids))


@mutant(p.READ)
def read4_takes_revoked_delegations(call: Call[p.Read4Args, p.Read4Res]) -> p.Read4Res:
    """READ with the stateid of a revoked delegation is executed"""
    if _lost(call, call.args.stateid) is None:
        return call.proceed()
    return call.proceed_with(stateid=p.ANONYMOUS_STATEID)


@mutant((p.WRITE, p.SETATTR))
def changes4_take_revoked_delegations(call: AnyCall) -> t.Any:
    """WRITE and SETATTR with the stateid of a revoked delegation are executed"""
    if _lost(call, call.args.stateid) is None:
        return call.proceed()
    return call.proceed_with(stateid=p.ANONYMOUS_STATEID)


@mutant(p.OPEN)
def open4_claims_revoked_delegations(call: Open) -> p.Open4Res:
    """OPEN with CLAIM_DELEG_CUR_FH takes the stateid of a revoked delegation"""
    stateid = call.args.claim.oc_delegate_stateid
    if stateid is None or _lost(call, stateid) is None:
        return call.proceed()
    return call.proceed_with(claim=p.OpenClaim4(p.OpenClaimType4.CLAIM_FH))
