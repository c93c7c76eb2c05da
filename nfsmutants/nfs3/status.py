# SPDX-License-Identifier: MIT
"""Mutants of statuses whose cause is the state of the server, and of what it does in that state."""

from __future__ import annotations

import dataclasses
import typing as t

from nfsclient.protocol.nfs3 import (
    CREATE,
    FSF3_LINK,
    FSF3_SYMLINK,
    FSINFO,
    LINK,
    LOOKUP,
    MKDIR,
    MKNOD,
    SETATTR,
    SYMLINK,
    Fsinfo3Res,
    Link3Res,
    Nfsstat3,
    Setattr3Res,
    Symlink3Res,
)
from nfsmutants.bending import amend, restate
from nfsmutants.form import A, AnyCall, Call, R, mutant
from nfsmutants.nfs3.bending import OF_NAMES, directory_of
from nfsmutants.nfs3.calls import Fsinfo, Link, Setattr, Symlink
from nfsmutants.rules import RFC1813_ERRORS, RFC1813_FSINFO, RFC1813_PERMISSIONS
from nfsserver.fs import Changes

_CHANGING: t.Final = tuple(procedure for procedure in OF_NAMES if procedure is not LOOKUP)
_CREATING: t.Final = (CREATE, MKDIR, SYMLINK, MKNOD)


@mutant(_CHANGING, RFC1813_ERRORS)
def names3_read_only_is_io(call: AnyCall) -> t.Any:
    """Names on a read-only file system are refused with IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_ROFS, Nfsstat3.NFS3ERR_IO)


@mutant(SETATTR, RFC1813_ERRORS)
def setattr3_read_only_is_io(call: Setattr) -> Setattr3Res:
    """SETATTR on a read-only file system is refused with IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_ROFS, Nfsstat3.NFS3ERR_IO)


@mutant(_CREATING, RFC1813_ERRORS)
def creations3_no_room_is_io(call: AnyCall) -> t.Any:
    """Where there is no room, creation is refused with IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_NOSPC, Nfsstat3.NFS3ERR_IO)


@mutant(OF_NAMES, RFC1813_ERRORS)
def names3_too_long_is_io(call: AnyCall) -> t.Any:
    """A name that is too long is refused with IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_NAMETOOLONG, Nfsstat3.NFS3ERR_IO)


@mutant(SYMLINK, RFC1813_ERRORS)
def symlink3_too_long_is_io(call: Symlink) -> Symlink3Res:
    """SYMLINK of data that are too long is refused with IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_NAMETOOLONG, Nfsstat3.NFS3ERR_IO)


@mutant(LINK, RFC1813_ERRORS)
def link3_unsupported_is_io(call: Link) -> Link3Res:
    """LINK that is not supported is refused with IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_NOTSUPP, Nfsstat3.NFS3ERR_IO)


@mutant(SYMLINK, RFC1813_ERRORS)
def symlink3_unsupported_is_io(call: Symlink) -> Symlink3Res:
    """SYMLINK that is not supported is refused with IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_NOTSUPP, Nfsstat3.NFS3ERR_IO)


def _proceed_without(call: Call[A, R], **settings: t.Any) -> R:
    """The answer of a server that does not obey some knobs."""
    server = call.server
    known = [(file_system, file_system.read_only) for file_system in server.exports.values()]
    now = server.knobs.now
    server.knobs.now = dataclasses.replace(now, **settings)
    for file_system, _ in known:
        file_system.read_only = server.knobs.now.read_only
    try:
        return call.proceed()
    finally:
        server.knobs.now = now
        for file_system, read_only in known:
            file_system.read_only = read_only


@mutant(_CHANGING, RFC1813_ERRORS)
def names3_read_only_is_no_matter(call: AnyCall) -> t.Any:
    """Names on a read-only file system are changed like others"""
    return _proceed_without(call, read_only=False)


@mutant(SETATTR, RFC1813_ERRORS)
def setattr3_read_only_is_no_matter(call: Setattr) -> Setattr3Res:
    """SETATTR on a read-only file system works as on others"""
    return _proceed_without(call, read_only=False)


@mutant(_CHANGING, RFC1813_PERMISSIONS)
def names3_squash_nobody(call: AnyCall) -> t.Any:
    """Root that is taken for nobody changes the directories of others like root"""
    return _proceed_without(call, root_squash=False)


@mutant(SETATTR, RFC1813_PERMISSIONS)
def setattr3_squashes_nobody(call: Setattr) -> Setattr3Res:
    """Root that is taken for nobody changes the attributes of others' files like root"""
    return _proceed_without(call, root_squash=False)


@mutant(_CREATING, RFC1813_ERRORS)
def creations3_no_room_leaves_a_file(call: AnyCall) -> t.Any:
    """Where there is no room, creation is refused, and leaves an empty file under the name"""
    reply = call.proceed()
    directory = directory_of(call.server, call.args.where)
    if reply.status == Nfsstat3.NFS3ERR_NOSPC and directory is not None:
        file_system = directory.fs
        file_system.leave_free(None, None)
        file_system.create(call.caller, directory, call.args.where.name, Changes())
        file_system.leave_free(None, 0)
    return reply


@mutant(FSINFO, RFC1813_FSINFO)
def fsinfo3_always_claims_links(call: Fsinfo) -> Fsinfo3Res:
    """FSINFO claims hard and symbolic links, whether there are any or not"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    claimed = reply.resok.properties | FSF3_LINK | FSF3_SYMLINK
    return amend(reply, properties=claimed)
