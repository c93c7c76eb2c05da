# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_nfs2.py catch."""

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
    WRITE,
    Attrstat,
    Nfsstat2,
)
from nfsclient.rpc.service import CallContext
from nfsmutants.bending import inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs2.bending import place_of
from nfsmutants.nfs2.calls import Getattr, Write
from nfsmutants.recovery.bending import lose_everything_in_a_crash
from nfsserver.fs import SUPERUSER, FsError, Inode, Stability
from nfsserver.handlers import ServerApi
from nfsserver.nfs2.common import fattr

_CHANGING: t.Final = (CREATE, MKDIR, SYMLINK, LINK, REMOVE, RMDIR, RENAME)


def _undo(server: ServerApi, state: dict[str, t.Any]) -> None:
    """In the first call after a crash, undo the changes recorded before it."""
    if state.setdefault("boots", server.backend.boots) != server.backend.boots:
        for undo in reversed(state.pop("undoing", [])):
            with contextlib.suppress(FsError):
                undo()
        state["boots"] = server.backend.boots


def _undoing(
    context: CallContext, args: t.Any, directory: Inode, source: Inode | None
) -> Callable[[], object]:
    """Return the steps that undo a change of names."""
    fs, name = directory.fs, place_of(args).name
    if context.operation is REMOVE:
        return lambda: fs.create(SUPERUSER, directory, name)
    if context.operation is RMDIR:
        return lambda: fs.mkdir(SUPERUSER, directory, name)
    if context.operation is MKDIR:
        return lambda: fs.rmdir(SUPERUSER, directory, name)
    if context.operation is RENAME and source is not None:
        return lambda: fs.rename(SUPERUSER, directory, name, source, args.from_.name)
    return lambda: fs.remove(SUPERUSER, directory, name)


@mutant((*_CHANGING, LOOKUP, READDIR))
def nfs2_crash_loses_names(call: AnyCall) -> t.Any:
    """The server answers changes of names before they are on stable storage, and a crash loses them"""
    state = call.state
    _undo(call.server, state)
    reply = call.proceed()
    if call.operation in _CHANGING and reply.status == Nfsstat2.NFS_OK:
        directory = inode_of(call.server, place_of(call.args).dir)
        source = inode_of(call.server, call.args.from_.dir) if call.operation is RENAME else None
        if directory is not None:
            state.setdefault("undoing", []).append(_undoing(call.context, call.args, directory, source))
    return reply


@mutant((GETATTR, LOOKUP))
def nfs2_crash_loses_everything(call: AnyCall) -> t.Any:
    """Names are in memory: after a crash the root of the export is empty"""
    lose_everything_in_a_crash(call)
    return call.proceed()


@mutant((SETATTR, GETATTR, LOOKUP))
def setattr2_is_lost_in_a_crash(call: AnyCall) -> t.Any:
    """SETATTR answers before the attributes are on stable storage, and a crash loses them"""
    state = call.state
    _undo(call.server, state)
    inode = inode_of(call.server, call.args.file) if call.operation is SETATTR else None
    if inode is not None and inode.data is not None:
        mode, mtime, size, data = inode.mode, inode.mtime, inode.size, inode.data

        def undo(inode: Inode = inode) -> None:
            inode.mode, inode.mtime = mode, mtime
            data.truncate(size)

        state.setdefault("undoing", []).append(undo)
    return call.proceed()


# ---------------------------------------------------------------- WRITE


@mutant(WRITE)
def write2_answers_before_it_is_stable(call: Write) -> Attrstat:
    """WRITE answers before the data is on stable storage"""
    inode = inode_of(call.server, call.args.file)
    if inode is None:
        return Attrstat(Nfsstat2.NFSERR_STALE)
    inode.fs.write(call.caller, inode, call.args.offset, memoryview(call.args.data), Stability.UNSTABLE)
    return Attrstat(Nfsstat2.NFS_OK, fattr(inode))


@mutant(GETATTR)
def nfs2_restart_invalidates_handles(call: Getattr) -> Attrstat:
    """Handles from before a restart are invalid"""
    known: dict[bytes, int] = call.state
    if known.setdefault(call.args.file, call.backend.boots) != call.backend.boots:
        return Attrstat(Nfsstat2.NFSERR_STALE)
    reply: Attrstat = call.proceed()
    return reply
