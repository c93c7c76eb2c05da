# SPDX-License-Identifier: MIT
"""Mutants that lose in a crash what they said was done."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs2 import (
    CREATE,
    GETATTR,
    LINK,
    LOOKUP,
    MKDIR,
    READDIR,
    REMOVE,
    RENAME,
    RMDIR,
    SETATTR,
    SYMLINK,
    Nfsstat2,
)
from nfsclient.rpc.service import CallContext
from nfsserver.fs import SUPERUSER, FsError, Inode
from nfsserver.mutants import mutant
from nfsserver.nfs2.bending import inode_of, place_of

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_CHANGING: t.Final = (CREATE, MKDIR, SYMLINK, LINK, REMOVE, RMDIR, RENAME)


def _undo(server: Server, state: dict[str, t.Any]) -> None:
    """In the first call after a crash, undo what was remembered before it."""
    if state.setdefault("boots", server.boots) != server.boots:
        for undo in reversed(state.pop("undoing", [])):
            with contextlib.suppress(FsError):
                undo()
        state["boots"] = server.boots


def _undoing(
    context: CallContext, args: t.Any, directory: Inode, source: Inode | None
) -> Callable[[], object]:
    """What takes a change of names back."""
    fs, name = directory.fs, place_of(args).name
    if context.procedure is REMOVE:
        return lambda: fs.create(SUPERUSER, directory, name)
    if context.procedure is RMDIR:
        return lambda: fs.mkdir(SUPERUSER, directory, name)
    if context.procedure is MKDIR:
        return lambda: fs.rmdir(SUPERUSER, directory, name)
    if context.procedure is RENAME and source is not None:
        return lambda: fs.rename(SUPERUSER, directory, name, source, args.from_.name)
    return lambda: fs.remove(SUPERUSER, directory, name)


@mutant(
    "nfs2-forgets-names-in-a-crash",
    bends=(*_CHANGING, LOOKUP, READDIR),
    breaks="RFC 1094 section 2.2",
    gist="Changes of names are answered before they are on stable storage, and lost in a crash",
)
def forgets_names_in_a_crash(server: Server, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
    """Remember how to take back what was done."""
    state = server.mutant_state("nfs2-forgets-names-in-a-crash")
    _undo(server, state)
    reply = proceed(context, args)
    if context.procedure in _CHANGING and reply.status == Nfsstat2.NFS_OK:
        directory = inode_of(server, place_of(args).dir)
        source = inode_of(server, args.from_.dir) if context.procedure is RENAME else None
        if directory is not None:
            state.setdefault("undoing", []).append(_undoing(context, args, directory, source))
    return reply


@mutant(
    "setattr2-is-forgotten-in-a-crash",
    bends=(SETATTR, GETATTR, LOOKUP),
    breaks="RFC 1094 section 2.2",
    gist="SETATTR answers before the attributes are on stable storage, and they are lost in a crash",
)
def is_forgotten_in_a_crash(server: Server, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
    """Remember what was there."""
    state = server.mutant_state("setattr2-is-forgotten-in-a-crash")
    _undo(server, state)
    inode = inode_of(server, args.file) if context.procedure is SETATTR else None
    if inode is not None and inode.data is not None:
        mode, mtime, size, data = inode.mode, inode.mtime, inode.size, inode.data

        def undo(inode: Inode = inode) -> None:
            inode.mode, inode.mtime = mode, mtime
            data.truncate(size)

        state.setdefault("undoing", []).append(undo)
    return proceed(context, args)
