# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_lock_ranges.py catch."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable, Iterator

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.lock import overlooked
from nfsmutants.rules import RFC5661_ERRORS, RFC5661_LOCKT, RFC5661_SHARED_IO, RFC5661_STATE_OWNERS
from nfsserver.handlers import ServerApi
from nfsserver.nfs4.common import compound_of
from nfsserver.state.locks import Lock as ServerLock
from nfsserver.state.ranges import END, Range

Lock = Call[p.Lock4Args, p.Lock4Res]
Lockt = Call[p.Lockt4Args, p.Lockt4Res]
Locku = Call[p.Locku4Args, p.Locku4Res]
_OK: t.Final = Nfsstat4.NFS4_OK
_DENIED: t.Final = Nfsstat4.NFS4ERR_DENIED


def _span(call: AnyCall) -> tuple[int, int]:
    """(start, end) of the arguments."""
    offset, length = call.args.offset, call.args.length
    return offset, END if length == p.NFS4_MAXFILELEN else offset + length


def _proceed_in(call: AnyCall, start: int, end: int) -> t.Any:
    """The server's answer to the same operation on another range."""
    return call.proceed_with(offset=start, length=p.NFS4_MAXFILELEN if end == END else end - start)


def _own(call: AnyCall) -> ServerLock | None:
    """The locks of the stateid, or of the owner and client, in the arguments."""
    state = compound_of(call.context)
    if call.operation is p.LOCK and call.args.locker.open_owner is not None:
        owner = bytes(call.args.locker.open_owner.lock_owner.owner)
        return state.states.held.locks.find(state.client.id, owner, state.current)
    stateid = (
        call.args.lock_stateid if call.operation is p.LOCKU else call.args.locker.lock_owner.lock_stateid
    )
    mine = state.states.held.stateids.of_client(state.client.id)
    found = next((each for each in mine if each.other == bytes(stateid.other)), None)
    return found if isinstance(found, ServerLock) else None


def _overlapping(call: AnyCall) -> list[Range]:
    """What the owner has locked already, as far as the arguments overlap it."""
    own, span = _own(call), _span(call)
    return [] if own is None else [each for each in own.ranges if each.overlaps(*span)]


@contextlib.contextmanager
def _wider(server: ServerApi) -> Iterator[None]:
    """Inside, ranges that touch are taken for ranges that overlap."""
    ranges = server.states.held.ranges
    genuine = ranges.conflict
    vars(ranges)["conflict"] = lambda file, owner, start, end, *, is_write: genuine(
        file, owner, max(0, start - 1), min(END, end + 1), is_write=is_write
    )
    try:
        yield
    finally:
        del vars(ranges)["conflict"]


# ---------------------------------------------------------------- of two clients


@mutant(p.LOCK, breaks=RFC5661_ERRORS)
def lock4_first_byte_is_free(call: Lock) -> p.Lock4Res:
    """LOCK whose last byte is the first one of another lock is not denied by that"""
    end = _span(call)[1]
    with overlooked(call.server, lambda _owner, held: end == held.start + 1):
        return call.proceed()


@mutant(p.LOCK, breaks=RFC5661_ERRORS)
def lock4_last_byte_is_free(call: Lock) -> p.Lock4Res:
    """LOCK whose first byte is the last one of another lock is not denied by that"""
    start = _span(call)[0]
    with overlooked(call.server, lambda _owner, held: start == held.end - 1):
        return call.proceed()


@mutant(p.LOCK, breaks=RFC5661_SHARED_IO)
def lock4_touching_conflicts(call: Lock) -> p.Lock4Res:
    """LOCK of a range is denied by a lock that only touches it"""
    with _wider(call.server):
        return call.proceed()


@mutant(p.LOCKT)
def lockt4_first_byte_is_free(call: Lockt) -> p.Lockt4Res:
    """LOCKT whose last byte is the first one of another lock does not find that"""
    end = _span(call)[1]
    with overlooked(call.server, lambda _owner, held: end == held.start + 1):
        return call.proceed()


@mutant(p.LOCKT)
def lockt4_touching_conflicts(call: Lockt) -> p.Lockt4Res:
    """LOCKT of a range is denied by a lock that only touches it"""
    with _wider(call.server):
        return call.proceed()


