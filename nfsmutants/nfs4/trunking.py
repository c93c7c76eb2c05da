# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_trunking.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, refusal, sequence_of
from nfsserver.nfs4.common import compound_of

Compound = Call[p.Compound4Args, p.Compound4Res]
ExchangeId = Call[p.ExchangeId4Args, p.ExchangeId4Res]
_NOT_BOUND: t.Final = Nfsstat4.NFS4ERR_CONN_NOT_BOUND_TO_SESSION


@mutant(p.EXCHANGE_ID)
def exchangeid4_connections_are_clients(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID of a confirmed owner returns another client id on each connection"""
    result, owner = call.proceed(), bytes(call.args.eia_clientowner.co_ownerid)
    if call.state.setdefault(owner, call.peer) == call.peer:
        return result
    return amend4(result, eir_clientid=lambda it: it.eir_clientid ^ 1)


@mutant(p.EXCHANGE_ID)
def exchangeid4_has_an_owner_for_each_client(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID returns another server owner to each client"""
    name = b"server of " + bytes(call.args.eia_clientowner.co_ownerid)[:64]
    return amend4(call.proceed(), "eir_server_owner", so_major_id=name)


def _not_bound(call: Compound) -> p.Compound4Res:
    result = p.Sequence4Res(_NOT_BOUND)
    return p.Compound4Res(_NOT_BOUND, call.args.tag, [result])


@mutant(p.COMPOUND)
def sequence4_wants_bound_connections(call: Compound) -> p.Compound4Res:
    """SEQUENCE on a connection that was not bound to the session gets CONN_NOT_BOUND_TO_SESSION"""
    sent = sequence_of(call.args)
    for client in call.server.states.clients if sent is not None else ():
        session = client.sessions.get(bytes(sent.sa_sessionid)) if sent is not None else None
        if session is not None and call.context.channel not in session.connections:
            return _not_bound(call)
    return call.proceed()


@mutant(p.COMPOUND)
def sequence4_newest_connection_only(call: Compound) -> p.Compound4Res:
    """SEQUENCE on another connection of the session than the newest gets CONN_NOT_BOUND_TO_SESSION"""
    sent = sequence_of(call.args)
    if sent is None:
        return call.proceed()
    seen: list[t.Any] = call.state.setdefault(bytes(sent.sa_sessionid), [])
    if call.peer not in seen:
        seen.append(call.peer)
    return call.proceed() if seen[-1] == call.peer else _not_bound(call)


@mutant(p.COMPOUND)
def sequence4_connections_have_a_session(call: Compound) -> p.Compound4Res:
    """SEQUENCE of another session than the first one of a connection gets CONN_NOT_BOUND_TO_SESSION"""
    sent = sequence_of(call.args)
    if sent is None:
        return call.proceed()
    number = bytes(sent.sa_sessionid)
    return call.proceed() if call.state.setdefault(call.peer, number) == number else _not_bound(call)


@mutant(p.CREATE_SESSION)
def createsession4_one_session_per_client(
    call: Call[p.CreateSession4Args, p.CreateSession4Res],
) -> p.CreateSession4Res:
    """CREATE_SESSION ends the earlier sessions of the client"""
    result, states = call.proceed(), call.server.states
    client = states.clients.get(call.args.csa_clientid)
    for session in list(client.sessions.values()) if client is not None else ():
        if result.csr_resok4 is not None and session.id != bytes(result.csr_resok4.csr_sessionid):
            states.sessions.remove(session)
    return result


def _of_sessions(call: AnyCall, path: str) -> t.Any:
    """BAD_STATEID for a stateid that another session has used first."""
    session, stateid = compound_of(call.context).session, getattr(call.args, path).other
    result = call.proceed()
    if session is None or call.state.setdefault(bytes(stateid), session.id) == session.id:
        return result
    return refusal(result, Nfsstat4.NFS4ERR_BAD_STATEID)


def _note_stateid(call: AnyCall) -> t.Any:
    result, session = call.proceed(), compound_of(call.context).session
    if result.resok4 is not None and session is not None:
        stateid = getattr(result.resok4, "stateid", None) or result.resok4.lock_stateid
        call.state[bytes(stateid.other)] = session.id
    return result


@mutant((p.OPEN, p.READ))
def read4_opens_are_of_sessions(call: AnyCall) -> t.Any:
    """READ with a stateid that was opened in another session of the client gets BAD_STATEID"""
    return _note_stateid(call) if call.operation is p.OPEN else _of_sessions(call, "stateid")


@mutant((p.LOCK, p.LOCKU))
def locku4_locks_are_of_sessions(call: AnyCall) -> t.Any:
    """LOCKU of a lock of another session of the client gets BAD_STATEID"""
    return _note_stateid(call) if call.operation is p.LOCK else _of_sessions(call, "lock_stateid")
