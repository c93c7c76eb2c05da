# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_reclaim_complete.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import refusal, restate4
from nfsserver.nfs4.common import compound_of


@mutant(p.RECLAIM_COMPLETE)
def reclaimcomplete4_always_succeeds(
    call: Call[p.ReclaimComplete4Args, p.ReclaimComplete4Res],
) -> p.ReclaimComplete4Res:
    """A second RECLAIM_COMPLETE succeeds"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_COMPLETE_ALREADY, Nfsstat4.NFS4_OK)


@mutant(p.OPEN)
def open4_before_reclaim_complete_is_inval(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """OPEN before RECLAIM_COMPLETE gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_GRACE, Nfsstat4.NFS4ERR_INVAL)


Complete = Call[p.ReclaimComplete4Args, p.ReclaimComplete4Res]


@mutant(p.RECLAIM_COMPLETE)
def reclaimcomplete4_of_a_file_system_counts(call: Complete) -> p.ReclaimComplete4Res:
    """RECLAIM_COMPLETE of one file system is taken for that of all"""
    return call.proceed_with(rca_one_fs=False)


@mutant(p.RECLAIM_COMPLETE)
def reclaimcomplete4_wants_a_filehandle(call: Complete) -> p.ReclaimComplete4Res:
    """RECLAIM_COMPLETE without a current filehandle gets NOFILEHANDLE, also if it is about all file systems"""
    result = call.proceed()
    if compound_of(call.context).current is None:
        return refusal(result, Nfsstat4.NFS4ERR_NOFILEHANDLE)
    return result
