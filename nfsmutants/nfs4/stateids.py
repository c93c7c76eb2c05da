# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_stateids.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import names_in, refusal, with_result
from nfsmutants.nfs4.with_stateid import SUCCESS, TAKING, stateid_of

Read = Call[p.Read4Args, p.Read4Res]
Close = Call[p.Close4Args, p.Close4Res]
_BAD: t.Final = Nfsstat4.NFS4ERR_BAD_STATEID
_NOTHING: t.Final = p.Read4Res(Nfsstat4.NFS4_OK, p.Read4ResOk(True, b""))


@mutant(p.READ)
def read4_seqid_zero_is_bad(call: Read) -> p.Read4Res:
    """READ with a stateid whose seqid is 0 gets BAD_STATEID"""
    result = call.proceed()
    is_meant = not call.args.stateid.seqid and any(call.args.stateid.other)
    return refusal(result, _BAD) if is_meant else result


@mutant(p.CLOSE)
def close4_takes_any_seqid(call: Close) -> p.Close4Res:
    """CLOSE ignores the seqid of the stateid"""
    return call.proceed_with("open_stateid", seqid=0)


@mutant((p.LOCK, p.CLOSE))
def close4_takes_lock_stateids(call: AnyCall) -> t.Any:
    """CLOSE with the stateid of a lock-owner succeeds"""
    result = call.proceed()
    if call.operation is p.LOCK:
        if result.resok4 is not None:
            call.state[bytes(result.resok4.lock_stateid.other)] = True
        return result
    stateid = call.args.open_stateid
    is_meant = bytes(stateid.other) in call.state
    return p.Close4Res(Nfsstat4.NFS4_OK, stateid) if is_meant else result


@mutant(p.LOCKU)
def locku4_takes_open_stateids(call: Call[p.Locku4Args, p.Locku4Res]) -> p.Locku4Res:
    """LOCKU with the stateid of an open succeeds"""
    result = call.proceed()
    return p.Locku4Res(Nfsstat4.NFS4_OK, call.args.lock_stateid) if result.status == _BAD else result


@mutant(p.READ)
def read4_takes_stateids_of_others(call: Read) -> p.Read4Res:
    """READ with a stateid of another client succeeds"""
    result = call.proceed()
    is_meant = result.status == _BAD and call.args.stateid.seqid == 1 and any(call.args.stateid.other)
    return _NOTHING if is_meant else result


@mutant(p.WRITE)
def write4_takes_the_invalid_stateid(call: Call[p.Write4Args, p.Write4Res]) -> p.Write4Res:
    """WRITE with the invalid stateid is done as with the anonymous one"""
    if call.args.stateid == p.INVALID_STATEID:
        return call.proceed_with(stateid=p.ANONYMOUS_STATEID)
    return call.proceed()


@mutant(p.COMPOUND)
def open4_sets_no_current_stateid(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """READ with the current stateid after OPEN gets BAD_STATEID"""
    reply = call.proceed()
    if names_in(call.args)[2:4] != ["OPEN", "READ"] or reply.status != Nfsstat4.NFS4_OK:
        return reply
    return with_result(reply, 3, p.Read4Res(_BAD))


@mutant(p.READ)
def read4_current_is_anonymous(call: Read) -> p.Read4Res:
    """READ with the current stateid where there is none is done with the anonymous one"""
    result = call.proceed()
    if result.status != _BAD or call.args.stateid != p.CURRENT_STATEID:
        return result
    return call.proceed_with(stateid=p.ANONYMOUS_STATEID)


@mutant(p.COMPOUND)
def restorefh4_restores_no_stateid(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """READ with the current stateid after RESTOREFH gets BAD_STATEID"""
    reply = call.proceed()
    if names_in(call.args)[-2:] != ["RESTOREFH", "READ"] or reply.status != Nfsstat4.NFS4_OK:
        return reply
    return with_result(reply, len(reply.resarray) - 1, p.Read4Res(_BAD))


# ---------------------------------------------------------------- the same rules for each operation


@mutant((p.OPEN, *TAKING))
def stateids4_of_any_file(call: AnyCall) -> t.Any:
    """An operation with the stateid of an open of another file succeeds"""
    result = call.proceed()
    if call.operation is p.OPEN:
        if result.resok4 is not None:
            call.state[bytes(result.resok4.stateid.other)] = True
        return result
    is_known = bytes(stateid_of(call).other) in call.state
    return SUCCESS[call.operation](call) if is_known and p.status_of(result) == _BAD else result


@mutant((p.OPEN, *TAKING))
def stateids4_unknown_is_anonymous(call: AnyCall) -> t.Any:
    """An operation with a stateid that the server never gave succeeds"""
    result = call.proceed()
    if call.operation is p.OPEN:
        if result.resok4 is not None:
            call.state[bytes(result.resok4.stateid.other)] = True
        return result
    other = bytes(stateid_of(call).other)
    is_unknown = other not in call.state and other not in {bytes(12), b"\xff" * 12}
    return SUCCESS[call.operation](call) if is_unknown and p.status_of(result) == _BAD else result


@mutant(TAKING)
def stateids4_that_are_bad_write(call: AnyCall) -> t.Any:
    """WRITE and SETATTR that get BAD_STATEID are done all the same; other operations say that they succeed"""
    result = call.proceed()
    if p.status_of(result) != _BAD or not any(stateid_of(call).other):
        return result
    if call.operation not in {p.WRITE, p.SETATTR}:
        return SUCCESS[call.operation](call)
    call.proceed_with(stateid=p.ANONYMOUS_STATEID)
    return result
