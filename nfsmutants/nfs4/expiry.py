# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_expiry.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, restate4
from nfsmutants.rules import RFC5661_EXPIRY, RFC5661_FREE_STATEID, RFC5661_SEQUENCE
from nfsserver.nfs4.common import compound_of
from nfsserver.state.stateids import StateError

Sequence = Call[p.Sequence4Args, p.Sequence4Res]
FreeStateid = Call[p.FreeStateid4Args, p.FreeStateid4Res]
_OK: t.Final = Nfsstat4.NFS4_OK
_ALL: t.Final = p.SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED
_SOME: t.Final = p.SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED
_EXPIRED: t.Final = _ALL | _SOME


def _sender(call: Sequence) -> t.Any:
    """The client of the session; None if nobody has that."""
    try:
        return call.server.states.sessions.require(call.args.sa_sessionid).client
    except StateError:
        return None


def _flags(result: p.Sequence4Res) -> int:
    return 0 if result.sr_resok4 is None else result.sr_resok4.sr_status_flags


def _without(result: p.Sequence4Res, flags: int) -> p.Sequence4Res:
    return amend4(result, sr_status_flags=_flags(result) & ~flags)


@mutant(p.SEQUENCE)
def sequence4_hides_expiry(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE does not say that state has expired"""
    return _without(call.proceed(), _EXPIRED)


@mutant(p.SEQUENCE)
def sequence4_flags_expiry_once(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE says once to each client that state has expired"""
    result, client = call.proceed(), _sender(call)
    if client is None or not _flags(result) & _EXPIRED:
        return result
    is_known = client.id in call.state
    call.state[client.id] = True
    return _without(result, _EXPIRED) if is_known else result


@mutant(p.SEQUENCE, breaks=RFC5661_SEQUENCE)
def sequence4_flags_expiry_forever(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE says that state has expired also after all of that was freed"""
    result, client = call.proceed(), _sender(call)
    if client is None:
        return result
    flags = call.state.get(client.id, 0) | _flags(result) & _EXPIRED
    call.state[client.id] = flags
    return amend4(result, sr_status_flags=_flags(result) | flags)


@mutant(p.WRITE)
def write4_takes_expired_stateids(call: Call[p.Write4Args, p.Write4Res]) -> p.Write4Res:
    """WRITE with a stateid that has expired is done"""
    result, inode = call.proceed(), compound_of(call.context).current
    if result.status != Nfsstat4.NFS4ERR_EXPIRED or inode is None or inode.data is None:
        return result
    inode.data.write(call.args.offset, bytes(call.args.data), stable=True)
    return p.Write4Res(_OK, p.Write4ResOk(len(call.args.data), p.StableHow4.FILE_SYNC4, bytes(8)))


@mutant(p.WRITE)
def write4_expired_is_access(call: Call[p.Write4Args, p.Write4Res]) -> p.Write4Res:
    """WRITE with a stateid that has expired gets ACCESS"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_EXPIRED, Nfsstat4.NFS4ERR_ACCESS)


@mutant(p.TEST_STATEID)
def teststateid4_expired_is_valid(call: Call[p.TestStateid4Args, p.TestStateid4Res]) -> p.TestStateid4Res:
    """TEST_STATEID says of a stateid that has expired that it is valid"""
    result = call.proceed()
    if result.tsr_resok4 is None:
        return result
    codes = result.tsr_resok4.tsr_status_codes
    return amend4(
        result, tsr_status_codes=[_OK if code == Nfsstat4.NFS4ERR_EXPIRED else code for code in codes]
    )


def _is_lost(call: FreeStateid) -> bool:
    state = compound_of(call.context)
    mine = state.states.held.stateids.of_client(state.client.id)
    return any(each.other == bytes(call.args.fsa_stateid.other) and each.lost is not None for each in mine)


@mutant(p.FREE_STATEID, breaks=RFC5661_FREE_STATEID)
def freestateid4_expired_has_locks(call: FreeStateid) -> p.FreeStateid4Res:
    """FREE_STATEID of what has expired gets LOCKS_HELD"""
    if _is_lost(call):
        return p.FreeStateid4Res(Nfsstat4.NFS4ERR_LOCKS_HELD)
    return call.proceed()


@mutant(p.FREE_STATEID, breaks=RFC5661_FREE_STATEID)
def freestateid4_expired_stays(call: FreeStateid) -> p.FreeStateid4Res:
    """FREE_STATEID of what has expired succeeds, and frees nothing"""
    return p.FreeStateid4Res(_OK) if _is_lost(call) else call.proceed()


# ---------------------------------------------------------------- leases that ended


@mutant(p.SEQUENCE, breaks=RFC5661_SEQUENCE)
def sequence4_renews_no_lease_again(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE does not renew the lease of a client that has once lost state"""
    client = _sender(call)
    if client is None:
        return call.proceed()
    if call.server.states.held.losses(client.id):
        call.state[client.id] = True
    before, result = client.renewed, call.proceed()
    if client.id in call.state:
        client.renewed = before
    return result


@mutant(p.SEQUENCE)
def sequence4_renews_no_expired_lease(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE does not renew a lease that is over, though nothing was lost"""
    client = _sender(call)
    is_expired = client is not None and call.server.states.is_expired(client)
    before, result = 0.0 if client is None else client.renewed, call.proceed()
    if is_expired:
        client.renewed = before
    return result


@mutant(p.SEQUENCE)
def sequence4_forgets_silently(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE of a client whose lease is over takes all that it has away, and says nothing"""
    client, states = _sender(call), call.server.states
    if client is not None and states.is_expired(client):
        states.held.release(client.id)
    return call.proceed()


@mutant((p.OPEN, p.SEQUENCE), breaks=RFC5661_EXPIRY)
def nfs4_revokes_some_and_says_all(call: AnyCall) -> t.Any:
    """OPEN takes only what is in its way from an expired client, which SEQUENCE takes for all that it had"""
    states = call.server.states
    if call.operation is p.SEQUENCE:
        result = call.proceed()
        return amend4(result, sr_status_flags=_ALL) if _flags(result) & _SOME else result
    file, held = compound_of(call.context).current, states.held

    def expire(number: t.Any, why: t.Any = "EXPIRED") -> None:
        spared = [each for each in held.stateids.of_client(number) if each.file is not file]
        held.stateids._of_client[number] = {
            each.other: each for each in held.stateids.of_client(number) if each.file is file
        }
        held.revoke(number, why)
        for each in spared:
            held.stateids.restore(each)

    vars(states)["expire"] = expire
    try:
        return call.proceed()
    finally:
        del vars(states)["expire"]


@mutant(p.SEQUENCE, breaks=RFC5661_EXPIRY)
def nfs4_revokes_all_and_says_nothing(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE says nothing of what an expired client has lost"""
    return _without(call.proceed(), _EXPIRED)
