# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_layouts.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import restate4

Layoutget = Call[p.Layoutget4Args, p.Layoutget4Res]
_INVAL = Nfsstat4.NFS4ERR_INVAL


@mutant(p.LAYOUTGET)
def layoutget4_unavailable_is_inval(call: Layoutget) -> p.Layoutget4Res:
    """LAYOUTGET of a file that has no layouts gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_LAYOUTUNAVAILABLE, _INVAL)


@mutant(p.LAYOUTGET)
def layoutget4_unknown_type_is_inval(call: Layoutget) -> p.Layoutget4Res:
    """LAYOUTGET of an unknown type gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_UNKNOWN_LAYOUTTYPE, _INVAL)


@mutant(p.LAYOUTGET)
def layoutget4_bad_mode_is_inval(call: Layoutget) -> p.Layoutget4Res:
    """LAYOUTGET for LAYOUTIOMODE4_ANY gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_BADIOMODE, _INVAL)


@mutant(p.GETDEVICEINFO)
def getdeviceinfo4_unknown_is_inval(
    call: Call[p.Getdeviceinfo4Args, p.Getdeviceinfo4Res],
) -> p.Getdeviceinfo4Res:
    """GETDEVICEINFO of an unknown device gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_NOENT, _INVAL)
