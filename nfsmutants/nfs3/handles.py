# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_handles.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    ACCESS,
    COMMIT,
    CREATE,
    FSINFO,
    FSSTAT,
    GETATTR,
    LINK,
    LOOKUP,
    MKDIR,
    MKNOD,
    NFS3,
    NFS3_FHSIZE,
    NULL,
    PATHCONF,
    READ,
    READDIR,
    READDIRPLUS,
    READLINK,
    REMOVE,
    RENAME,
    RMDIR,
    SETATTR,
    SYMLINK,
    WRITE,
    Create3Res,
    Diropargs3,
    Getattr3Args,
    Getattr3Res,
    Lookup3Res,
    Nfsstat3,
    Setattr3Res,
)
from nfsclient.rpc.messages import CallHeader
from nfsclient.xdr import XdrError, XdrType, replace
from nfsmutants.bending import amend, restate
from nfsmutants.form import AnyCall, Message, mutant, wire_mutant
from nfsmutants.nfs3.bending import MADE, OF_NAMES, TAKEN, handle_of_same_fileid, proceed_by
from nfsmutants.nfs3.calls import Create, Getattr, Lookup, Setattr
from nfsserver.fs import HANDLE_SIZE, FsError
from nfsserver.middleware import Answer

_IN_A_DIRECTORY: t.Final = (
    LOOKUP,
    CREATE,
    MKDIR,
    SYMLINK,
    MKNOD,
    REMOVE,
    RMDIR,
    RENAME,
    LINK,
    READDIR,
    READDIRPLUS,
)


def _first_handle(args: XdrType) -> bytes:
    """The first handle in the arguments. In every procedure the arguments begin with it."""
    encoded = args.to_xdr()
    return encoded[4 : 4 + int.from_bytes(encoded[:4], "big")]


_EVERY: t.Final = tuple(procedure for procedure in NFS3.procedures if procedure is not NULL)


@mutant(_EVERY)
def nfs3_short_handle_is_notempty(call: AnyCall) -> t.Any:
    """Every procedure answers NOTEMPTY to a handle of 4 bytes"""
    reply = call.proceed()
    if len(_first_handle(call.args)) != 4:
        return reply
    return restate(reply, Nfsstat3.NFS3ERR_BADHANDLE, Nfsstat3.NFS3ERR_NOTEMPTY)


@mutant(_EVERY)
def nfs3_altered_handle_is_notempty(call: AnyCall) -> t.Any:
    """Every procedure answers NOTEMPTY to an invalid handle of the right length"""
    reply = call.proceed()
    if len(_first_handle(call.args)) != HANDLE_SIZE:
        return reply
    return restate(reply, Nfsstat3.NFS3ERR_BADHANDLE, Nfsstat3.NFS3ERR_NOTEMPTY)


@mutant(_EVERY)
def nfs3_invalid_handle_is_the_root(call: AnyCall) -> t.Any:
    """Every procedure takes a handle that it cannot decode for that of the root, except the empty one"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_BADHANDLE or not _first_handle(call.args):
        return reply
    return proceed_by(call, call.backend.handle_of(call.backend.fs.root))


@mutant(_IN_A_DIRECTORY)
def nfs3_removed_directory_is_io(call: AnyCall) -> t.Any:
    """Procedures on a removed directory answer IO, not STALE"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_IO)


