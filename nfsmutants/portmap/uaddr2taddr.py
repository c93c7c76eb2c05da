# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/portmap/test_uaddr2taddr.py catch."""

from __future__ import annotations

from nfsclient.protocol import rpcbind as rb
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant

# ---------------------------------------------------------------- addresses and time


@mutant((rb.UADDR2TADDR3, rb.UADDR2TADDR4))
def uaddr2taddr_swaps_the_bytes_of_the_port(call: Call[rb.TextArgs, rb.Netbuf]) -> rb.Netbuf:
    """UADDR2TADDR writes the port with its low byte first"""
    reply = call.proceed()
    data = bytes(reply.buf)
    return replace(reply, buf=data[:2] + data[3:1:-1] + data[4:])


@mutant((rb.UADDR2TADDR3, rb.UADDR2TADDR4))
def uaddr2taddr_returns_only_the_family(call: Call[rb.TextArgs, rb.Netbuf]) -> rb.Netbuf:
    """UADDR2TADDR returns only the family"""
    reply = call.proceed()
    return replace(reply, buf=bytes(reply.buf)[:2] + bytes(14))
