# SPDX-License-Identifier: MIT
"""The procedures of NFSv2 as clients of Spritely NFS may use them (sections 3.2, 4.2.5 and 6.1 of its paper).

A client opens a file before it does anything else with it, and one that was given up must not go on. So data of a file
is read by who has it open, and written by who has it open for writing or was its last writer: STALE for others, or
with the knob `snfs_needs_open` for those that were given up.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol import nfs2
from nfsclient.protocol import snfs as p
from nfsclient.protocol.nfs2 import IGNORED, Nfsstat2
from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.service import CallContext
from nfsserver.fs import FsError, Inode, Kind
from nfsserver.handlers import Handler, ServerApi
from nfsserver.snfs.calling import Silent, key_of, make_way, wait

_REFUSED_WHEN_FULL: t.Final = frozenset({p.OPEN, p.REOPEN})
"""What is refused where too many calls wait: over a stream nobody sends it again for long."""


def with_client(handler: Handler) -> Handler:
    """Note the connection of a client; a call that has to wait and cannot gets no answer.

    One whose connection has ended while it waited is as if it had never come: its client says by REOPEN what it has
    open, and makes it as a new call, so carried out it would be counted for ever.
    """

    def answer(server: ServerApi, context: CallContext, args: t.Any) -> t.Any:
        if server.waiting.is_for_nobody:
            server.spritely.forget_call((key_of(context), context.xid))
            server.keep_silent()
            return context.operation.res(Nfsstat2.NFSERR_STALE)
        server.spritely.is_used |= context.operation.number != 0
        if context.channel is not None:
            server.spritely.note_channel(key_of(context), context.channel)
        try:
            return handler(server, context, args)
        except Silent:
            if context.channel is not None and context.operation in _REFUSED_WHEN_FULL:
                return context.operation.res(Nfsstat2.NFSERR_NOSPC)
            server.keep_silent()
            return context.operation.res(Nfsstat2.NFSERR_STALE)

    return answer


def _regular(server: ServerApi, handle: bytes) -> Inode | None:
    try:
        inode = server.backend.resolve(handle)
    except FsError:
        return None
    return inode if inode.kind is Kind.REGULAR else None


def _for_openers(handler: Handler, *, writes: bool) -> Handler:
    def answer(server: ServerApi, context: CallContext, args: t.Any) -> t.Any:
        inode = _regular(server, args.file)
        if inode is not None and _concerns_data(args):
            entry = server.spritely.entry(inode)
            block = None if entry is None else entry.blocks.get(key_of(context))
            has_it = block is not None and (block.is_dirty or (block.writers if writes else block.is_open))
            needs_open = server.knobs.now.snfs_needs_open
            if not has_it and (needs_open or server.spritely.was_given_up(key_of(context), inode)):
                return context.operation.res(Nfsstat2.NFSERR_STALE)
            if block is not None:
                block.wrote = block.wrote or writes
        return handler(server, context, args)

    return answer


def _concerns_data(args: t.Any) -> bool:
    return not isinstance(args, nfs2.Sattrargs) or args.attributes.size != IGNORED


def _truncating(handler: Handler) -> Handler:
    """CREATE: one that empties a file takes it from the caches of others."""

    def answer(server: ServerApi, context: CallContext, args: nfs2.Createargs) -> t.Any:
        inode = _named(server, context, args.where) if args.attributes.size == 0 else None
        if inode is None or inode.kind is not Kind.REGULAR:
            return handler(server, context, args)
        if server.spritely.is_recovering:
            wait(server)  # who wrote it last may not have reopened it yet
        entry = server.spritely.entry(inode)
        if entry is not None and make_way(server, entry, key_of(context), writes=True):
            wait(server)
        reply = handler(server, context, args)
        if reply.resok is not None:
            server.spritely.changed(inode)
        return reply

    return answer


def _named(server: ServerApi, context: CallContext, where: nfs2.Diropargs) -> Inode | None:
    try:
        directory = server.backend.resolve(where.dir)
        return directory.fs.lookup(server.backend.caller(context), directory, where.name)
    except FsError:
        return None


def _obtaining(handler: Handler) -> Handler:
    """LOOKUP and CREATE: a client that was given up obtains a handle again."""

    def answer(server: ServerApi, context: CallContext, args: t.Any) -> t.Any:
        reply = handler(server, context, args)
        inode = None if reply.resok is None else _regular(server, reply.resok.file)
        if inode is not None:
            server.spritely.obtained(key_of(context), inode)
        return reply

    return answer


AROUND: t.Final[dict[AnyOperation, Callable[[Handler], Handler]]] = {
    nfs2.READ: lambda handler: _for_openers(handler, writes=False),
    nfs2.WRITE: lambda handler: _for_openers(handler, writes=True),
    nfs2.SETATTR: lambda handler: _for_openers(handler, writes=True),
    nfs2.LOOKUP: _obtaining,
    nfs2.CREATE: lambda handler: _obtaining(_truncating(handler)),
}
"""What is around the handlers of NFSv2, by procedure."""
