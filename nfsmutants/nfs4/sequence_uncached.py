# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_sequence_uncached.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import restate_last


@mutant(p.COMPOUND)
def sequence4_uncached_is_serverfault(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """A retry of a request whose reply was not kept gets SERVERFAULT"""
    return restate_last(call.proceed(), Nfsstat4.NFS4ERR_RETRY_UNCACHED_REP, Nfsstat4.NFS4ERR_SERVERFAULT)
