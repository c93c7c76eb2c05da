# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_create_session_again.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsserver.nfs4.common import compound_of, principal_of

CreateSession = Call[p.CreateSession4Args, p.CreateSession4Res]
_MISORDERED: t.Final = Nfsstat4.NFS4ERR_SEQ_MISORDERED
_COUNT: t.Final = 1 << 32


@mutant(p.CREATE_SESSION)
def createsession4_earlier_first_is_ok(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION of a new client makes a session with the sequence id before the first one"""
    record = call.server.states.clients.get(call.args.csa_clientid)
    is_meant = record is not None and record.reply is None and call.args.csa_sequence == record.sequence
    if not is_meant:
        return call.proceed()
    made = call.proceed_with(csa_sequence=(call.args.csa_sequence + 1) % _COUNT)
    return amend4(made, csr_sequence=call.args.csa_sequence)


@mutant(p.CREATE_SESSION)
def createsession4_remembers_all_replies(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION with an earlier sequence id than the last one gets the session of then"""
    result, key = call.proceed(), (call.args.csa_clientid, call.args.csa_sequence)
    if result.csr_resok4 is not None:
        call.state[key] = result
    return call.state.get(key, result) if result.csr_status == _MISORDERED else result


def _make_another(call: CreateSession) -> p.CreateSession4Res:
    """A further session in place of that of a replay."""
    made = call.proceed_with(csa_sequence=(call.args.csa_sequence + 1) % _COUNT)
    return amend4(made, csr_sequence=call.args.csa_sequence)


@mutant(p.CREATE_SESSION)
def createsession4_compares_arguments(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION with the sequence id of the last one and other arguments makes another session"""
    key = call.args.csa_clientid, call.args.csa_sequence
    if call.state.setdefault(key, call.args) != call.args:
        return _make_another(call)
    return call.proceed()


@mutant(p.CREATE_SESSION)
def createsession4_sessions_have_other_caches(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION that comes again in another session, or without, makes another session"""
    key, carrier = (call.args.csa_clientid, call.args.csa_sequence), compound_of(call.context).session
    where = None if carrier is None else carrier.id
    if call.state.setdefault(key, where) != where:
        return _make_another(call)
    return call.proceed()


@mutant(p.CREATE_SESSION)
def createsession4_forgets_failures(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION that failed gets SEQ_MISORDERED when it comes again"""
    key = call.args.csa_clientid, call.args.csa_sequence
    if key in call.state:
        return p.CreateSession4Res(_MISORDERED)
    result = call.proceed()
    if result.csr_status == Nfsstat4.NFS4ERR_TOOSMALL:
        call.state[key] = True
    return result


@mutant(p.CREATE_SESSION)
def createsession4_failure_ends_the_client(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION that fails with TOOSMALL forgets the client id"""
    result, states = call.proceed(), call.server.states
    record = states.clients.get(call.args.csa_clientid)
    if result.csr_status == Nfsstat4.NFS4ERR_TOOSMALL and record is not None:
        states.destroy(record)
    return result


@mutant(p.CREATE_SESSION)
def createsession4_failure_ends_the_old(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION that fails with TOOSMALL ends the earlier incarnation of the client"""
    result, states = call.proceed(), call.server.states
    record = states.clients.get(call.args.csa_clientid)
    old = None if record is None else states.clients.confirmed(record.ownerid)
    if result.csr_status == Nfsstat4.NFS4ERR_TOOSMALL and old is not None:
        states.destroy(old)
    return result


def _as_its_user(call: CreateSession) -> p.CreateSession4Res:
    """The answer that the user of the client record would get."""
    record = call.server.states.clients.get(call.args.csa_clientid)
    assert record is not None
    principal, record.principal = record.principal, principal_of(call.context)
    try:
        return call.proceed()
    finally:
        record.principal = principal


@mutant(p.CREATE_SESSION)
def createsession4_anybody_confirms(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION by any user confirms a client id"""
    result = call.proceed()
    return _as_its_user(call) if result.csr_status == Nfsstat4.NFS4ERR_CLID_INUSE else result


@mutant(p.CREATE_SESSION)
def createsession4_stranger_ends_the_client(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION by another user forgets the client id"""
    result, states = call.proceed(), call.server.states
    record = states.clients.get(call.args.csa_clientid)
    if result.csr_status == Nfsstat4.NFS4ERR_CLID_INUSE and record is not None:
        states.destroy(record)
    return result


@mutant((p.CREATE_SESSION, p.DESTROY_SESSION))
def createsession4_session_ends_with_its_parent(call: AnyCall) -> t.Any:
    """A session ends with the session in which it was made"""
    result, sessions = call.proceed(), call.server.states.sessions
    if call.operation is p.CREATE_SESSION:
        carrier = compound_of(call.context).session
        if carrier is not None and result.csr_resok4 is not None:
            call.state[carrier.id] = result.csr_resok4.csr_sessionid
    elif result.dsr_status == Nfsstat4.NFS4_OK and bytes(call.args.dsa_sessionid) in call.state:
        sessions.remove(sessions.require(call.state.pop(bytes(call.args.dsa_sessionid))))
    return result


@mutant(p.CREATE_SESSION)
def createsession4_of_the_sender(call: CreateSession) -> p.CreateSession4Res:
    """A session that is made in a session belongs to the client of that session"""
    carrier, result = compound_of(call.context).session, call.proceed()
    if carrier is None or result.csr_resok4 is None:
        return result
    made = call.server.states.sessions.require(bytes(result.csr_resok4.csr_sessionid))
    made.client.sessions.pop(made.id, None)
    made.client = carrier.client
    carrier.client.sessions[made.id] = made
    return result
