# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_lock.py catch."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable, Iterator

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import NfsLockType4, Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, refusal, restate4
from nfsmutants.rules import RFC5661_ERRORS, RFC5661_LOCK
from nfsserver.handlers import ServerApi
from nfsserver.nfs4.common import compound_of, plain
from nfsserver.state.locks import Lock as ServerLock
from nfsserver.state.ranges import END, Conflict, Range

Lock = Call[p.Lock4Args, p.Lock4Res]


def _stateid(call: Lock) -> p.Stateid4:
    locker = call.args.locker
    if locker.open_owner is not None:
        return locker.open_owner.open_stateid
    assert locker.lock_owner is not None
    return locker.lock_owner.lock_stateid


@mutant(p.LOCK)
def lock4_grants_always(call: Lock) -> p.Lock4Res:
    """LOCK that conflicts with another lock succeeds"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_DENIED:
        return result
    return p.Lock4Res(Nfsstat4.NFS4_OK, p.Lock4ResOk(_stateid(call)))


@mutant(p.LOCK)
def lock4_locks_whole_files(call: Lock) -> p.Lock4Res:
    """LOCK of any range locks the whole file"""
    if not call.args.length or call.args.offset + call.args.length > 1 << 63:
        return call.proceed()
    return call.proceed_with(offset=0, length=p.NFS4_MAXFILELEN)


@mutant(p.LOCK)
def lock4_read_locks_exclude(call: Lock) -> p.Lock4Res:
    """LOCK for reading excludes others that read"""
    return call.proceed_with(locktype=NfsLockType4.WRITE_LT)


@mutant(p.LOCK)
def lock4_denied_has_another_range(call: Lock) -> p.Lock4Res:
    """LOCK that is denied says that the lock in the way is of one byte"""
    result = call.proceed()
    return result if result.denied is None else replace(result, denied=replace(result.denied, length=1))


@mutant(p.LOCK)
def lock4_denied_names_nobody(call: Lock) -> p.Lock4Res:
    """LOCK that is denied says that a client with id 0 has the lock"""
    result = call.proceed()
    if result.denied is None:
        return result
    return replace(result, denied=replace(result.denied, owner=p.StateOwner4(0, result.denied.owner.owner)))


@mutant(p.LOCK)
def lock4_wrong_range_is_badrange(call: Lock) -> p.Lock4Res:
    """LOCK of a range that is invalid gets BAD_RANGE"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_BAD_RANGE)


@mutant(p.LOCK)
def lock4_to_the_end_is_to_the_size(call: Lock) -> p.Lock4Res:
    """LOCK to the end of the file locks the bytes that the file has"""
    return call.proceed_with(length=1 << 20) if call.args.length == p.NFS4_MAXFILELEN else call.proceed()


@mutant(p.LOCK)
def lock4_own_locks_conflict(call: Lock) -> p.Lock4Res:
    """LOCK of a range that the lock-owner has locked with another type gets INVAL"""
    result = call.proceed()
    key = bytes(_stateid(call).other), call.args.offset
    if result.resok4 is not None:
        key = bytes(result.resok4.lock_stateid.other), call.args.offset
    known = call.state.setdefault(key, call.args.locktype)
    return result if known == call.args.locktype else refusal(result, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.LOCK)
def lock4_second_keeps_the_seqid(call: Lock) -> p.Lock4Res:
    """LOCK of a lock-owner that has locks returns the stateid of before"""
    result = call.proceed()
    if call.args.locker.lock_owner is None:
        return result
    return amend4(result, "lock_stateid", seqid=_stateid(call).seqid)


@mutant(p.LOCK)
def lock4_compares_the_clientid(call: Lock) -> p.Lock4Res:
    """LOCK returns a stateid that nobody knows if the client ID of the lock-owner is not that of the session"""
    result, new = call.proceed(), call.args.locker.open_owner
    if new is None or new.lock_owner.clientid in {0, compound_of(call.context).client.id}:
        return result
    return amend4(result, lock_stateid=p.Stateid4(1, b"nobody knows"))


def _own(call: Lock) -> ServerLock | None:
    """What the lock-owner has locked; None for one that has nothing yet."""
    if call.args.locker.lock_owner is None:
        return None
    state = compound_of(call.context)
    found = state.states.held.stateids.find(plain(_stateid(call)), state.client.id)
    return found if isinstance(found, ServerLock) and found.ranges else None


@mutant(p.LOCK, breaks=RFC5661_LOCK)
def lock4_locks_the_gap(call: Lock) -> p.Lock4Res:
    """LOCK by an owner that has a range below locks what is between them, too"""
    own, args = _own(call), call.args
    if own is None or own.ranges[-1].end >= args.offset:
        return call.proceed()
    start = own.ranges[-1].end
    return call.proceed_with(offset=start, length=args.offset + args.length - start)


