# SPDX-License-Identifier: MIT
"""What mutants of NFSv2 share: the place in the arguments, and replies of success."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import Diropargs, Diropok, Diropres, Nfsstat2, StatRes
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import replace
from nfsserver.fs import Inode
from nfsserver.nfs2.common import fattr
from nfsserver.server import Server


def place_of(args: t.Any) -> Diropargs:
    """The directory and name in the arguments; with two of them, the ones that are new."""
    for field in ("where", "to", "from_"):
        found = getattr(args, field, None)
        if isinstance(found, Diropargs):
            return found
    assert isinstance(args, Diropargs)
    return args


def with_place(args: t.Any, **changes: object) -> t.Any:
    """The arguments with another directory or name."""
    for field in ("where", "to", "from_"):
        found = getattr(args, field, None)
        if isinstance(found, Diropargs):
            return replace(args, **{field: replace(found, **changes)})
    return replace(args, **changes)


def found(server: Server, inode: Inode) -> Diropres:
    """Success with an object."""
    return Diropres(Nfsstat2.NFS_OK, Diropok(server.handle_of(inode), fattr(inode)))


def success(server: Server, procedure: Procedure[t.Any, t.Any], inode: Inode) -> t.Any:
    """What a procedure answers when it says that all went well with an object."""
    return found(server, inode) if procedure.res is Diropres else StatRes(Nfsstat2.NFS_OK)
