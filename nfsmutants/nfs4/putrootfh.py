# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_putrootfh.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, names_in, restate4, with_result


@mutant(p.COMPOUND)
def putrootfh4_is_no_directory(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """The type of the root is that of a file"""
    reply, names = call.proceed(), names_in(call.args)
    if names[1:2] != ["PUTROOTFH"] or names[-1] != "GETATTR" or reply.status != Nfsstat4.NFS4_OK:
        return reply
    last = len(names) - 1
    result = amend4(reply.resarray[last], "obj_attributes", type=p.NfsFtype4.NF4REG)
    return with_result(reply, last, result)


@mutant(p.LOOKUPP)
def lookupp4_of_the_root_is_the_root(call: Call[p.Lookupp4Args, p.Lookupp4Res]) -> p.Lookupp4Res:
    """LOOKUPP of the root stays there"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_NOENT, Nfsstat4.NFS4_OK)
