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
    Diropres,
    Nfsstat2,
    Renameargs,
    StatRes,
)
from nfsmutants.bending import child_of, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs2.calls import Link, Remove, Rename, Rmdir
from nfsmutants.rules import (
    RFC1094_ATTRIBUTES,
    RFC1094_LINK,
    RFC1094_NAMES,
    RFC1094_REMOVE,
    RFC1094_RENAME,
    RFC1094_RMDIR,
    RFC1094_STATUS,
)
from nfsserver.fs import SUPERUSER, FsError, Inode
from nfsserver.server import Server

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


@mutant((REMOVE, RMDIR, RENAME), RFC1094_STATUS)
def nfs2_removes_what_is_missing(call: AnyCall) -> t.Any:
    """REMOVE, RMDIR and RENAME of a missing name say success"""
    reply = call.proceed()
    return _done() if reply.status == Nfsstat2.NFSERR_NOENT else reply


# ---------------------------------------------------------------- REMOVE


@mutant(REMOVE, RFC1094_REMOVE)
def remove2_does_nothing(_call: Remove) -> StatRes:
    """REMOVE says success, and keeps the name"""
    return _done()


@mutant(REMOVE, RFC1094_REMOVE)
def remove2_takes_a_neighbour_along(call: Remove) -> StatRes:
    """REMOVE removes the last name of the directory as well"""
    reply = call.proceed()
    directory = inode_of(call.server, call.args.dir)
    if reply.resok is None or directory is None or directory.directory is None:
        return reply
    if len(directory.directory) == 2:
        _drop(directory, directory.directory.names()[-1])
    return reply


@mutant(REMOVE, RFC1094_REMOVE)
def remove2_empties_other_names(call: Remove) -> StatRes:
    """REMOVE discards the data of a file that has other names"""
    inode = child_of(call.server, call.args.dir, call.args.name)
    reply = call.proceed()
    if inode is not None and inode.nlink and inode.data is not None:
        inode.data.truncate(0)
    return reply


@mutant(REMOVE, RFC1094_ATTRIBUTES)
def remove2_keeps_nlink(call: Remove) -> StatRes:
    """REMOVE does not count nlink down"""
    inode = child_of(call.server, call.args.dir, call.args.name)
    reply = call.proceed()
    if inode is not None and inode.nlink:
        inode.nlink += 1
    return reply


@mutant(REMOVE, RFC1094_REMOVE)
def remove2_empties_directories(call: Remove) -> StatRes:
    """REMOVE refuses directories, and removes what is in them"""
    inode = (
        inode_of(call.server, call.args.dir)
        if call.args.name in _DOTS
        else child_of(call.server, call.args.dir, call.args.name)
    )
    _empty(inode)
    return call.proceed()


@mutant((REMOVE, CREATE, READ), RFC1094_STATUS)
def nfs2_handles_go_to_the_next_file(call: AnyCall) -> t.Any:
    """The handle of a removed file reaches the file that is created next"""
    state = call.state
    if call.procedure is REMOVE:
        inode = child_of(call.server, call.args.dir, call.args.name)
        state["old"] = None if inode is None else call.server.handle_of(inode)
    elif call.procedure is READ and call.args.file == state.get("old") and "new" in state:
        return call.proceed_with(file=state["new"])
    reply = call.proceed()
    if call.procedure is CREATE and "old" in state and reply.resok is not None:
        state["new"] = reply.resok.file
    return reply


# ---------------------------------------------------------------- RMDIR


@mutant(RMDIR, RFC1094_RMDIR)
def rmdir2_does_nothing(_call: Rmdir) -> StatRes:
    """RMDIR says success, and keeps the directory"""
    return _done()


@mutant(RMDIR, RFC1094_STATUS)
def rmdir2_removes_what_is_not_empty(call: Rmdir) -> StatRes:
    """RMDIR removes directories with all that is in them"""
    inode = child_of(call.server, call.args.dir, call.args.name)
    _empty(inode)
    return call.proceed()


@mutant(RMDIR, RFC1094_RMDIR)
def rmdir2_empties_before_it_refuses(call: Rmdir) -> StatRes:
    """RMDIR removes what is in a directory, and refuses that one"""
    reply = call.proceed()
    if reply.status == Nfsstat2.NFSERR_NOTEMPTY:
        _empty(child_of(call.server, call.args.dir, call.args.name))
    return reply


@mutant(RMDIR, RFC1094_RMDIR)
def rmdir2_removes_anything(call: Rmdir) -> StatRes:
    """RMDIR removes files as well"""
    reply = call.proceed()
    directory = inode_of(call.server, call.args.dir)
    if reply.status != Nfsstat2.NFSERR_NOTDIR or directory is None or directory.directory is None:
        return reply
    _drop(directory, call.args.name)
    return _done()


@mutant(RMDIR, RFC1094_RMDIR)
def rmdir2_takes_dots_for_the_directory(call: Rmdir) -> StatRes:
    """RMDIR empties a directory that is given as dots"""
    if call.args.name in _DOTS:
        _empty(inode_of(call.server, call.args.dir))
    return call.proceed()


# ---------------------------------------------------------------- RENAME


def _source(server: Server, args: Renameargs) -> Inode | None:
    return child_of(server, args.from_.dir, args.from_.name)


@mutant(RENAME, RFC1094_RENAME)
def rename2_keeps_the_old_name(call: Rename) -> StatRes:
    """RENAME keeps the old name in the same directory"""
    source, directory = _source(call.server, call.args), inode_of(call.server, call.args.from_.dir)
    reply = call.proceed()
    if (
        source is not None
        and directory is not None
        and call.args.from_.dir == call.args.to.dir
        and directory.directory
    ):
        with contextlib.suppress(AssertionError):
            directory.directory.add(call.args.from_.name, source)
    return reply


