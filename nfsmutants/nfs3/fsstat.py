# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_fsstat.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import FSSTAT, Fsstat3Res, Fsstat3ResFail, Nfsstat3
from nfsmutants.bending import amend
from nfsmutants.form import mutant
from nfsmutants.nfs3.bending import is_not_directory
from nfsmutants.nfs3.calls import Fsstat

# ---------------------------------------------------------------- FSSTAT, FSINFO


@mutant(FSSTAT)
def fsstat3_refuses_a_file(call: Fsstat) -> t.Any:
    """FSSTAT answers SERVERFAULT for an object that is not a directory"""
    if not is_not_directory(call.server, call.args.fsroot):
        return call.proceed()
    return Fsstat3Res(Nfsstat3.NFS3ERR_SERVERFAULT, resfail=Fsstat3ResFail(None))


@mutant(FSSTAT)
def fsstat3_frees_more_than_all(call: Fsstat) -> Fsstat3Res:
    """FSSTAT returns 0 for all space and all file slots, though some are free"""
    return amend(call.proceed(), tbytes=0, tfiles=0)


@mutant(FSSTAT)
def fsstat3_usable_space_wraps(call: Fsstat) -> Fsstat3Res:
    """FSSTAT returns a number below zero for the available space and file slots: unsigned, it is huge"""
    return amend(call.proceed(), abytes=2**64 - 4096, afiles=2**64 - 10)