@mutant(_IN_A_DIRECTORY)
def nfs3_removed_handle_refers_to_later_directory(call: AnyCall) -> t.Any:
    """The handle of a removed directory refers to a later one with its file number, except in LOOKUP and CREATE"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_STALE or call.operation in {LOOKUP, CREATE}:
        return reply
    places: list[t.Any] = [
        getattr(call.args, name, call.args) for name in ("link", "where", "object", "from_")
    ]
    directory: bytes = next((place.dir for place in places if hasattr(place, "dir")), b"")
    return call.proceed(_moved(call.args, handle_of_same_fileid(call.server, directory)))


def _moved(args: t.Any, directory: bytes) -> t.Any:
    """The arguments with `directory` in place of each directory."""
    places: list[t.Any] = [name for name in ("where", "object", "from_", "to", "link") if hasattr(args, name)]
    changed: dict[str, t.Any] = {name: replace(getattr(args, name), dir=directory) for name in places}
    return replace(args, **(changed or {"dir": directory}))


@mutant((RENAME, GETATTR, SETATTR, ACCESS, READ, WRITE, COMMIT))
def nfs3_renamed_is_stale(call: AnyCall) -> t.Any:
    """The handle of a file becomes stale when RENAME moves it to another directory"""
    moved: set[bytes] = call.state.setdefault("moved", set())
    if call.operation is not RENAME:
        if _first_handle(call.args) not in moved:
            return call.proceed()
        # An empty handle is invalid, so the answer to it has the form of a refusal.
        field = "object" if hasattr(call.args, "object") else "file"
        return replace(call.proceed_with(**{field: b""}), status=Nfsstat3.NFS3ERR_STALE)
    found = None
    try:
        directory = call.backend.resolve(call.args.from_.dir)
        found = directory.fs.lookup(call.caller, directory, call.args.from_.name)
    except FsError:
        pass
    reply = call.proceed()
    if found is not None and reply.status == Nfsstat3.NFS3_OK and call.args.from_.dir != call.args.to.dir:
        moved.add(call.backend.handle_of(found))
    return reply


_FEW: t.Final = 16


# ---------------------------------------------------------------- one object per handle


@mutant(GETATTR)
def getattr3_ignores_the_generation_of_handles(call: Getattr) -> Getattr3Res:
    """GETATTR ignores the generation in a handle: that of a removed file refers to a later one"""
    return call.proceed(Getattr3Args(handle_of_same_fileid(call.server, call.args.object)))


@mutant(SETATTR)
def setattr3_ignores_the_generation_of_handles(call: Setattr) -> Setattr3Res:
    """SETATTR ignores the generation in a handle: that of a removed file refers to a later one"""
    return call.proceed_with(object=handle_of_same_fileid(call.server, call.args.object))


@mutant(LOOKUP)
def lookup3_ignores_the_generation_of_handles(call: Lookup) -> Lookup3Res:
    """LOOKUP ignores the generation in a handle: that of a removed directory refers to a later one"""
    return call.proceed_with("what", dir=handle_of_same_fileid(call.server, call.args.what.dir))


@mutant(CREATE)
def create3_ignores_the_generation_of_handles(call: Create) -> Create3Res:
    """CREATE ignores the generation in a handle: that of a removed directory refers to a later one"""
    return call.proceed_with("where", dir=handle_of_same_fileid(call.server, call.args.where.dir))


@mutant(CREATE)
def create3_reuses_a_handle(call: Create) -> Create3Res:
    """CREATE returns the handle of the first file again, from the seventeenth in a directory on"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    state = call.state.setdefault("handles", {})
    handles: list[bytes | None] = state.setdefault(call.args.where.dir, [])
    handles.append(reply.resok.obj)
    return reply if len(handles) <= _FEW else amend(reply, obj=handles[0])


@mutant((RENAME, READ))
def read3_follows_the_name_after_rename(call: AnyCall) -> t.Any:
    """READ with the handle of a file that RENAME replaced reads the file that now has its name"""
    heirs: dict[bytes, bytes] = call.state.setdefault("heirs", {})
    if call.operation is READ:
        return call.proceed_with(file=heirs.get(call.args.file, call.args.file))
    caller = call.caller
    pair = []
    for place in (call.args.from_, call.args.to):
        try:
            directory = call.backend.resolve(place.dir)
            pair.append(call.backend.handle_of(directory.fs.lookup(caller, directory, place.name)))
        except FsError:
            break
    reply = call.proceed()
    if len(pair) == 2 and reply.status == Nfsstat3.NFS3_OK:
        heirs[pair[1]] = pair[0]
    return reply


