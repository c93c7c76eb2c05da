# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_times.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import (
    CREATE,
    GETATTR,
    LINK,
    MKDIR,
    REMOVE,
    RENAME,
    RMDIR,
    SYMLINK,
    WRITE,
    Attrstat,
    Diropargs,
    Timeval,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs2.calls import Getattr, Write
from nfsserver.nfs2.common import fattr


@mutant(GETATTR)
def getattr2_returns_nanoseconds(call: Getattr) -> Attrstat:
    """GETATTR returns nanoseconds instead of microseconds"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    attributes = reply.resok
    late = {
        name: Timeval(getattr(attributes, name).seconds, getattr(attributes, name).useconds + 1_000_000)
        for name in ("atime", "mtime", "ctime")
    }
    return amend(reply, **late)


@mutant(GETATTR)
def getattr2_keeps_old_mtime(call: Getattr) -> Attrstat:
    """GETATTR keeps returning the first mtime that it returned for a file"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    return amend(reply, mtime=call.state.setdefault(call.args.file.hex(), reply.resok.mtime))


# ---------------------------------------------------------------- WRITE


@mutant(WRITE)
def write2_keeps_ctime(call: Write) -> Attrstat:
    """WRITE does not update ctime, even if the size changes"""
    inode = inode_of(call.server, call.args.file)
    before = 0 if inode is None else inode.ctime
    reply = call.proceed()
    if inode is None or reply.attributes is None:
        return reply
    inode.ctime = before
    return replace(reply, attributes=fattr(inode))


# ---------------------------------------------------------------- directories

_DIRECTORY_CHANGES: t.Final = (CREATE, MKDIR, SYMLINK, LINK, REMOVE, RMDIR, RENAME)


@mutant(_DIRECTORY_CHANGES)
def names2_keep_mtime_of_directories(call: AnyCall) -> t.Any:
    """Calls that change the entries of a directory do not update its mtime"""
    places = [getattr(call.args, field, None) for field in ("where", "to", "from_")]
    handles = [place.dir for place in (*places, call.args) if isinstance(place, Diropargs)]
    directories = [inode_of(call.server, handle) for handle in handles]
    known = [(directory, directory.mtime) for directory in directories if directory is not None]
    reply = call.proceed()
    for directory, mtime in known:
        directory.mtime = mtime
    return reply
