# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_getport.py catch."""

from __future__ import annotations

from nfsclient.protocol.portmap import GETPORT, GetportRes, Mapping
from nfsmutants.form import Call, mutant


@mutant(GETPORT)
def getport2_returns_old_ports_after_restart(call: Call[Mapping, GetportRes]) -> GetportRes:
    """After a restart, GETPORT returns ports at which nobody listens any more"""
    first = call.state.setdefault("first", call.backend.boots)
    reply = call.proceed()
    return reply if first == call.backend.boots or not reply.port else GetportRes(1)
