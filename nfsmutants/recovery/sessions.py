# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_sessions.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, refusal, restate4


@mutant((p.SEQUENCE, p.DESTROY_SESSION, p.BIND_CONN_TO_SESSION))
def sessions4_of_before_are_stale(call: AnyCall) -> t.Any:
    """Session ids that the server does not know get STALE_CLIENTID"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_BADSESSION, Nfsstat4.NFS4ERR_STALE_CLIENTID)


@mutant((p.CREATE_SESSION, p.DESTROY_CLIENTID))
def clients4_of_before_are_inval(call: AnyCall) -> t.Any:
    """Client ids that the server does not know get INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_STALE_CLIENTID, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.EXCHANGE_ID)
def exchangeid4_counts_from_one_again(call: Call[p.ExchangeId4Args, p.ExchangeId4Res]) -> p.ExchangeId4Res:
    """After a restart, EXCHANGE_ID gives the client ids of before again, in the same order"""
    result = call.proceed()
    if result.eir_resok4 is None:
        return result
    ids: list[int] = call.state.setdefault("ids", [])
    if call.state.setdefault("first", call.backend.boots) == call.backend.boots:
        ids.append(result.eir_resok4.eir_clientid)
        return result
    return amend4(result, eir_clientid=ids.pop(0)) if ids else result


@mutant((p.EXCHANGE_ID, p.CREATE_SESSION))
def createsession4_takes_no_former_clients(call: AnyCall) -> t.Any:
    """After a restart, CREATE_SESSION refuses the clients of owners that the server knew before: CLID_INUSE"""
    known: set[bytes] = call.state.setdefault("known", set())
    refused: set[int] = call.state.setdefault("refused", set())
    result = call.proceed()
    if call.operation is p.CREATE_SESSION:
        return refusal(result, Nfsstat4.NFS4ERR_CLID_INUSE) if call.args.csa_clientid in refused else result
    owner = bytes(call.args.eia_clientowner.co_ownerid)
    if call.state.setdefault("first", call.backend.boots) == call.backend.boots:
        known.add(owner)
    elif owner in known and result.eir_resok4 is not None:
        refused.add(result.eir_resok4.eir_clientid)
    return result
