# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_commit.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.bending import count
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import restate4
from nfsserver.nfs4.common import compound_of

Commit = Call[p.Commit4Args, p.Commit4Res]
_MOST: t.Final = 1 << 20


@mutant((p.COMMIT, p.READ))
def commit4_loses_the_data(call: Call[p.Read4Args, p.Read4Res]) -> p.Read4Res:
    """READ returns zeros after COMMIT"""
    result = call.proceed()
    if call.operation is p.COMMIT:
        call.state["committed"] = True
    elif "committed" in call.state and result.resok4 is not None:
        result.resok4.data = bytes(len(result.resok4.data))
    return result


@mutant(p.COMMIT)
def commit4_of_a_directory_is_inval(call: Commit) -> p.Commit4Res:
    """COMMIT of a directory gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_ISDIR, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.COMMIT)
def commit4_fails_the_second_time(call: Commit) -> p.Commit4Res:
    """The second COMMIT of a run gets IO"""
    result = call.proceed()
    return restate4(result, Nfsstat4.NFS4_OK, Nfsstat4.NFS4ERR_IO) if count(call.state) == 2 else result


@mutant(p.COMMIT)
def commit4_extends_the_file(call: Commit) -> p.Commit4Res:
    """COMMIT of a range beyond the end extends the file to the end of the range"""
    inode, end = compound_of(call.context).current, call.args.offset + call.args.count
    result = call.proceed()
    is_beyond = inode is not None and inode.size < end <= _MOST and call.args.count
    if is_beyond and inode is not None and inode.data is not None and result.status == Nfsstat4.NFS4_OK:
        inode.data.truncate(end)
    return result
