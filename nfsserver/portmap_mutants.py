# SPDX-License-Identifier: MIT
"""Mutants of the port mapper."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.portmap import GETPORT, IPPROTO_TCP, IPPROTO_UDP, GetportRes, Mapping
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.mutants import Proceed, mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server

NFS = 100003


@mutant(
    "getport2-invents-ports",
    bends=GETPORT,
    breaks="RFC 1833 section 3.2",
    gist="GETPORT gives a port for programs that are not registered",
)
def getport2_invents_ports(
    _server: Server, context: CallContext, args: Mapping, proceed: Proceed[Mapping, GetportRes]
) -> GetportRes:
    """Turn 0 into a port."""
    reply = proceed(context, args)
    return reply if reply.port else GetportRes(4711)


@mutant(
    "getport2-gives-a-wrong-port",
    bends=GETPORT,
    breaks="RFC 1833 section 3.2",
    gist="GETPORT gives the port above the one at which NFS waits over TCP",
)
def getport2_gives_a_wrong_port(
    _server: Server, context: CallContext, args: Mapping, proceed: Proceed[Mapping, GetportRes]
) -> GetportRes:
    """Add one."""
    reply = proceed(context, args)
    is_meant = (args.prog, args.prot) == (NFS, IPPROTO_TCP)
    return GetportRes(reply.port + 1) if reply.port and is_meant else reply


@mutant(
    "getport2-takes-any-protocol",
    bends=GETPORT,
    breaks="RFC 1833 section 3.1",
    gist="GETPORT for a protocol that is neither TCP nor UDP gives the port of TCP",
)
def getport2_takes_any_protocol(
    _server: Server, context: CallContext, args: Mapping, proceed: Proceed[Mapping, GetportRes]
) -> GetportRes:
    """Ask for TCP instead."""
    if args.prot not in (IPPROTO_TCP, IPPROTO_UDP):
        args = replace(args, prot=IPPROTO_TCP)
    return proceed(context, args)


@mutant(
    "getport2-wants-the-port-to-be-0",
    bends=GETPORT,
    breaks="RFC 1833 section 3.2",
    gist="GETPORT with a port in its argument gives 0",
)
def getport2_wants_the_port_to_be_0(
    _server: Server, context: CallContext, args: Mapping, proceed: Proceed[Mapping, GetportRes]
) -> GetportRes:
    """Look at what is to be ignored."""
    reply = proceed(context, args)
    return GetportRes(0) if args.port else reply
