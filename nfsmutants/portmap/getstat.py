# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/portmap/test_getstat.py catch."""

from __future__ import annotations

from nfsclient.protocol import rpcbind as rb
from nfsclient.xdr import Void, replace
from nfsmutants.form import Call, mutant

# ---------------------------------------------------------------- GETADDRLIST and GETSTAT


@mutant(rb.GETSTAT4)
def getstat4_counts_nothing(call: Call[Void, rb.RpcbStatByvers]) -> rb.RpcbStatByvers:
    """GETSTAT returns 0 for every procedure"""
    versions = call.proceed().versions
    return rb.RpcbStatByvers([replace(each, info=[0] * rb.RPCBSTAT_HIGHPROC) for each in versions])