# ---------------------------------------------------------------- of one owner


def _whole(call: Lock, *, is_write: bool) -> p.Lock4Res:
    wanted = call.args.locktype in {p.NfsLockType4.WRITE_LT, p.NfsLockType4.WRITEW_LT}
    around = [each for each in _overlapping(call) if each.is_write != wanted]
    if wanted == is_write and around:
        return t.cast("p.Lock4Res", _proceed_in(call, around[0].start, around[0].end))
    return call.proceed()


@mutant(p.LOCK)
def lock4_upgrades_the_whole_range(call: Lock) -> p.Lock4Res:
    """LOCK for writing inside a read lock of its owner makes all of that a write lock"""
    return _whole(call, is_write=True)


@mutant(p.LOCK)
def lock4_downgrades_the_whole_range(call: Lock) -> p.Lock4Res:
    """LOCK for reading inside a write lock of its owner makes all of that a read lock"""
    return _whole(call, is_write=False)


def _keeping(call: Lock, is_kept: Callable[[Range, int, int], bool]) -> p.Lock4Res:
    """LOCK, after which such ranges of the owner have the type of before where the new one overlaps them."""
    before, (start, end), result = _overlapping(call), _span(call), call.proceed()
    own = _own(call)
    if own is None or result.status != _OK:
        return result
    for each in before:
        if is_kept(each, start, end):
            part = max(start, each.start), min(end, each.end)
            own.table.lock(own.file, own.key, *part, is_write=each.is_write)
    return result


@mutant(p.LOCK)
def lock4_around_keeps_what_was(call: Lock) -> p.Lock4Res:
    """LOCK around a lock of its owner leaves the type of that as it was"""
    return _keeping(call, lambda each, start, end: start < each.start and each.end < end)


@mutant(p.LOCK)
def lock4_overlap_takes_the_first_type(call: Lock) -> p.Lock4Res:
    """LOCK that overlaps a lock of its owner leaves the type of the common bytes as it was"""
    return _keeping(call, lambda each, start, end: each.start < start < each.end < end)


@mutant((p.LOCK, p.LOCKU))
def locku4_unlocks_one_range(call: AnyCall) -> t.Any:
    """LOCKU of a range with several locks of its owner unlocks the first of them"""
    if call.operation is p.LOCK:
        result = call.proceed()
        if result.resok4 is not None:
            call.state.setdefault(bytes(result.resok4.lock_stateid.other), []).append(_span(call))
        return result
    start, end = _span(call)
    inside = [
        span
        for span in call.state.get(bytes(call.args.lock_stateid.other), ())
        if start <= span[0] and span[1] <= end
    ]
    return _proceed_in(call, *inside[0]) if len(inside) > 1 else call.proceed()


@mutant(p.LOCKU)
def locku4_unlocks_from_the_start(call: Locku) -> p.Locku4Res:
    """LOCKU of the end of a locked range unlocks it from its start"""
    found, (start, end) = _overlapping(call), _span(call)
    if found and found[0].start < start:
        return t.cast("p.Locku4Res", _proceed_in(call, found[0].start, end))
    return call.proceed()


@mutant(p.LOCKU)
def locku4_unlocks_to_the_end(call: Locku) -> p.Locku4Res:
    """LOCKU of the start of a locked range unlocks it to its end"""
    found, (start, end) = _overlapping(call), _span(call)
    if found and found[-1].end > end:
        return t.cast("p.Locku4Res", _proceed_in(call, start, found[-1].end))
    return call.proceed()


@mutant(p.LOCKU)
def locku4_to_the_end_is_to_the_size(call: Locku) -> p.Locku4Res:
    """LOCKU to the end of the file unlocks the bytes that the file has"""
    return call.proceed_with(length=1 << 20) if call.args.length == p.NFS4_MAXFILELEN else call.proceed()


@mutant(p.LOCKU)
def locku4_unlocks_for_others(call: Locku) -> p.Locku4Res:
    """LOCKU unlocks a range for all owners"""
    file, result = compound_of(call.context).current, call.proceed()
    ranges = call.server.states.held.ranges
    if result.status == _OK:
        for owner in ranges.owners(file):
            ranges.unlock(file, owner, *_span(call))
    return result


