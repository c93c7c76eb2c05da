# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/portmap/test_getport.py catch."""

from __future__ import annotations

from nfsclient.protocol import portmap as pm
from nfsclient.protocol.portmap import GETPORT, IPPROTO_TCP, IPPROTO_UDP, GetportRes, Mapping
from nfsclient.protocol.rpcbind import TextRes
from nfsclient.xdr import replace
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.portmap.bending import _MOUNT, _NFS, GETADDRS, _next_port, _program_of

NFS = 100003


@mutant(GETPORT)
def getport2_invents_ports(call: Call[Mapping, GetportRes]) -> GetportRes:
    """GETPORT returns a port for programs that are not registered"""
    reply = call.proceed()
    return reply if reply.port else GetportRes(4711)


@mutant(GETPORT)
def getport2_returns_a_wrong_port(call: Call[Mapping, GetportRes]) -> GetportRes:
    """GETPORT returns the port after that of NFS over TCP"""
    reply = call.proceed()
    is_meant = (call.args.prog, call.args.prot) == (NFS, IPPROTO_TCP)
    return GetportRes(reply.port + 1) if reply.port and is_meant else reply


@mutant(GETPORT)
def getport2_treats_any_protocol_as_tcp(call: Call[Mapping, GetportRes]) -> GetportRes:
    """GETPORT for a protocol other than TCP and UDP returns the port of TCP"""
    args = call.args
    if args.prot not in (IPPROTO_TCP, IPPROTO_UDP):
        args = replace(args, prot=IPPROTO_TCP)
    return call.proceed(args)


@mutant(GETPORT)
def getport2_requires_port_0(call: Call[Mapping, GetportRes]) -> GetportRes:
    """GETPORT with a port in its argument returns 0"""
    reply = call.proceed()
    return GetportRes(0) if call.args.port else reply


LOOKUPS = (pm.GETPORT, *GETADDRS)


# ---------------------------------------------------------------- looking up


@mutant(LOOKUPS)
def getport_returns_a_wrong_port_for_mount(call: AnyCall) -> GetportRes | TextRes:
    """GETPORT and GETADDR return the port after that of MOUNT"""
    return _next_port(call, is_meant=_program_of(call.args) == _MOUNT)


@mutant(LOOKUPS)
def getport_returns_a_wrong_port_for_nfs_udp(call: AnyCall) -> GetportRes | TextRes:
    """GETPORT and GETADDR return the port after that of NFS over UDP"""
    is_meant = _program_of(call.args) == _NFS and call.context.transport == "udp"
    return _next_port(call, is_meant=is_meant)
