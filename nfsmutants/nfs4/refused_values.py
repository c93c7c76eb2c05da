# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_refused_values.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import restate_last

Compound = Call[p.Compound4Args, p.Compound4Res]


@mutant(p.COMPOUND)
def attributes4_badowner_is_serverfault(call: Compound) -> p.Compound4Res:
    """An owner without a translation gets SERVERFAULT"""
    return restate_last(call.proceed(), Nfsstat4.NFS4ERR_BADOWNER, Nfsstat4.NFS4ERR_SERVERFAULT)


@mutant(p.COMPOUND)
def attributes4_fbig_is_serverfault(call: Compound) -> p.Compound4Res:
    """A size above maxfilesize gets SERVERFAULT"""
    return restate_last(call.proceed(), Nfsstat4.NFS4ERR_FBIG, Nfsstat4.NFS4ERR_SERVERFAULT)