@mutant(p.LOCK, breaks=RFC5661_LOCK)
def lock4_forgets_the_range_before(call: Lock) -> p.Lock4Res:
    """LOCK of a range unlocks the ranges that its owner has below it"""
    own, result = _own(call), call.proceed()
    if own is not None and result.resok4 is not None and own.ranges[0].start < call.args.offset < END:
        call.server.states.held.ranges.unlock(own.file, own.key, 0, call.args.offset)
    return result


@contextlib.contextmanager
def overlooked(server: ServerApi, is_overlooked: Callable[[t.Any, Range], bool]) -> Iterator[None]:
    """Inside, ranges of such an owner, (client ID, lock-owner), exclude nobody."""
    ranges = server.states.held.ranges
    genuine = ranges.conflict

    def conflict(*args: object, **named: object) -> Conflict | None:
        found: Conflict | None = genuine(*args, **named)  # type: ignore[arg-type]
        return None if found is not None and is_overlooked(*found) else found

    vars(ranges)["conflict"] = conflict
    try:
        yield
    finally:
        del vars(ranges)["conflict"]


@mutant(p.LOCK)
def lock4_one_client_has_no_conflicts(call: Lock) -> p.Lock4Res:
    """LOCK takes all lock-owners of a client for one"""
    me = compound_of(call.context).client.id
    with overlooked(call.server, lambda owner, _range: owner[0] == me):
        return call.proceed()


@mutant(p.LOCK, breaks=RFC5661_LOCK)
def lock4_upgrades_over_readers(call: Lock) -> p.Lock4Res:
    """LOCK for writing of a range that its owner has locked for reading does not look at other readers"""
    own, start, end = _own(call), call.args.offset, call.args.offset + call.args.length
    if own is None or not any(byte_range.overlaps(start, end) for byte_range in own.ranges):
        return call.proceed()
    with overlooked(call.server, lambda _owner, byte_range: not byte_range.is_write):
        return call.proceed()


@mutant(p.LOCK, breaks=RFC5661_LOCK)
def lock4_denied_upgrades_unlock(call: Lock) -> p.Lock4Res:
    """LOCK for writing of a range that its owner has locked for reading unlocks it, also if it is then denied"""
    own, result = _own(call), call.proceed()
    if own is not None and result.status == Nfsstat4.NFS4ERR_DENIED:
        call.server.states.held.ranges.unlock(own.file, own.key, 0, END)
    return result


_WAITING = frozenset({NfsLockType4.READW_LT, NfsLockType4.WRITEW_LT})


@mutant(p.LOCK)
def lock4_waits_without_a_conflict(call: Lock) -> p.Lock4Res:
    """LOCK for which the client would wait gets LOCK_NOTSUPP, though nobody has the lock"""
    result = call.proceed()
    if call.args.locktype not in _WAITING or result.status != Nfsstat4.NFS4_OK:
        return result
    return p.Lock4Res(Nfsstat4.NFS4ERR_LOCK_NOTSUPP)


@mutant(p.LOCK)
def lock4_compares_seqids(call: Lock) -> p.Lock4Res:
    """LOCK with seqids other than 0 gets BAD_SEQID, as in NFSv4.0"""
    opened, locked = call.args.locker.open_owner, call.args.locker.lock_owner
    seqids = (opened.open_seqid, opened.lock_seqid) if opened is not None else ()
    if any(seqids) or (locked is not None and locked.lock_seqid):
        return p.Lock4Res(Nfsstat4.NFS4ERR_BAD_SEQID)
    return call.proceed()


@mutant(p.LOCKT)
def lockt4_waiting_is_free(call: Call[p.Lockt4Args, p.Lockt4Res]) -> p.Lockt4Res:
    """LOCKT of a lock for which the client would wait succeeds always"""
    waiting = {p.NfsLockType4.READW_LT, p.NfsLockType4.WRITEW_LT}
    return p.Lockt4Res(Nfsstat4.NFS4_OK) if call.args.locktype in waiting else call.proceed()


@mutant(p.LOCKU)
def locku4_compares_seqids(call: Call[p.Locku4Args, p.Locku4Res]) -> p.Locku4Res:
    """LOCKU with another seqid than 0 gets BAD_SEQID, as in NFSv4.0"""
    return p.Locku4Res(Nfsstat4.NFS4ERR_BAD_SEQID) if call.args.seqid else call.proceed()


@mutant(p.LOCK, breaks=RFC5661_LOCK)
def lock4_openmode_locks_all_the_same(call: Lock) -> p.Lock4Res:
    """LOCK that the open does not permit is refused, and locks the range"""
    result = call.proceed()
    if result.status == Nfsstat4.NFS4ERR_OPENMODE:
        call.server.knobs.set("lock_needs_access", False)
        call.proceed()
        call.server.knobs.set("lock_needs_access", True)
    return result


@mutant(p.LOCK, breaks=RFC5661_ERRORS)
def lock4_openmode_is_bad_stateid(call: Lock) -> p.Lock4Res:
    """LOCK that the open does not permit gets BAD_STATEID"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_OPENMODE, Nfsstat4.NFS4ERR_BAD_STATEID)
