# SPDX-License-Identifier: MIT
"""GETATTR, SETATTR and ACCESS (RFC 1813 sections 3.3.1, 3.3.2 and 3.3.4)."""

from __future__ import annotations

import errno
import typing as t

from nfsclient.protocol.nfs3 import (
    Access3Args,
    Access3Res,
    Access3ResFail,
    Access3ResOk,
    Getattr3Args,
    Getattr3Res,
    Getattr3ResOk,
    Nfsstat3,
    Setattr3Args,
    Setattr3Res,
    Setattr3ResFail,
    Setattr3ResOk,
)
from nfsclient.rpc.service import CallContext
from nfsserver.fs import FsError
from nfsserver.handlers import ServerApi
from nfsserver.nfs3.common import REFUSALS, Nfs3Error, Watched, changes_of, fattr3, nfstime3, status_of

_SETATTR_INSTEAD: t.Final = {errno.EISDIR: Nfsstat3.NFS3ERR_INVAL, errno.EFBIG: Nfsstat3.NFS3ERR_INVAL}
"""A size that the object, or the server, cannot have is INVAL in SETATTR (RFC 1813 section 3.3.2)."""


def getattr3(server: ServerApi, _context: CallContext, args: Getattr3Args) -> Getattr3Res:
    try:
        inode = server.backend.resolve(args.object)
    except FsError as refusal:
        return Getattr3Res(status_of(refusal))
    return Getattr3Res(Nfsstat3.NFS3_OK, Getattr3ResOk(fattr3(inode)))


def setattr3(server: ServerApi, context: CallContext, args: Setattr3Args) -> Setattr3Res:
    """SETATTR; a guard that is not the present ctime preserves everything."""
    watched = Watched(server, args.object)
    try:
        inode = watched.inode
        if args.guard is not None and args.guard != nfstime3(inode.reported().ctime):
            raise Nfs3Error(Nfsstat3.NFS3ERR_NOT_SYNC)
        inode.fs.setattr(server.backend.caller(context), inode, changes_of(args.new_attributes))
    except REFUSALS as refusal:
        status = status_of(refusal, _SETATTR_INSTEAD)
        return Setattr3Res(status, resfail=Setattr3ResFail(watched.wcc()))
    return Setattr3Res(Nfsstat3.NFS3_OK, Setattr3ResOk(watched.wcc()))


def access3(server: ServerApi, context: CallContext, args: Access3Args) -> Access3Res:
    """ACCESS; bits that nobody defined are never granted."""
    watched = Watched(server, args.object)
    try:
        rights = watched.inode.fs.access(server.backend.caller(context), watched.inode)
    except FsError as refusal:
        return Access3Res(status_of(refusal), resfail=Access3ResFail(watched.attributes()))
    return Access3Res(Nfsstat3.NFS3_OK, Access3ResOk(watched.attributes(), int(rights) & args.access))
