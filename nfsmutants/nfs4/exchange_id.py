# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_exchange_id.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, refusal
from nfsmutants.rules import RFC5661_EXCHANGE_ID

ExchangeId = Call[p.ExchangeId4Args, p.ExchangeId4Res]
_DEFINED: t.Final = (
    p.EXCHGID4_FLAG_SUPP_MOVED_REFER
    | p.EXCHGID4_FLAG_SUPP_MOVED_MIGR
    | p.EXCHGID4_FLAG_BIND_PRINC_STATEID
    | p.EXCHGID4_FLAG_MASK_PNFS
    | p.EXCHGID4_FLAG_UPD_CONFIRMED_REC_A
)


@mutant(p.EXCHANGE_ID)
def exchangeid4_new_is_confirmed(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID says that every client id is confirmed"""
    return amend4(call.proceed(), eir_flags=lambda it: it.eir_flags | p.EXCHGID4_FLAG_CONFIRMED_R)


@mutant(p.EXCHANGE_ID, breaks=RFC5661_EXCHANGE_ID)
def exchangeid4_never_confirms(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID says of no client id that it was confirmed"""
    return amend4(call.proceed(), eir_flags=lambda it: it.eir_flags & ~p.EXCHGID4_FLAG_CONFIRMED_R)


@mutant(p.EXCHANGE_ID)
def exchangeid4_returns_no_role(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID returns no role in pNFS"""
    return amend4(call.proceed(), eir_flags=lambda it: it.eir_flags & ~p.EXCHGID4_FLAG_MASK_PNFS)


@mutant(p.EXCHANGE_ID)
def exchangeid4_ignores_undefined_flags(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID ignores flags that are not defined"""
    return call.proceed_with(eia_flags=call.args.eia_flags & _DEFINED)


@mutant(p.EXCHANGE_ID, breaks=RFC5661_EXCHANGE_ID)
def exchangeid4_confirmed_gets_a_new_id(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID of a confirmed client returns another client id"""
    result = call.proceed()
    flags = result.eir_resok4.eir_flags if result.eir_resok4 is not None else 0
    if not flags & p.EXCHGID4_FLAG_CONFIRMED_R:
        return result
    return amend4(result, eir_clientid=lambda it: it.eir_clientid ^ 1)


@mutant((p.EXCHANGE_ID, p.CREATE_SESSION))
def exchangeid4_unconfirmed_keeps_its_id(call: AnyCall) -> t.Any:
    """EXCHANGE_ID of a client that is not confirmed returns the client id of before"""
    if call.operation is p.CREATE_SESSION:
        call.state.clear()
        return call.proceed()
    owner = call.args.eia_clientowner.co_ownerid
    if owner not in call.state:
        call.state[owner] = call.proceed()
    return call.state[owner]


@mutant(p.EXCHANGE_ID)
def exchangeid4_restart_keeps_the_id(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID with another verifier returns the client id of the earlier incarnation"""
    result, owner = call.proceed(), call.args.eia_clientowner
    known = call.state.get(owner.co_ownerid)
    if result.eir_resok4 is not None and known is None:
        call.state[owner.co_ownerid] = (owner.co_verifier, result.eir_resok4.eir_clientid)
    if known is None or known[0] == owner.co_verifier:
        return result
    return amend4(result, eir_clientid=known[1])


@mutant((p.EXCHANGE_ID, p.CREATE_SESSION, p.SEQUENCE))
def exchangeid4_restart_ends_sessions(call: AnyCall) -> t.Any:
    """EXCHANGE_ID with another verifier ends the sessions of the earlier incarnation at once"""
    result = call.proceed()
    if call.operation is p.EXCHANGE_ID and result.eir_resok4 is not None:
        owner = call.args.eia_clientowner.co_ownerid
        call.state[owner], before = result.eir_resok4.eir_clientid, call.state.get(owner)
        if before not in {None, call.state[owner]}:
            call.state["ended", before] = True
    elif call.operation is p.CREATE_SESSION and result.csr_resok4 is not None:
        call.state[result.csr_resok4.csr_sessionid] = call.args.csa_clientid
    elif call.operation is p.SEQUENCE and ("ended", call.state.get(call.args.sa_sessionid)) in call.state:
        return refusal(result, Nfsstat4.NFS4ERR_BADSESSION)
    return result


def _without_update(call: ExchangeId) -> p.ExchangeId4Res:
    return call.proceed_with(eia_flags=call.args.eia_flags & ~p.EXCHGID4_FLAG_UPD_CONFIRMED_REC_A)


@mutant(p.EXCHANGE_ID)
def exchangeid4_updates_what_is_not_there(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID with the update flag makes a client that does not exist"""
    result = call.proceed()
    return _without_update(call) if result.eir_status == Nfsstat4.NFS4ERR_NOENT else result


@mutant(p.EXCHANGE_ID)
def exchangeid4_updates_another_incarnation(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID with the update flag and another verifier is a restart of the client"""
    result = call.proceed()
    return _without_update(call) if result.eir_status == Nfsstat4.NFS4ERR_NOT_SAME else result


@mutant(p.EXCHANGE_ID)
def exchangeid4_knows_roles_only(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID with SUPP_MOVED_REFER, SUPP_MOVED_MIGR or BIND_PRINC_STATEID gets INVAL"""
    others = (
        p.EXCHGID4_FLAG_SUPP_MOVED_REFER
        | p.EXCHGID4_FLAG_SUPP_MOVED_MIGR
        | p.EXCHGID4_FLAG_BIND_PRINC_STATEID
    )
    if call.args.eia_flags & others:
        return p.ExchangeId4Res(Nfsstat4.NFS4ERR_INVAL)
    return call.proceed()


@mutant(p.EXCHANGE_ID)
def exchangeid4_refuses_implementations(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID of a client that says what it is gets INVAL"""
    return p.ExchangeId4Res(Nfsstat4.NFS4ERR_INVAL) if call.args.eia_client_impl_id else call.proceed()
