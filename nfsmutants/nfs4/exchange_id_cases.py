# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_exchange_id_cases.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, refusal
from nfsserver.nfs4.common import compound_of, principal_of
from nfsserver.state.records import Client

ExchangeId = Call[p.ExchangeId4Args, p.ExchangeId4Res]
_NAMELESS: t.Final = len("nfsproof ") + 14
"""Bytes of an owner that its host and its process fill in many clients."""


def _confirmed(call: ExchangeId) -> Client | None:
    """The confirmed record of the owner."""
    return call.server.states.clients.confirmed(bytes(call.args.eia_clientowner.co_ownerid))


def _in_use() -> p.ExchangeId4Res:
    return p.ExchangeId4Res(Nfsstat4.NFS4ERR_CLID_INUSE)


@mutant((p.EXCHANGE_ID, p.CREATE_SESSION))
def exchangeid4_unconfirmed_is_in_use(call: AnyCall) -> t.Any:
    """EXCHANGE_ID with the owner of an unconfirmed client gets CLID_INUSE if verifier or principal is another one"""
    if call.operation is p.CREATE_SESSION:
        call.state.clear()
        return call.proceed()
    owner = call.args.eia_clientowner
    sender = owner.co_verifier, principal_of(call.context)
    if call.state.setdefault(bytes(owner.co_ownerid), sender) != sender:
        return _in_use()
    return call.proceed()


