# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_remove.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, restate4

Remove = Call[p.Remove4Args, p.Remove4Res]
_DONE = p.Remove4Res(Nfsstat4.NFS4_OK, p.Remove4ResOk(p.ChangeInfo4(False, 0, 0)))


@mutant(p.REMOVE)
def remove4_removes_nothing(call: Remove) -> p.Remove4Res:
    """REMOVE of `made` succeeds, and the name stays"""
    return _DONE if call.args.target == b"made" else call.proceed()


@mutant(p.REMOVE)
def remove4_absent_is_ok(call: Remove) -> p.Remove4Res:
    """REMOVE of a name that does not exist succeeds"""
    result = call.proceed()
    return _DONE if result.status == Nfsstat4.NFS4ERR_NOENT else result


@mutant(p.REMOVE)
def remove4_full_is_exist(call: Remove) -> p.Remove4Res:
    """REMOVE of a directory with entries gets EXIST"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_NOTEMPTY, Nfsstat4.NFS4ERR_EXIST)


@mutant(p.REMOVE)
def remove4_in_a_file_is_noent(call: Remove) -> p.Remove4Res:
    """REMOVE in what is no directory gets NOENT"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_NOTDIR, Nfsstat4.NFS4ERR_NOENT)


@mutant(p.REMOVE)
def remove4_empty_name_is_noent(call: Remove) -> p.Remove4Res:
    """REMOVE of an empty name gets NOENT"""
    result = call.proceed()
    return result if call.args.target else restate4(result, Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_NOENT)


@mutant(p.REMOVE)
def remove4_change_info_is_of_nothing(call: Remove) -> p.Remove4Res:
    """REMOVE returns 0 as the change of the directory before and after it"""
    return amend4(call.proceed(), cinfo=p.ChangeInfo4(True, 0, 0))
