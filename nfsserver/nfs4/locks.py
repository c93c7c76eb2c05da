# SPDX-License-Identifier: MIT
"""LOCK, LOCKT, LOCKU, FREE_STATEID and TEST_STATEID (RFC 5661 sections 18.10 to 18.12, 18.38, 18.48)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.service import CallContext
from nfsserver.callbacks import notify_lock
from nfsserver.fs import Inode
from nfsserver.handlers import ServerApi
from nfsserver.nfs4.common import Nfs4Error, compound_of, current, on_wire, plain, require_file
from nfsserver.state.locks import Denied, Lock, span
from nfsserver.state.opens import Open
from nfsserver.state.shares import Share
from nfsserver.state.stateids import StateError
from nfsserver.state.waiters import Waiter

_OK: t.Final = Nfsstat4.NFS4_OK
_TYPES: t.Final = {
    p.NfsLockType4.READ_LT: False,
    p.NfsLockType4.READW_LT: False,
    p.NfsLockType4.WRITE_LT: True,
    p.NfsLockType4.WRITEW_LT: True,
}
"""Lock type -> whether it is a write lock. The forms that wait are refused like the others: the client asks again."""
_WAITING: t.Final = frozenset({p.NfsLockType4.READW_LT, p.NfsLockType4.WRITEW_LT})


def _is_write(locktype: p.NfsLockType4) -> bool:
    """Raises INVAL for what is no lock type."""
    if locktype not in _TYPES:
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    return _TYPES[locktype]


def _denied(refusal: Denied) -> p.Lock4Denied:
    held = refusal.held
    locktype = p.NfsLockType4.WRITE_LT if held.is_write else p.NfsLockType4.READ_LT
    owner = p.StateOwner4(t.cast("int", refusal.client), refusal.owner)
    return p.Lock4Denied(held.start, held.length, locktype, owner)


def lock4(server: ServerApi, context: CallContext, args: p.Lock4Args) -> p.Lock4Res:
    """LOCK of a new or a known lock-owner."""
    inode, state = current(context), compound_of(context)
    require_file(inode)
    start, end = span(args.offset, args.length)
    is_write = _is_write(args.locktype)
    if args.reclaim:
        state.states.require_reclaim(state.client)
    else:
        state.states.require_new_locks(state.client)
    opened, owner = _locker(context, args.locker, inode)
    wanted = Share.WRITE if is_write else Share.READ
    if server.knobs.now.lock_needs_access and not opened.access & wanted:
        raise StateError("OPENMODE")
    locks, waiters = state.states.held.locks, state.states.held.waiters
    waiters.remove(inode, opened.client, owner)
    try:
        lock = state.states.retrying_lock(
            inode, lambda: locks.lock(opened, owner, start, end, is_write=is_write)
        )
    except Denied as refusal:
        if args.reclaim:
            raise StateError("RECLAIM_CONFLICT") from None
        if args.locktype in _WAITING and opened.may_notify:
            waiters.add(inode, Waiter(opened.client, owner, start, end, is_write))
        return p.Lock4Res(Nfsstat4.NFS4ERR_DENIED, denied=_denied(refusal))
    notify_waiters(server, inode)  # a write lock may have become a read lock
    return p.Lock4Res(_OK, p.Lock4ResOk(on_wire(lock.stateid)))


def notify_waiters(server: ServerApi, inode: Inode) -> None:
    """Call the clients whose locks were denied and may be had now (section 20.11)."""
    held = server.states.held

    def is_free(waiter: Waiter) -> bool:
        client, owner = waiter.client, waiter.owner
        return (
            held.locks.conflict(
                inode, waiter.start, waiter.end, is_write=waiter.is_write, client=client, owner=owner
            )
            is None
        )

    for waiter in held.waiters.take(inode, is_free):
        notify_lock(server, waiter.client, inode, waiter.owner)


def _locker(context: CallContext, locker: p.Locker4, inode: Inode) -> tuple[Open, bytes]:
    """The open and the lock-owner that a LOCK is for. Raises BAD_STATEID and the like."""
    state = compound_of(context)
    held, client = state.states.held, state.client
    if locker.open_owner is not None:
        new = locker.open_owner
        opened = held.require(plain(new.open_stateid), client.id, inode, "open", slots=client.slots)
        assert isinstance(opened, Open)
        return opened, bytes(new.lock_owner.owner)
    assert locker.lock_owner is not None
    stateid = plain(locker.lock_owner.lock_stateid)
    lock = held.require(stateid, client.id, inode, "lock", slots=client.slots)
    assert isinstance(lock, Lock)
    return lock.open, lock.owner


def lockt4(_server: ServerApi, context: CallContext, args: p.Lockt4Args) -> p.Lockt4Res:
    """LOCKT; needs no open."""
    inode, state = current(context), compound_of(context)
    require_file(inode)
    start, end = span(args.offset, args.length)
    is_write = _is_write(args.locktype)
    if state.states.in_grace:
        raise StateError("GRACE")
    locks, client, owner = state.states.held.locks, state.client.id, bytes(args.owner.owner)

    def test() -> None:
        denied = locks.conflict(inode, start, end, is_write=is_write, client=client, owner=owner)
        if denied is not None:
            raise denied

    try:
        state.states.retrying_lock(inode, test)
    except Denied as refusal:
        return p.Lockt4Res(Nfsstat4.NFS4ERR_DENIED, denied=_denied(refusal))
    return p.Lockt4Res(_OK)


def locku4(server: ServerApi, context: CallContext, args: p.Locku4Args) -> p.Locku4Res:
    """LOCKU of any range, whatever of it is locked."""
    inode, state = current(context), compound_of(context)
    require_file(inode)
    start, end = span(args.offset, args.length)
    _is_write(args.locktype)
    lock = state.states.held.require(
        plain(args.lock_stateid), state.client.id, inode, "lock", slots=state.client.slots
    )
    assert isinstance(lock, Lock)
    state.states.held.locks.unlock(lock, start, end)
    notify_waiters(server, inode)
    return p.Locku4Res(_OK, on_wire(lock.stateid))


# ---------------------------------------------------------------- stateids


def free_stateid4(_server: ServerApi, context: CallContext, args: p.FreeStateid4Args) -> p.FreeStateid4Res:
    """FREE_STATEID of what was taken away, or of a lock-owner without locks."""
    state = compound_of(context)
    state.states.held.free(plain(args.fsa_stateid), state.client.id)
    state.states.note_freed(state.client)
    return p.FreeStateid4Res(_OK)


def stateid_test4(_: ServerApi, context: CallContext, args: p.TestStateid4Args) -> p.TestStateid4Res:
    """TEST_STATEID: a status for each."""
    state = compound_of(context)
    held, client = state.states.held, state.client
    found = [held.test(plain(stateid), client.id, slots=client.slots) for stateid in args.ts_stateids]
    codes = [_OK if name == "OK" else Nfsstat4[f"NFS4ERR_{name}"] for name in found]
    return p.TestStateid4Res(_OK, p.TestStateid4ResOk(codes))
