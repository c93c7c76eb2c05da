# SPDX-License-Identifier: MIT
"""Mutants that take a file handle for another one, or answer a bad one badly."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    ACCESS,
    COMMIT,
    CREATE,
    FSINFO,
    FSSTAT,
    GETATTR,
    LOOKUP,
    MKDIR,
    NFS3,
    NFS3_FHSIZE,
    NULL,
    PATHCONF,
    READ,
    RENAME,
    SETATTR,
    WRITE,
    Create3Args,
    Create3Res,
    Getattr3Args,
    Getattr3Res,
    Lookup3Args,
    Lookup3Res,
    Nfsstat3,
    Setattr3Args,
    Setattr3Res,
)
from nfsclient.rpc.messages import CallHeader
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import XdrError, replace
from nfsserver.fs import HANDLE_SIZE, FsError
from nfsserver.mutants import Answer, Proceed, ProceedWire, mutant, wire_mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_HANDLES: t.Final = "RFC 1813 section 2.5"
_ERRORS: t.Final = "RFC 1813 section 2.6"
_FEW: t.Final = 16


# ---------------------------------------------------------------- one object, and no other


def heir(server: Server, handle: bytes) -> bytes:
    """The handle of the object that has the file number of a removed one now; else the same handle."""
    try:
        identity = server.codec.decode(handle)
    except FsError:
        return handle
    for file_system in server.exports.values():
        if file_system.fsid == identity.export:
            for inode in file_system.inodes():
                if inode.fileid == identity.fileid:
                    return server.handle_of(inode)
    return handle


@mutant(
    "getattr3-reaches-a-later-file",
    bends=GETATTR,
    breaks=_HANDLES,
    gist="GETATTR does not look at the generation in a handle: that of a removed file means a later one",
)
def getattr3_reaches_a_later_file(
    server: Server, context: CallContext, args: Getattr3Args, proceed: Proceed[Getattr3Args, Getattr3Res]
) -> Getattr3Res:
    """Go by the file number."""
    return proceed(context, Getattr3Args(heir(server, args.object)))


@mutant(
    "setattr3-reaches-a-later-file",
    bends=SETATTR,
    breaks=_HANDLES,
    gist="SETATTR does not look at the generation in a handle: that of a removed file means a later one",
)
def setattr3_reaches_a_later_file(
    server: Server, context: CallContext, args: Setattr3Args, proceed: Proceed[Setattr3Args, Setattr3Res]
) -> Setattr3Res:
    """Go by the file number."""
    return proceed(context, replace(args, object=heir(server, args.object)))


@mutant(
    "lookup3-reaches-a-later-directory",
    bends=LOOKUP,
    breaks=_HANDLES,
    gist="LOOKUP does not look at the generation in a handle: that of a removed directory means a later one",
)
def lookup3_reaches_a_later_directory(
    server: Server, context: CallContext, args: Lookup3Args, proceed: Proceed[Lookup3Args, Lookup3Res]
) -> Lookup3Res:
    """Go by the file number."""
    return proceed(context, replace(args, what=replace(args.what, dir=heir(server, args.what.dir))))


@mutant(
    "create3-reaches-a-later-directory",
    bends=CREATE,
    breaks=_HANDLES,
    gist="CREATE does not look at the generation in a handle: that of a removed directory means a later one",
)
def create3_reaches_a_later_directory(
    server: Server, context: CallContext, args: Create3Args, proceed: Proceed[Create3Args, Create3Res]
) -> Create3Res:
    """Go by the file number."""
    return proceed(context, replace(args, where=replace(args.where, dir=heir(server, args.where.dir))))


@mutant(
    "create3-runs-out-of-handles",
    bends=CREATE,
    breaks=_HANDLES,
    gist="CREATE gives the handle of the first file again from the seventeenth in a directory on",
)
def create3_runs_out_of_handles(
    server: Server, context: CallContext, args: Create3Args, proceed: Proceed[Create3Args, Create3Res]
) -> Create3Res:
    """Remember only so many files of a directory."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    state = server.mutant_state("create3-runs-out-of-handles").setdefault("handles", {})
    handles: list[bytes | None] = state.setdefault(args.where.dir, [])
    handles.append(reply.resok.obj)
    return reply if len(handles) <= _FEW else replace(reply, resok=replace(reply.resok, obj=handles[0]))


