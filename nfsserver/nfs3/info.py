# SPDX-License-Identifier: MIT
"""NULL, FSSTAT, FSINFO and PATHCONF (RFC 1813 sections 3.3.0, 3.3.18 to 3.3.20)."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import (
    FSF3_CANSETTIME,
    FSF3_HOMOGENEOUS,
    FSF3_LINK,
    FSF3_SYMLINK,
    Fsinfo3Args,
    Fsinfo3Res,
    Fsinfo3ResFail,
    Fsinfo3ResOk,
    Fsstat3Args,
    Fsstat3Res,
    Fsstat3ResFail,
    Fsstat3ResOk,
    Nfsstat3,
    Pathconf3Args,
    Pathconf3Res,
    Pathconf3ResFail,
    Pathconf3ResOk,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import Void
from nfsserver.fs import PAGE, FsError
from nfsserver.handlers import ServerApi
from nfsserver.nfs3.common import Watched, nfstime3, status_of


def null3(_server: ServerApi, _context: CallContext, _args: Void) -> Void:
    """NULL, of any program."""
    return Void()


def fsstat3(server: ServerApi, _context: CallContext, args: Fsstat3Args) -> Fsstat3Res:
    """FSSTAT; nothing is reserved, so every caller has all free space."""
    watched = Watched(server, args.fsroot)
    try:
        room = watched.inode.fs.statistics()
    except FsError as refusal:
        return Fsstat3Res(status_of(refusal), resfail=Fsstat3ResFail(watched.attributes()))
    resok = Fsstat3ResOk(
        obj_attributes=watched.attributes(),
        tbytes=room.total_bytes,
        fbytes=room.free_bytes,
        abytes=room.free_bytes,
        tfiles=room.total_files,
        ffiles=room.free_files,
        afiles=room.free_files,
        invarsec=0,
    )
    return Fsstat3Res(Nfsstat3.NFS3_OK, resok)


def fsinfo3(server: ServerApi, context: CallContext, args: Fsinfo3Args) -> Fsinfo3Res:
    """FSINFO; transfer sizes are those of the transport that asks."""
    watched = Watched(server, args.fsroot)
    try:
        limits = watched.inode.fs.limits
    except FsError as refusal:
        return Fsinfo3Res(status_of(refusal), resfail=Fsinfo3ResFail(watched.attributes()))
    transfers = server.backend.transfers(context)
    resok = Fsinfo3ResOk(
        obj_attributes=watched.attributes(),
        rtmax=transfers.read_max,
        rtpref=transfers.read_max,
        rtmult=min(PAGE, transfers.read_max),
        wtmax=transfers.write_max,
        wtpref=transfers.write_max,
        wtmult=min(PAGE, transfers.write_max),
        dtpref=transfers.directory_max,
        maxfilesize=limits.max_file_size,
        time_delta=nfstime3(limits.time_granularity),
        properties=(
            FSF3_HOMOGENEOUS
            | FSF3_CANSETTIME
            | (FSF3_LINK if limits.hard_links else 0)
            | (FSF3_SYMLINK if limits.symlinks else 0)
        ),
    )
    return Fsinfo3Res(Nfsstat3.NFS3_OK, resok)


def pathconf3(server: ServerApi, _context: CallContext, args: Pathconf3Args) -> Pathconf3Res:
    """PATHCONF; the same for every object."""
    watched = Watched(server, args.object)
    try:
        limits = watched.inode.fs.limits
    except FsError as refusal:
        return Pathconf3Res(status_of(refusal), resfail=Pathconf3ResFail(watched.attributes()))
    resok = Pathconf3ResOk(
        obj_attributes=watched.attributes(),
        linkmax=limits.link_max,
        name_max=limits.name_max,
        no_trunc=True,
        chown_restricted=True,
        case_insensitive=limits.case_insensitive,
        case_preserving=True,
    )
    return Pathconf3Res(Nfsstat3.NFS3_OK, resok)
