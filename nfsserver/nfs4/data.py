# SPDX-License-Identifier: MIT
"""READ, WRITE and COMMIT (RFC 5661 sections 18.3, 18.22, 18.32)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.service import CallContext
from nfsserver.fs import Stability
from nfsserver.handlers import ServerApi
from nfsserver.nfs4.attributes import require_io
from nfsserver.nfs4.common import Nfs4Error, compound_of, current, require_file
from nfsserver.state.shares import Share

_OK: t.Final = Nfsstat4.NFS4_OK


def read4(server: ServerApi, context: CallContext, args: p.Read4Args) -> p.Read4Res:
    """READ; more than maxread is answered short."""
    inode = current(context)
    require_file(inode)
    span = (args.offset, args.offset + args.count)
    require_io(server, context, args.stateid, inode, Share.READ, span)
    count = server.backend.transfers(context).of_read(args.count)
    data = inode.fs.read(compound_of(context).caller, inode, args.offset, count)
    eof = args.offset + len(data) >= inode.size
    return p.Read4Res(_OK, p.Read4ResOk(eof, data))


def write4(server: ServerApi, context: CallContext, args: p.Write4Args) -> p.Write4Res:
    """WRITE, as stable as asked for and no more; more than maxwrite is written short."""
    inode = current(context)
    require_file(inode)
    if not args.stable.is_known:
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    span = (args.offset, args.offset + len(args.data))
    require_io(server, context, args.stateid, inode, Share.WRITE, span)
    stability = Stability(args.stable)
    data = memoryview(args.data)[: server.backend.transfers(context).of_write(len(args.data))]
    count = inode.fs.write(compound_of(context).caller, inode, args.offset, data, stability)
    resok = p.Write4ResOk(count, p.StableHow4(stability), server.backend.write_verifier)
    return p.Write4Res(_OK, resok)


def commit4(server: ServerApi, context: CallContext, args: p.Commit4Args) -> p.Commit4Res:
    """COMMIT; having nothing to flush is no error."""
    inode = current(context)
    require_file(inode)
    inode.fs.commit(inode, args.offset, args.count)
    return p.Commit4Res(_OK, p.Commit4ResOk(server.backend.write_verifier))
