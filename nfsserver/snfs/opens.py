# SPDX-License-Identifier: MIT
"""OPEN, CLOSE, REOPEN and RECOVERED (sections 2.4, 3.1 and 4.3.4 of the paper on Spritely NFS)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.snfs import (
    Closeargs,
    Closeopres,
    Openargs,
    Openok,
    Openopres,
    Reopenargs,
    Snfsstat,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import Void, replace
from nfsserver.conflicts import recall_delegations
from nfsserver.fs import FsError, Inode, Kind
from nfsserver.handlers import ServerApi
from nfsserver.nfs2.common import fattr, status_of
from nfsserver.snfs.calling import call, key_of, look, make_way, wait
from nfsserver.state.shares import Share
from nfsserver.state.spritely import Entry, Key, TableFull
from nfsserver.state.stateids import StateError
from nfsserver.state.transitions import Callback, State, may_cache

_OK: t.Final = Snfsstat.NFS_OK
_STALE: t.Final = Snfsstat.NFSERR_STALE


class _Refused(Exception):
    """An open is refused with this status."""

    def __init__(self, status: Snfsstat) -> None:
        super().__init__(status.name)
        self.status = status


def open_(server: ServerApi, context: CallContext, args: Openargs) -> Openopres:
    """OPEN; waits for the callbacks that it needs."""
    try:
        inode = _file(server, context, args.file)
        _need_state(server)
        _give_way(server, inode, writes=args.write_mode)
        return _open(server, context, args, inode)
    except _Refused as refusal:
        return Openopres(refusal.status)


def _need_state(server: ServerApi) -> None:
    """Not before the clients of before a restart have come back (section 2.4)."""
    if not server.spritely.is_recovering:
        return
    if server.knobs.now.snfs_recovery == "wait":
        wait(server)
    raise _Refused(Snfsstat.SNFS_RECOVERING)


def _open(server: ServerApi, context: CallContext, args: Openargs, inode: Inode) -> Openopres:
    table, key = server.spritely, key_of(context)
    entry, call_of = _entry(server, inode), (key, context.xid)
    if not table.has_room(entry, key):
        raise _Refused(Snfsstat.NFSERR_NOSPC)
    if make_way(server, entry, key, writes=args.write_mode):
        if not table.may_wait(entry, call_of):
            raise _Refused(Snfsstat.NFSERR_NOSPC)
        wait(server)
    is_inconsistent = table.informs(entry, call_of)
    table.loss_is_known(inode)
    if is_inconsistent and not server.knobs.now.snfs_honors_lost:
        raise _Refused(Snfsstat.NFSERR_IO)
    can_be_called = context.channel is not None
    version, before = table.open(entry, key, args.mdev, writes=args.write_mode, can_be_called=can_be_called)
    table.reopened(key, inode)
    status = Snfsstat.SNFS_INCONSISTENT if is_inconsistent else _OK
    return Openopres(status, Openok(version, before, can_be_called and may_cache(entry.state), fattr(inode)))


def close(server: ServerApi, context: CallContext, args: Closeargs) -> Closeopres:
    """CLOSE; waits while the entry is locked."""
    table, key = server.spritely, key_of(context)
    try:
        inode = _file(server, context, args.file)
    except _Refused as refusal:
        return Closeopres(refusal.status)
    if table.is_recovering:
        return Closeopres(Snfsstat.SNFS_RECOVERING)
    entry = table.entry(inode)
    if entry is None:
        return Closeopres(_STALE)
    look(entry)
    if entry.is_locked:
        wait(server)
    if not table.close(entry, key, writes=args.write_mode):
        return Closeopres(_STALE)
    _reclaim_early(server)
    return Closeopres(_OK)


def _reclaim_early(server: ServerApi) -> None:
    """Have closed files written back before the table is full, as the knob says (section 4.3.1)."""
    kept = server.knobs.now.snfs_dirty_kept
    for entry in [] if kept is None else server.spritely.surplus(kept):
        _reclaim(server, entry)


def _reclaim(server: ServerApi, entry: Entry) -> None:
    writer = entry.last_writer
    if writer is not None and not entry.is_locked:
        call(server, entry, writer.key, Callback.WRITE_BACK)


def reopen(server: ServerApi, context: CallContext, args: Reopenargs) -> Openopres:
    """REOPEN: what a client has had before a restart, or before its connection ended."""
    try:
        inode = _file(server, context, args.file)
        if context.channel is None:
            args = replace(args, dirty=False)  # who cannot be called has cached nothing
        return _reopen(server, context, args, inode)
    except _Refused as refusal:
        return Openopres(refusal.status)


def _reopen(server: ServerApi, context: CallContext, args: Reopenargs, inode: Inode) -> Openopres:
    table, key, can_be_called = server.spritely, key_of(context), context.channel is not None
    known = table.entry(inode)
    block = None if known is None else known.blocks.get(key)
    if block is None and not _may_reopen(server, key, args, inode, known):
        raise _Refused(_STALE)
    is_late = block is None and not table.may_reclaim(key)
    entry = _entry(server, inode)
    if not table.has_room(entry, key):
        raise _Refused(Snfsstat.NFSERR_NOSPC)
    if (args.readers or args.writers) and make_way(server, entry, key, writes=args.writers > 0):
        wait(server)
    if not (args.readers or args.writers or args.dirty):
        version = table.version(inode)
        if key in entry.calls:  # its reply was lost
            table.end_call_closed(entry, key)
            server.waiting.wake()
        else:
            table.close_all(entry, key)
        return Openopres(_OK, Openok(version, version, False, fattr(inode)))
    if is_late and (args.writers or args.dirty):
        table.grow(inode)  # who has read the file since keeps what is old when this client has written
    table.reopen(
        entry,
        key,
        args.mdev,
        readers=args.readers,
        writers=args.writers,
        dirty=args.dirty,
        version=args.cache_version,
        can_be_called=can_be_called,
    )
    version = table.version(inode)
    enabled = can_be_called and may_cache(entry.state)
    return Openopres(_OK, Openok(version, version, enabled, fattr(inode)))


def _may_reopen(server: ServerApi, key: Key, args: Reopenargs, inode: Inode, known: Entry | None) -> bool:
    """Whether the state may be what the client says: nobody has changed it since."""
    if not (args.readers or args.writers or args.dirty):
        return False
    if args.cache_version > server.spritely.highest(inode):
        return False  # no server has given it
    if server.spritely.may_reclaim(key):
        if args.dirty and not args.writers and server.spritely.is_overtaken(inode, args.cache_version):
            return False  # it was given up
        return known is None or bool(args.readers or args.writers)
    if args.cache_version != server.spritely.known_version(inode) or server.spritely.is_recovering:
        return False
    is_read = known is not None and known.state in (State.ONE_READER, State.MULT_READERS)
    return known is None or (is_read and not args.writers and not args.dirty)


def recovered(server: ServerApi, context: CallContext, _args: Void) -> Closeopres:
    """RECOVERED: the client has reopened everything that it had."""
    server.spritely.recovered(key_of(context))
    if not server.spritely.is_recovering:
        server.waiting.wake()
    return Closeopres(_OK)


def _file(server: ServerApi, context: CallContext, handle: bytes) -> Inode:
    """The regular file of a handle that the client may use."""
    try:
        inode = server.backend.resolve(handle)
    except FsError as refusal:
        raise _Refused(Snfsstat(status_of(refusal))) from None
    if inode.kind is Kind.DIRECTORY:
        raise _Refused(Snfsstat.NFSERR_ISDIR)
    if inode.kind is not Kind.REGULAR:
        raise _Refused(Snfsstat.NFSERR_NXIO)
    if server.spritely.is_dead(key_of(context), inode):
        raise _Refused(_STALE)
    return inode


def _give_way(server: ServerApi, inode: Inode, *, writes: bool) -> None:
    """To what clients of NFSv4 hold."""
    if not len(server.states.held.stateids):
        return
    try:
        server.states.require_unlocked(inode, Share.WRITE if writes else Share.READ)
        recall_delegations(server, inode, None, changes=writes)
    except StateError as refusal:
        if refusal.status == "DELAY":
            wait(server)
        raise _Refused(Snfsstat.NFSERR_ACCES) from None


def _entry(server: ServerApi, inode: Inode) -> Entry:
    """The entry of a file; an older one is reclaimed for it if there is no room (section 4.3.1)."""
    try:
        return server.spritely.make(inode)
    except TableFull as full:
        oldest = full.oldest
        if oldest is None:
            raise _Refused(Snfsstat.NFSERR_NOSPC) from None
        look(oldest)
        _reclaim(server, oldest)
        wait(server)
