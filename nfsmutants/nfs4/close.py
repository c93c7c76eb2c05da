# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_close.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import refusal
from nfsserver.nfs4.common import compound_of

Close = Call[p.Close4Args, p.Close4Res]


@mutant(p.CLOSE)
def close4_keeps_shares(call: Close) -> p.Close4Res:
    """CLOSE succeeds, and the file stays open"""
    return p.Close4Res(Nfsstat4.NFS4_OK, call.args.open_stateid)


@mutant(p.READ)
def read4_takes_closed_stateids(call: Call[p.Read4Args, p.Read4Res]) -> p.Read4Res:
    """READ with a stateid that does not designate any state succeeds"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_BAD_STATEID:
        return result
    return p.Read4Res(Nfsstat4.NFS4_OK, p.Read4ResOk(True, b""))


@mutant(p.CLOSE)
def close4_compares_the_seqid(call: Close) -> p.Close4Res:
    """CLOSE with a seqid that is not 0 gets BAD_SEQID"""
    result = call.proceed()
    return refusal(result, Nfsstat4.NFS4ERR_BAD_SEQID) if call.args.seqid else result


@mutant((p.OPEN, p.CLOSE))
def close4_closes_for_all(call: AnyCall) -> t.Any:
    """CLOSE ends all OPENs of the file by this client"""
    opened: list[p.Stateid4] = call.state.setdefault("opened", [])
    result = call.proceed()
    if call.operation is p.OPEN and result.resok4 is not None:
        opened.append(result.resok4.stateid)
    elif call.operation is p.CLOSE:
        for stateid in opened:
            call.proceed(p.Close4Args(0, stateid))
        opened.clear()
    return result


# ---------------------------------------------------------------- stateids of what was closed


def _takes_closed(call: AnyCall) -> t.Any:
    """An operation with a stateid of a closed open, or of a lock-owner in it, is done as with the anonymous one."""
    if call.operation is not p.CLOSE:
        result = call.proceed()
        is_meant = bytes(call.args.stateid.other) in call.state
        if not is_meant or p.status_of(result) != Nfsstat4.NFS4ERR_BAD_STATEID:
            return result
        return call.proceed_with(stateid=p.ANONYMOUS_STATEID)
    locks = call.server.states.held.locks.of_file(compound_of(call.context).current)
    result = call.proceed()
    if result.status == Nfsstat4.NFS4_OK:
        others = [call.args.open_stateid.other, *(lock.other for lock in locks)]
        call.state.update(dict.fromkeys(map(bytes, others), True))
    return result


@mutant((p.CLOSE, p.WRITE, p.SETATTR))
def changes4_take_closed_stateids(call: AnyCall) -> t.Any:
    """WRITE and SETATTR with the stateid of a closed open, or of a lock-owner in it, are done"""
    return _takes_closed(call)


@mutant((p.CLOSE, p.READ))
def read4_takes_locks_of_closed_opens(call: AnyCall) -> t.Any:
    """READ with the stateid of a lock-owner is done after its open is closed"""
    return _takes_closed(call)


# ---------------------------------------------------------------- locks, and the stateid

_OK: t.Final = Nfsstat4.NFS4_OK


@mutant(p.CLOSE)
def close4_leaves_locks(call: Close) -> p.Close4Res:
    """CLOSE succeeds, and leaves the locks of its open"""
    held, file = call.server.states.held, compound_of(call.context).current
    before = [(owner, held.ranges.of(file, owner)) for owner in held.ranges.owners(file)]
    result = call.proceed()
    if result.status == _OK:
        for owner, ranges in before:
            for each in ranges:
                held.ranges.lock(file, owner, each.start, each.end, is_write=each.is_write)
    return result


@mutant(p.CLOSE)
def close4_refuses_lock_owners(call: Close) -> p.Close4Res:
    """CLOSE gets LOCKS_HELD while a lock-owner of its open has a stateid, though it has no locks"""
    locks = call.server.states.held.locks.of_file(compound_of(call.context).current)
    is_meant = any(lock.open.other == bytes(call.args.open_stateid.other) for lock in locks)
    return p.Close4Res(Nfsstat4.NFS4ERR_LOCKS_HELD) if is_meant else call.proceed()


@mutant(p.CLOSE)
def close4_returns_the_stateid(call: Close) -> p.Close4Res:
    """CLOSE returns the stateid that it has closed, one seqid on"""
    known, result = call.args.open_stateid, call.proceed()
    return p.Close4Res(_OK, p.Stateid4(known.seqid + 1, known.other)) if result.status == _OK else result


@mutant(p.CLOSE)
def close4_twice_is_ok(call: Close) -> p.Close4Res:
    """CLOSE of what was closed succeeds"""
    other, result = bytes(call.args.open_stateid.other), call.proceed()
    if result.status == _OK:
        call.state[other] = result
    return call.state.get(other, result)  # type: ignore[no-any-return]


@mutant(p.CLOSE)
def close4_seqid_zero_is_bad(call: Close) -> p.Close4Res:
    """CLOSE with a stateid whose seqid is 0 gets BAD_STATEID"""
    stateid = call.args.open_stateid
    is_meant = not stateid.seqid and any(stateid.other)
    return p.Close4Res(Nfsstat4.NFS4ERR_BAD_STATEID) if is_meant else call.proceed()


@mutant((p.OPEN, p.CLOSE))
def open4_again_is_what_was_closed(call: AnyCall) -> t.Any:
    """OPEN by an owner that has closed the file has the access and the denial of before, too"""
    state = compound_of(call.context)
    opens, shares, file = state.states.held.opens, state.states.held.shares, state.current
    if call.operation is p.CLOSE:
        stateid = bytes(call.args.open_stateid.other)
        for opened in opens.of_file(file):
            if opened.other == stateid:
                call.state[opened.key] = opened.access, opened.deny
        return call.proceed()
    result = call.proceed()
    again = opens.find(state.client.id, bytes(call.args.owner.owner), state.current)
    if again is not None and again.key in call.state:
        access, deny = call.state[again.key]
        shares.put(again.file, again.key, again.access | access, again.deny | deny)
    return result
