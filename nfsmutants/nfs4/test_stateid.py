# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_test_stateid.py catch."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, refusal
from nfsmutants.rules import RFC5661_TEST_STATEID
from nfsserver.nfs4.common import compound_of
from nfsserver.state.locks import Lock

TestStateid = Call[p.TestStateid4Args, p.TestStateid4Res]


@mutant(p.TEST_STATEID)
def teststateid4_nothing_is_valid(call: TestStateid) -> p.TestStateid4Res:
    """TEST_STATEID says of all stateids but the first that they are bad"""
    codes = [Nfsstat4.NFS4_OK, *[Nfsstat4.NFS4ERR_BAD_STATEID] * (len(call.args.ts_stateids) - 1)]
    return amend4(call.proceed(), tsr_status_codes=codes)


@mutant(p.TEST_STATEID)
def teststateid4_all_are_valid(call: TestStateid) -> p.TestStateid4Res:
    """TEST_STATEID says of all stateids that they are valid"""
    return amend4(call.proceed(), tsr_status_codes=[Nfsstat4.NFS4_OK] * len(call.args.ts_stateids))


@mutant(p.TEST_STATEID)
def teststateid4_ignores_the_seqid(call: TestStateid) -> p.TestStateid4Res:
    """TEST_STATEID ignores the seqid of stateids"""
    return call.proceed_with(
        ts_stateids=[
            p.Stateid4(0, stateid.other) if any(stateid.other) else stateid
            for stateid in call.args.ts_stateids
        ]
    )


_BAD: t.Final = Nfsstat4.NFS4ERR_BAD_STATEID
_OK: t.Final = Nfsstat4.NFS4_OK


def _codes(call: TestStateid, change: Callable[[p.Stateid4, Nfsstat4], Nfsstat4]) -> p.TestStateid4Res:
    """The server's answer with other codes: `change` gets each stateid and its code."""
    result = call.proceed()
    if result.tsr_resok4 is None:
        return result
    pairs = zip(call.args.ts_stateids, result.tsr_resok4.tsr_status_codes, strict=True)
    return amend4(result, tsr_status_codes=[change(stateid, Nfsstat4(code)) for stateid, code in pairs])


def _states(call: TestStateid) -> dict[bytes, t.Any]:
    state = compound_of(call.context)
    return {each.other: each for each in state.states.held.stateids.of_client(state.client.id)}


@mutant(p.TEST_STATEID)
def teststateid4_old_is_bad(call: TestStateid) -> p.TestStateid4Res:
    """TEST_STATEID says of a seqid of before that it is bad, not that it is old"""
    return _codes(call, lambda _, code: _BAD if code == Nfsstat4.NFS4ERR_OLD_STATEID else code)


@mutant(p.TEST_STATEID)
def teststateid4_zero_is_bad(call: TestStateid) -> p.TestStateid4Res:
    """TEST_STATEID says of a seqid of 0 that it is bad"""
    return _codes(call, lambda stateid, code: code if stateid.seqid else _BAD)


@mutant(p.TEST_STATEID)
def teststateid4_asks_all_clients(call: TestStateid) -> p.TestStateid4Res:
    """TEST_STATEID says of the stateids of all clients that they are valid"""
    known = call.server.states.held.stateids._states
    return _codes(call, lambda stateid, code: _OK if bytes(stateid.other) in known else code)


@mutant(p.TEST_STATEID)
def teststateid4_without_locks_is_bad(call: TestStateid) -> p.TestStateid4Res:
    """TEST_STATEID says of the stateid of a lock-owner without locks that it is bad"""
    states = _states(call)

    def change(stateid: p.Stateid4, code: Nfsstat4) -> Nfsstat4:
        found = states.get(bytes(stateid.other))
        return _BAD if isinstance(found, Lock) and not found.ranges else code

    return _codes(call, change)


@mutant(p.TEST_STATEID)
def teststateid4_stops_at_a_bad_stateid(call: TestStateid) -> p.TestStateid4Res:
    """TEST_STATEID fails with BAD_STATEID if one of several stateids is bad"""
    result = call.proceed()
    codes = [] if result.tsr_resok4 is None else result.tsr_resok4.tsr_status_codes
    return refusal(result, _BAD) if len(codes) > 1 and _BAD in codes else result


@mutant(p.TEST_STATEID)
def teststateid4_many_are_cut(call: TestStateid) -> p.TestStateid4Res:
    """TEST_STATEID has statuses for 32 stateids, and for no more"""
    result = call.proceed()
    codes = [] if result.tsr_resok4 is None else result.tsr_resok4.tsr_status_codes
    return amend4(result, tsr_status_codes=list(codes)[:32])


@mutant(p.TEST_STATEID)
def teststateid4_of_nothing_is_inval(call: TestStateid) -> p.TestStateid4Res:
    """TEST_STATEID of no stateids gets INVAL"""
    result = call.proceed()
    return result if call.args.ts_stateids else refusal(result, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.TEST_STATEID, breaks=RFC5661_TEST_STATEID)
def teststateid4_delegations_are_bad(call: TestStateid) -> p.TestStateid4Res:
    """TEST_STATEID says of the stateid of a delegation that it is bad"""
    states = _states(call)

    def change(stateid: p.Stateid4, code: Nfsstat4) -> Nfsstat4:
        found = states.get(bytes(stateid.other))
        return _BAD if found is not None and found.kind == "delegation" else code

    return _codes(call, change)
