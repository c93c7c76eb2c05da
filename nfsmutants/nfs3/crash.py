# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_crash.py catch."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import (
    COMMIT,
    CREATE,
    GETATTR,
    LINK,
    LOOKUP,
    MKDIR,
    MKNOD,
    READ,
    READDIR,
    REMOVE,
    RENAME,
    RMDIR,
    SETATTR,
    SYMLINK,
    WRITE,
    Commit3Res,
    Create3Res,
    Create3ResFail,
    CreateMode3,
    Getattr3Res,
    Nfsstat3,
    StableHow,
    WccData,
    Write3Res,
)
from nfsmutants.bending import amend, inode_of, lose_everything_in_a_crash
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import find, success
from nfsmutants.nfs3.calls import Commit, Create, Write
from nfsmutants.rules import (
    RFC1813_COMMIT,
    RFC1813_CREATE,
    RFC1813_STABLE_CHANGES,
    RFC1813_STABLE_DATA,
    RFC1813_SYNCHRONOUS,
    RFC1813_WRITE,
)
from nfsserver.fs import Changes, FsError, Inode
from nfsserver.fs.permissions import SUPERUSER
from nfsserver.handlers import ServerApi


@mutant(COMMIT, RFC1813_COMMIT)
def commit3_flushes_nothing(call: Commit) -> Commit3Res:
    """COMMIT answers OK, but a crash loses the data"""
    return call.proceed_with(offset=2**64 - 1, count=1)


# ---------------------------------------------------------------- WRITE: stability


@mutant(WRITE, RFC1813_WRITE)
def write3_lies_about_file_sync(call: Write) -> Write3Res:
    """WRITE with FILE_SYNC answers FILE_SYNC, but writes as with UNSTABLE"""
    if call.args.stable is not StableHow.FILE_SYNC:
        return call.proceed()
    return amend(call.proceed_with(stable=StableHow.UNSTABLE), committed=StableHow.FILE_SYNC)


@mutant(WRITE, RFC1813_WRITE)
def write3_lies_about_data_sync(call: Write) -> Write3Res:
    """WRITE with DATA_SYNC answers DATA_SYNC, but writes as with UNSTABLE"""
    if call.args.stable is not StableHow.DATA_SYNC:
        return call.proceed()
    return amend(call.proceed_with(stable=StableHow.UNSTABLE), committed=StableHow.DATA_SYNC)


# ---------------------------------------------------------------- lost in a crash


@mutant((READ, WRITE), RFC1813_STABLE_DATA)
def write3_second_crash_loses_stable_data(call: AnyCall) -> t.Any:
    """The second crash in a row loses data written with FILE_SYNC"""
    stable = call.state
    inode, file = inode_of(call.server, call.args.file), call.args.file.hex()
    if (
        call.backend.boots - stable.get(file, call.backend.boots) > 1
        and inode is not None
        and inode.data is not None
    ):
        inode.data.truncate(0)
        del stable[file]
    if call.operation is WRITE and call.args.stable is StableHow.FILE_SYNC:
        stable[file] = call.backend.boots
    return call.proceed()


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


@mutant((*_NAMING, LOOKUP, READDIR), RFC1813_SYNCHRONOUS)
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


@mutant((GETATTR, LOOKUP), RFC1813_SYNCHRONOUS)
def nfs3_crash_loses_everything(call: AnyCall) -> t.Any:
    """Names are in memory: after a crash the root of the export is empty"""
    lose_everything_in_a_crash(call)
    return call.proceed()


@mutant((SETATTR, GETATTR), RFC1813_STABLE_CHANGES)
def setattr3_is_lost_in_a_crash(call: AnyCall) -> t.Any:
    """A crash undoes the mode, size and mtime that SETATTR set"""
    saved: dict[bytes, tuple[int, Changes]] = call.state.setdefault("saved", {})
    inode = inode_of(call.server, call.args.object)
    if inode is not None and call.operation is SETATTR:
        size = None if inode.data is None else inode.size
        changes = Changes(mode=inode.mode, size=size, mtime=inode.mtime)
        saved.setdefault(bytes(call.args.object), (call.backend.boots, changes))
    elif inode is not None and saved.get(call.args.object, (call.backend.boots,))[0] != call.backend.boots:
        inode.fs.setattr(SUPERUSER, inode, saved.pop(call.args.object)[1])
    return call.proceed()


@mutant((CREATE, MKDIR, GETATTR), RFC1813_SYNCHRONOUS)
def getattr3_handles_are_stale_after_restart(call: AnyCall) -> t.Any:
    """GETATTR answers STALE to handles from before the last start of the service"""
    given: dict[bytes, int] = call.state.setdefault("given", {})
    if call.operation is GETATTR:
        is_old = given.get(call.args.object, call.backend.boots) != call.backend.boots
        return Getattr3Res(Nfsstat3.NFS3ERR_STALE) if is_old else call.proceed()
    reply = call.proceed()
    if reply.resok is not None and reply.resok.obj is not None:
        given[bytes(reply.resok.obj)] = call.backend.boots
    return reply


# ---------------------------------------------------------------- EXCLUSIVE CREATE


def _made_by(call: Create) -> tuple[Create3Res, int]:
    """The reply, and the instance of the service in which the file of the name was created, 0 if in the present one."""
    instances: dict[Inode, int] = call.state.setdefault("instances", {})
    existing = find(call.server, call.args.where)
    reply = call.proceed()
    made = find(call.server, call.args.where)
    if existing is None and made is not None:
        instances[made] = call.backend.boots
    instance = 0 if existing is None else instances.get(existing, 0)
    return reply, 0 if instance == call.backend.boots else instance


@mutant(CREATE, RFC1813_CREATE)
def create3_exclusive_forgets_at_restart(call: Create) -> Create3Res:
    """CREATE in mode EXCLUSIVE keeps its verifiers in memory: it refuses the files that it created before a restart"""
    reply, instance = _made_by(call)
    if not instance or call.args.how.mode != CreateMode3.EXCLUSIVE:
        return reply
    return Create3Res(Nfsstat3.NFS3ERR_EXIST, resfail=Create3ResFail(WccData()))


@mutant(CREATE, RFC1813_CREATE)
def create3_exclusive_accepts_older_files(call: Create) -> Create3Res:
    """CREATE in mode EXCLUSIVE accepts any file that was created before the last start of the service"""
    reply, instance = _made_by(call)
    if not instance or call.args.how.mode != CreateMode3.EXCLUSIVE:
        return reply
    return t.cast("Create3Res", success(call))
