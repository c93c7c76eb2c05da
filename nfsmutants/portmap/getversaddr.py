# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/portmap/test_getversaddr.py catch."""

from __future__ import annotations

from nfsclient.protocol import rpcbind as rb
from nfsclient.protocol.rpcbind import Rpcb, TextRes
from nfsmutants.form import Call, mutant
from nfsmutants.portmap.bending import _with_colon
from nfsmutants.rules import RFC5665_ADDRESSES

# ---------------------------------------------------------------- looking up


@mutant(rb.GETVERSADDR4, breaks=RFC5665_ADDRESSES)
def getversaddr4_returns_host_colon_port(call: Call[Rpcb, TextRes]) -> TextRes:
    """GETVERSADDR returns an address as host:port"""
    return TextRes(_with_colon(call.proceed().value))


@mutant(rb.GETVERSADDR4)
def getversaddr4_accepts_any_version(call: Call[Rpcb, TextRes]) -> TextRes:
    """GETVERSADDR of a version that is not registered returns the address of another one"""
    reply = call.proceed()
    others = [entry for entry in call.server.registry.entries() if entry.r_prog == call.args.r_prog]
    return reply if reply.value or not others else TextRes(others[0].r_addr)
