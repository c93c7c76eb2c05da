# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_readlink.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, restate4

Readlink = Call[p.Readlink4Args, p.Readlink4Res]


@mutant(p.READLINK)
def readlink4_cuts_the_text(call: Readlink) -> p.Readlink4Res:
    """READLINK returns the text without its last character"""
    return amend4(call.proceed(), link=lambda it: it.link[:-1])


@mutant(p.READLINK)
def readlink4_of_a_file_is_empty(call: Readlink) -> p.Readlink4Res:
    """READLINK of what is no symbolic link returns an empty text"""
    result = call.proceed()
    if result.status == Nfsstat4.NFS4_OK:
        return result
    return p.Readlink4Res(Nfsstat4.NFS4_OK, p.Readlink4ResOk(b""))


@mutant(p.READLINK)
def readlink4_of_a_file_is_inval(call: Readlink) -> p.Readlink4Res:
    """READLINK of what is no symbolic link gets INVAL"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_WRONG_TYPE, Nfsstat4.NFS4ERR_INVAL)
