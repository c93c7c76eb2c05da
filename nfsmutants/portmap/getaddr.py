# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/portmap/test_getaddr.py catch."""

from __future__ import annotations

from nfsclient.protocol import portmap as pm
from nfsclient.protocol.portmap import GetportRes
from nfsclient.protocol.rpcbind import Rpcb, TextRes
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.portmap.bending import _NFS, GETADDRS, _next_port, _program_of, _with_colon
from nfsmutants.rules import RFC5665_ADDRESSES

# ---------------------------------------------------------------- looking up


@mutant(GETADDRS)
def getaddr_returns_a_wrong_port_for_nfs(call: AnyCall) -> GetportRes | TextRes:
    """GETADDR returns the port after that of NFS over TCP"""
    is_meant = _program_of(call.args) == _NFS and call.context.transport == "tcp"
    return _next_port(call, is_meant=is_meant)


@mutant(GETADDRS)
def getaddr_invents_addresses(call: Call[Rpcb, TextRes]) -> TextRes:
    """GETADDR returns an address for programs that are not registered"""
    return TextRes(call.proceed().value or b"127.0.0.1.18.103")


@mutant(GETADDRS)
def getaddr_returns_the_wildcard(call: Call[Rpcb, TextRes]) -> TextRes:
    """GETADDR returns the address 0.0.0.0, which clients cannot call"""
    address = call.proceed().value
    return TextRes(b".".join([b"0.0.0.0", *address.split(b".")[-2:]]) if address else address)


@mutant(GETADDRS, breaks=RFC5665_ADDRESSES)
def getaddr_returns_host_colon_port(call: Call[Rpcb, TextRes]) -> TextRes:
    """GETADDR returns the address of rpcbind itself as host:port"""
    reply = call.proceed()
    return TextRes(_with_colon(reply.value)) if call.args.r_prog == pm.PROGRAM else reply


@mutant(GETADDRS)
def getaddr_obeys_r_netid(call: Call[Rpcb, TextRes]) -> TextRes:
    """GETADDR returns the address on the transport named in its argument"""
    entry = call.server.registry.find((call.args.r_prog, call.args.r_vers, call.args.r_netid))
    reply = call.proceed()
    return reply if entry is not None or call.args.r_netid in (b"", b"tcp", b"udp") else TextRes(b"")
