# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/portmap/test_indirect.py catch."""

from __future__ import annotations

from nfsclient.protocol import rpcbind as rb
from nfsclient.protocol.rpcbind import RpcbRmtcallargs, RpcbRmtcallres
from nfsclient.rpc.service import Refused
from nfsmutants.form import Call, mutant

# ---------------------------------------------------------------- CALLIT and INDIRECT


@mutant(rb.INDIRECT4)
def indirect4_drops_failures(call: Call[RpcbRmtcallargs, RpcbRmtcallres]) -> RpcbRmtcallres:
    """INDIRECT sends no reply if the call that it makes fails"""
    try:
        return call.proceed()
    except Refused:
        call.server.keep_silent()
        return RpcbRmtcallres(b"", b"")
