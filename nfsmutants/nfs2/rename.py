# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_rename.py catch."""

from __future__ import annotations

import contextlib
import typing as t

from nfsclient.protocol.nfs2 import LOOKUP, RENAME, Diropres, Nfsstat2, Renameargs, StatRes
from nfsmutants.bending import child_of, clear, inode_of
from nfsmutants.form import mutant, mutant_in_steps
from nfsmutants.nfs2.bending import _DOTS, done, empty_directory, remove_tree
from nfsmutants.nfs2.calls import Lookup, Rename
from nfsmutants.rules import RFC1094_LINK, RFC1094_RENAME
from nfsmutants.windows import Steps
from nfsserver.fs import Inode
from nfsserver.handlers import ServerApi

# ---------------------------------------------------------------- RENAME


def _source(server: ServerApi, args: Renameargs) -> Inode | None:
    return child_of(server, args.from_.dir, args.from_.name)


@mutant(RENAME)
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


@mutant(RENAME)
def rename2_stays_in_its_directory(call: Rename) -> StatRes:
    """RENAME leaves the file in its directory under the new name"""
    return call.proceed_with("to", dir=call.args.from_.dir)


@mutant(RENAME)
def rename2_loses_the_data(call: Rename) -> StatRes:
    """RENAME loses the data of the file"""
    source = _source(call.server, call.args)
    if source is not None and source.data is not None:
        source.data.truncate(0)
    return call.proceed()


@mutant(RENAME)
def rename2_over_existing_does_nothing(call: Rename) -> StatRes:
    """RENAME does nothing if the new name exists"""
    taken = child_of(call.server, call.args.to.dir, call.args.to.name)
    both = taken is not None and taken.data is not None and _source(call.server, call.args) is not None
    return done() if both else call.proceed()


@mutant(RENAME)
def rename2_to_itself_removes(call: Rename) -> StatRes:
    """RENAME removes the target first, even if it is the source itself"""
    directory = inode_of(call.server, call.args.to.dir)
    if call.args.from_ == call.args.to and directory is not None:
        remove_tree(directory, call.args.to.name)
    return call.proceed()


@mutant_in_steps(RENAME)
def rename2_removes_the_target_in_a_first_step(call: Rename) -> Steps[StatRes]:
    """RENAME over a file removes it before it moves the source"""
    source, directory = _source(call.server, call.args), inode_of(call.server, call.args.to.dir)
    target = child_of(call.server, call.args.to.dir, call.args.to.name)
    is_over = source is not None and target is not None and source is not target
    if is_over and directory is not None:
        remove_tree(directory, call.args.to.name)
        yield
    return call.proceed()


@mutant(RENAME)
def rename2_removes_the_target_first(call: Rename) -> StatRes:
    """RENAME removes the target even if the source does not exist"""
    directory = inode_of(call.server, call.args.to.dir)
    if directory is not None and _source(call.server, call.args) is None:
        remove_tree(directory, call.args.to.name)
    return call.proceed()


@mutant(RENAME)
def rename2_moves_below_itself(call: Rename) -> StatRes:
    """RENAME of a directory below itself cuts it off the tree"""
    reply = call.proceed()
    source, directory = _source(call.server, call.args), inode_of(call.server, call.args.from_.dir)
    loops = reply.status == Nfsstat2.NFSERR_ACCES and source is not None and source.directory is not None
    if not loops or directory is None:
        return reply
    remove_tree(directory, call.args.from_.name)
    return done()


@mutant(RENAME, breaks=RFC1094_RENAME)
def rename2_replaces_full_directories(call: Rename) -> StatRes:
    """RENAME replaces a directory that is not empty"""
    taken, directory = (
        child_of(call.server, call.args.to.dir, call.args.to.name),
        inode_of(call.server, call.args.to.dir),
    )
    if taken is not None and taken.directory is not None and len(taken.directory) and directory is not None:
        remove_tree(directory, call.args.to.name)
    return call.proceed()


@mutant(RENAME, breaks=RFC1094_RENAME)
def rename2_renames_by_dots(call: Rename) -> StatRes:
    """RENAME of `.` or `..` empties the directory"""
    if call.args.from_.name in _DOTS:
        empty_directory(inode_of(call.server, call.args.from_.dir))
    return call.proceed()


# ---------------------------------------------------------------- what moves along, what stays


@mutant(RENAME)
def rename2_loses_an_entry(call: Rename) -> StatRes:
    """RENAME of a directory to another one loses the newest entry in it"""
    source = _source(call.server, call.args)
    reply = call.proceed()
    entries = None if source is None else source.directory
    if reply.status == Nfsstat2.NFS_OK and call.args.from_.dir != call.args.to.dir and entries:
        entries.remove(entries.names()[-1])
    return reply


@mutant(RENAME, breaks=RFC1094_LINK)
def rename2_destroys_replaced_files(call: Rename) -> StatRes:
    """RENAME over a file empties that file"""
    source = _source(call.server, call.args)
    target = child_of(call.server, call.args.to.dir, call.args.to.name)
    reply = call.proceed()
    if reply.status == Nfsstat2.NFS_OK and target is not source:
        clear(target)
    return reply


@mutant(LOOKUP)
def lookup2_finds_the_first_parent(call: Lookup) -> Diropres:
    """LOOKUP of ".." finds what it found in this directory the first time"""
    reply = call.proceed()
    directory = inode_of(call.server, call.args.dir)
    if call.args.name != b".." or directory is None or reply.resok is None:
        return reply
    return t.cast("Diropres", call.state.setdefault((directory.fileid, directory.generation), reply))
