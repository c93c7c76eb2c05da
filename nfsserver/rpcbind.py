# SPDX-License-Identifier: MIT
"""rpcbind, versions 3 and 4 (RFC 1833 section 2): universal addresses from the registry of `binding`."""

from __future__ import annotations

import ipaddress
import socket
import struct
import typing as t

from nfsclient.protocol import rpcbind as protocol
from nfsclient.protocol.portmap import BoolRes
from nfsclient.protocol.rpcbind import (
    RPCBIND3,
    RPCBIND4,
    GettimeRes,
    Netbuf,
    Rpcb,
    RpcbEntry,
    RpcbEntryList,
    Rpcblist,
    RpcbRmtcallargs,
    RpcbRmtcallres,
    RpcbStatByvers,
    TextArgs,
    TextRes,
    UniversalAddressError,
    from_universal,
    to_universal,
)
from nfsclient.rpc.service import CallContext, Refused
from nfsclient.xdr import Void, replace
from nfsserver.binding import NETIDS, netid_of, owner_of, reachable
from nfsserver.forwarding import Wanted, pass_on
from nfsserver.handlers import Handlers, ServerApi
from nfsserver.portmap import counted, null
from nfsserver.service import Service, register

_SOCKADDR_IN = struct.Struct("=H2s4s8x")
"""Family, port, address, padding: the form that Linux gives to addresses of IPv4."""
_SOCKADDR_IN6 = struct.Struct("=H2s4x16s4x")
"""Family, port, flow, address, scope."""


def set_(server: ServerApi, context: CallContext, args: Rpcb) -> BoolRes:
    """SET, from this machine only."""
    registry = server.registry
    done = registry.is_local(context) and registry.set(replace(args, r_owner=owner_of(context)))
    registry.statistics[context.version].sets += done
    return BoolRes(done)


def unset(server: ServerApi, context: CallContext, args: Rpcb) -> BoolRes:
    """UNSET, from this machine only; without a netid of every transport."""
    registry = server.registry
    netids = (args.r_netid,) if args.r_netid else tuple(NETIDS)
    done = registry.is_local(context) and registry.unset(args.r_prog, args.r_vers, netids, owner_of(context))
    registry.statistics[context.version].unsets += done
    return BoolRes(done)


def getaddr(server: ServerApi, context: CallContext, args: Rpcb) -> TextRes:
    """GETADDR and GETVERSADDR: the address on the transport of the call, of exactly this version, or nothing."""
    key = (args.r_prog, args.r_vers, netid_of(context))
    entry = server.registry.find(key)
    server.registry.statistics[context.version].count_asked(key, entry is not None)
    return TextRes(reachable(entry, context))


def dump(server: ServerApi, _context: CallContext, _args: Void) -> Rpcblist:
    return Rpcblist(server.registry.entries())


def callit(server: ServerApi, context: CallContext, args: RpcbRmtcallargs) -> RpcbRmtcallres:
    """CALLIT, or BCAST: call a program of this server for the caller; silent unless that succeeds."""
    try:
        return indirect(server, context, args)
    except Refused:
        server.keep_silent()
        return RpcbRmtcallres(b"", b"")


def indirect(server: ServerApi, context: CallContext, args: RpcbRmtcallargs) -> RpcbRmtcallres:
    """INDIRECT: the same, but failures are reported as errors of RPC."""
    is_indirect = context.operation is protocol.INDIRECT4
    wanted = Wanted(args.prog, args.vers, args.proc, args.args)
    results = pass_on(server, context, wanted, indirect=is_indirect)
    entry = server.registry.find((args.prog, args.vers, netid_of(context)))
    return RpcbRmtcallres(reachable(entry, context), results)


def gettime(server: ServerApi, _context: CallContext, _args: Void) -> GettimeRes:
    return GettimeRes(server.backend.clock.now_ns() // 1_000_000_000 & 0xFFFF_FFFF)


def uaddr2taddr(_server: ServerApi, _context: CallContext, args: TextArgs) -> Netbuf:
    """UADDR2TADDR: the `sockaddr` of Linux; empty for what is no universal address."""
    try:
        host, port = from_universal(args.value.decode("ascii"))
    except (UniversalAddressError, UnicodeDecodeError):
        return Netbuf(0, b"")
    address = ipaddress.ip_address(host.partition("%")[0])
    form, family = (
        (_SOCKADDR_IN, socket.AF_INET) if address.version == 4 else (_SOCKADDR_IN6, socket.AF_INET6)
    )
    data = form.pack(family, port.to_bytes(2, "big"), address.packed)
    return Netbuf(len(data), data)


def taddr2uaddr(_server: ServerApi, _context: CallContext, args: Netbuf) -> TextRes:
    """TADDR2UADDR: the inverse; empty for what is no such `sockaddr`."""
    for form, family in ((_SOCKADDR_IN, socket.AF_INET), (_SOCKADDR_IN6, socket.AF_INET6)):
        if len(args.buf) == form.size:
            found, port, packed = form.unpack(args.buf)
            if found == family:
                host = str(ipaddress.ip_address(packed))
                return TextRes(to_universal(host, int.from_bytes(port, "big")).encode())
    return TextRes(b"")


def getaddrlist(server: ServerApi, context: CallContext, args: Rpcb) -> RpcbEntryList:
    """GETADDRLIST: every transport of this version of the program."""
    found = [
        RpcbEntry(reachable(entry, context), entry.r_netid, *NETIDS[entry.r_netid])
        for entry in server.registry.entries()
        if (entry.r_prog, entry.r_vers) == (args.r_prog, args.r_vers)
    ]
    return RpcbEntryList(found)


def getstat(server: ServerApi, _context: CallContext, _args: Void) -> RpcbStatByvers:
    return RpcbStatByvers([each.result() for _, each in sorted(server.registry.statistics.items())])


HANDLERS3: t.Final[Handlers] = dict(
    [
        counted(protocol.NULL3, null),
        counted(protocol.SET3, set_),
        counted(protocol.UNSET3, unset),
        counted(protocol.GETADDR3, getaddr),
        counted(protocol.DUMP3, dump),
        counted(protocol.CALLIT3, callit),
        counted(protocol.GETTIME3, gettime),
        counted(protocol.UADDR2TADDR3, uaddr2taddr),
        counted(protocol.TADDR2UADDR3, taddr2uaddr),
    ]
)
HANDLERS4: t.Final[Handlers] = dict(
    [
        counted(protocol.NULL4, null),
        counted(protocol.SET4, set_),
        counted(protocol.UNSET4, unset),
        counted(protocol.GETADDR4, getaddr),
        counted(protocol.DUMP4, dump),
        counted(protocol.BCAST4, callit),
        counted(protocol.GETTIME4, gettime),
        counted(protocol.UADDR2TADDR4, uaddr2taddr),
        counted(protocol.TADDR2UADDR4, taddr2uaddr),
        counted(protocol.GETVERSADDR4, getaddr),
        counted(protocol.INDIRECT4, indirect),
        counted(protocol.GETADDRLIST4, getaddrlist),
        counted(protocol.GETSTAT4, getstat),
    ]
)

register(Service(RPCBIND3, HANDLERS3), Service(RPCBIND4, HANDLERS4))

__all__ = ["HANDLERS3", "HANDLERS4", "RPCBIND3", "RPCBIND4"]
