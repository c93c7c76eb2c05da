# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_destroy_session.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import restate4, sequence_of
from nfsserver.nfs4.common import compound_of

Compound = Call[p.Compound4Args, p.Compound4Res]


@mutant((p.CREATE_SESSION, p.DESTROY_SESSION))
def destroysession4_destroys_nothing(call: AnyCall) -> t.Any:
    """DESTROY_SESSION succeeds, and the session goes on"""
    if call.operation is p.DESTROY_SESSION and call.args.dsa_sessionid in call.state:
        return p.DestroySession4Res(Nfsstat4.NFS4_OK)
    result = call.proceed()
    if call.operation is p.CREATE_SESSION and result.csr_resok4 is not None:
        call.state[result.csr_resok4.csr_sessionid] = True
    return result


@mutant(p.DESTROY_SESSION)
def destroysession4_unknown_is_ok(
    call: Call[p.DestroySession4Args, p.DestroySession4Res],
) -> p.DestroySession4Res:
    """DESTROY_SESSION of an unknown session succeeds"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_BADSESSION, Nfsstat4.NFS4_OK)


@mutant(p.COMPOUND)
def destroysession4_destroys_its_own(call: Compound) -> p.Compound4Res:
    """DESTROY_SESSION in a session destroys that session, whichever it names"""
    sent = sequence_of(call.args)
    if sent is None:
        return call.proceed()
    operations = [
        p.DestroySession4Args(sent.sa_sessionid)
        if isinstance(operation, p.DestroySession4Args)
        else operation
        for operation in call.args.argarray
    ]
    return call.proceed_with(argarray=operations)


@mutant(p.COMPOUND)
def destroysession4_may_stand_anywhere(call: Compound) -> p.Compound4Res:
    """DESTROY_SESSION of the session in SEQUENCE succeeds though operations follow it"""
    reply, sent = call.proceed(), sequence_of(call.args)
    last = reply.resarray[-1] if reply.resarray else None
    if sent is None or not isinstance(last, p.DestroySession4Res) or reply.status == Nfsstat4.NFS4_OK:
        return reply
    results = [*reply.resarray[:-1], p.DestroySession4Res(Nfsstat4.NFS4_OK)]
    return replace(reply, status=Nfsstat4.NFS4_OK, resarray=results)


Destroy = Call[p.DestroySession4Args, p.DestroySession4Res]


@mutant(p.DESTROY_SESSION)
def destroysession4_again_is_ok(call: Destroy) -> p.DestroySession4Res:
    """DESTROY_SESSION of a session that was destroyed succeeds"""
    result, number = call.proceed(), bytes(call.args.dsa_sessionid)
    if result.dsr_status == Nfsstat4.NFS4_OK:
        call.state[number] = True
    return p.DestroySession4Res(Nfsstat4.NFS4_OK) if number in call.state else result


@mutant(p.DESTROY_SESSION)
def destroysession4_not_in_its_own(call: Destroy) -> p.DestroySession4Res:
    """DESTROY_SESSION of the session in SEQUENCE gets INVAL"""
    session = compound_of(call.context).session
    if session is not None and session.id == bytes(call.args.dsa_sessionid):
        return p.DestroySession4Res(Nfsstat4.NFS4ERR_INVAL)
    return call.proceed()


@mutant(p.DESTROY_SESSION)
def destroysession4_is_always_final(call: Destroy) -> p.DestroySession4Res:
    """DESTROY_SESSION of any session gets NOT_ONLY_OP if operations follow it"""
    state = compound_of(call.context)
    if state.index != state.last:
        return p.DestroySession4Res(Nfsstat4.NFS4ERR_NOT_ONLY_OP)
    return call.proceed()
