# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/portmap/test_gettime.py catch."""

from __future__ import annotations

from nfsclient.protocol import rpcbind as rb
from nfsclient.xdr import Void
from nfsmutants.form import Call, mutant

# ---------------------------------------------------------------- addresses and time


@mutant((rb.GETTIME3, rb.GETTIME4))
def gettime_counts_from_2000(call: Call[Void, rb.GettimeRes]) -> rb.GettimeRes:
    """GETTIME counts seconds from the year 2000"""
    return rb.GettimeRes(call.proceed().seconds - 946_684_800)


@mutant((rb.GETTIME3, rb.GETTIME4))
def gettime_advances_an_hour_per_call(call: Call[Void, rb.GettimeRes]) -> rb.GettimeRes:
    """GETTIME advances by an hour with each call but the first"""
    before = call.state.get("calls", 0)
    call.state["calls"] = before + 1
    return rb.GettimeRes(call.proceed().seconds + 3600 * before)
