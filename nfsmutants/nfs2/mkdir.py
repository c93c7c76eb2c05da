# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_mkdir.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import IGNORED, MKDIR, Diropres
from nfsmutants.bending import amend, child_of, inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs2.bending import success
from nfsmutants.nfs2.calls import Mkdir
from nfsserver.fs import SUPERUSER

# ---------------------------------------------------------------- MKDIR


@mutant(MKDIR)
def mkdir2_makes_a_file(call: Mkdir) -> Diropres:
    """MKDIR makes a file"""
    directory, name = inode_of(call.server, call.args.where.dir), call.args.where.name
    if directory is None or child_of(call.server, call.args.where.dir, name) is not None:
        return call.proceed()
    return t.cast("Diropres", success(call.server, MKDIR, directory.fs.create(SUPERUSER, directory, name)))


@mutant(MKDIR)
def mkdir2_creates_a_file_inside(call: Mkdir) -> Diropres:
    """MKDIR makes directories that contain a file"""
    reply = call.proceed()
    made = child_of(call.server, call.args.where.dir, call.args.where.name)
    if reply.resok is not None and made is not None:
        made.fs.create(SUPERUSER, made, b"lost+found")
    return reply


@mutant(MKDIR, kills_many="checks make their directories by MKDIR")
def mkdir2_returns_the_handle_of_the_parent(call: Mkdir) -> Diropres:
    """MKDIR returns the handle of the parent"""
    return amend(call.proceed(), file=call.args.where.dir)


@mutant(MKDIR)
def mkdir2_inverts_group_write(call: Mkdir) -> Diropres:
    """MKDIR inverts the write permission of the group"""
    mode = call.args.attributes.mode
    return call.proceed() if mode == IGNORED else call.proceed_with("attributes", mode=mode ^ 0o020)


@mutant(MKDIR)
def mkdir2_swaps_times(call: Mkdir) -> Diropres:
    """MKDIR sets the requested atime as mtime, and the other way round"""
    given = call.args.attributes
    return call.proceed_with("attributes", atime=given.mtime, mtime=given.atime)