@mutant(p.EXCHANGE_ID)
def exchangeid4_updates_unconfirmed(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID with the update flag returns the client id that is not confirmed"""
    result, owner = call.proceed(), bytes(call.args.eia_clientowner.co_ownerid)
    if result.eir_resok4 is not None:
        call.state[owner] = result
    return call.state.get(owner, result) if result.eir_status == Nfsstat4.NFS4ERR_NOENT else result


@mutant(p.EXCHANGE_ID)
def exchangeid4_noent_forgets_unconfirmed(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID that gets NOENT deletes the unconfirmed record"""
    result, owner = call.proceed(), bytes(call.args.eia_clientowner.co_ownerid)
    if result.eir_resok4 is not None:
        call.state[owner] = result.eir_resok4.eir_clientid
    known = call.server.states.clients.get(call.state.get(owner, 0))
    if result.eir_status == Nfsstat4.NFS4ERR_NOENT and known is not None:
        call.server.states.destroy(known)
    return result


@mutant(p.EXCHANGE_ID)
def exchangeid4_takes_owners_over(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID by another principal takes the owner from a client that has state"""
    result, record = call.proceed(), _confirmed(call)
    if result.eir_status != Nfsstat4.NFS4ERR_CLID_INUSE or record is None:
        return result
    call.server.states.destroy(record)
    return call.proceed()


@mutant(p.EXCHANGE_ID)
def exchangeid4_collision_ends_state(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID that gets CLID_INUSE releases what the client has"""
    result, record = call.proceed(), _confirmed(call)
    if result.eir_status == Nfsstat4.NFS4ERR_CLID_INUSE and record is not None:
        call.server.states.held.release(record.id)
    return result


@mutant(p.EXCHANGE_ID)
def exchangeid4_owners_are_of_users(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID by another principal gets CLID_INUSE although the client has no state"""
    record = _confirmed(call)
    if record is not None and record.principal != principal_of(call.context):
        return _in_use()
    return call.proceed()


@mutant((p.EXCHANGE_ID, p.CREATE_SESSION))
def createsession4_old_owner_is_misordered(call: AnyCall) -> t.Any:
    """CREATE_SESSION with a client id whose owner has another one now gets SEQ_MISORDERED"""
    result = call.proceed()
    if call.operation is p.EXCHANGE_ID:
        if result.eir_resok4 is not None:
            call.state[result.eir_resok4.eir_clientid] = True
        return result
    was_stale = result.csr_status == Nfsstat4.NFS4ERR_STALE_CLIENTID
    if was_stale and call.args.csa_clientid in call.state:
        return refusal(result, Nfsstat4.NFS4ERR_SEQ_MISORDERED)
    return result


def _is_update(call: ExchangeId) -> bool:
    return bool(call.args.eia_flags & p.EXCHGID4_FLAG_UPD_CONFIRMED_REC_A)


@mutant(p.EXCHANGE_ID)
def exchangeid4_refuses_updates(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID with the update flag gets PERM"""
    result = call.proceed()
    is_success = result.eir_resok4 is not None
    return p.ExchangeId4Res(Nfsstat4.NFS4ERR_PERM) if is_success and _is_update(call) else result


@mutant(p.EXCHANGE_ID)
def exchangeid4_updates_without_the_flag(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID with the update flag returns no CONFIRMED_R"""
    result = call.proceed()
    if not _is_update(call):
        return result
    return amend4(result, eir_flags=lambda it: it.eir_flags & ~p.EXCHGID4_FLAG_CONFIRMED_R)


@mutant(p.EXCHANGE_ID)
def exchangeid4_update_ends_state(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID with the update flag releases what the client has"""
    result, record = call.proceed(), _confirmed(call)
    if _is_update(call) and result.eir_resok4 is not None and record is not None:
        call.server.states.held.release(record.id)
    return result


@mutant(p.EXCHANGE_ID)
def exchangeid4_anybody_updates(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID with the update flag succeeds for any principal"""
    result, record = call.proceed(), _confirmed(call)
    if result.eir_status != Nfsstat4.NFS4ERR_PERM or record is None:
        return result
    sender, record.principal = record.principal, principal_of(call.context)
    try:
        return call.proceed()
    finally:
        record.principal = sender


@mutant(p.EXCHANGE_ID)
def exchangeid4_not_same_ends_the_client(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID that gets NOT_SAME destroys the client"""
    result, record = call.proceed(), _confirmed(call)
    if result.eir_status == Nfsstat4.NFS4ERR_NOT_SAME and record is not None:
        call.server.states.destroy(record)
    return result


@mutant(p.EXCHANGE_ID)
def exchangeid4_is_always_alone(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID with other operations gets NOT_ONLY_OP in a session, too"""
    if compound_of(call.context).last > 1:
        return p.ExchangeId4Res(Nfsstat4.NFS4ERR_NOT_ONLY_OP)
    return call.proceed()


def _restarts(call: AnyCall) -> bool:
    """Note whether CREATE_SESSION confirms a client that was confirmed before."""
    clients = call.server.states.clients
    record = clients.get(call.args.csa_clientid)
    old = None if record is None or record.is_confirmed else clients.confirmed(record.ownerid)
    return old is not None


@mutant((p.CREATE_SESSION, p.OPEN))
def open4_denials_outlive_restarts(call: AnyCall) -> t.Any:
    """What a client denies others is denied until its lease ends, though it has restarted"""
    if call.operation is p.CREATE_SESSION:
        if _restarts(call):
            call.state["restarted"] = True
        return call.proceed()
    handle = bytes(compound_of(call.context).handle or b"")
    is_denied = call.state.get(handle) and "restarted" in call.state
    if is_denied:
        return p.Open4Res(Nfsstat4.NFS4ERR_SHARE_DENIED)
    if call.args.share_deny:
        call.state[handle] = True
    return call.proceed()


@mutant((p.CREATE_SESSION, p.LOCKT))
def lockt4_locks_outlive_restarts(call: AnyCall) -> t.Any:
    """Locks of a client exclude others until its lease ends, though it has restarted"""
    if call.operation is p.CREATE_SESSION:
        if _restarts(call):
            call.state["restarted"] = True
        return call.proceed()
    handle, result = bytes(compound_of(call.context).handle or b""), call.proceed()
    if result.status == Nfsstat4.NFS4ERR_DENIED:
        call.state[handle] = result
    return call.state.get(handle, result) if "restarted" in call.state else result


@mutant(p.EXCHANGE_ID)
def exchangeid4_owners_are_of_23_bytes(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID compares the first bytes of owners"""
    ownerid = bytes(call.args.eia_clientowner.co_ownerid)
    return call.proceed_with("eia_clientowner", co_ownerid=ownerid[:_NAMELESS])


@mutant(p.EXCHANGE_ID)
def exchangeid4_owners_end_at_nul(call: ExchangeId) -> p.ExchangeId4Res:
    """EXCHANGE_ID compares owners up to the first NUL"""
    ownerid = bytes(call.args.eia_clientowner.co_ownerid)
    return call.proceed_with("eia_clientowner", co_ownerid=ownerid.partition(b"\0")[0])


@mutant((p.EXCHANGE_ID, p.CREATE_SESSION))
def createsession4_unconfirmed_lasts(call: AnyCall) -> t.Any:
    """A client id that is not confirmed is kept for ever"""
    result, clients = call.proceed(), call.server.states.clients
    if call.operation is p.EXCHANGE_ID:
        if result.eir_resok4 is not None:
            call.state[result.eir_resok4.eir_clientid] = call.args.eia_clientowner
        return result
    owner = call.state.get(call.args.csa_clientid)
    if owner is None or result.csr_status != Nfsstat4.NFS4ERR_STALE_CLIENTID:
        return result
    if clients.confirmed(bytes(owner.co_ownerid)) is not None:
        return result
    made = clients.add(
        bytes(owner.co_ownerid),
        bytes(owner.co_verifier),
        principal_of(call.context),
        call.server.states.now(),
    )
    return call.proceed_with(csa_clientid=made.id, csa_sequence=1)
