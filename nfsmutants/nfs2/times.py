# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_times.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import GETATTR, WRITE, Attrstat, Timeval
from nfsclient.xdr import replace
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs2.calls import Getattr, Write
from nfsmutants.rules import RFC1094_ATTRIBUTES, RFC1094_TIMES
from nfsserver.nfs2.common import fattr


@mutant(GETATTR, RFC1094_TIMES)
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


@mutant(GETATTR, RFC1094_ATTRIBUTES)
def getattr2_keeps_old_mtime(call: Getattr) -> Attrstat:
    """GETATTR keeps returning the first mtime that it returned for a file"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    return amend(reply, mtime=call.state.setdefault(call.args.file.hex(), reply.resok.mtime))


# ---------------------------------------------------------------- WRITE


@mutant(WRITE, RFC1094_ATTRIBUTES)
def write2_keeps_ctime(call: Write) -> Attrstat:
    """WRITE does not update ctime, even if the size changes"""
    inode = inode_of(call.server, call.args.file)
    before = 0 if inode is None else inode.ctime
    reply = call.proceed()
    if inode is None or reply.attributes is None:
        return reply
    inode.ctime = before
    return replace(reply, attributes=fattr(inode))