@mutant(RENAME, RFC1094_RENAME)
def rename2_stays_in_its_directory(call: Rename) -> StatRes:
    """RENAME leaves the file in its directory, under the new name"""
    return call.proceed_with("to", dir=call.args.from_.dir)


@mutant(RENAME, RFC1094_RENAME)
def rename2_loses_the_data(call: Rename) -> StatRes:
    """RENAME loses the data of the file"""
    source = _source(call.server, call.args)
    if source is not None and source.data is not None:
        source.data.truncate(0)
    return call.proceed()


@mutant(RENAME, RFC1094_RENAME)
def rename2_keeps_what_it_replaces(call: Rename) -> StatRes:
    """RENAME does nothing when the new name is taken"""
    taken = child_of(call.server, call.args.to.dir, call.args.to.name)
    both = taken is not None and taken.data is not None and _source(call.server, call.args) is not None
    return _done() if both else call.proceed()


@mutant(RENAME, RFC1094_RENAME)
def rename2_to_itself_removes(call: Rename) -> StatRes:
    """RENAME removes the target first, also when it is the file itself"""
    directory = inode_of(call.server, call.args.to.dir)
    if call.args.from_ == call.args.to and directory is not None:
        _drop(directory, call.args.to.name)
    return call.proceed()


@mutant((RENAME, LOOKUP), RFC1094_RENAME)
def rename2_has_a_middle(call: AnyCall) -> t.Any:
    """The LOOKUP that follows a RENAME over a file finds nothing"""
    state = call.state
    if call.procedure is RENAME:
        taken = child_of(call.server, call.args.to.dir, call.args.to.name)
        reply = call.proceed()
        if taken is not None and reply.status == Nfsstat2.NFS_OK:
            state["middle"] = call.args.to
        return reply
    if call.args == state.get("middle"):
        del state["middle"]
        return Diropres(Nfsstat2.NFSERR_NOENT)
    return call.proceed()


@mutant(RENAME, RFC1094_RENAME)
def rename2_removes_the_target_first(call: Rename) -> StatRes:
    """RENAME removes the target before it misses the source"""
    directory = inode_of(call.server, call.args.to.dir)
    if directory is not None and _source(call.server, call.args) is None:
        _drop(directory, call.args.to.name)
    return call.proceed()


@mutant(RENAME, RFC1094_NAMES)
def rename2_moves_below_itself(call: Rename) -> StatRes:
    """RENAME cuts a directory off the tree when it is moved below itself"""
    reply = call.proceed()
    source, directory = _source(call.server, call.args), inode_of(call.server, call.args.from_.dir)
    loops = reply.status == Nfsstat2.NFSERR_ACCES and source is not None and source.directory is not None
    if not loops or directory is None:
        return reply
    _drop(directory, call.args.from_.name)
    return _done()


@mutant(RENAME, RFC1094_RENAME)
def rename2_drops_a_full_directory(call: Rename) -> StatRes:
    """RENAME takes the place of a directory that is not empty"""
    taken, directory = (
        child_of(call.server, call.args.to.dir, call.args.to.name),
        inode_of(call.server, call.args.to.dir),
    )
    if taken is not None and taken.directory is not None and len(taken.directory) and directory is not None:
        _drop(directory, call.args.to.name)
    return call.proceed()


@mutant(RENAME, RFC1094_RENAME)
def rename2_renames_by_dots(call: Rename) -> StatRes:
    """RENAME empties a directory that is to be renamed by dots"""
    if call.args.from_.name in _DOTS:
        _empty(inode_of(call.server, call.args.from_.dir))
    return call.proceed()


# ---------------------------------------------------------------- LINK


@mutant(LINK, RFC1094_LINK)
def link2_makes_a_copy(call: Link) -> StatRes:
    """LINK makes a copy of the file instead of a name"""
    inode, directory = inode_of(call.server, call.args.from_), inode_of(call.server, call.args.to.dir)
    if inode is None or inode.data is None or directory is None:
        return call.proceed()
    made = directory.fs.create(call.caller, directory, call.args.to.name)
    assert made.data is not None
    if inode.size:
        made.data.write(0, inode.data.read(0, inode.size), stable=True)
    return _done()


@mutant(LINK, RFC1094_LINK)
def link2_counts_two_names_at_most(call: Link) -> StatRes:
    """LINK does not count nlink up"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.from_)
    if reply.status == Nfsstat2.NFS_OK and inode is not None:
        inode.nlink -= 1
    return reply


@mutant(LINK, RFC1094_LINK)
def link2_replaces_in_spite_of_it(call: Link) -> StatRes:
    """LINK refuses a name that is taken, and still counts the link"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.from_)
    if reply.status == Nfsstat2.NFSERR_EXIST and inode is not None:
        inode.nlink += 1
    return reply


@mutant(LINK, RFC1094_NAMES)
def link2_links_directories(call: Link) -> StatRes:
    """LINK makes further names of directories, also in themselves"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.from_)
    if inode is None or inode.directory is None:
        return reply
    inode.fs.create(SUPERUSER, inode, call.args.to.name)
    return _done()


@mutant(LINK, RFC1094_LINK)
def link2_links_what_is_gone(call: Link) -> StatRes:
    """LINK refuses a file that is gone, and makes an empty one"""
    reply = call.proceed()
    directory = inode_of(call.server, call.args.to.dir)
    if reply.status == Nfsstat2.NFSERR_STALE and directory is not None:
        directory.fs.create(SUPERUSER, directory, call.args.to.name)
    return reply