# ---------------------------------------------------------------- stale and bad handles


@mutant((GETATTR, SETATTR, ACCESS, READ, WRITE, COMMIT, FSSTAT, FSINFO, PATHCONF))
def nfs3_removed_is_noent(call: AnyCall) -> t.Any:
    """Procedures on a removed file, or about its file system, answer NOENT, not STALE"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_NOENT)


@mutant(GETATTR)
def getattr3_altered_handle_is_noent(call: Getattr) -> Getattr3Res:
    """GETATTR answers NOENT, not BADHANDLE, to an invalid handle of the right length"""
    reply = call.proceed()
    if len(call.args.object) != HANDLE_SIZE:
        return reply
    return restate(reply, Nfsstat3.NFS3ERR_BADHANDLE, Nfsstat3.NFS3ERR_NOENT)


@mutant(GETATTR)
def getattr3_short_handle_is_inval(call: Getattr) -> Getattr3Res:
    """GETATTR answers INVAL, not BADHANDLE, to a handle that is too short"""
    reply = call.proceed()
    if not 1 <= len(call.args.object) < HANDLE_SIZE:
        return reply
    return restate(reply, Nfsstat3.NFS3ERR_BADHANDLE, Nfsstat3.NFS3ERR_INVAL)


@mutant(GETATTR)
def getattr3_empty_handle_is_noent(call: Getattr) -> Getattr3Res:
    """GETATTR answers NOENT, not BADHANDLE, to the empty handle"""
    reply = call.proceed()
    return reply if call.args.object else restate(reply, Nfsstat3.NFS3ERR_BADHANDLE, Nfsstat3.NFS3ERR_NOENT)


@mutant((CREATE, MKDIR, GETATTR))
def getattr3_accepts_handles_of_one_connection(call: AnyCall) -> t.Any:
    """GETATTR accepts only handles that CREATE and MKDIR returned on the same connection"""
    homes = call.state.setdefault("homes", {})
    if call.operation is GETATTR:
        if homes.pop(call.args.object, call.peer) != call.peer:
            return Getattr3Res(Nfsstat3.NFS3ERR_STALE)
        return call.proceed()
    reply = call.proceed()
    if reply.resok is not None:
        homes[reply.resok.obj] = call.peer
    return reply


@wire_mutant()
def getattr3_cuts_long_handles(message: Message) -> Answer:
    """GETATTR uses the beginning of a handle of more than 64 bytes as the handle"""
    try:
        header, at = CallHeader.unpack_from(message.data)
    except XdrError:
        return message.proceed()
    called = (header.prog, header.vers, header.proc)
    length = int.from_bytes(message.data[at : at + 4], "big")
    if called != (GETATTR.program, GETATTR.version, GETATTR.number) or length <= NFS3_FHSIZE:
        return message.proceed()
    handle = message.data[at + 4 : at + 4 + HANDLE_SIZE]
    return message.proceed(message.data[:at] + HANDLE_SIZE.to_bytes(4, "big") + handle)


# ---------------------------------------------------------------- handles in calls with names


@mutant((*OF_NAMES, READLINK))
def names3_removed_is_io(call: AnyCall) -> t.Any:
    """Procedures with the handle of a removed object answer IO, not STALE"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_IO)


@mutant(tuple(procedure for procedure in OF_NAMES if procedure not in {LOOKUP, CREATE}))
def names3_ignore_the_generation_of_handles(call: AnyCall) -> t.Any:
    """Procedures ignore the generation in a handle: that of a removed directory refers to a later one"""
    procedure = call.operation
    bent = {}
    for table in (MADE, TAKEN):
        if procedure in table:
            where: Diropargs3 = getattr(call.args, table[procedure])
            bent[table[procedure]] = replace(where, dir=handle_of_same_fileid(call.server, where.dir))
    return call.proceed_with(**bent)
