# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_write.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4, StableHow4
from nfsmutants.bending import count
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsserver.nfs4.common import compound_of

Write = Call[p.Write4Args, p.Write4Res]


@mutant(p.WRITE)
def write4_writes_zeros(call: Write) -> p.Write4Res:
    """WRITE writes zeros instead of data"""
    return call.proceed_with(data=bytes(len(call.args.data)))


@mutant(p.WRITE)
def write4_fills_the_gap(call: Write) -> p.Write4Res:
    """WRITE beyond the end leaves other bytes than zeros before its data"""
    inode = compound_of(call.context).current
    size, offset = 0 if inode is None else inode.size, call.args.offset
    result = call.proceed()
    if inode is not None and inode.data is not None and result.resok4 is not None and size < offset:
        inode.data.write(size, b"junk".ljust(min(offset - size, 1 << 16), b"!")[: offset - size], stable=True)
    return result


@mutant(p.WRITE)
def write4_commits_nothing(call: Write) -> p.Write4Res:
    """WRITE says that it committed nothing, whatever the request says"""
    return amend4(call.proceed(), committed=StableHow4.UNSTABLE4)


@mutant(p.WRITE)
def write4_ignores_the_open_mode(call: Write) -> p.Write4Res:
    """WRITE succeeds with the stateid of an OPEN for reading"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_OPENMODE:
        return result
    return call.proceed_with(stateid=p.ANONYMOUS_STATEID)


@mutant(p.COMMIT)
def commit4_verifier_is_random(call: Call[p.Commit4Args, p.Commit4Res]) -> p.Commit4Res:
    """COMMIT returns another verifier each time"""
    return amend4(call.proceed(), writeverf=b"%08d" % count(call.state))
