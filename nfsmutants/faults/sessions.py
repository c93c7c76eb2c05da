# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/faults/test_sessions.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import refusal, sequence_of

Compound = Call[p.Compound4Args, p.Compound4Res]


def _misordered(call: Compound) -> p.Compound4Res:
    """SEQUENCE is refused."""
    status = Nfsstat4.NFS4ERR_SEQ_MISORDERED
    return p.Compound4Res(status, call.args.tag, [p.Sequence4Res(status)])


@mutant(p.COMPOUND)
def sequence4_new_connection_is_misordered(call: Compound) -> p.Compound4Res:
    """The first request of a session on a further connection gets SEQ_MISORDERED"""
    sent = sequence_of(call.args)
    if sent is None:
        return call.proceed()
    known: set[t.Any] = call.state.setdefault(sent.sa_sessionid, set())
    is_new = bool(known) and call.peer not in known
    known.add(call.peer)
    if is_new and len(call.args.argarray) > 1:
        return _misordered(call)
    return call.proceed()


@mutant(p.COMPOUND)
def sequence4_lone_retry_is_misordered(call: Compound) -> p.Compound4Res:
    """A retry of SEQUENCE alone gets SEQ_MISORDERED"""
    sent = sequence_of(call.args)
    if sent is None or len(call.args.argarray) > 1:
        return call.proceed()
    key = (sent.sa_sessionid, sent.sa_slotid)
    is_retry = call.state.get(key) == sent.sa_sequenceid
    call.state[key] = sent.sa_sequenceid
    return _misordered(call) if is_retry else call.proceed()


@mutant(p.COMPOUND)
def sequence4_first_slot_comes_first(call: Compound) -> p.Compound4Res:
    """The first request in a slot is refused if a higher slot of the session was used before"""
    sent = sequence_of(call.args)
    if sent is None:
        return call.proceed()
    highest = call.state.get(sent.sa_sessionid, 0)
    call.state[sent.sa_sessionid] = max(highest, sent.sa_slotid)
    return _misordered(call) if sent.sa_sequenceid == 1 and sent.sa_slotid < highest else call.proceed()


# ---------------------------------------------------------------- clients


@mutant((p.EXCHANGE_ID, p.CREATE_SESSION))
def createsession4_wants_the_first_connection(call: AnyCall) -> t.Any:
    """CREATE_SESSION on another connection than that of EXCHANGE_ID gets CLID_INUSE"""
    result = call.proceed()
    if call.operation is p.EXCHANGE_ID:
        made = result.eir_resok4
        if made is not None:
            call.state[made.eir_clientid] = call.peer
        return result
    is_other = call.state.get(call.args.csa_clientid, call.peer) != call.peer
    return refusal(result, Nfsstat4.NFS4ERR_CLID_INUSE) if is_other else result


@mutant(p.EXCHANGE_ID)
def exchangeid4_repeat_is_in_use(call: Call[p.ExchangeId4Args, p.ExchangeId4Res]) -> p.ExchangeId4Res:
    """EXCHANGE_ID that comes again on another connection gets CLID_INUSE"""
    owner = call.args.eia_clientowner
    first = call.state.setdefault((owner.co_ownerid, owner.co_verifier), call.peer)
    result = call.proceed()
    return result if first == call.peer else refusal(result, Nfsstat4.NFS4ERR_CLID_INUSE)


# ---------------------------------------------------------------- state


@mutant((p.OPEN, p.WRITE))
def write4_stateids_end_with_connections(call: AnyCall) -> t.Any:
    """WRITE with the stateid of an OPEN on another connection gets BAD_STATEID"""
    result = call.proceed()
    if call.operation is p.OPEN:
        if result.resok4 is not None:
            call.state[result.resok4.stateid.other] = call.peer
        return result
    is_other = call.state.get(call.args.stateid.other, call.peer) != call.peer
    return refusal(result, Nfsstat4.NFS4ERR_BAD_STATEID) if is_other else result


@mutant((p.SEQUENCE, p.LOCK))
def lock4_locks_end_with_connections(call: AnyCall) -> t.Any:
    """LOCK is granted against the locks of a client that has changed its connection"""
    result = call.proceed()
    if call.operation is p.SEQUENCE:
        first = call.state.setdefault(call.args.sa_sessionid, call.peer)
        call.state["moved"] = call.state.get("moved", False) or first != call.peer
        return result
    if result.status != Nfsstat4.NFS4ERR_DENIED or not call.state.get("moved", False):
        return result
    return p.Lock4Res(Nfsstat4.NFS4_OK, p.Lock4ResOk(p.Stateid4(1, b"a lost lock.")))
