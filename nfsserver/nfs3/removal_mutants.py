# SPDX-License-Identifier: MIT
"""Mutants of REMOVE, RMDIR, RENAME and LINK."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import REMOVE, Nfsstat3, Remove3Args, Remove3Res, Remove3ResOk
from nfsclient.rpc.service import CallContext
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.common import Watched

if t.TYPE_CHECKING:
    from nfsserver.server import Server


@mutant(
    "remove3-removes-nothing",
    bends=REMOVE,
    breaks="RFC 1813 section 3.3.12",
    gist="REMOVE answers OK and leaves the entry in the directory",
)
def remove3_removes_nothing(
    server: Server, context: CallContext, args: Remove3Args, proceed: Proceed[Remove3Args, Remove3Res]
) -> Remove3Res:
    """Answer OK wherever the name exists."""
    directory = Watched(server, args.object.dir)
    if directory.before is None or directory.inode.directory is None:
        return proceed(context, args)
    if directory.inode.directory.get(args.object.name) is None:
        return proceed(context, args)
    return Remove3Res(Nfsstat3.NFS3_OK, Remove3ResOk(directory.wcc()))
