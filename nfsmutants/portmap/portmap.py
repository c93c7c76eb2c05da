# SPDX-License-Identifier: MIT
"""Mutants of the port mapper."""

from __future__ import annotations

from nfsclient.protocol.portmap import GETPORT, IPPROTO_TCP, IPPROTO_UDP, GetportRes, Mapping
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.rules import RFC1833_PORTMAP, RFC1833_PORTMAP_OPERATIONS

NFS = 100003


@mutant(GETPORT, RFC1833_PORTMAP_OPERATIONS)
def getport2_invents_ports(call: Call[Mapping, GetportRes]) -> GetportRes:
    """GETPORT gives a port for programs that are not registered"""
    reply = call.proceed()
    return reply if reply.port else GetportRes(4711)


@mutant(GETPORT, RFC1833_PORTMAP_OPERATIONS)
def getport2_gives_a_wrong_port(call: Call[Mapping, GetportRes]) -> GetportRes:
    """GETPORT gives the port above the one at which NFS waits over TCP"""
    reply = call.proceed()
    is_meant = (call.args.prog, call.args.prot) == (NFS, IPPROTO_TCP)
    return GetportRes(reply.port + 1) if reply.port and is_meant else reply


@mutant(GETPORT, RFC1833_PORTMAP)
def getport2_takes_any_protocol(call: Call[Mapping, GetportRes]) -> GetportRes:
    """GETPORT for a protocol that is neither TCP nor UDP gives the port of TCP"""
    args = call.args
    if args.prot not in (IPPROTO_TCP, IPPROTO_UDP):
        args = replace(args, prot=IPPROTO_TCP)
    return call.proceed(args)


@mutant(GETPORT, RFC1833_PORTMAP_OPERATIONS)
def getport2_wants_the_port_to_be_0(call: Call[Mapping, GetportRes]) -> GetportRes:
    """GETPORT with a port in its argument gives 0"""
    reply = call.proceed()
    return GetportRes(0) if call.args.port else reply
