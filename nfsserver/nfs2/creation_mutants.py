# SPDX-License-Identifier: MIT
"""Mutants of CREATE and MKDIR."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import CREATE, IGNORED, MKDIR, Createargs, Diropres, Nfsstat2, Sattr
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import SUPERUSER, Kind
from nfsserver.mutants import Proceed
from nfsserver.nfs2.bending import around, bends_args, bends_reply, child_of, inode_of, success
from nfsserver.nfs2.common import fattr

if t.TYPE_CHECKING:
    from nfsserver.server import Server

Next: t.TypeAlias = Proceed[Createargs, Diropres]

_CREATE: t.Final = "2.2.10"
_MKDIR: t.Final = "2.2.15"


def _asking(args: Createargs, **changes: object) -> Createargs:
    return replace(args, attributes=replace(args.attributes, **changes))


# ---------------------------------------------------------------- CREATE


@around("create2-makes-something-else", CREATE, _CREATE, "makes a FIFO of the name new")
def makes_something_else(server: Server, context: CallContext, args: Createargs, proceed: Next) -> Diropres:
    """Where there is none yet."""
    directory = inode_of(server, args.where.dir)
    if directory is None or args.where.name != b"new":
        return proceed(context, args)
    made = directory.fs.mknod(server.caller(context), directory, b"new", Kind.FIFO)
    return t.cast("Diropres", success(server, CREATE, made))


@around("create2-gives-the-handle-of-the-directory", CREATE, _CREATE, "gives the handle of another file")
def gives_the_handle_of_the_directory(
    server: Server, context: CallContext, args: Createargs, proceed: Next
) -> Diropres:
    """Of one that it makes beside."""
    reply = proceed(context, args)
    directory = inode_of(server, args.where.dir)
    if reply.diropok is None or directory is None or args.where.name != b"new":
        return reply
    other = directory.fs.create(SUPERUSER, directory, b"beside")
    return replace(reply, diropok=replace(reply.diropok, file=server.handle_of(other)))


@bends_reply(
    "create2-has-attributes-of-the-directory", CREATE, _CREATE, "gives the attributes of the directory"
)
def has_attributes_of_the_directory(server: Server, args: Createargs, reply: Diropres) -> Diropres:
    """With the right handle."""
    directory = inode_of(server, args.where.dir)
    if reply.diropok is None or directory is None:
        return reply
    return replace(reply, diropok=replace(reply.diropok, attributes=fattr(directory)))


@bends_args(
    "create2-has-a-mode-of-its-own", CREATE, _CREATE, "gives the group the right to write, or takes it"
)
def has_a_mode_of_its_own(_server: Server, args: Createargs) -> Createargs:
    """One bit the other way."""
    mode = args.attributes.mode
    return args if mode == IGNORED else _asking(args, mode=mode ^ 0o020)


@bends_args("create2-wants-every-attribute", CREATE, _CREATE, "refuses to create a file without attributes")
def wants_every_attribute(_server: Server, args: Createargs) -> Createargs:
    """By a name that cannot be."""
    return replace(args, where=replace(args.where, name=b"")) if args.attributes == Sattr() else args


@bends_args("create2-truncates-what-it-finds", CREATE, "2.3.6", "takes a size of -1 for 0")
def truncates_what_it_finds(_server: Server, args: Createargs) -> Createargs:
    """Cut it."""
    return _asking(args, size=0) if args.attributes.size == IGNORED else args


@bends_args("create2-never-truncates", CREATE, "2.3.6", "does not heed a size of 0")
def never_truncates(_server: Server, args: Createargs) -> Createargs:
    """Leave it out."""
    return _asking(args, size=IGNORED)


@around("create2-lets-anybody-in", CREATE, "3.3", "lets anybody create files anywhere")
def lets_anybody_in(server: Server, context: CallContext, args: Createargs, proceed: Next) -> Diropres:
    """As the superuser."""
    reply = proceed(context, args)
    directory = inode_of(server, args.where.dir)
    if reply.status != Nfsstat2.NFSERR_ACCES or directory is None or not args.where.name.isalnum():
        return reply
    made = directory.fs.create(SUPERUSER, directory, args.where.name)
    return t.cast("Diropres", success(server, CREATE, made))


# ---------------------------------------------------------------- MKDIR


@around("mkdir2-makes-a-file", MKDIR, _MKDIR, "makes a file of the name new")
def makes_a_file(server: Server, context: CallContext, args: Createargs, proceed: Next) -> Diropres:
    """Where there is none yet."""
    directory = inode_of(server, args.where.dir)
    if directory is None or args.where.name != b"new":
        return proceed(context, args)
    return t.cast("Diropres", success(server, MKDIR, directory.fs.create(SUPERUSER, directory, b"new")))


@bends_reply("mkdir2-is-not-empty", MKDIR, _MKDIR, "makes directories with a file in them")
def is_not_empty(server: Server, args: Createargs, reply: Diropres) -> Diropres:
    """Of the name new only."""
    made = child_of(server, args.where.dir, args.where.name)
    if made is not None and args.where.name == b"new":
        made.fs.create(SUPERUSER, made, b"lost+found")
    return reply


@bends_reply(
    "mkdir2-gives-the-handle-of-the-parent", MKDIR, _MKDIR, "gives the handle of the parent of the name new"
)
def gives_the_handle_of_the_parent(_server: Server, args: Createargs, reply: Diropres) -> Diropres:
    """With the right attributes."""
    if reply.diropok is None or args.where.name != b"new":
        return reply
    return replace(reply, diropok=replace(reply.diropok, file=args.where.dir))


@bends_args("mkdir2-has-a-mode-of-its-own", MKDIR, _MKDIR, "gives the group the right to write, or takes it")
def mkdir_has_a_mode_of_its_own(_server: Server, args: Createargs) -> Createargs:
    """One bit the other way."""
    mode = args.attributes.mode
    return args if mode == IGNORED else _asking(args, mode=mode ^ 0o020)
