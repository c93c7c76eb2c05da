# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_bind_conn_to_session.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, names_in, with_result

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
