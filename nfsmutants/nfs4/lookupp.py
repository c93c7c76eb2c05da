# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_lookupp.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import restate4

Lookupp = Call[p.Lookupp4Args, p.Lookupp4Res]


@mutant(p.LOOKUPP)
def lookupp4_stays(_call: Lookupp) -> p.Lookupp4Res:
    """LOOKUPP succeeds, and stays where it is"""
    return p.Lookupp4Res(Nfsstat4.NFS4_OK)


@mutant(p.LOOKUPP)
def lookupp4_of_a_file_is_noent(call: Lookupp) -> p.Lookupp4Res:
    """LOOKUPP of an object that is no directory gets NOENT"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_NOTDIR, Nfsstat4.NFS4ERR_NOENT)
