# SPDX-License-Identifier: MIT
"""READLINK, READ and WRITE (RFC 1094 sections 2.2.6, 2.2.7 and 2.2.9)."""

from __future__ import annotations

import errno
import typing as t

from nfsclient.protocol.nfs2 import (
    MAXDATA,
    Attrstat,
    FhandleArgs,
    Nfsstat2,
    Readargs,
    Readlinkres,
    Readok,
    Readres,
    Writeargs,
)
from nfsclient.rpc.service import CallContext
from nfsserver.fs import Caller, Changes, FsError, Inode, Stability
from nfsserver.handlers import ServerApi
from nfsserver.nfs2.common import LARGEST, fattr, status_of

_INSTEAD: t.Final = {errno.EINVAL: Nfsstat2.NFSERR_NXIO}
"""An object of a kind that has no such data."""


def readlink2(server: ServerApi, _context: CallContext, args: FhandleArgs) -> Readlinkres:
    try:
        link = server.backend.resolve(args.file)
        return Readlinkres(Nfsstat2.NFS_OK, link.fs.readlink(link))
    except FsError as refusal:
        return Readlinkres(status_of(refusal, _INSTEAD))


def read2(server: ServerApi, context: CallContext, args: Readargs) -> Readres:
    """READ; more than MAXDATA is answered short."""
    try:
        inode = server.backend.resolve(args.file)
        count = server.backend.transfers(context).of_read(min(args.count, MAXDATA))
        data = inode.fs.read(server.backend.caller(context), inode, args.offset, count)
    except FsError as refusal:
        return Readres(status_of(refusal, _INSTEAD))
    return Readres(Nfsstat2.NFS_OK, Readok(fattr(inode), data))


def write2(server: ServerApi, context: CallContext, args: Writeargs) -> Attrstat:
    """WRITE, stable before the reply, and all of the data or none."""
    try:
        inode = server.backend.resolve(args.file)
        _write(server.backend.caller(context), inode, args.offset, memoryview(args.data))
    except FsError as refusal:
        return Attrstat(status_of(refusal, _INSTEAD))
    return Attrstat(Nfsstat2.NFS_OK, fattr(inode))


def _write(caller: Caller, inode: Inode, offset: int, data: memoryview) -> None:
    """Write everything.

    EFBIG: the size does not fit into 32 bits; ENOSPC: there was room for a part only, and the old data is restored;
    and what `FileSystem.write` raises.
    """
    if offset + len(data) > LARGEST:
        raise FsError(errno.EFBIG)
    size = inode.size
    before = b"" if inode.data is None else inode.data.read(offset, len(data))
    written = inode.fs.write(caller, inode, offset, data, Stability.FILE_SYNC)
    if written == len(data):
        return
    inode.fs.write(caller, inode, offset, before[:written], Stability.FILE_SYNC)
    inode.fs.setattr(caller, inode, Changes(size=size))
    raise FsError(errno.ENOSPC)
