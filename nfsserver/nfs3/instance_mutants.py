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
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import Changes, FsError, Inode
from nfsserver.fs.permissions import SUPERUSER
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.common import SECOND

if t.TYPE_CHECKING:
    from nfsserver.server import Server

AnyProceed: t.TypeAlias = Proceed[t.Any, t.Any]
Verifier: t.TypeAlias = "Callable[[Server, CallContext], bytes]"

_WRITE: t.Final = "RFC 1813 section 3.3.7"
_COMMIT: t.Final = "RFC 1813 section 3.3.21"
_SYNCHRONOUS: t.Final = "RFC 1813 section 1.6"


def _inode(server: Server, handle: bytes) -> Inode | None:
    try:
        return server.resolve(handle)
    except FsError:
        return None


def _with_verifier(reply: t.Any, verf: bytes) -> t.Any:
    return reply if reply.resok is None else replace(reply, resok=replace(reply.resok, verf=verf))


# ---------------------------------------------------------------- verifiers


def _gives(name: str, gist: str) -> Callable[[Verifier], Verifier]:
    """Register another verifier of WRITE and COMMIT."""

    def register(verifier: Verifier) -> Verifier:
        @mutant(name, bends=(WRITE, COMMIT), breaks=_WRITE, gist=gist)
        def middleware(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
            return _with_verifier(proceed(context, args), verifier(server, context))

        return verifier

    return register


@_gives("write3-verifier-by-user", "WRITE and COMMIT have a verifier for each user")
def verifier_by_user(server: Server, context: CallContext) -> bytes:
    """Derive it from the credential."""
    uid = context.credential.uid if isinstance(context.credential, AuthSys) else -1
    return server.codec.token(b"user", uid, server.boots)


@_gives("write3-verifier-by-transport", "WRITE and COMMIT have a verifier for TCP and another one for UDP")
def verifier_by_transport(server: Server, context: CallContext) -> bytes:
    """Take each transport for a service of its own."""
    return server.codec.token(context.transport.encode(), server.boots)


@_gives("write3-verifier-is-made-of-seconds", "the verifier is the second in which the service was started")
def verifier_of_seconds(server: Server, _context: CallContext) -> bytes:
    """The time of the start, as soon as anybody asks."""
    starts = server.mutant_state("write3-verifier-is-made-of-seconds")
    start: int = starts.setdefault(str(server.boots), server.fs.stamp() // SECOND)
    return start.to_bytes(8, "big")


@_gives("write3-verifier-comes-back", "the verifier of an instance is that of the one before the last")
def verifier_that_comes_back(server: Server, _context: CallContext) -> bytes:
    """Keep one bit of the number of the boot."""
    return server.codec.token(b"odd or even", server.boots % 2)


@mutant(
    "nfs3-verifier-counts-calls",
    bends=tuple(procedure for procedure in NFS3.procedures if procedure is not NULL),
    breaks=_WRITE,
    gist="the verifier is another one after a call of another procedure than WRITE and GETATTR, or a refused WRITE",
)
def verifier_counts_calls(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Take every deed for a new state of the server."""
    state = server.mutant_state("nfs3-verifier-counts-calls")
    reply = proceed(context, args)
    if context.procedure is WRITE and reply.status == Nfsstat3.NFS3_OK:
        return _with_verifier(reply, server.codec.token(b"deeds", state.get("deeds", 0)))
    if context.procedure not in {GETATTR, LOOKUP}:
        state["deeds"] = state.get("deeds", 0) + 1
    return reply


@mutant(
    "commit3-verifier-survives-crash",
    bends=(WRITE, COMMIT),
    breaks=_COMMIT,
    gist="COMMIT has the verifier with which the file was written first, though a crash lost data since",
)
def commit3_verifier_survives_crash(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Keep the verifier with the file."""
    verifiers = server.mutant_state("commit3-verifier-survives-crash")
    reply = proceed(context, args)
    if context.procedure is WRITE:
        if reply.resok is not None:
            verifiers.setdefault(args.file.hex(), reply.resok.verf)
        return reply
    known = verifiers.get(args.file.hex())
    return reply if known is None else _with_verifier(reply, known)


@mutant(
    "nfs3-restart-in-order-loses-data",
    bends=(READ, WRITE, COMMIT),
    breaks=_WRITE,
    gist="unstable data is gone after a restart in order, and the verifier is the same",
)
def restart_in_order_loses_data(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Forget to flush before going down."""
    state = server.mutant_state("nfs3-restart-in-order-loses-data")
    unstable: dict[bytes, int] = state.setdefault("unstable", {})
    inode = _inode(server, args.file)
    if unstable.get(args.file, server.boots) != server.boots and inode is not None and inode.data is not None:
        inode.data.truncate(0)
        del unstable[args.file]
    reply = proceed(context, args)
    if context.procedure is READ:
        return reply
    if context.procedure is COMMIT:
        unstable.pop(args.file, None)
    elif args.stable is StableHow.UNSTABLE:
        unstable.setdefault(bytes(args.file), server.boots)
    return _with_verifier(reply, server.codec.token(b"ever"))


# ---------------------------------------------------------------- what is lost in a crash


@mutant(
    "write3-stable-data-outlives-one-crash",
    bends=(READ, WRITE),
    breaks="RFC 1813 section 4.8",
    gist="the data of a file written with FILE_SYNC is gone after the second crash in a row",
)
def stable_data_outlives_one_crash(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Recover from what was left of the recovery before."""
    stable = server.mutant_state("write3-stable-data-outlives-one-crash")
    inode, file = _inode(server, args.file), args.file.hex()
    if server.boots - stable.get(file, server.boots) > 1 and inode is not None and inode.data is not None:
        inode.data.truncate(0)
        del stable[file]
    if context.procedure is WRITE and args.stable is StableHow.FILE_SYNC:
        stable[file] = server.boots
    return proceed(context, args)


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


@mutant(
    "nfs3-names-are-lost-in-a-crash",
    bends=(*_NAMING, LOOKUP, READDIR),
    breaks=_SYNCHRONOUS,
    gist="what was created, removed, renamed or linked last is as before after a crash",
)
def names_are_lost_in_a_crash(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Keep the last change in memory; take it back when a later instance looks a name up."""
    state = server.mutant_state("nfs3-names-are-lost-in-a-crash")
    if context.procedure in {LOOKUP, READDIR}:
        if state.get("boots", server.boots) != server.boots:
            state["boots"] = server.boots
            with contextlib.suppress(FsError):
                state["undo"]()
        return proceed(context, args)
    reply = proceed(context, args)
    if reply.status == Nfsstat3.NFS3_OK:
        state["boots"], state["undo"] = server.boots, _undo_of(server, context.procedure, args)
    return reply


@mutant(
    "setattr3-is-lost-in-a-crash",
    bends=(SETATTR, GETATTR),
    breaks="RFC 1813 section 4.7",
    gist="mode, size and mtime that SETATTR set are as before after a crash",
)
def setattr3_is_lost_in_a_crash(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Keep attributes in memory."""
    saved: dict[bytes, tuple[int, Changes]] = server.mutant_state("setattr3-is-lost-in-a-crash").setdefault(
        "saved", {}
    )
    inode = _inode(server, args.object)
    if inode is not None and context.procedure is SETATTR:
        size = None if inode.data is None else inode.size
        changes = Changes(mode=inode.mode, size=size, mtime=inode.mtime)
        saved.setdefault(bytes(args.object), (server.boots, changes))
    elif inode is not None and saved.get(args.object, (server.boots,))[0] != server.boots:
        inode.fs.setattr(SUPERUSER, inode, saved.pop(args.object)[1])
    return proceed(context, args)


@mutant(
    "getattr3-handles-end-with-the-instance",
    bends=(CREATE, MKDIR, GETATTR),
    breaks=_SYNCHRONOUS,
    gist="GETATTR answers STALE to handles that were given before the service was started last",
)
def getattr3_handles_end_with_the_instance(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Keep handles in memory."""
    given: dict[bytes, int] = server.mutant_state("getattr3-handles-end-with-the-instance").setdefault(
        "given", {}
    )
    if context.procedure is GETATTR:
        is_old = given.get(args.object, server.boots) != server.boots
        return Getattr3Res(Nfsstat3.NFS3ERR_STALE) if is_old else proceed(context, args)
    reply = proceed(context, args)
    if reply.resok is not None and reply.resok.obj is not None:
        given[bytes(reply.resok.obj)] = server.boots
    return reply
