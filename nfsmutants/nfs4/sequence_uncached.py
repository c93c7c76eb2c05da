# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_sequence_uncached.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import refusal


@mutant(p.COMPOUND)
def sequence4_is_uncached_itself(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """A retry of a request whose reply was not kept gets RETRY_UNCACHED_REP from SEQUENCE"""
    reply, status = call.proceed(), Nfsstat4.NFS4ERR_RETRY_UNCACHED_REP
    return replace(reply, resarray=[refusal(reply.resarray[0], status)]) if reply.status == status else reply
