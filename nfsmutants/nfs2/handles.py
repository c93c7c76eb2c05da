# SPDX-License-Identifier: MIT
"""Mutants of file handles, and of transports."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.mount import MNT1, DirpathArgs, Mnt1Res
from nfsclient.protocol.nfs2 import (
    CREATE,
    FHSIZE,
    GETATTR,
    LINK,
    LOOKUP,
    MKDIR,
    NFS2,
    NULL,
    READ,
    RENAME,
    ROOT,
    SETATTR,
    SYMLINK,
    WRITE,
    WRITECACHE,
    Attrstat,
    Nfsstat2,
    Readdirok,
    Readdirres,
    Readlinkres,
    Readok,
    Readres,
    Renameargs,
    Statfsinfo,
    Statfsres,
)
from nfsclient.rpc.messages import AcceptStat, accepted
from nfsclient.xdr import replace
from nfsmutants.bending import child_of
from nfsmutants.form import AnyCall, Call, Message, mutant, wire_mutant
from nfsmutants.nfs2.bending import place_of, success
from nfsmutants.nfs2.calls import Getattr
from nfsmutants.rpc.headers import head_of
from nfsmutants.rules import (
    RFC1094_HANDLES,
    RFC1094_MNT,
    RFC1094_PROCEDURES,
    RFC1094_STATELESS,
    RFC1094_STATUS,
    RFC1094_TRANSPORT,
    RFC1831_PROGRAMS,
)
from nfsserver.middleware import Answer
from nfsserver.nfs2.common import fattr

_WITH_HANDLES: t.Final = tuple(
    procedure for procedure in NFS2.procedures if procedure not in (NULL, ROOT, WRITECACHE)
)


@mutant(_WITH_HANDLES, RFC1094_STATUS)
def nfs2_takes_handles_of_nobody(call: AnyCall) -> t.Any:
    """A handle of 32 bytes 255 is taken for one of the root"""
    reply = call.proceed()
    if reply.status != Nfsstat2.NFSERR_STALE or b"\xff" * FHSIZE not in call.args.to_xdr():
        return reply
    root, kind = call.server.fs.root, call.procedure.res
    empty: dict[object, object] = {
        Attrstat: fattr(root),
        Readlinkres: b"",
        Readres: Readok(fattr(root), b""),
        Readdirres: Readdirok([], eof=True),
        Statfsres: Statfsinfo(1, 1, 0, 0, 0),
    }
    return kind(Nfsstat2.NFS_OK, empty[kind]) if kind in empty else success(call.server, call.procedure, root)


@mutant((CREATE, MKDIR, LOOKUP, SYMLINK, LINK, RENAME), RFC1094_STATUS)
def nfs2_takes_handles_of_removed_directories(call: AnyCall) -> t.Any:
    """Names can be made and found in directories that are gone"""
    reply = call.proceed()
    gone = reply.status == Nfsstat2.NFSERR_STALE and place_of(call.args).dir != b"\xff" * FHSIZE
    return success(call.server, call.procedure, call.server.fs.root) if gone else reply


@mutant(GETATTR, RFC1094_STATUS)
def nfs2_reads_half_of_a_handle(call: Getattr) -> Attrstat:
    """A handle that was altered reaches the root"""
    reply: Attrstat = call.proceed()
    altered = reply.status == Nfsstat2.NFSERR_STALE and call.args.file != b"\xff" * FHSIZE
    return Attrstat(Nfsstat2.NFS_OK, fattr(call.server.fs.root)) if altered else reply


@mutant((RENAME, GETATTR), RFC1094_HANDLES)
def nfs2_handles_of_renamed_files_go_astray(call: AnyCall) -> t.Any:
    """The handle of an object that was renamed reaches the directory that it is in"""
    args = call.args
    astray: dict[bytes, bytes] = call.state  # type: ignore[assignment]
    if isinstance(args, Renameargs):
        inode = child_of(call.server, args.from_.dir, args.from_.name)
        if inode is not None:
            astray[call.server.handle_of(inode)] = args.from_.dir
        return call.proceed()
    return call.proceed(replace(args, file=astray.get(args.file, args.file)))


@mutant(GETATTR, RFC1094_STATELESS)
def nfs2_forgets_handles_in_a_restart(call: Getattr) -> Attrstat:
    """Handles from before a restart are invalid"""
    known: dict[bytes, int] = call.state  # type: ignore[assignment]
    if known.setdefault(call.args.file, call.server.boots) != call.server.boots:
        return Attrstat(Nfsstat2.NFSERR_STALE)
    reply: Attrstat = call.proceed()
    return reply


@mutant(MNT1, RFC1094_MNT)
def mnt1_gives_a_handle_of_nothing(call: Call[DirpathArgs, Mnt1Res]) -> Mnt1Res:
    """MNT of version 1 gives a handle that NFSv2 does not take"""
    reply = call.proceed()
    return reply if reply.directory is None else replace(reply, directory=reply.directory[::-1])


# ---------------------------------------------------------------- transports


@mutant((READ, WRITE), RFC1094_TRANSPORT)
def nfs2_cuts_data_over_udp(call: AnyCall) -> t.Any:
    """WRITE over UDP loses the last byte of its data"""
    args = call.args
    if call.context.transport == "udp" and call.procedure is WRITE:
        args = replace(args, data=bytes(args.data)[:-1] + b"\0")
    return call.proceed(args)


@mutant((GETATTR, LOOKUP, CREATE, SETATTR), RFC1094_PROCEDURES)
def nfs2_has_other_attributes_over_udp(call: AnyCall) -> t.Any:
    """Over UDP objects have another owner"""
    reply = call.proceed()
    if call.context.transport != "udp" or reply.resok is None:
        return reply
    if isinstance(reply, Attrstat):
        return replace(reply, attributes=replace(reply.resok, uid=reply.resok.uid + 1))
    attributes = replace(reply.resok.attributes, uid=reply.resok.attributes.uid + 1)
    return replace(reply, diropok=replace(reply.resok, attributes=attributes))


@wire_mutant(RFC1831_PROGRAMS)
def nfs2_has_more_procedures(message: Message) -> Answer:
    """Procedures of NFSv2 that do not exist are answered with nothing, as NULL is"""
    xid, _, _, program, version, procedure = head_of(message.data)
    if (program, version) != (GETATTR.program, GETATTR.version) or procedure < len(NFS2.procedures):
        return message.proceed()
    return accepted(xid, AcceptStat.SUCCESS).to_buffers()