@mutant(
    "read3-follows-the-name",
    bends=(RENAME, READ),
    breaks=_HANDLES,
    gist="READ by the handle of a file that RENAME replaced reads the file that has its name now",
)
def read3_follows_the_name(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Take a handle for a name."""
    heirs: dict[bytes, bytes] = server.mutant_state("read3-follows-the-name").setdefault("heirs", {})
    if context.procedure is READ:
        return proceed(context, replace(args, file=heirs.get(args.file, args.file)))
    caller = server.caller(context)
    pair = []
    for place in (args.from_, args.to):
        try:
            directory = server.resolve(place.dir)
            pair.append(server.handle_of(directory.fs.lookup(caller, directory, place.name)))
        except FsError:
            break
    reply = proceed(context, args)
    if len(pair) == 2 and reply.status == Nfsstat3.NFS3_OK:
        heirs[pair[1]] = pair[0]
    return reply


# ---------------------------------------------------------------- stale and bad handles


@mutant(
    "nfs3-removed-is-noent",
    bends=(GETATTR, SETATTR, ACCESS, READ, WRITE, COMMIT, FSSTAT, FSINFO, PATHCONF),
    breaks=_HANDLES,
    gist="procedures on a file, or about its file system, answer NOENT, not STALE, when it is gone",
)
def nfs3_removed_is_noent(
    _server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Say something else."""
    reply = proceed(context, args)
    return replace(reply, status=Nfsstat3.NFS3ERR_NOENT) if reply.status == Nfsstat3.NFS3ERR_STALE else reply


@mutant(
    "nfs3-bad-handle-is-inval",
    bends=tuple(procedure for procedure in NFS3.procedures if procedure not in {NULL, GETATTR}),
    breaks=_ERRORS,
    gist="every procedure but GETATTR answers INVAL, not BADHANDLE, to a handle that is none",
)
def nfs3_bad_handle_is_inval(
    _server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Say something else."""
    reply = proceed(context, args)
    if reply.status != Nfsstat3.NFS3ERR_BADHANDLE:
        return reply
    return replace(reply, status=Nfsstat3.NFS3ERR_INVAL)


def _says_of_bad_handles(name: str, gist: str, status: Nfsstat3, lengths: range) -> None:
    """Register a GETATTR that has another status for handles of some lengths that fail the check."""

    @mutant(name, bends=GETATTR, breaks=_ERRORS, gist=gist)
    def middleware(
        _server: Server, context: CallContext, args: Getattr3Args, proceed: Proceed[Getattr3Args, Getattr3Res]
    ) -> Getattr3Res:
        reply = proceed(context, args)
        is_bad = reply.status == Nfsstat3.NFS3ERR_BADHANDLE and len(args.object) in lengths
        return replace(reply, status=status) if is_bad else reply


_says_of_bad_handles(
    "getattr3-altered-handle-is-noent",
    "GETATTR answers NOENT, not BADHANDLE, to a handle of the right length that is none",
    Nfsstat3.NFS3ERR_NOENT,
    range(HANDLE_SIZE, HANDLE_SIZE + 1),
)
_says_of_bad_handles(
    "getattr3-short-handle-is-inval",
    "GETATTR answers INVAL, not BADHANDLE, to a handle that is too short",
    Nfsstat3.NFS3ERR_INVAL,
    range(1, HANDLE_SIZE),
)
_says_of_bad_handles(
    "getattr3-empty-handle-is-noent",
    "GETATTR answers NOENT, not BADHANDLE, to the empty handle",
    Nfsstat3.NFS3ERR_NOENT,
    range(1),
)


@mutant(
    "getattr3-binds-handles-to-connections",
    bends=(CREATE, MKDIR, GETATTR),
    breaks=_HANDLES,
    gist="GETATTR knows the handles that CREATE and MKDIR gave on the same connection only",
)
def getattr3_binds_handles_to_connections(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Keep handles with the connection, until it was used to look at the object once."""
    homes = server.mutant_state("getattr3-binds-handles-to-connections").setdefault("homes", {})
    if context.procedure is GETATTR:
        if homes.pop(args.object, context.peer) != context.peer:
            return Getattr3Res(Nfsstat3.NFS3ERR_STALE)
        return proceed(context, args)
    reply = proceed(context, args)
    if reply.resok is not None:
        homes[reply.resok.obj] = context.peer
    return reply


@wire_mutant(
    "getattr3-cuts-long-handles",
    breaks="RFC 1813 section 2.4",
    gist="GETATTR takes the beginning of a handle of more than 64 bytes for the handle",
)
def getattr3_cuts_long_handles(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Copy as much as a handle of this server has."""
    try:
        header, at = CallHeader.unpack_from(message)
    except XdrError:
        return proceed(message)
    called = (header.prog, header.vers, header.proc)
    length = int.from_bytes(message[at : at + 4], "big")
    if called != (GETATTR.program, GETATTR.version, GETATTR.number) or length <= NFS3_FHSIZE:
        return proceed(message)
    handle = message[at + 4 : at + 4 + HANDLE_SIZE]
    return proceed(message[:at] + HANDLE_SIZE.to_bytes(4, "big") + handle)
