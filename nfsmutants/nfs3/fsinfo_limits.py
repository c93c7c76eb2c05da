# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_fsinfo_limits.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import FSINFO, Fsinfo3Res
from nfsmutants.bending import amend
from nfsmutants.form import mutant
from nfsmutants.nfs3.calls import Fsinfo
from nfsmutants.rules import RFC1813_FSINFO


@mutant(FSINFO, RFC1813_FSINFO)
def fsinfo3_returns_wtmax_0(call: Fsinfo) -> Fsinfo3Res:
    """FSINFO returns a wtmax of 0"""
    return amend(call.proceed(), wtmax=0)
