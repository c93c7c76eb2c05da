# SPDX-License-Identifier: MIT
"""Mutants that tell instances of the service apart badly, or lose in a crash what must outlive it."""

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
    NFS3,
    NULL,
    READ,
    READDIR,
    REMOVE,
    RENAME,
    RMDIR,
    SETATTR,
    SYMLINK,
    WRITE,
    Getattr3Res,
    Nfsstat3,
    StableHow,
)
from nfsclient.rpc.auth import AuthSys
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.rules import (
    RFC1813_COMMIT,
    RFC1813_STABLE_CHANGES,
    RFC1813_STABLE_DATA,
    RFC1813_SYNCHRONOUS,
    RFC1813_WRITE,
)
from nfsserver.fs import Changes, FsError
from nfsserver.fs.permissions import SUPERUSER
from nfsserver.nfs3.common import SECOND
from nfsserver.server import Server

# ---------------------------------------------------------------- verifiers


@mutant((WRITE, COMMIT), RFC1813_WRITE)
def write3_verifier_by_user(call: AnyCall) -> t.Any:
    """WRITE and COMMIT have a verifier for each user"""
    credential = call.context.credential
    uid = credential.uid if isinstance(credential, AuthSys) else -1
    return amend(call.proceed(), verf=call.server.codec.token(b"user", uid, call.server.boots))


@mutant((WRITE, COMMIT), RFC1813_WRITE)
def write3_verifier_by_transport(call: AnyCall) -> t.Any:
    """WRITE and COMMIT have a verifier for TCP and another one for UDP"""
    verifier = call.server.codec.token(call.context.transport.encode(), call.server.boots)
    return amend(call.proceed(), verf=verifier)


