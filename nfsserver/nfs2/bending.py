# SPDX-License-Identifier: MIT
"""How mutants of NFSv2 are written: most bend the arguments, or the results of success, of one procedure."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs2 import Diropargs, Diropok, Diropres, Nfsstat2, StatRes
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import FsError, Inode
from nfsserver.mutants import A, Proceed, R, mutant
from nfsserver.nfs2.common import fattr

if t.TYPE_CHECKING:
    from nfsserver.server import Server

BendArgs: t.TypeAlias = "Callable[[Server, A], A]"
BendReply: t.TypeAlias = "Callable[[Server, A, R], R]"
Around: t.TypeAlias = "Callable[[Server, CallContext, A, Proceed[A, R]], R]"


def around(
    name: str, procedure: Procedure[A, R], section: str, gist: str
) -> Callable[[Around[A, R]], Around[A, R]]:
    """Register middleware: (server, context, arguments, proceed) -> reply. `section` is one of RFC 1094."""
    return mutant(
        name, bends=procedure, breaks=f"RFC 1094 section {section}", gist=f"{procedure.name} {gist}"
    )


def bends_args(
    name: str, procedure: Procedure[A, R], section: str, gist: str
) -> Callable[[BendArgs[A]], BendArgs[A]]:
    """Register a change of the arguments: (server, arguments) -> arguments."""

    def register(bend: BendArgs[A]) -> BendArgs[A]:
        @around(name, procedure, section, gist)
        def middleware(server: Server, context: CallContext, args: A, proceed: Proceed[A, R]) -> R:
            return proceed(context, bend(server, args))

        return bend

    return register


def bends_reply(
    name: str, procedure: Procedure[A, R], section: str, gist: str
) -> Callable[[BendReply[A, R]], BendReply[A, R]]:
    """Register a change of a successful reply: (server, arguments, reply) -> reply."""

    def register(bend: BendReply[A, R]) -> BendReply[A, R]:
        @around(name, procedure, section, gist)
        def middleware(server: Server, context: CallContext, args: A, proceed: Proceed[A, R]) -> R:
            reply = proceed(context, args)
            return bend(server, args, reply) if getattr(reply, "status", 0) == 0 else reply

        return bend

    return register


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


def success(server: Server, procedure: Procedure[t.Any, t.Any] | None, inode: Inode) -> t.Any:
    """What a procedure answers when it says that all went well with an object."""
    if procedure is not None and procedure.res is Diropres:
        return Diropres(Nfsstat2.NFS_OK, Diropok(server.handle_of(inode), fattr(inode)))
    return StatRes(Nfsstat2.NFS_OK)


def inode_of(server: Server, handle: bytes) -> Inode | None:
    """The object of a handle; None if there is none."""
    try:
        return server.resolve(handle)
    except FsError:
        return None


def child_of(server: Server, directory: bytes, name: bytes) -> Inode | None:
    """The object of a name; None if there is none."""
    parent = inode_of(server, directory)
    return None if parent is None or parent.directory is None else parent.directory.get(name)
