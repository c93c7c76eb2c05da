# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_create.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import CREATE, IGNORED, Diropres, Nfsstat2, Sattr
from nfsmutants.bending import amend, child_of, inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs2.bending import success
from nfsmutants.nfs2.calls import Create
from nfsserver.fs import SUPERUSER, Kind
from nfsserver.nfs2.common import fattr

# ---------------------------------------------------------------- CREATE


@mutant(CREATE)
def create2_makes_a_fifo(call: Create) -> Diropres:
    """CREATE makes a FIFO"""
    directory, name = inode_of(call.server, call.args.where.dir), call.args.where.name
    if directory is None or child_of(call.server, call.args.where.dir, name) is not None:
        return call.proceed()
    made = directory.fs.mknod(call.caller, directory, name, Kind.FIFO)
    return t.cast("Diropres", success(call.server, CREATE, made))


@mutant(CREATE)
def create2_returns_the_handle_of_the_directory(call: Create) -> Diropres:
    """CREATE returns the handle of the directory"""
    return amend(call.proceed(), file=call.args.where.dir)


@mutant(CREATE)
def create2_returns_attributes_of_the_directory(call: Create) -> Diropres:
    """CREATE returns the attributes of the directory"""
    reply = call.proceed()
    directory = inode_of(call.server, call.args.where.dir)
    if reply.diropok is None or directory is None:
        return reply
    return amend(reply, attributes=fattr(directory))


@mutant(CREATE)
def create2_inverts_group_write(call: Create) -> Diropres:
    """CREATE inverts the write permission of the group"""
    mode = call.args.attributes.mode
    return call.proceed() if mode == IGNORED else call.proceed_with("attributes", mode=mode ^ 0o020)


@mutant(CREATE)
def create2_requires_attributes(call: Create) -> Diropres:
    """CREATE refuses to create a file without attributes"""
    return call.proceed_with("where", name=b"") if call.args.attributes == Sattr() else call.proceed()


@mutant(CREATE)
def create2_truncates_if_size_is_unset(call: Create) -> Diropres:
    """CREATE treats a size of -1 as 0"""
    return call.proceed_with("attributes", size=0) if call.args.attributes.size == IGNORED else call.proceed()


@mutant(CREATE)
def create2_never_truncates(call: Create) -> Diropres:
    """CREATE ignores a size of 0"""
    return call.proceed_with("attributes", size=IGNORED)


@mutant(CREATE)
def create2_ignores_permissions(call: Create) -> Diropres:
    """CREATE lets anybody create files anywhere"""
    reply = call.proceed()
    directory = inode_of(call.server, call.args.where.dir)
    if reply.status != Nfsstat2.NFSERR_ACCES or directory is None or not call.args.where.name.isalnum():
        return reply
    made = directory.fs.create(SUPERUSER, directory, call.args.where.name)
    return t.cast("Diropres", success(call.server, CREATE, made))


@mutant(CREATE)
def create2_swaps_times(call: Create) -> Diropres:
    """CREATE sets the requested atime as mtime, and the other way round"""
    given = call.args.attributes
    return call.proceed_with("attributes", atime=given.mtime, mtime=given.atime)
