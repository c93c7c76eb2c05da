# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_getaddr.py catch."""

from __future__ import annotations

from nfsclient.protocol.rpcbind import GETADDR3, GETADDR4, Rpcb, TextRes
from nfsmutants.form import Call, mutant


@mutant((GETADDR3, GETADDR4))
def getaddr_returns_old_ports_after_restart(call: Call[Rpcb, TextRes]) -> TextRes:
    """After a restart, GETADDR returns ports at which nobody listens any more"""
    first = call.state.setdefault("first", call.backend.boots)
    reply = call.proceed()
    if first == call.backend.boots or not reply.value:
        return reply
    return TextRes(b".".join([*bytes(reply.value).split(b".")[:-2], b"0.1"]))
