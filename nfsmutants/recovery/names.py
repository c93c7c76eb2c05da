# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_names.py catch."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable

from nfsclient.protocol import nfs2, nfs3
from nfsclient.protocol.nfs3 import (
    CREATE,
    GETATTR,
    LINK,
    LOOKUP,
    MKDIR,
    MKNOD,
    READDIR,
    REMOVE,
    RENAME,
    RMDIR,
    SYMLINK,
    Nfsstat3,
)
from nfsmutants.bending import inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.recovery.bending import (
    CREATES,
    LINKS,
    LOOKS,
    MKDIRS,
    REMOVES,
    RENAMES,
    SYMLINKS,
    at_the_crash,
    damage_new,
    entry_of,
    inode_at,
    lose_everything_in_a_crash,
    lose_name,
    restore_field,
    strike,
)
from nfsmutants.rules import (
    RFC1813_SYNCHRONOUS,
)
from nfsserver.fs import FsError, Inode, Kind
from nfsserver.fs.permissions import SUPERUSER
from nfsserver.handlers import ServerApi

Undo: t.TypeAlias = Callable[[], object]
_NAMING: t.Final = (CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK)


def _undo_of(server: ServerApi, procedure: t.Any, args: t.Any) -> Undo:
    """Return a function that undoes an operation on names; a removed object comes back empty."""
    if procedure is RENAME:
        source, target = server.backend.resolve(args.from_.dir), server.backend.resolve(args.to.dir)
        return lambda: source.fs.rename(SUPERUSER, target, args.to.name, source, args.from_.name)
    place = args.link if procedure is LINK else args.object if procedure in {REMOVE, RMDIR} else args.where
    directory, name = server.backend.resolve(place.dir), place.name
    if procedure is REMOVE:
        return lambda: directory.fs.create(SUPERUSER, directory, name)
    if procedure is RMDIR:
        return lambda: directory.fs.mkdir(SUPERUSER, directory, name)
    if procedure is MKDIR:
        return lambda: directory.fs.rmdir(SUPERUSER, directory, name)
    return lambda: directory.fs.remove(SUPERUSER, directory, name)


@mutant((*_NAMING, LOOKUP, READDIR))
def nfs3_crash_loses_names(call: AnyCall) -> t.Any:
    """A crash undoes the last CREATE, REMOVE, RENAME, LINK or similar call"""
    state = call.state
    if call.operation in {LOOKUP, READDIR}:
        if state.get("boots", call.backend.boots) != call.backend.boots:
            state["boots"] = call.backend.boots
            with contextlib.suppress(FsError):
                state["undo"]()
        return call.proceed()
    reply = call.proceed()
    if reply.status == Nfsstat3.NFS3_OK:
        state["boots"], state["undo"] = call.backend.boots, _undo_of(call.server, call.operation, call.args)
    return reply


@mutant((GETATTR, LOOKUP))
def nfs3_crash_loses_everything(call: AnyCall) -> t.Any:
    """Names are in memory: after a crash the root of the export is empty"""
    lose_everything_in_a_crash(call)
    return call.proceed()


# ---------------------------------------------------------------- what the names lead to


@mutant((*LINKS, *REMOVES, *RENAMES, *LOOKS), breaks=RFC1813_SYNCHRONOUS)
def crash_restores_link_counts(call: AnyCall) -> t.Any:
    """A crash undoes what the last LINK, REMOVE or RENAME of each file did to its link count"""
    return restore_field(call, "nlink")


@mutant((*LINKS, *RENAMES, *LOOKS), breaks=RFC1813_SYNCHRONOUS)
def crash_leaves_new_names_to_copies(call: AnyCall) -> t.Any:
    """After a crash, a name that LINK or RENAME made stands for a new file"""
    strike(call)
    reply = call.proceed()
    if call.operation not in LOOKS:
        directory, name = entry_of(call.args, "to", "link")
        where = inode_of(call.server, directory)

        def copy() -> None:
            assert where is not None
            where.fs.create(SUPERUSER, where, b"copy")
            where.fs.rename(SUPERUSER, where, b"copy", where, name)

        at_the_crash(call, copy)
    return reply


@mutant((*RENAMES, *LOOKS), breaks=RFC1813_SYNCHRONOUS)
def crash_restores_parents(call: AnyCall) -> t.Any:
    """After a crash, the entry .. of a directory that RENAME moved leads to the old parent"""
    strike(call)
    moved = inode_at(call, "from_") if call.operation in RENAMES else None
    if moved is not None and moved.directory is not None:
        inside, parent = moved.directory, moved.directory.parent
        at_the_crash(call, lambda: setattr(inside, "parent", parent))
    return call.proceed()


