# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_stateids.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, names_in, refusal, with_result
from nfsmutants.nfs4.with_stateid import SUCCESS, TAKING, kind_of, proceed_with, stateid_of
from nfsmutants.rules import RFC5661_STATEIDS
from nfsserver.nfs4.common import compound_of
from nfsserver.state.stateids import State, Stateid, special

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


def _of_any_seqid(call: AnyCall, kind: str) -> t.Any:
    stateid = stateid_of(call)
    is_meant = kind_of(call) == kind and call.operation is not p.FREE_STATEID
    return proceed_with(call, p.Stateid4(0, stateid.other)) if is_meant else call.proceed()


@mutant(TAKING)
def stateids4_of_any_seqid(call: AnyCall) -> t.Any:
    """The seqid in the stateid of an open is ignored"""
    return _of_any_seqid(call, "open")


@mutant(TAKING)
def stateids4_of_locks_of_any_seqid(call: AnyCall) -> t.Any:
    """The seqid in the stateid of locks is ignored"""
    return _of_any_seqid(call, "lock")


def _is_of_another(call: AnyCall) -> bool:
    """Whether the stateid is one that another client has."""
    state = compound_of(call.context)
    mine = {each.other for each in state.states.held.stateids.of_client(state.client.id)}
    return kind_of(call) is not None and bytes(stateid_of(call).other) not in mine


@mutant(TAKING)
def stateids4_of_any_client(call: AnyCall) -> t.Any:
    """An operation with a stateid of another client succeeds"""
    return SUCCESS[call.operation](call) if _is_of_another(call) else call.proceed()


def _is_of_other_file(call: AnyCall, result: t.Any) -> bool:
    return kind_of(call) == "lock" and p.status_of(result) == _BAD and not _is_of_another(call)


@mutant(TAKING)
def stateids4_of_locks_of_any_file(call: AnyCall) -> t.Any:
    """An operation with the stateid of locks of another file says that it succeeds"""
    result = call.proceed()
    return SUCCESS[call.operation](call) if _is_of_other_file(call, result) else result


@mutant(TAKING)
def stateids4_of_locks_of_any_file_write(call: AnyCall) -> t.Any:
    """READ, WRITE and SETATTR with the stateid of locks of another file are done; LOCK and LOCKU say that they are"""
    result = call.proceed()
    if not _is_of_other_file(call, result):
        return result
    if call.operation in {p.READ, p.WRITE, p.SETATTR}:
        return proceed_with(call, p.ANONYMOUS_STATEID)
    return SUCCESS[call.operation](call)


def _of_any_type(call: AnyCall, kind: str) -> t.Any:
    is_meant = kind_of(call) == kind
    result = call.proceed()
    return SUCCESS[call.operation](call) if is_meant and p.status_of(result) == _BAD else result


@mutant((p.OPEN_DOWNGRADE, p.LOCK, p.DELEGRETURN))
def stateids4_of_locks_are_any(call: AnyCall) -> t.Any:
    """OPEN_DOWNGRADE, LOCK for a new lock-owner, and DELEGRETURN succeed with the stateid of locks"""
    return _of_any_type(call, "lock")


@mutant((p.LOCK, p.DELEGRETURN))
def stateids4_of_opens_are_any(call: AnyCall) -> t.Any:
    """LOCK for a known lock-owner, and DELEGRETURN, succeed with the stateid of an open"""
    return _of_any_type(call, "open")


@mutant((p.CLOSE, p.OPEN_DOWNGRADE, p.LOCK, p.LOCKU), breaks=RFC5661_STATEIDS)
def stateids4_of_delegations_are_any(call: AnyCall) -> t.Any:
    """CLOSE, OPEN_DOWNGRADE, LOCK and LOCKU succeed with the stateid of a delegation"""
    return _of_any_type(call, "delegation")


@mutant((p.OPEN, p.LOCK))
def stateids4_begin_with_two(call: AnyCall) -> t.Any:
    """The first stateid that OPEN or LOCK returns has a seqid of 2"""
    result = call.proceed()
    if result.resok4 is None:
        return result
    name = "stateid" if call.operation is p.OPEN else "lock_stateid"
    given = getattr(result.resok4, name)
    mine = call.server.states.held.stateids.of_client(compound_of(call.context).client.id)
    made = next(each for each in mine if each.other == bytes(given.other))
    return amend4(result, name, seqid=made.changed().seqid) if given.seqid == 1 else result


@mutant((p.OPEN, p.CLOSE))
def open4_gives_the_same_stateid_again(call: AnyCall) -> t.Any:
    """A new open gets the other of the stateid that was closed last"""
    if call.operation is p.CLOSE:
        result = call.proceed()
        if result.open_stateid is not None:
            call.state["closed"] = bytes(call.args.open_stateid.other)
        return result
    stateids = call.server.states.held.stateids

    def add(state: State) -> None:
        type(stateids).add(stateids, state)
        closed = call.state.pop("closed", None)
        if closed is not None and special(Stateid(1, closed)) is None:
            stateids.remove(state)
            state.other = closed
            stateids.restore(state)

    vars(stateids)["add"] = add
    try:
        return call.proceed()
    finally:
        del vars(stateids)["add"]
