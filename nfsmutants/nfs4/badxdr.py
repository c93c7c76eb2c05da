# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_badxdr.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import restate_last


@mutant(p.COMPOUND)
def compound4_badxdr_is_serverfault(call: Call[p.Compound4Args, p.Compound4Res]) -> p.Compound4Res:
    """An operation whose arguments do not match their XDR definition gets SERVERFAULT"""
    return restate_last(call.proceed(), Nfsstat4.NFS4ERR_BADXDR, Nfsstat4.NFS4ERR_SERVERFAULT)
