# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_fsinfo_limits.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import FSINFO, READDIR, Fsinfo3Res, Nfsstat3
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import refuse
from nfsmutants.nfs3.calls import Fsinfo


@mutant(FSINFO)
def fsinfo3_returns_rtmax_0(call: Fsinfo) -> Fsinfo3Res:
    """FSINFO returns an rtmax of 0"""
    return amend(call.proceed(), rtmax=0)


@mutant(FSINFO)
def fsinfo3_returns_wtmax_0(call: Fsinfo) -> Fsinfo3Res:
    """FSINFO returns a wtmax of 0"""
    return amend(call.proceed(), wtmax=0)


@mutant((FSINFO, READDIR))
def readdir3_refuses_dtpref(call: AnyCall) -> t.Any:
    """READDIR of exactly dtpref bytes answers TOOSMALL"""
    reply = call.proceed()
    if call.operation is FSINFO:
        if reply.resok is not None:
            call.state["dtpref"] = reply.resok.dtpref
        return reply
    is_preferred = call.args.count == call.state.get("dtpref")
    return refuse(call, Nfsstat3.NFS3ERR_TOOSMALL) if is_preferred else reply
