# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_bind_conn_to_session.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsmutants.rules import RFC5661_BIND_CONN

Bind = Call[p.BindConnToSession4Args, p.BindConnToSession4Res]


@mutant(p.BIND_CONN_TO_SESSION, RFC5661_BIND_CONN)
def bindconn4_returns_another_session(call: Bind) -> p.BindConnToSession4Res:
    """BIND_CONN_TO_SESSION returns another session id"""
    return amend4(call.proceed(), bctsr_sessid=bytes(16))


@mutant(p.BIND_CONN_TO_SESSION, RFC5661_BIND_CONN)
def bindconn4_binds_the_backchannel_only(call: Bind) -> p.BindConnToSession4Res:
    """BIND_CONN_TO_SESSION of any direction returns CDFS4_BACK"""
    return amend4(call.proceed(), bctsr_dir=p.ChannelDirFromServer4.CDFS4_BACK)


@mutant(p.BIND_CONN_TO_SESSION, RFC5661_BIND_CONN)
def bindconn4_unknown_is_ok(call: Bind) -> p.BindConnToSession4Res:
    """BIND_CONN_TO_SESSION of a session that does not exist succeeds"""
    result = call.proceed()
    if result.bctsr_status != Nfsstat4.NFS4ERR_BADSESSION:
        return result
    resok = p.BindConnToSession4ResOk(call.args.bctsa_sessid, p.ChannelDirFromServer4.CDFS4_FORE, False)
    return p.BindConnToSession4Res(Nfsstat4.NFS4_OK, resok)
