# SPDX-License-Identifier: MIT
"""READ, WRITE and COMMIT (RFC 1813 sections 3.3.6, 3.3.7 and 3.3.21)."""

from __future__ import annotations

import errno
import typing as t

from nfsclient.protocol.nfs3 import (
    Commit3Args,
    Commit3Res,
    Commit3ResFail,
    Commit3ResOk,
    Nfsstat3,
    Read3Args,
    Read3Res,
    Read3ResFail,
    Read3ResOk,
    StableHow,
    Write3Args,
    Write3Res,
    Write3ResFail,
    Write3ResOk,
)
from nfsclient.rpc.service import CallContext
from nfsserver.fs import FsError, Stability
from nfsserver.handlers import ServerApi
from nfsserver.nfs3.common import Watched, status_of

_INSTEAD: t.Final = {errno.EISDIR: Nfsstat3.NFS3ERR_INVAL}
"""The status for anything but a regular file (RFC 1813 sections 3.3.6 and 3.3.7, IMPLEMENTATION)."""


def read3(server: ServerApi, context: CallContext, args: Read3Args) -> Read3Res:
    """READ; more than rtmax is answered short."""
    watched = Watched(server, args.file)
    try:
        inode = watched.inode
        count = server.backend.transfers(context).of_read(args.count)
        data = inode.fs.read(server.backend.caller(context), inode, args.offset, count)
    except FsError as refusal:
        return Read3Res(status_of(refusal, _INSTEAD), resfail=Read3ResFail(watched.attributes()))
    eof = args.offset + len(data) >= inode.size
    return Read3Res(Nfsstat3.NFS3_OK, Read3ResOk(watched.attributes(), len(data), eof, data))


def write3(server: ServerApi, context: CallContext, args: Write3Args) -> Write3Res:
    """WRITE, as stable as asked for and no more; more than wtmax is written short."""
    watched = Watched(server, args.file)
    try:
        inode = watched.inode
        stability = _stability(args)
        data = memoryview(args.data)[: server.backend.transfers(context).of_write(len(args.data))]
        count = inode.fs.write(server.backend.caller(context), inode, args.offset, data, stability)
    except FsError as refusal:
        return Write3Res(status_of(refusal, _INSTEAD), resfail=Write3ResFail(watched.wcc()))
    resok = Write3ResOk(watched.wcc(), count, StableHow(stability), server.backend.write_verifier)
    return Write3Res(Nfsstat3.NFS3_OK, resok)


def _stability(args: Write3Args) -> Stability:
    """EINVAL: an undefined stable_how, or a count that differs from the length of the data."""
    if args.count != len(args.data) or not args.stable.is_known:
        raise FsError(errno.EINVAL)
    return Stability(args.stable)


def commit3(server: ServerApi, _context: CallContext, args: Commit3Args) -> Commit3Res:
    """COMMIT; having nothing to flush is no error."""
    watched = Watched(server, args.file)
    try:
        watched.inode.fs.commit(watched.inode, args.offset, args.count)
    except FsError as refusal:
        return Commit3Res(status_of(refusal, _INSTEAD), resfail=Commit3ResFail(watched.wcc()))
    return Commit3Res(Nfsstat3.NFS3_OK, Commit3ResOk(watched.wcc(), server.backend.write_verifier))
