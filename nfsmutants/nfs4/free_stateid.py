# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_free_stateid.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, refusal, restate4
from nfsmutants.rules import RFC5661_FREE_STATEID, RFC5661_STATEIDS
from nfsserver.nfs4.common import compound_of
from nfsserver.state.delegations import Delegation
from nfsserver.state.locks import Lock

FreeStateid = Call[p.FreeStateid4Args, p.FreeStateid4Res]


@mutant(p.FREE_STATEID)
def freestateid4_frees_everything(call: FreeStateid) -> p.FreeStateid4Res:
    """FREE_STATEID of a stateid with locks succeeds"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_LOCKS_HELD, Nfsstat4.NFS4_OK)


@mutant((p.FREE_STATEID, p.TEST_STATEID), breaks=RFC5661_FREE_STATEID)
def freestateid4_frees_nothing(call: AnyCall) -> t.Any:
    """A stateid is valid after FREE_STATEID"""
    result = call.proceed()
    if call.operation is p.FREE_STATEID:
        call.state["freed"] = True
        return result
    return amend4(result, tsr_status_codes=[Nfsstat4.NFS4_OK]) if "freed" in call.state else result


@mutant(p.FREE_STATEID)
def freestateid4_unknown_is_ok(call: FreeStateid) -> p.FreeStateid4Res:
    """FREE_STATEID of a stateid that is none succeeds"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_BAD_STATEID, Nfsstat4.NFS4_OK)


@mutant((p.LOCKU, p.FREE_STATEID), breaks=RFC5661_STATEIDS)
def locku4_ends_the_stateid(call: AnyCall) -> t.Any:
    """The last LOCKU of a lock-owner ends its stateid"""
    result = call.proceed()
    if call.operation is p.LOCKU and result.lock_stateid is not None:
        call.state[result.lock_stateid.other] = True
    elif call.operation is p.FREE_STATEID and call.args.fsa_stateid.other in call.state:
        return refusal(result, Nfsstat4.NFS4ERR_BAD_STATEID)
    return result


def _state_of(call: AnyCall, stateid: p.Stateid4) -> t.Any:
    """What a stateid of the client stands for."""
    state = compound_of(call.context)
    mine = state.states.held.stateids.of_client(state.client.id)
    return next((each for each in mine if each.other == bytes(stateid.other)), None)


@mutant(p.FREE_STATEID, breaks=RFC5661_FREE_STATEID)
def freestateid4_frees_delegations(call: FreeStateid) -> p.FreeStateid4Res:
    """FREE_STATEID of a delegation succeeds"""
    is_meant = isinstance(_state_of(call, call.args.fsa_stateid), Delegation)
    return p.FreeStateid4Res(Nfsstat4.NFS4_OK) if is_meant else call.proceed()


@mutant((p.FREE_STATEID, p.LOCK))
def freestateid4_freed_locks_lock(call: AnyCall) -> t.Any:
    """LOCK with a stateid that was freed succeeds"""
    result = call.proceed()
    if call.operation is p.FREE_STATEID:
        call.state[bytes(call.args.fsa_stateid.other)] = True
        return result
    known = call.args.locker.lock_owner
    if known is None or bytes(known.lock_stateid.other) not in call.state:
        return result
    return p.Lock4Res(Nfsstat4.NFS4_OK, p.Lock4ResOk(known.lock_stateid))


@mutant(p.FREE_STATEID)
def freestateid4_closes_the_file(call: FreeStateid) -> p.FreeStateid4Res:
    """FREE_STATEID of a lock-owner closes the open that its locks were in"""
    found, result = _state_of(call, call.args.fsa_stateid), call.proceed()
    if isinstance(found, Lock) and result.fsr_status == Nfsstat4.NFS4_OK:
        call.server.states.held.close(found.open)
    return result


@mutant((p.FREE_STATEID, p.LOCK))
def freestateid4_forbids_the_owner(call: AnyCall) -> t.Any:
    """LOCK by a lock-owner whose stateid was freed gets BAD_STATEID"""
    if call.operation is p.FREE_STATEID:
        found, result = _state_of(call, call.args.fsa_stateid), call.proceed()
        if isinstance(found, Lock) and result.fsr_status == Nfsstat4.NFS4_OK:
            call.state[found.owner] = True
        return result
    new, result = call.args.locker.open_owner, call.proceed()
    is_meant = new is not None and bytes(new.lock_owner.owner) in call.state
    return refusal(result, Nfsstat4.NFS4ERR_BAD_STATEID) if is_meant else result


@mutant(p.FREE_STATEID)
def freestateid4_of_any_seqid(call: FreeStateid) -> p.FreeStateid4Res:
    """FREE_STATEID ignores the seqid of the stateid"""
    return call.proceed_with("fsa_stateid", seqid=0)
