# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_remove.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import REMOVE, StatRes
from nfsmutants.bending import child_of, inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs2.bending import _DOTS, done, empty_directory, remove_tree
from nfsmutants.nfs2.calls import Remove

# ---------------------------------------------------------------- REMOVE


@mutant(REMOVE)
def remove2_does_nothing(_call: Remove) -> StatRes:
    """REMOVE answers success, and keeps the name"""
    return done()


@mutant(REMOVE)
def remove2_removes_the_last_name(call: Remove) -> StatRes:
    """REMOVE removes the last name of the directory as well"""
    reply = call.proceed()
    directory = inode_of(call.server, call.args.dir)
    if reply.resok is None or directory is None or directory.directory is None:
        return reply
    if len(directory.directory) == 2:
        remove_tree(directory, directory.directory.names()[-1])
    return reply


@mutant(REMOVE)
def remove2_empties_other_names(call: Remove) -> StatRes:
    """REMOVE discards the data of a file that has other names"""
    inode = child_of(call.server, call.args.dir, call.args.name)
    reply = call.proceed()
    if inode is not None and inode.nlink and inode.data is not None:
        inode.data.truncate(0)
    return reply


@mutant(REMOVE)
def remove2_keeps_nlink(call: Remove) -> StatRes:
    """REMOVE does not decrease nlink"""
    inode = child_of(call.server, call.args.dir, call.args.name)
    reply = call.proceed()
    if inode is not None and inode.nlink:
        inode.nlink += 1
    return reply


@mutant(REMOVE)
def remove2_empties_directories(call: Remove) -> StatRes:
    """REMOVE refuses directories, but removes their entries"""
    inode = (
        inode_of(call.server, call.args.dir)
        if call.args.name in _DOTS
        else child_of(call.server, call.args.dir, call.args.name)
    )
    empty_directory(inode)
    return call.proceed()