@mutant((*RENAMES, *LOOKS), breaks=RFC1813_SYNCHRONOUS)
def crash_brings_back_old_names(call: AnyCall) -> t.Any:
    """After a crash, a file that RENAME moved has its old name, too"""
    strike(call)
    moved = inode_at(call, "from_") if call.operation in RENAMES else None
    if moved is not None:
        where, name = inode_of(call.server, call.args.from_.dir), bytes(call.args.from_.name)
        assert where is not None
        at_the_crash(call, lambda: where.fs.link(SUPERUSER, moved, where, name))
    return call.proceed()


@mutant((*RENAMES, *LOOKS), breaks=RFC1813_SYNCHRONOUS)
def crash_empties_renamed_files(call: AnyCall) -> t.Any:
    """A crash empties a file that RENAME has put in place of another one"""
    strike(call)
    moved = inode_at(call, "from_") if call.operation in RENAMES else None
    if moved is not None and moved.data is not None and inode_at(call, "to") is not None:
        data = moved.data
        at_the_crash(call, lambda: data.truncate(0))
    return call.proceed()


@mutant((*SYMLINKS, *LOOKS), breaks=RFC1813_SYNCHRONOUS)
def crash_empties_symlinks(call: AnyCall) -> t.Any:
    """A crash empties new symbolic links"""
    return damage_new(call, lambda _, inode: setattr(inode, "target", b""))


@mutant((*CREATES, *MKDIRS, *LOOKS), breaks=RFC1813_SYNCHRONOUS)
def crash_forgets_modes(call: AnyCall) -> t.Any:
    """After a crash, new files and directories have the mode 0600"""
    return damage_new(call, lambda _, inode: setattr(inode, "mode", 0o600))


@mutant((*CREATES, *LOOKS), breaks=RFC1813_SYNCHRONOUS)
def crash_brings_back_cut_data(call: AnyCall) -> t.Any:
    """A crash undoes the truncation by CREATE of an existing file"""
    strike(call)
    inode = inode_at(call, "where") if call.operation in CREATES else None
    if inode is not None and inode.data is not None:
        data, old = inode.data, inode.data.read(0, inode.size)
        at_the_crash(call, lambda: data.write(0, old, stable=True))
    return call.proceed()


@mutant((MKNOD, *LOOKS))
def crash_mixes_up_special_files(call: AnyCall) -> t.Any:
    """After a crash, new FIFOs are sockets, sockets are FIFOs, and devices have the number 0"""
    others = {Kind.FIFO: Kind.SOCKET, Kind.SOCKET: Kind.FIFO}

    def mix_up(_: int, inode: Inode) -> None:
        inode.kind, inode.rdev = others.get(inode.kind, inode.kind), (0, 0)

    return damage_new(call, mix_up)


# ---------------------------------------------------------------- many of them


@mutant((*CREATES, *LOOKS), breaks=RFC1813_SYNCHRONOUS)
def crash_loses_some_of_many_names(call: AnyCall) -> t.Any:
    """A crash loses every 32nd new file"""
    return damage_new(call, lambda number, inode: None if number % 32 else lose_name(inode))


@mutant((*MKDIRS, *LOOKS), breaks=RFC1813_SYNCHRONOUS)
def crash_loses_deep_directories(call: AnyCall) -> t.Any:
    """A crash loses directories that were made after ten others"""
    return damage_new(call, lambda number, inode: lose_name(inode) if number > 10 else None)


@mutant((*REMOVES, *LOOKS), breaks=RFC1813_SYNCHRONOUS)
def crash_brings_back_removed_names(call: AnyCall) -> t.Any:
    """A crash brings back every eighth file that REMOVE has removed"""
    strike(call)
    removed = inode_at(call, "object") if call.operation in REMOVES else None
    if removed is not None and removed.place is not None:
        where, name = removed.place
        call.state["removed"] = call.state.get("removed", 0) + 1
        if not call.state["removed"] % 8:
            at_the_crash(call, lambda: where.fs.create(SUPERUSER, where, name))
    return call.proceed()


@mutant((nfs2.READDIR, nfs3.READDIR, *LOOKS), breaks=RFC1813_SYNCHRONOUS)
def listings_fail_after_a_restart(call: AnyCall) -> t.Any:
    """After a restart, READDIR answers an I/O error"""
    if call.state.setdefault("first", call.backend.boots) == call.backend.boots or call.operation in LOOKS:
        return call.proceed()
    if call.operation is nfs3.READDIR:
        return nfs3.Readdir3Res(nfs3.Nfsstat3.NFS3ERR_IO, resfail=nfs3.Readdir3ResFail(None))
    return nfs2.Readdirres(nfs2.Nfsstat2.NFSERR_IO)
