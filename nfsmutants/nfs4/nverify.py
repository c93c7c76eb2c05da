# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_nverify.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import restate4
from nfsmutants.rules import RFC5661_NVERIFY

Nverify = Call[p.Nverify4Args, p.Nverify4Res]


@mutant(p.NVERIFY, RFC5661_NVERIFY)
def nverify4_always_differs(call: Nverify) -> p.Nverify4Res:
    """NVERIFY of attributes that match succeeds"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_SAME, Nfsstat4.NFS4_OK)


@mutant(p.NVERIFY, RFC5661_NVERIFY)
def nverify4_always_matches(call: Nverify) -> p.Nverify4Res:
    """NVERIFY of attributes that differ gets SAME"""
    return restate4(call.proceed(), Nfsstat4.NFS4_OK, Nfsstat4.NFS4ERR_SAME)
