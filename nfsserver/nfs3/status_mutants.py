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
    Fsinfo3Args,
    Fsinfo3Res,
    Nfsstat3,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import Changes
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.naming_bending import OF_NAMES, AnyProceed, directory_of

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_ERRORS: t.Final = "RFC 1813 section 2.6"
_CHANGING: t.Final = tuple(procedure for procedure in OF_NAMES if procedure is not LOOKUP)
_CREATING: t.Final = (CREATE, MKDIR, SYMLINK, MKNOD)


def _is_io(name: str, procedures: t.Any, status: Nfsstat3, gist: str) -> None:
    """Register what answers IO in place of a status."""

    @mutant(name, bends=procedures, breaks=_ERRORS, gist=gist)
    def bend(_server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
        reply = proceed(context, args)
        return replace(reply, status=Nfsstat3.NFS3ERR_IO) if reply.status == status else reply


_is_io(
    "names3-read-only-is-io",
    _CHANGING,
    Nfsstat3.NFS3ERR_ROFS,
    "names on a read-only file system are refused with IO",
)
_is_io(
    "setattr3-read-only-is-io",
    (SETATTR,),
    Nfsstat3.NFS3ERR_ROFS,
    "SETATTR on a read-only file system is refused with IO",
)
_is_io(
    "creations3-no-room-is-io",
    _CREATING,
    Nfsstat3.NFS3ERR_NOSPC,
    "where there is no room, creation is refused with IO",
)
_is_io(
    "names3-too-long-is-io",
    OF_NAMES,
    Nfsstat3.NFS3ERR_NAMETOOLONG,
    "a name that is too long is refused with IO",
)
_is_io(
    "symlink3-too-long-is-io",
    (SYMLINK,),
    Nfsstat3.NFS3ERR_NAMETOOLONG,
    "SYMLINK of data that are too long is refused with IO",
)
_is_io(
    "link3-unsupported-is-io",
    (LINK,),
    Nfsstat3.NFS3ERR_NOTSUPP,
    "LINK that is not supported is refused with IO",
)
_is_io(
    "symlink3-unsupported-is-io",
    (SYMLINK,),
    Nfsstat3.NFS3ERR_NOTSUPP,
    "SYMLINK that is not supported is refused with IO",
)


def _without(name: str, procedures: t.Any, breaks: str, gist: str, **settings: t.Any) -> None:
    """Register what does not obey some knobs."""

    @mutant(name, bends=procedures, breaks=breaks, gist=gist)
    def bend(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
        known = [(file_system, file_system.read_only) for file_system in server.exports.values()]
        now = server.knobs.now
        server.knobs.now = dataclasses.replace(now, **settings)
        for file_system, _ in known:
            file_system.read_only = server.knobs.now.read_only
        try:
            return proceed(context, args)
        finally:
            server.knobs.now = now
            for file_system, read_only in known:
                file_system.read_only = read_only


_without(
    "names3-read-only-is-no-matter",
    _CHANGING,
    _ERRORS,
    "names on a read-only file system are changed like others",
    read_only=False,
)
_without(
    "setattr3-read-only-is-no-matter",
    (SETATTR,),
    _ERRORS,
    "SETATTR on a read-only file system works as on others",
    read_only=False,
)
_without(
    "names3-squash-nobody",
    _CHANGING,
    "RFC 1813 section 4.4",
    "root that is taken for nobody changes the directories of others like root",
    root_squash=False,
)
_without(
    "setattr3-squashes-nobody",
    (SETATTR,),
    "RFC 1813 section 4.4",
    "root that is taken for nobody changes the attributes of others' files like root",
    root_squash=False,
)


@mutant(
    "creations3-no-room-leaves-a-file",
    bends=_CREATING,
    breaks=_ERRORS,
    gist="where there is no room, creation is refused, and leaves an empty file under the name",
)
def no_room_leaves_a_file(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Find room for that."""
    reply = proceed(context, args)
    directory = directory_of(server, args.where)
    if reply.status == Nfsstat3.NFS3ERR_NOSPC and directory is not None:
        file_system = directory.fs
        file_system.leave_free(None, None)
        file_system.create(server.caller(context), directory, args.where.name, Changes())
        file_system.leave_free(None, 0)
    return reply


@mutant(
    "fsinfo3-always-claims-links",
    bends=FSINFO,
    breaks="RFC 1813 section 3.3.19",
    gist="FSINFO claims hard and symbolic links, whether there are any or not",
)
def fsinfo3_always_claims_links(
    _server: Server, context: CallContext, args: Fsinfo3Args, proceed: Proceed[Fsinfo3Args, Fsinfo3Res]
) -> Fsinfo3Res:
    """Set both bits."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    claimed = reply.resok.properties | FSF3_LINK | FSF3_SYMLINK
    return replace(reply, resok=replace(reply.resok, properties=claimed))
