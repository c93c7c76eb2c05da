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
    Create3Res,
    Getattr3Args,
    Getattr3Res,
    Lookup3Res,
    Nfsstat3,
    Setattr3Res,
)
from nfsclient.rpc.messages import CallHeader
from nfsclient.xdr import XdrError
from nfsmutants.bending import amend, restate
from nfsmutants.form import AnyCall, Message, mutant, wire_mutant
from nfsmutants.nfs3.bending import heir
from nfsmutants.nfs3.calls import Create, Getattr, Lookup, Setattr
from nfsmutants.rules import RFC1813_DATA_TYPES, RFC1813_ERRORS, RFC1813_SIZES
from nfsserver.fs import HANDLE_SIZE, FsError
from nfsserver.middleware import Answer

_FEW: t.Final = 16


# ---------------------------------------------------------------- one object, and no other


@mutant(GETATTR, RFC1813_DATA_TYPES)
def getattr3_reaches_a_later_file(call: Getattr) -> Getattr3Res:
    """GETATTR does not look at the generation in a handle: that of a removed file means a later one"""
    return call.proceed(Getattr3Args(heir(call.server, call.args.object)))


@mutant(SETATTR, RFC1813_DATA_TYPES)
def setattr3_reaches_a_later_file(call: Setattr) -> Setattr3Res:
    """SETATTR does not look at the generation in a handle: that of a removed file means a later one"""
    return call.proceed_with(object=heir(call.server, call.args.object))


@mutant(LOOKUP, RFC1813_DATA_TYPES)
def lookup3_reaches_a_later_directory(call: Lookup) -> Lookup3Res:
    """LOOKUP does not look at the generation in a handle: that of a removed directory means a later one"""
    return call.proceed_with("what", dir=heir(call.server, call.args.what.dir))


@mutant(CREATE, RFC1813_DATA_TYPES)
def create3_reaches_a_later_directory(call: Create) -> Create3Res:
    """CREATE does not look at the generation in a handle: that of a removed directory means a later one"""
    return call.proceed_with("where", dir=heir(call.server, call.args.where.dir))


@mutant(CREATE, RFC1813_DATA_TYPES)
def create3_runs_out_of_handles(call: Create) -> Create3Res:
    """CREATE gives the handle of the first file again from the seventeenth in a directory on"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    state = call.state.setdefault("handles", {})
    handles: list[bytes | None] = state.setdefault(call.args.where.dir, [])
    handles.append(reply.resok.obj)
    return reply if len(handles) <= _FEW else amend(reply, obj=handles[0])


@mutant((RENAME, READ), RFC1813_DATA_TYPES)
def read3_follows_the_name(call: AnyCall) -> t.Any:
    """READ by the handle of a file that RENAME replaced reads the file that has its name now"""
    heirs: dict[bytes, bytes] = call.state.setdefault("heirs", {})
    if call.procedure is READ:
        return call.proceed_with(file=heirs.get(call.args.file, call.args.file))
    caller = call.caller
    pair = []
    for place in (call.args.from_, call.args.to):
        try:
            directory = call.server.resolve(place.dir)
            pair.append(call.server.handle_of(directory.fs.lookup(caller, directory, place.name)))
        except FsError:
            break
    reply = call.proceed()
    if len(pair) == 2 and reply.status == Nfsstat3.NFS3_OK:
        heirs[pair[1]] = pair[0]
    return reply


# ---------------------------------------------------------------- stale and bad handles


@mutant((GETATTR, SETATTR, ACCESS, READ, WRITE, COMMIT, FSSTAT, FSINFO, PATHCONF), RFC1813_DATA_TYPES)
def nfs3_removed_is_noent(call: AnyCall) -> t.Any:
    """Procedures on a file, or about its file system, answer NOENT, not STALE, when it is gone"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_NOENT)


@mutant(tuple(procedure for procedure in NFS3.procedures if procedure not in {NULL, GETATTR}), RFC1813_ERRORS)
def nfs3_bad_handle_is_inval(call: AnyCall) -> t.Any:
    """Every procedure but GETATTR answers INVAL, not BADHANDLE, to an invalid handle"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_BADHANDLE, Nfsstat3.NFS3ERR_INVAL)


@mutant(GETATTR, RFC1813_ERRORS)
def getattr3_altered_handle_is_noent(call: Getattr) -> Getattr3Res:
    """GETATTR answers NOENT, not BADHANDLE, to an invalid handle of the right length"""
    reply = call.proceed()
    if len(call.args.object) != HANDLE_SIZE:
        return reply
    return restate(reply, Nfsstat3.NFS3ERR_BADHANDLE, Nfsstat3.NFS3ERR_NOENT)


@mutant(GETATTR, RFC1813_ERRORS)
def getattr3_short_handle_is_inval(call: Getattr) -> Getattr3Res:
    """GETATTR answers INVAL, not BADHANDLE, to a handle that is too short"""
    reply = call.proceed()
    if not 1 <= len(call.args.object) < HANDLE_SIZE:
        return reply
    return restate(reply, Nfsstat3.NFS3ERR_BADHANDLE, Nfsstat3.NFS3ERR_INVAL)


@mutant(GETATTR, RFC1813_ERRORS)
def getattr3_empty_handle_is_noent(call: Getattr) -> Getattr3Res:
    """GETATTR answers NOENT, not BADHANDLE, to the empty handle"""
    reply = call.proceed()
    return reply if call.args.object else restate(reply, Nfsstat3.NFS3ERR_BADHANDLE, Nfsstat3.NFS3ERR_NOENT)


@mutant((CREATE, MKDIR, GETATTR), RFC1813_DATA_TYPES)
def getattr3_binds_handles_to_connections(call: AnyCall) -> t.Any:
    """GETATTR knows the handles that CREATE and MKDIR gave on the same connection only"""
    homes = call.state.setdefault("homes", {})
    if call.procedure is GETATTR:
        if homes.pop(call.args.object, call.peer) != call.peer:
            return Getattr3Res(Nfsstat3.NFS3ERR_STALE)
        return call.proceed()
    reply = call.proceed()
    if reply.resok is not None:
        homes[reply.resok.obj] = call.peer
    return reply


@wire_mutant(RFC1813_SIZES)
def getattr3_cuts_long_handles(message: Message) -> Answer:
    """GETATTR takes the beginning of a handle of more than 64 bytes for the handle"""
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