@mutant((WRITE, COMMIT), RFC1813_WRITE)
def write3_verifier_is_made_of_seconds(call: AnyCall) -> t.Any:
    """The verifier is the second in which the service was started"""
    reply = call.proceed()
    start: int = call.state.setdefault(str(call.server.boots), call.server.fs.stamp() // SECOND)
    return amend(reply, verf=start.to_bytes(8, "big"))


@mutant((WRITE, COMMIT), RFC1813_WRITE)
def write3_verifier_comes_back(call: AnyCall) -> t.Any:
    """The verifier of an instance is that of the one before the last"""
    return amend(call.proceed(), verf=call.server.codec.token(b"odd or even", call.server.boots % 2))


@mutant(tuple(procedure for procedure in NFS3.procedures if procedure is not NULL), RFC1813_WRITE)
def nfs3_verifier_counts_calls(call: AnyCall) -> t.Any:
    """The verifier is another one after a call of another procedure than WRITE and GETATTR, or a refused WRITE"""
    state = call.state
    reply = call.proceed()
    if call.procedure is WRITE and reply.status == Nfsstat3.NFS3_OK:
        return amend(reply, verf=call.server.codec.token(b"deeds", state.get("deeds", 0)))
    if call.procedure not in {GETATTR, LOOKUP}:
        state["deeds"] = state.get("deeds", 0) + 1
    return reply


@mutant((WRITE, COMMIT), RFC1813_COMMIT)
def commit3_verifier_survives_crash(call: AnyCall) -> t.Any:
    """COMMIT has the verifier with which the file was written first, though a crash lost data since"""
    verifiers = call.state
    reply = call.proceed()
    if call.procedure is WRITE:
        if reply.resok is not None:
            verifiers.setdefault(call.args.file.hex(), reply.resok.verf)
        return reply
    known = verifiers.get(call.args.file.hex())
    return reply if known is None else amend(reply, verf=known)


@mutant((READ, WRITE, COMMIT), RFC1813_WRITE)
def nfs3_restart_in_order_loses_data(call: AnyCall) -> t.Any:
    """Unstable data is gone after a restart in order, and the verifier is the same"""
    args = call.args
    state = call.state
    unstable: dict[bytes, int] = state.setdefault("unstable", {})
    inode = inode_of(call.server, args.file)
    if (
        unstable.get(args.file, call.server.boots) != call.server.boots
        and inode is not None
        and inode.data is not None
    ):
        inode.data.truncate(0)
        del unstable[args.file]
    reply = call.proceed()
    if call.procedure is READ:
        return reply
    if call.procedure is COMMIT:
        unstable.pop(args.file, None)
    elif args.stable is StableHow.UNSTABLE:
        unstable.setdefault(bytes(args.file), call.server.boots)
    return amend(reply, verf=call.server.codec.token(b"ever"))


# ---------------------------------------------------------------- what is lost in a crash


@mutant((READ, WRITE), RFC1813_STABLE_DATA)
def write3_stable_data_outlives_one_crash(call: AnyCall) -> t.Any:
    """The data of a file written with FILE_SYNC is gone after the second crash in a row"""
    stable = call.state
    inode, file = inode_of(call.server, call.args.file), call.args.file.hex()
    if (
        call.server.boots - stable.get(file, call.server.boots) > 1
        and inode is not None
        and inode.data is not None
    ):
        inode.data.truncate(0)
        del stable[file]
    if call.procedure is WRITE and call.args.stable is StableHow.FILE_SYNC:
        stable[file] = call.server.boots
    return call.proceed()


Undo: t.TypeAlias = Callable[[], object]

_NAMING: t.Final = (CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK)


def _undo_of(server: Server, procedure: t.Any, args: t.Any) -> Undo:
    """How to take a naming operation back, more or less: what was removed comes back empty."""
    if procedure is RENAME:
        source, target = server.resolve(args.from_.dir), server.resolve(args.to.dir)
        return lambda: source.fs.rename(SUPERUSER, target, args.to.name, source, args.from_.name)
    place = args.link if procedure is LINK else args.object if procedure in {REMOVE, RMDIR} else args.where
    directory, name = server.resolve(place.dir), place.name
    if procedure is REMOVE:
        return lambda: directory.fs.create(SUPERUSER, directory, name)
    if procedure is RMDIR:
        return lambda: directory.fs.mkdir(SUPERUSER, directory, name)
    if procedure is MKDIR:
        return lambda: directory.fs.rmdir(SUPERUSER, directory, name)
    return lambda: directory.fs.remove(SUPERUSER, directory, name)


@mutant((*_NAMING, LOOKUP, READDIR), RFC1813_SYNCHRONOUS)
def nfs3_names_are_lost_in_a_crash(call: AnyCall) -> t.Any:
    """What was created, removed, renamed or linked last is as before after a crash"""
    state = call.state
    if call.procedure in {LOOKUP, READDIR}:
        if state.get("boots", call.server.boots) != call.server.boots:
            state["boots"] = call.server.boots
            with contextlib.suppress(FsError):
                state["undo"]()
        return call.proceed()
    reply = call.proceed()
    if reply.status == Nfsstat3.NFS3_OK:
        state["boots"], state["undo"] = call.server.boots, _undo_of(call.server, call.procedure, call.args)
    return reply


@mutant((SETATTR, GETATTR), RFC1813_STABLE_CHANGES)
def setattr3_is_lost_in_a_crash(call: AnyCall) -> t.Any:
    """Mode, size and mtime that SETATTR set are as before after a crash"""
    saved: dict[bytes, tuple[int, Changes]] = call.state.setdefault("saved", {})
    inode = inode_of(call.server, call.args.object)
    if inode is not None and call.procedure is SETATTR:
        size = None if inode.data is None else inode.size
        changes = Changes(mode=inode.mode, size=size, mtime=inode.mtime)
        saved.setdefault(bytes(call.args.object), (call.server.boots, changes))
    elif inode is not None and saved.get(call.args.object, (call.server.boots,))[0] != call.server.boots:
        inode.fs.setattr(SUPERUSER, inode, saved.pop(call.args.object)[1])
    return call.proceed()


@mutant((CREATE, MKDIR, GETATTR), RFC1813_SYNCHRONOUS)
def getattr3_handles_end_with_the_instance(call: AnyCall) -> t.Any:
    """GETATTR answers STALE to handles that were given before the service was started last"""
    given: dict[bytes, int] = call.state.setdefault("given", {})
    if call.procedure is GETATTR:
        is_old = given.get(call.args.object, call.server.boots) != call.server.boots
        return Getattr3Res(Nfsstat3.NFS3ERR_STALE) if is_old else call.proceed()
    reply = call.proceed()
    if reply.resok is not None and reply.resok.obj is not None:
        given[bytes(reply.resok.obj)] = call.server.boots
    return reply
