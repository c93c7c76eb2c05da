# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_rmdir.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import REMOVE, RENAME, RMDIR, Nfsstat2, StatRes
from nfsmutants.bending import child_of, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs2.bending import _DOTS, done, empty_directory, remove_tree
from nfsmutants.nfs2.calls import Rmdir


@mutant((REMOVE, RMDIR, RENAME))
def nfs2_removes_missing_names(call: AnyCall) -> t.Any:
    """REMOVE, RMDIR and RENAME of a name that does not exist answer success"""
    reply = call.proceed()
    return done() if reply.status == Nfsstat2.NFSERR_NOENT else reply


# ---------------------------------------------------------------- RMDIR


@mutant(RMDIR)
def rmdir2_does_nothing(_call: Rmdir) -> StatRes:
    """RMDIR answers success, and keeps the directory"""
    return done()


@mutant(RMDIR)
def rmdir2_removes_full_directories(call: Rmdir) -> StatRes:
    """RMDIR removes directories with everything in them"""
    inode = child_of(call.server, call.args.dir, call.args.name)
    empty_directory(inode)
    return call.proceed()


@mutant(RMDIR)
def rmdir2_empties_before_it_refuses(call: Rmdir) -> StatRes:
    """RMDIR removes the entries of a directory, and refuses to remove the directory"""
    reply = call.proceed()
    if reply.status == Nfsstat2.NFSERR_NOTEMPTY:
        empty_directory(child_of(call.server, call.args.dir, call.args.name))
    return reply


@mutant(RMDIR)
def rmdir2_removes_files(call: Rmdir) -> StatRes:
    """RMDIR removes files as well"""
    reply = call.proceed()
    directory = inode_of(call.server, call.args.dir)
    if reply.status != Nfsstat2.NFSERR_NOTDIR or directory is None or directory.directory is None:
        return reply
    remove_tree(directory, call.args.name)
    return done()


@mutant(RMDIR)
def rmdir2_dots_empty_the_directory(call: Rmdir) -> StatRes:
    """RMDIR of `.` or `..` empties the directory"""
    if call.args.name in _DOTS:
        empty_directory(inode_of(call.server, call.args.dir))
    return call.proceed()
