# SPDX-License-Identifier: MIT
"""Mutants of REMOVE, RMDIR, RENAME and LINK."""

from __future__ import annotations

import contextlib
import typing as t

from nfsclient.protocol.nfs2 import (
    CREATE,
    LINK,
    LOOKUP,
    READ,
    REMOVE,
    RENAME,
    RMDIR,
    Diropargs,
    Diropres,
    Linkargs,
    Nfsstat2,
    Renameargs,
    StatRes,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import SUPERUSER, FsError, Inode
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs2.bending import around, bends_args, bends_reply, child_of, inode_of

if t.TYPE_CHECKING:
    from nfsserver.server import Server

NextName: t.TypeAlias = Proceed[Diropargs, StatRes]
NextRename: t.TypeAlias = Proceed[Renameargs, StatRes]
NextLink: t.TypeAlias = Proceed[Linkargs, StatRes]

_REMOVE: t.Final = "2.2.11"
_RENAME: t.Final = "2.2.12"
_LINK: t.Final = "2.2.13"
_RMDIR: t.Final = "2.2.16"
_DOTS: t.Final = (b".", b"..")


def _done() -> StatRes:
    return StatRes(Nfsstat2.NFS_OK)


def _empty(directory: Inode | None) -> None:
    """Remove the files of a directory."""
    if directory is None or directory.directory is None:
        return
    for name in directory.directory.names():
        _drop(directory, name)


def _drop(directory: Inode, name: bytes) -> None:
    """Remove a name, with all that is below it."""
    with contextlib.suppress(FsError):
        inode = directory.fs.lookup(SUPERUSER, directory, name)
        _empty(inode)
        (directory.fs.remove if inode.directory is None else directory.fs.rmdir)(SUPERUSER, directory, name)


@mutant(
    "nfs2-removes-what-is-missing",
    bends=(REMOVE, RMDIR, RENAME),
    breaks="RFC 1094 section 2.3.1",
    gist="REMOVE, RMDIR and RENAME of a missing name say success",
)
def removes_what_is_missing(_server: Server, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
    """As if it had been there."""
    reply = proceed(context, args)
    return _done() if reply.status == Nfsstat2.NFSERR_NOENT else reply


# ---------------------------------------------------------------- REMOVE


@around("remove2-does-nothing", REMOVE, _REMOVE, "says success, and keeps the name")
def does_nothing(_server: Server, _context: CallContext, _args: Diropargs, _proceed: NextName) -> StatRes:
    """Nothing."""
    return _done()


@bends_reply(
    "remove2-takes-a-neighbour-along", REMOVE, _REMOVE, "removes the last name of the directory as well"
)
def takes_a_neighbour_along(server: Server, args: Diropargs, reply: StatRes) -> StatRes:
    """If there are two."""
    directory = inode_of(server, args.dir)
    if directory is not None and directory.directory is not None and len(directory.directory) == 2:
        _drop(directory, directory.directory.names()[-1])
    return reply


@around("remove2-empties-other-names", REMOVE, _REMOVE, "discards the data of a file that has other names")
def empties_other_names(server: Server, context: CallContext, args: Diropargs, proceed: NextName) -> StatRes:
    """Cut it."""
    inode = child_of(server, args.dir, args.name)
    reply = proceed(context, args)
    if inode is not None and inode.nlink and inode.data is not None:
        inode.data.truncate(0)
    return reply


@around("remove2-keeps-nlink", REMOVE, "2.3.5", "does not count nlink down")
def keeps_nlink(server: Server, context: CallContext, args: Diropargs, proceed: NextName) -> StatRes:
    """Count up again."""
    inode = child_of(server, args.dir, args.name)
    reply = proceed(context, args)
    if inode is not None and inode.nlink:
        inode.nlink += 1
    return reply


@around("remove2-empties-directories", REMOVE, _REMOVE, "refuses directories, and removes what is in them")
def empties_directories(server: Server, context: CallContext, args: Diropargs, proceed: NextName) -> StatRes:
    """Also by the names of dots."""
    inode = inode_of(server, args.dir) if args.name in _DOTS else child_of(server, args.dir, args.name)
    _empty(inode)
    return proceed(context, args)


@mutant(
    "nfs2-handles-go-to-the-next-file",
    bends=(REMOVE, CREATE, READ),
    breaks="RFC 1094 section 2.3.1",
    gist="The handle of a removed file reaches the file that is created next",
)
def handles_go_to_the_next_file(server: Server, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
    """Remember the handle, and where it leads."""
    state = server.mutant_state("nfs2-handles-go-to-the-next-file")
    if context.procedure is REMOVE:
        inode = child_of(server, args.dir, args.name)
        state["old"] = None if inode is None else server.handle_of(inode)
    elif context.procedure is READ and args.file == state.get("old") and "new" in state:
        return proceed(context, replace(args, file=state["new"]))
    reply = proceed(context, args)
    if context.procedure is CREATE and "old" in state and reply.resok is not None:
        state["new"] = reply.resok.file
    return reply


# ---------------------------------------------------------------- RMDIR


@around("rmdir2-does-nothing", RMDIR, _RMDIR, "says success, and keeps the directory")
def rmdir_does_nothing(
    _server: Server, _context: CallContext, _args: Diropargs, _proceed: NextName
) -> StatRes:
    """Nothing."""
    return _done()


@around("rmdir2-removes-what-is-not-empty", RMDIR, "2.3.1", "removes directories with all that is in them")
def removes_what_is_not_empty(
    server: Server, context: CallContext, args: Diropargs, proceed: NextName
) -> StatRes:
    """Empty them first."""
    inode = child_of(server, args.dir, args.name)
    _empty(inode)
    return proceed(context, args)


@around(
    "rmdir2-empties-before-it-refuses", RMDIR, _RMDIR, "removes what is in a directory, and refuses that one"
)
def empties_before_it_refuses(
    server: Server, context: CallContext, args: Diropargs, proceed: NextName
) -> StatRes:
    """Empty it afterwards."""
    reply = proceed(context, args)
    if reply.status == Nfsstat2.NFSERR_NOTEMPTY:
        _empty(child_of(server, args.dir, args.name))
    return reply


@around("rmdir2-removes-anything", RMDIR, _RMDIR, "removes files as well")
def removes_anything(server: Server, context: CallContext, args: Diropargs, proceed: NextName) -> StatRes:
    """As REMOVE does."""
    reply = proceed(context, args)
    directory = inode_of(server, args.dir)
    if reply.status != Nfsstat2.NFSERR_NOTDIR or directory is None or directory.directory is None:
        return reply
    _drop(directory, args.name)
    return _done()


@around("rmdir2-takes-dots-for-the-directory", RMDIR, _RMDIR, "empties a directory that is given as dots")
def takes_dots_for_the_directory(
    server: Server, context: CallContext, args: Diropargs, proceed: NextName
) -> StatRes:
    """That one itself."""
    if args.name in _DOTS:
        _empty(inode_of(server, args.dir))
    return proceed(context, args)


# ---------------------------------------------------------------- RENAME


def _source(server: Server, args: Renameargs) -> Inode | None:
    return child_of(server, args.from_.dir, args.from_.name)


@around(
    "rename2-keeps-the-old-name",
    RENAME,
    _RENAME,
    "keeps the old name in the same directory",
)
def keeps_the_old_name(
    server: Server, context: CallContext, args: Renameargs, proceed: NextRename
) -> StatRes:
    """Add the old one again."""
    source, directory = _source(server, args), inode_of(server, args.from_.dir)
    reply = proceed(context, args)
    if source is not None and directory is not None and args.from_.dir == args.to.dir and directory.directory:
        with contextlib.suppress(AssertionError):
            directory.directory.add(args.from_.name, source)
    return reply


@bends_args(
    "rename2-stays-in-its-directory",
    RENAME,
    _RENAME,
    "leaves the file in its directory, by another name",
)
def stays_in_its_directory(_server: Server, args: Renameargs) -> Renameargs:
    """Under another name."""
    if args.to.dir == args.from_.dir or args.to.name != b"object":
        return args
    return replace(args, to=replace(args.from_, name=b"stayed"))


@around("rename2-loses-the-data", RENAME, _RENAME, "loses the data of the file")
def loses_the_data(server: Server, context: CallContext, args: Renameargs, proceed: NextRename) -> StatRes:
    """Cut it."""
    source = _source(server, args)
    if source is not None and source.data is not None and args.to.name == b"new":
        source.data.truncate(0)
    return proceed(context, args)


@around(
    "rename2-keeps-what-it-replaces",
    RENAME,
    _RENAME,
    "does nothing when the new name is taken",
)
def keeps_what_it_replaces(
    server: Server, context: CallContext, args: Renameargs, proceed: NextRename
) -> StatRes:
    """Do nothing."""
    taken = child_of(server, args.to.dir, args.to.name)
    both = taken is not None and taken.data is not None and _source(server, args) is not None
    return _done() if both else proceed(context, args)


@around(
    "rename2-to-itself-removes", RENAME, _RENAME, "removes the target first, also when it is the file itself"
)
def to_itself_removes(server: Server, context: CallContext, args: Renameargs, proceed: NextRename) -> StatRes:
    """Remove it."""
    directory = inode_of(server, args.to.dir)
    if args.from_ == args.to and directory is not None:
        _drop(directory, args.to.name)
    return proceed(context, args)


@mutant(
    "rename2-has-a-middle",
    bends=(RENAME, LOOKUP),
    breaks="RFC 1094 section 2.2.12",
    gist="The LOOKUP that follows a RENAME over a file finds nothing",
)
def has_a_middle(server: Server, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
    """Once."""
    state = server.mutant_state("rename2-has-a-middle")
    if context.procedure is RENAME:
        taken = child_of(server, args.to.dir, args.to.name)
        reply = proceed(context, args)
        if taken is not None and reply.status == Nfsstat2.NFS_OK:
            state["middle"] = args.to
        return reply
    if args == state.get("middle"):
        del state["middle"]
        return Diropres(Nfsstat2.NFSERR_NOENT)
    return proceed(context, args)


@around(
    "rename2-removes-the-target-first",
    RENAME,
    _RENAME,
    "removes the target before it misses the source",
)
def removes_the_target_first(
    server: Server, context: CallContext, args: Renameargs, proceed: NextRename
) -> StatRes:
    """Remove it."""
    directory = inode_of(server, args.to.dir)
    if directory is not None and _source(server, args) is None:
        _drop(directory, args.to.name)
    return proceed(context, args)


@around(
    "rename2-moves-below-itself", RENAME, "2.1", "cuts a directory off the tree when it is moved below itself"
)
def moves_below_itself(
    server: Server, context: CallContext, args: Renameargs, proceed: NextRename
) -> StatRes:
    """Take its name away, and say success."""
    reply = proceed(context, args)
    source, directory = _source(server, args), inode_of(server, args.from_.dir)
    loops = reply.status == Nfsstat2.NFSERR_ACCES and source is not None and source.directory is not None
    if not loops or directory is None or args.to.name != b"moved":
        return reply
    _drop(directory, args.from_.name)
    return _done()


@around("rename2-drops-a-full-directory", RENAME, _RENAME, "takes the place of a directory that is not empty")
def drops_a_full_directory(
    server: Server, context: CallContext, args: Renameargs, proceed: NextRename
) -> StatRes:
    """Empty it first, and drop it."""
    taken, directory = child_of(server, args.to.dir, args.to.name), inode_of(server, args.to.dir)
    if taken is not None and taken.directory is not None and len(taken.directory) and directory is not None:
        _drop(directory, args.to.name)
    return proceed(context, args)


@around("rename2-renames-by-dots", RENAME, _RENAME, "empties a directory that is to be renamed by dots")
def renames_by_dots(server: Server, context: CallContext, args: Renameargs, proceed: NextRename) -> StatRes:
    """That one itself."""
    if args.from_.name in _DOTS:
        _empty(inode_of(server, args.from_.dir))
    return proceed(context, args)


# ---------------------------------------------------------------- LINK


@around("link2-makes-a-copy", LINK, _LINK, "makes a copy of the file instead of a name")
def makes_a_copy(server: Server, context: CallContext, args: Linkargs, proceed: NextLink) -> StatRes:
    """A new file."""
    inode, directory = inode_of(server, args.from_), inode_of(server, args.to.dir)
    if args.to.name != b"second" or inode is None or inode.data is None or directory is None:
        return proceed(context, args)
    made = directory.fs.create(server.caller(context), directory, args.to.name)
    assert made.data is not None
    if inode.size:
        made.data.write(0, inode.data.read(0, inode.size), stable=True)
    return _done()


@around("link2-counts-two-names-at-most", LINK, _LINK, "does not count nlink up")
def counts_two_names_at_most(
    server: Server, context: CallContext, args: Linkargs, proceed: NextLink
) -> StatRes:
    """Count down again."""
    reply = proceed(context, args)
    inode = inode_of(server, args.from_)
    if reply.status == Nfsstat2.NFS_OK and inode is not None and args.to.name.startswith(b"name"):
        inode.nlink -= 1
    return reply


@around(
    "link2-replaces-in-spite-of-it",
    LINK,
    _LINK,
    "refuses a name that is taken, and counts the link all the same",
)
def replaces_in_spite_of_it(
    server: Server, context: CallContext, args: Linkargs, proceed: NextLink
) -> StatRes:
    """One more."""
    reply = proceed(context, args)
    inode = inode_of(server, args.from_)
    if reply.status == Nfsstat2.NFSERR_EXIST and inode is not None and args.to.name == b"taken":
        inode.nlink += 1
    return reply


@around("link2-links-directories", LINK, "2.1", "makes further names of directories, also in themselves")
def links_directories(server: Server, context: CallContext, args: Linkargs, proceed: NextLink) -> StatRes:
    """An entry for a file, which would be the directory's."""
    reply = proceed(context, args)
    inode = inode_of(server, args.from_)
    if inode is None or inode.directory is None or args.to.name != b"loop":
        return reply
    inode.fs.create(SUPERUSER, inode, b"loop")
    return _done()


@around("link2-links-what-is-gone", LINK, _LINK, "refuses a file that is gone, and makes an empty one")
def links_what_is_gone(server: Server, context: CallContext, args: Linkargs, proceed: NextLink) -> StatRes:
    """By the name that was asked."""
    reply = proceed(context, args)
    directory = inode_of(server, args.to.dir)
    if reply.status == Nfsstat2.NFSERR_STALE and directory is not None and args.to.name == b"again":
        directory.fs.create(SUPERUSER, directory, args.to.name)
    return reply
