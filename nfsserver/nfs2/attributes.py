# SPDX-License-Identifier: MIT
"""NULL, GETATTR, SETATTR, ROOT, WRITECACHE and STATFS (RFC 1094 sections 2.2.1 to 2.2.4, 2.2.8, 2.2.18)."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import (
    MAXDATA,
    Attrstat,
    FhandleArgs,
    Nfsstat2,
    Sattrargs,
    Statfsinfo,
    Statfsres,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import Void
from nfsserver.fs import PAGE, FsError
from nfsserver.handlers import ServerApi
from nfsserver.nfs2.common import LARGEST, changes_of, fattr, status_of


def nothing2(_server: ServerApi, _context: CallContext, _args: Void) -> Void:
    """NULL; and ROOT and WRITECACHE, which are obsolete or were never used."""
    return Void()


def getattr2(server: ServerApi, _context: CallContext, args: FhandleArgs) -> Attrstat:
    try:
        return Attrstat(Nfsstat2.NFS_OK, fattr(server.backend.resolve(args.file)))
    except FsError as refusal:
        return Attrstat(status_of(refusal))


def setattr2(server: ServerApi, context: CallContext, args: Sattrargs) -> Attrstat:
    """SETATTR; sets all given attributes, or nothing."""
    try:
        inode = server.backend.resolve(args.file)
        inode.fs.setattr(server.backend.caller(context), inode, changes_of(args.attributes))
    except FsError as refusal:
        return Attrstat(status_of(refusal))
    return Attrstat(Nfsstat2.NFS_OK, fattr(inode))


def statfs2(server: ServerApi, _context: CallContext, args: FhandleArgs) -> Statfsres:
    """STATFS; nothing is reserved for the superuser."""
    try:
        room = server.backend.resolve(args.file).fs.statistics()
    except FsError as refusal:
        return Statfsres(status_of(refusal))
    free = min(room.free_bytes // PAGE, LARGEST)
    info = Statfsinfo(
        tsize=MAXDATA, bsize=PAGE, blocks=min(room.total_bytes // PAGE, LARGEST), bfree=free, bavail=free
    )
    return Statfsres(Nfsstat2.NFS_OK, info)
