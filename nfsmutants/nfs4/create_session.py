# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_create_session.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import accepted, amend4, refusal, restate4, sequence_of

CreateSession = Call[p.CreateSession4Args, p.CreateSession4Res]


@mutant(p.CREATE_SESSION)
def createsession4_returns_the_next_sequence(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION returns the sequence id that comes next"""
    return amend4(call.proceed(), csr_sequence=lambda it: it.csr_sequence + 1)


@mutant((p.EXCHANGE_ID, p.CREATE_SESSION))
def createsession4_takes_any_sequence(call: AnyCall) -> t.Any:
    """CREATE_SESSION with a sequence id that is too high succeeds"""
    result = call.proceed()
    if call.operation is p.EXCHANGE_ID:
        made = result.eir_resok4
        if made is not None:
            call.state[made.eir_clientid] = made.eir_sequenceid
        return result
    expected = call.state.get(call.args.csa_clientid)
    if result.csr_status != Nfsstat4.NFS4ERR_SEQ_MISORDERED or expected is None:
        return result
    return amend4(call.proceed_with(csa_sequence=expected), csr_sequence=call.args.csa_sequence)


@mutant(p.CREATE_SESSION)
def createsession4_replay_makes_another(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION with the sequence id of before makes another session"""
    key = call.args.csa_clientid
    if call.state.get(key) == call.args.csa_sequence:
        again = call.proceed_with(csa_sequence=call.args.csa_sequence + 1)
        return amend4(again, csr_sequence=call.args.csa_sequence)
    call.state[key] = call.args.csa_sequence
    return call.proceed()


@mutant(p.CREATE_SESSION)
def createsession4_any_flag_is_a_backchannel(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION takes a flag that it does not know for CONN_BACK_CHAN"""
    flags = call.args.csa_flags
    return call.proceed_with(csa_flags=p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN) if flags > 7 else call.proceed()


@mutant(p.CREATE_SESSION)
def createsession4_second_is_misordered(call: CreateSession) -> p.CreateSession4Res:
    """A second CREATE_SESSION of the same client gets SEQ_MISORDERED"""
    result, key = call.proceed(), call.args.csa_clientid
    if result.csr_resok4 is None:
        return result
    first = call.state.setdefault(key, call.args.csa_sequence)
    return result if first == call.args.csa_sequence else refusal(result, Nfsstat4.NFS4ERR_SEQ_MISORDERED)


@mutant(p.CREATE_SESSION)
def createsession4_unknown_is_inval(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION for an unknown client id gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_STALE_CLIENTID, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.CREATE_SESSION)
def createsession4_doubles_sizes(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION grants requests of twice the size of the request"""
    asked = call.args.csa_fore_chan_attrs
    return amend4(call.proceed(), "csr_fore_chan_attrs", ca_maxrequestsize=2 * asked.ca_maxrequestsize)


@mutant(p.CREATE_SESSION)
def createsession4_halves_the_backchannel(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION changes operations and slots of the backchannel"""
    return amend4(
        call.proceed(),
        "csr_back_chan_attrs",
        ca_maxoperations=lambda it: it.ca_maxoperations // 2,
        ca_maxrequests=lambda it: it.ca_maxrequests // 2,
    )


@mutant(p.CREATE_SESSION)
def createsession4_adds_a_backchannel(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION says that the connection is a backchannel, though the request does not"""
    flag = p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN
    return amend4(call.proceed(), csr_flags=lambda it: it.csr_flags | flag)


@mutant(p.COMPOUND)
def createsession4_keeps_the_old_client(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """The sessions of a client go on after it has restarted"""
    reply, sent = call.proceed(), sequence_of(call.args)
    for result in reply.resarray:
        if isinstance(result, p.CreateSession4Res) and result.csr_resok4 is not None:
            call.state[result.csr_resok4.csr_sessionid] = True
    for operation in call.args.argarray:
        if isinstance(operation, p.DestroySession4Args):
            call.state.pop(operation.dsa_sessionid, None)
    if sent is None or sent.sa_sessionid not in call.state or reply.status != Nfsstat4.NFS4ERR_BADSESSION:
        return reply
    return replace(reply, status=Nfsstat4.NFS4_OK, resarray=[accepted(sent)])


@mutant(p.CREATE_SESSION)
def createsession4_doubles_back_sizes(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION announces replies of the backchannel of twice the size of the request"""
    asked = call.args.csa_back_chan_attrs
    return amend4(call.proceed(), "csr_back_chan_attrs", ca_maxresponsesize=2 * asked.ca_maxresponsesize)
