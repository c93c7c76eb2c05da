# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_wrongsec.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import restate4

_OK, _WRONGSEC = Nfsstat4.NFS4_OK, Nfsstat4.NFS4ERR_WRONGSEC


@mutant(p.RESTOREFH)
def restorefh4_is_wrongsec(call: Call[p.Restorefh4Args, p.Restorefh4Res]) -> p.Restorefh4Res:
    """RESTOREFH gets WRONGSEC, though SECINFO lists the flavor"""
    return restate4(call.proceed(), _OK, _WRONGSEC)


@mutant(p.COMMIT)
def commit4_is_wrongsec(call: Call[p.Commit4Args, p.Commit4Res]) -> p.Commit4Res:
    """COMMIT gets WRONGSEC"""
    return restate4(call.proceed(), _OK, _WRONGSEC)
