# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_bind_conn_to_session.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, names_in, refusal, with_result
from nfsserver.state.records import Direction

Bind = Call[p.BindConnToSession4Args, p.BindConnToSession4Res]


@mutant(p.BIND_CONN_TO_SESSION)
def bindconn4_returns_another_session(call: Bind) -> p.BindConnToSession4Res:
    """BIND_CONN_TO_SESSION returns another session id"""
    return amend4(call.proceed(), bctsr_sessid=bytes(16))


@mutant(p.BIND_CONN_TO_SESSION)
def bindconn4_binds_the_backchannel_only(call: Bind) -> p.BindConnToSession4Res:
    """BIND_CONN_TO_SESSION of any direction returns CDFS4_BACK"""
    return amend4(call.proceed(), bctsr_dir=p.ChannelDirFromServer4.CDFS4_BACK)


@mutant(p.BIND_CONN_TO_SESSION)
def bindconn4_unknown_is_ok(call: Bind) -> p.BindConnToSession4Res:
    """BIND_CONN_TO_SESSION of a session that does not exist succeeds"""
    result = call.proceed()
    if result.bctsr_status != Nfsstat4.NFS4ERR_BADSESSION:
        return result
    resok = p.BindConnToSession4ResOk(call.args.bctsa_sessid, p.ChannelDirFromServer4.CDFS4_FORE, False)
    return p.BindConnToSession4Res(Nfsstat4.NFS4_OK, resok)


@mutant(p.COMPOUND)
def bindconn4_follows_sequence(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """BIND_CONN_TO_SESSION after SEQUENCE succeeds"""
    reply = call.proceed()
    if names_in(call.args) != ["SEQUENCE", "BIND_CONN_TO_SESSION"] or len(reply.resarray) != 2:
        return reply
    sent = call.args.argarray[1]
    assert isinstance(sent, p.BindConnToSession4Args)
    resok = p.BindConnToSession4ResOk(sent.bctsa_sessid, p.ChannelDirFromServer4.CDFS4_FORE, False)
    return with_result(reply, 1, p.BindConnToSession4Res(Nfsstat4.NFS4_OK, resok))


@mutant(p.BIND_CONN_TO_SESSION)
def bindconn4_binds_fore_only(call: Bind) -> p.BindConnToSession4Res:
    """BIND_CONN_TO_SESSION of any direction returns CDFS4_FORE"""
    return amend4(call.proceed(), bctsr_dir=p.ChannelDirFromServer4.CDFS4_FORE)


def _bound(call: Bind) -> Direction | None:
    """What the connection is used for in the session; None if it is not bound to it."""
    channel, number = call.context.channel, bytes(call.args.bctsa_sessid)
    for client in call.server.states.clients:
        session = client.sessions.get(number)
        if session is not None and channel is not None:
            return session.connections.get(channel)
    return None


@mutant(p.BIND_CONN_TO_SESSION)
def bindconn4_refuses_repetitions(call: Bind) -> p.BindConnToSession4Res:
    """BIND_CONN_TO_SESSION on a connection of the session gets INVAL"""
    if _bound(call) is not None:
        return p.BindConnToSession4Res(Nfsstat4.NFS4ERR_INVAL)
    return call.proceed()


@mutant(p.BIND_CONN_TO_SESSION)
def bindconn4_changes_channels(call: Bind) -> p.BindConnToSession4Res:
    """BIND_CONN_TO_SESSION changes the channels of a connection"""
    result = call.proceed()
    if _bound(call) is None or result.bctsr_status != Nfsstat4.NFS4ERR_INVAL:
        return result
    back = call.args.bctsa_dir == p.ChannelDirFromClient4.CDFC4_BACK
    kind = p.ChannelDirFromServer4
    resok = p.BindConnToSession4ResOk(
        call.args.bctsa_sessid, kind.CDFS4_BACK if back else kind.CDFS4_FORE, False
    )
    return p.BindConnToSession4Res(Nfsstat4.NFS4_OK, resok)


@mutant((p.BIND_CONN_TO_SESSION, p.SEQUENCE))
def bindconn4_refusal_unbinds(call: AnyCall) -> t.Any:
    """A connection for which BIND_CONN_TO_SESSION was refused is not one of the session any more"""
    result = call.proceed()
    if call.operation is p.BIND_CONN_TO_SESSION:
        if result.bctsr_status == Nfsstat4.NFS4ERR_INVAL:
            call.state[bytes(call.args.bctsa_sessid)] = call.peer
        return result
    if call.state.get(bytes(call.args.sa_sessionid)) == call.peer:
        return refusal(result, Nfsstat4.NFS4ERR_CONN_NOT_BOUND_TO_SESSION)
    return result


@mutant((p.CREATE_SESSION, p.BIND_CONN_TO_SESSION))
def bindconn4_binds_the_last_session(call: AnyCall) -> t.Any:
    """BIND_CONN_TO_SESSION returns the session that was made on the connection"""
    result = call.proceed()
    if call.operation is p.CREATE_SESSION:
        if result.csr_resok4 is not None:
            call.state[call.peer] = result.csr_resok4.csr_sessionid
        return result
    return amend4(result, bctsr_sessid=call.state.get(call.peer, call.args.bctsa_sessid))
