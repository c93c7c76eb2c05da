# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_exchange_id_protection.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4, StateProtectHow4
from nfsclient.xdr import replace
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, names_in, refusal, sequence_of
from nfsserver.nfs4.common import principal_of

ExchangeId = Call[p.ExchangeId4Args, p.ExchangeId4Res]


def _unprotected(call: ExchangeId) -> p.ExchangeId4Res:
    return call.proceed_with(eia_state_protect=p.StateProtect4A(StateProtectHow4.SP4_NONE))


@mutant(p.EXCHANGE_ID)
def exchangeid4_ignores_protection(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID with any state protection succeeds over AUTH_SYS, and protects nothing"""
    return _unprotected(call)


@mutant(p.EXCHANGE_ID)
def exchangeid4_completes_ssv(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID with SP4_SSV that lacks algorithms or a window succeeds"""
    asked = call.args.eia_state_protect.spa_ssv_parms
    if asked is None or (asked.ssp_hash_algs and asked.ssp_encr_algs and asked.ssp_window):
        return call.proceed()
    return _unprotected(call)


@mutant(p.EXCHANGE_ID)
def exchangeid4_protects_everybody(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID says that the state is protected by a machine credential"""
    ops = p.StateProtectOps4([], [])
    protection = p.StateProtect4R(StateProtectHow4.SP4_MACH_CRED, spr_mach_ops=ops)
    return amend4(call.proceed(), eir_state_protect=protection)


def _strangers(call: AnyCall, record: t.Any) -> bool:
    """Whether the user is another one than that of the client record."""
    return record is not None and record.principal != principal_of(call.context)


_PERM: t.Final = Nfsstat4.NFS4ERR_PERM


@mutant((p.BIND_CONN_TO_SESSION, p.DESTROY_SESSION, p.DESTROY_CLIENTID))
def sessions4_are_of_their_user(call: AnyCall) -> t.Any:
    """Sessions and client ids are bound to and ended by their user only, without state protection, too"""
    args, states = call.args, call.server.states
    if isinstance(args, p.DestroyClientid4Args):
        if _strangers(call, states.clients.get(args.dca_clientid)):
            return p.DestroyClientid4Res(_PERM)
        return call.proceed()
    is_bind = isinstance(args, p.BindConnToSession4Args)
    number = bytes(args.bctsa_sessid if is_bind else args.dsa_sessionid)
    session = next((each for each in _sessions(states) if each.id == number), None)
    if session is None or not _strangers(call, session.client):
        return call.proceed()
    return p.BindConnToSession4Res(_PERM) if is_bind else p.DestroySession4Res(_PERM)


def _sessions(states: t.Any) -> t.Iterator[t.Any]:
    return (session for client in states.clients for session in client.sessions.values())


@mutant(p.COMPOUND)
def sequence4_sessions_are_of_their_user(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """SEQUENCE refuses requests of other users than the one who made the client"""
    sent = sequence_of(call.args)
    for session in _sessions(call.server.states):
        is_it = sent is not None and session.id == bytes(sent.sa_sessionid)
        if is_it and _strangers(call, session.client) and "GETATTR" in names_in(call.args):
            reply, status = call.proceed(), Nfsstat4.NFS4ERR_ACCESS
            return replace(reply, status=status, resarray=[refusal(reply.resarray[0], status)])
    return call.proceed()
