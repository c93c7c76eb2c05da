# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_write_again.py catch; `model` has another one."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import WRITE, StableHow, Write3Res
from nfsmutants.bending import inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs3.calls import Write


@mutant(WRITE)
def write3_second_unstable_keeps_ctime(call: Write) -> Write3Res:
    """WRITE with UNSTABLE sets ctime the first time, and keeps it after that"""
    inode = inode_of(call.server, call.args.file)
    if inode is None or call.args.stable is not StableHow.UNSTABLE:
        return call.proceed()
    ctime, reply = inode.ctime, call.proceed()
    key = (inode.fileid, inode.generation)
    if key in call.state:
        inode.ctime = ctime
    call.state[key] = True
    return reply
