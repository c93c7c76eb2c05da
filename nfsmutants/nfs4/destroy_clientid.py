# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_destroy_clientid.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import restate4

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
