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
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.mutants import Answer, Proceed, ProceedWire, mutant, wire_mutant
from nfsserver.nfs2.bending import child_of, place_of, success
from nfsserver.nfs2.common import fattr
from nfsserver.rpc_mutants import head_of

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_WITH_HANDLES: t.Final = tuple(
    procedure for procedure in NFS2.procedures if procedure not in (NULL, ROOT, WRITECACHE)
)


@mutant(
    "nfs2-takes-handles-of-nobody",
    bends=_WITH_HANDLES,
    breaks="RFC 1094 section 2.3.1",
    gist="A handle of 32 bytes 255 is taken for one of the root",
)
def takes_handles_of_nobody(server: Server, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
    """Say success, with nothing in it."""
    reply = proceed(context, args)
    if reply.status != Nfsstat2.NFSERR_STALE or b"\xff" * FHSIZE not in args.to_xdr():
        return reply
    root, kind = server.fs.root, context.procedure.res
    empty: dict[object, object] = {
        Attrstat: fattr(root),
        Readlinkres: b"",
        Readres: Readok(fattr(root), b""),
        Readdirres: Readdirok([], eof=True),
        Statfsres: Statfsinfo(1, 1, 0, 0, 0),
    }
    return kind(Nfsstat2.NFS_OK, empty[kind]) if kind in empty else success(server, context.procedure, root)


@mutant(
    "nfs2-takes-handles-of-removed-directories",
    bends=(CREATE, MKDIR, LOOKUP, SYMLINK, LINK, RENAME),
    breaks="RFC 1094 section 2.3.1",
    gist="Names can be made and found in directories that are gone",
)
def takes_handles_of_removed_directories(
    server: Server, context: CallContext, args: t.Any, proceed: t.Any
) -> t.Any:
    """Say success."""
    reply = proceed(context, args)
    gone = reply.status == Nfsstat2.NFSERR_STALE and place_of(args).dir != b"\xff" * FHSIZE
    return success(server, context.procedure, server.fs.root) if gone else reply


@mutant(
    "nfs2-reads-half-of-a-handle",
    bends=GETATTR,
    breaks="RFC 1094 section 2.3.1",
    gist="A handle that was altered reaches the root",
)
def reads_half_of_a_handle(server: Server, context: CallContext, args: t.Any, proceed: t.Any) -> Attrstat:
    """As if it were the root's."""
    reply: Attrstat = proceed(context, args)
    altered = reply.status == Nfsstat2.NFSERR_STALE and args.file != b"\xff" * FHSIZE
    return Attrstat(Nfsstat2.NFS_OK, fattr(server.fs.root)) if altered else reply


@mutant(
    "nfs2-handles-of-renamed-files-go-astray",
    bends=(RENAME, GETATTR),
    breaks="RFC 1094 section 2.3.3",
    gist="The handle of an object that was renamed reaches the directory that it is in",
)
def handles_of_renamed_files_go_astray(
    server: Server, context: CallContext, args: t.Any, proceed: t.Any
) -> t.Any:
    """Remember those of the name object."""
    astray: dict[bytes, bytes] = server.mutant_state("nfs2-handles-of-renamed-files-go-astray")  # type: ignore[assignment]
    if isinstance(args, Renameargs):
        inode = child_of(server, args.from_.dir, args.from_.name)
        if inode is not None and args.from_.name == b"object":
            astray[server.handle_of(inode)] = args.from_.dir
        return proceed(context, args)
    return proceed(context, replace(args, file=astray.get(args.file, args.file)))


@mutant(
    "nfs2-forgets-handles-in-a-restart",
    bends=GETATTR,
    breaks="RFC 1094 section 1.3",
    gist="Handles from before a restart are invalid",
)
def forgets_handles_in_a_restart(
    server: Server, context: CallContext, args: t.Any, proceed: t.Any
) -> Attrstat:
    """Those that were asked about before."""
    known: dict[bytes, int] = server.mutant_state("nfs2-forgets-handles-in-a-restart")  # type: ignore[assignment]
    if known.setdefault(args.file, server.boots) != server.boots:
        return Attrstat(Nfsstat2.NFSERR_STALE)
    reply: Attrstat = proceed(context, args)
    return reply


@mutant(
    "mnt1-gives-a-handle-of-nothing",
    bends=MNT1,
    breaks="RFC 1094 section A.5.2",
    gist="MNT of version 1 gives a handle that NFSv2 does not take",
)
def gives_a_handle_of_nothing(
    _server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Mnt1Res]
) -> Mnt1Res:
    """The right one, turned round."""
    reply = proceed(context, args)
    return reply if reply.directory is None else replace(reply, directory=reply.directory[::-1])


# ---------------------------------------------------------------- transports


@mutant(
    "nfs2-cuts-data-over-udp",
    bends=(READ, WRITE),
    breaks="RFC 1094 section 3.4",
    gist="WRITE over UDP loses the last byte of its data",
)
def cuts_data_over_udp(_server: Server, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
    """Put a zero for it."""
    if context.transport == "udp" and context.procedure is WRITE:
        args = replace(args, data=bytes(args.data)[:-1] + b"\0")
    return proceed(context, args)


@mutant(
    "nfs2-has-other-attributes-over-udp",
    bends=(GETATTR, LOOKUP, CREATE, SETATTR),
    breaks="RFC 1094 section 2.2",
    gist="Over UDP objects have another owner",
)
def has_other_attributes_over_udp(
    _server: Server, context: CallContext, args: t.Any, proceed: t.Any
) -> t.Any:
    """The next number."""
    reply = proceed(context, args)
    if context.transport != "udp" or reply.resok is None:
        return reply
    if isinstance(reply, Attrstat):
        return replace(reply, attributes=replace(reply.resok, uid=reply.resok.uid + 1))
    attributes = replace(reply.resok.attributes, uid=reply.resok.attributes.uid + 1)
    return replace(reply, diropok=replace(reply.resok, attributes=attributes))


@wire_mutant(
    "nfs2-has-more-procedures",
    breaks="RFC 1831 section 7.1",
    gist="Procedures of NFSv2 that do not exist are answered with nothing, as NULL is",
)
def has_more_procedures(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Success."""
    xid, _, _, program, version, procedure = head_of(message)
    if (program, version) != (GETATTR.program, GETATTR.version) or procedure < len(NFS2.procedures):
        return proceed(message)
    return accepted(xid, AcceptStat.SUCCESS).to_buffers()
