# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_times.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import SETATTR, WRITE
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import DIRECTORY_CHANGES, directory_of, name_fields
from nfsmutants.nfs3.calls import Setattr, Write
from nfsserver.nfs3.common import fattr3

# ---------------------------------------------------------------- ctime of files


def _with_old_ctime(call: AnyCall, handle: bytes, field: str) -> t.Any:
    """A success of a call that leaves the ctime of a file as it was."""
    inode = inode_of(call.server, handle)
    before = 0 if inode is None else inode.ctime
    reply = call.proceed()
    if inode is None or reply.resok is None:
        return reply
    inode.ctime = before
    return amend(reply, field, after=fattr3(inode))


@mutant(WRITE)
def write3_keeps_ctime(call: Write) -> t.Any:
    """WRITE does not update ctime"""
    return _with_old_ctime(call, call.args.file, "file_wcc")


@mutant(SETATTR)
def setattr3_keeps_ctime(call: Setattr) -> t.Any:
    """SETATTR of the mode or the owner does not update ctime"""
    new = call.args.new_attributes
    if new.mode is None and new.uid is None and new.gid is None:
        return call.proceed()
    return _with_old_ctime(call, call.args.object, "obj_wcc")


# ---------------------------------------------------------------- directories


@mutant(DIRECTORY_CHANGES)
def names3_keep_mtime_of_directories(call: AnyCall) -> t.Any:
    """Calls that change the entries of a directory do not update its mtime"""
    directories = [
        directory_of(call.server, getattr(call.args, field).dir) for field in name_fields(call.operation)
    ]
    known = [(directory, directory.mtime) for directory in directories if directory is not None]
    reply = call.proceed()
    for directory, mtime in known:
        directory.mtime = mtime
    return reply
