# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_destroy_clientid.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, restate4
from nfsserver.nfs4.common import compound_of

DestroyClientid = Call[p.DestroyClientid4Args, p.DestroyClientid4Res]


@mutant(p.DESTROY_CLIENTID)
def destroyclientid4_destroys_nothing(_call: DestroyClientid) -> p.DestroyClientid4Res:
    """DESTROY_CLIENTID succeeds, and does nothing"""
    return p.DestroyClientid4Res(Nfsstat4.NFS4_OK)


@mutant(p.DESTROY_CLIENTID)
def destroyclientid4_is_never_busy(call: DestroyClientid) -> p.DestroyClientid4Res:
    """DESTROY_CLIENTID of a client id with sessions succeeds"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_CLIENTID_BUSY, Nfsstat4.NFS4_OK)


@mutant(p.DESTROY_CLIENTID)
def destroyclientid4_unknown_is_ok(call: DestroyClientid) -> p.DestroyClientid4Res:
    """DESTROY_CLIENTID of an unknown client id succeeds"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_STALE_CLIENTID, Nfsstat4.NFS4_OK)


@mutant(p.DESTROY_CLIENTID)
def destroyclientid4_looks_at_sessions_only(call: DestroyClientid) -> p.DestroyClientid4Res:
    """DESTROY_CLIENTID of a client id that has open files and no session succeeds"""
    client = call.server.states.clients.get(call.args.dca_clientid)
    if client is None or client.sessions:
        return call.proceed()
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_CLIENTID_BUSY, Nfsstat4.NFS4_OK)


@mutant(p.DESTROY_CLIENTID)
def destroyclientid4_again_is_ok(call: DestroyClientid) -> p.DestroyClientid4Res:
    """DESTROY_CLIENTID of a client id that was destroyed succeeds"""
    result, number = call.proceed(), call.args.dca_clientid
    if result.dcr_status == Nfsstat4.NFS4_OK:
        call.state[number] = True
    return p.DestroyClientid4Res(Nfsstat4.NFS4_OK) if number in call.state else result


@mutant(p.DESTROY_CLIENTID)
def destroyclientid4_spares_unconfirmed(call: DestroyClientid) -> p.DestroyClientid4Res:
    """DESTROY_CLIENTID of a client id that is not confirmed does nothing"""
    client = call.server.states.clients.get(call.args.dca_clientid)
    if client is None or client.is_confirmed:
        return call.proceed()
    return p.DestroyClientid4Res(Nfsstat4.NFS4_OK)


@mutant(p.DESTROY_CLIENTID)
def destroyclientid4_is_always_alone(call: DestroyClientid) -> p.DestroyClientid4Res:
    """DESTROY_CLIENTID in a session gets NOT_ONLY_OP"""
    if compound_of(call.context).session is not None:
        return p.DestroyClientid4Res(Nfsstat4.NFS4ERR_NOT_ONLY_OP)
    return call.proceed()


@mutant((p.DESTROY_CLIENTID, p.EXCHANGE_ID))
def destroyclientid4_remembers_the_owner(call: AnyCall) -> t.Any:
    """EXCHANGE_ID of an owner whose client id was destroyed says that it is confirmed"""
    if call.operation is p.DESTROY_CLIENTID:
        client = call.server.states.clients.get(call.args.dca_clientid)
        if client is not None:
            call.state[client.ownerid] = True
        return call.proceed()
    result = call.proceed()
    if bytes(call.args.eia_clientowner.co_ownerid) not in call.state:
        return result
    return amend4(result, eir_flags=lambda it: it.eir_flags | p.EXCHGID4_FLAG_CONFIRMED_R)