@mutant(p.LOCK)
def lock4_offsets_are_of_31_bits(call: Lock) -> p.Lock4Res:
    """LOCK ignores all bits of the offset but the lowest 31"""
    return call.proceed_with(offset=call.args.offset & 0x7FFF_FFFF)


# ---------------------------------------------------------------- owners


@mutant(p.LOCK)
def lock4_owners_are_of_all_clients(call: Lock) -> p.Lock4Res:
    """LOCK takes lock-owners of the same bytes for one owner, whichever client they are of"""
    new = call.args.locker.open_owner
    name = b"" if new is None else bytes(new.lock_owner.owner)
    with overlooked(call.server, lambda owner, _range: owner[1] == name):
        return call.proceed()


@mutant(p.LOCKT, breaks=RFC5661_STATE_OWNERS)
def lockt4_one_client_is_free(call: Lockt) -> p.Lockt4Res:
    """LOCKT does not look at locks of the same client"""
    me = compound_of(call.context).client.id
    with overlooked(call.server, lambda owner, _range: owner[0] == me):
        return call.proceed()


@mutant(p.LOCKT, breaks=RFC5661_LOCKT)
def lockt4_own_client_is_zero(call: Lockt) -> p.Lockt4Res:
    """LOCKT that finds a lock of the same client returns a client id of 0"""
    result = call.proceed()
    if result.denied is None or result.denied.owner.clientid != compound_of(call.context).client.id:
        return result
    return replace(result, denied=replace(result.denied, owner=p.StateOwner4(0, result.denied.owner.owner)))


def _of_other_open(call: Lock) -> ServerLock | None:
    """What the lock-owner of the arguments has locked by another open."""
    new = call.args.locker.open_owner
    own = None if new is None else _own(call)
    is_other = own is not None and new is not None and own.open.other != bytes(new.open_stateid.other)
    return own if is_other else None


@mutant(p.LOCK)
def lock4_owners_are_of_one_open(call: Lock) -> p.Lock4Res:
    """LOCK is denied by a lock that the same lock-owner has by another open"""
    own, span = _of_other_open(call), _span(call)
    if own is None or not any(each.overlaps(*span) for each in own.ranges):
        return call.proceed()
    owner = p.StateOwner4(t.cast("int", own.client), own.owner)
    held = own.ranges[0]
    denied = p.Lock4Denied(held.start, held.length, p.NfsLockType4.WRITE_LT, owner)
    return p.Lock4Res(_DENIED, denied=denied)


@mutant(p.LOCK)
def lock4_opens_keep_their_locks(call: Lock) -> p.Lock4Res:
    """LOCK by another open of the same lock-owner leaves what that has locked as it was"""
    if _of_other_open(call) is None:
        return call.proceed()
    return _keeping(call, lambda *_: True)


# ---------------------------------------------------------------- what leaves no lock


@mutant(p.LOCK)
def lock4_denied_locks_what_is_free(call: Lock) -> p.Lock4Res:
    """LOCK that is denied locks its range up to the lock in the way"""
    file, result = compound_of(call.context).current, call.proceed()
    if result.denied is not None and result.denied.offset > call.args.offset:
        ranges = call.server.states.held.ranges
        ranges.lock(file, (0, b"denied"), call.args.offset, result.denied.offset, is_write=True)
    return result


@mutant(p.LOCKT)
def lockt4_locks(call: Lockt) -> p.Lockt4Res:
    """LOCKT that finds no conflict locks the range"""
    state, result = compound_of(call.context), call.proceed()
    if result.status == _OK:
        owner = state.client.id, bytes(call.args.owner.owner)
        call.server.states.held.ranges.lock(state.current, owner, *_span(call), is_write=True)
    return result


@mutant(p.LOCKT)
def lockt4_needs_an_open(call: Lockt) -> p.Lockt4Res:
    """LOCKT by a client that does not have the file open gets BAD_STATEID"""
    state = compound_of(call.context)
    if any(each.client == state.client.id for each in state.states.held.opens.of_file(state.current)):
        return call.proceed()
    return p.Lockt4Res(Nfsstat4.NFS4ERR_BAD_STATEID)
