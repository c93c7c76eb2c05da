# SPDX-License-Identifier: MIT
"""Mutants of rpcbind, and of what the port mapper has in common with it: looking up, lists, addresses, the time."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol import portmap as pm
from nfsclient.protocol import rpcbind as rb
from nfsclient.protocol.portmap import GetportRes, Mapping
from nfsclient.protocol.rpcbind import Rpcb, RpcbEntry, RpcbEntryList, TextRes, from_universal, to_universal
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import Void, replace
from nfsserver.mutants import Answer, Proceed, ProceedWire, mutant, wire_mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server

AnyProceed: t.TypeAlias = "Proceed[t.Any, t.Any]"

DUMPS = (pm.DUMP, rb.DUMP3, rb.DUMP4)
GETADDRS = (rb.GETADDR3, rb.GETADDR4)
LOOKUPS = (pm.GETPORT, *GETADDRS)
_OPERATION = "RFC 1833 section 2.2.1"
_VERSION_4 = "RFC 1833 section 2.2.2"
_NFS, _MOUNT = 100003, 100005


@wire_mutant(
    "portmap-null-returns-results",
    breaks="RFC 1833 section 3.2",
    gist="NULL of portmap and rpcbind returns a word where there are no results",
)
def portmap_null_returns_results(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Append it."""
    reply = proceed(message)
    is_null = message[12:16] == pm.PROGRAM.to_bytes(4, "big") and message[20:24] == bytes(4)
    is_served = 2 <= int.from_bytes(message[16:20], "big") <= 4
    return [*reply, bytes(4)] if reply is not None and is_null and is_served else reply


# ---------------------------------------------------------------- looking up


def _program_of(args: Mapping | Rpcb) -> int:
    return args.prog if isinstance(args, Mapping) else args.r_prog


def _elsewhere(
    name: str, bends: tuple[t.Any, ...], gist: str, is_meant: Callable[[CallContext, Mapping | Rpcb], bool]
) -> None:
    @mutant(name, bends=bends, breaks=_OPERATION, gist=gist)
    def middleware(
        _server: Server, context: CallContext, args: Mapping | Rpcb, proceed: AnyProceed
    ) -> GetportRes | TextRes:
        """Name a port behind the right one."""
        reply: GetportRes | TextRes = proceed(context, args)
        if not is_meant(context, args):
            return reply
        if isinstance(reply, GetportRes):
            return GetportRes(reply.port + 1) if reply.port else reply
        if not reply.value:
            return reply
        host, port = from_universal(reply.value.decode())
        return TextRes(to_universal(host, port + 1).encode())


_elsewhere(
    "getport-is-wrong-for-mount",
    LOOKUPS,
    "GETPORT and GETADDR give a port behind that of MOUNT",
    lambda _, args: _program_of(args) == _MOUNT,
)
_elsewhere(
    "getport-is-wrong-for-nfs-over-udp",
    LOOKUPS,
    "GETPORT and GETADDR give a port behind that of NFS over UDP",
    lambda context, args: _program_of(args) == _NFS and context.transport == "udp",
)
_elsewhere(
    "getaddr-is-wrong-for-nfs-over-tcp",
    GETADDRS,
    "GETADDR gives a port behind that of NFS over TCP",
    lambda context, args: _program_of(args) == _NFS and context.transport == "tcp",
)
_elsewhere(
    "getaddr-is-wrong-for-portmap",
    GETADDRS,
    "GETADDR gives a port behind that of portmap version 2",
    lambda _, args: isinstance(args, Rpcb) and (args.r_prog, args.r_vers) == (pm.PROGRAM, 2),
)


def _text(
    name: str, bends: tuple[t.Any, ...], gist: str, bend: Callable[[bytes], bytes], breaks: str = _OPERATION
) -> None:
    """A mutant of results that are universal addresses."""

    @mutant(name, bends=bends, breaks=breaks, gist=gist)
    def middleware(_server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> TextRes:
        """Bend the address."""
        reply: TextRes = proceed(context, args)
        return TextRes(bend(reply.value))


def _with_colon(address: bytes) -> bytes:
    if not address:
        return address
    host, port = from_universal(address.decode())
    return f"{host}:{port}".encode()


_text(
    "getaddr-invents-addresses",
    GETADDRS,
    "GETADDR gives an address for programs that are not registered",
    lambda address: address or b"127.0.0.1.18.103",
)
_text(
    "getversaddr4-writes-the-port-behind-a-colon",
    (rb.GETVERSADDR4,),
    "GETVERSADDR writes an address as host:port",
    _with_colon,
    "RFC 5665 section 5.2.3.3",
)
_text(
    "getaddr-gives-the-wildcard",
    GETADDRS,
    "GETADDR gives the address 0.0.0.0, which nobody can call",
    lambda address: b".".join([b"0.0.0.0", *address.split(b".")[-2:]]) if address else address,
)


@mutant(
    "getaddr-writes-the-port-behind-a-colon",
    bends=GETADDRS,
    breaks="RFC 5665 section 5.2.3.3",
    gist="GETADDR writes the address of rpcbind itself as host:port",
)
def getaddr_writes_the_port_behind_a_colon(
    _server: Server, context: CallContext, args: Rpcb, proceed: Proceed[Rpcb, TextRes]
) -> TextRes:
    """Only that one, by which programs are found."""
    reply = proceed(context, args)
    return TextRes(_with_colon(reply.value)) if args.r_prog == pm.PROGRAM else reply


@mutant(
    "getversaddr4-takes-any-version",
    bends=rb.GETVERSADDR4,
    breaks=_VERSION_4,
    gist="GETVERSADDR of a version that is not registered gives the address of another one",
)
def getversaddr4_takes_any_version(
    server: Server, context: CallContext, args: Rpcb, proceed: Proceed[Rpcb, TextRes]
) -> TextRes:
    """Look for the program alone."""
    reply = proceed(context, args)
    others = [entry for entry in server.registry.entries() if entry.r_prog == args.r_prog]
    return reply if reply.value or not others else TextRes(others[0].r_addr)


@mutant(
    "getaddr-goes-by-r-netid",
    bends=GETADDRS,
    breaks=_OPERATION,
    gist="GETADDR gives the address on the transport that the argument names",
)
def getaddr_goes_by_r_netid(
    server: Server, context: CallContext, args: Rpcb, proceed: Proceed[Rpcb, TextRes]
) -> TextRes:
    """Take the argument at its word, where it has one."""
    entry = server.registry.find((args.r_prog, args.r_vers, args.r_netid))
    reply = proceed(context, args)
    return reply if entry is not None or args.r_netid in (b"", b"tcp", b"udp") else TextRes(b"")


# ---------------------------------------------------------------- DUMP


def _dump(name: str, gist: str, bend: Callable[[list[t.Any]], list[t.Any]]) -> None:
    """A mutant of the list in all versions."""

    @mutant(name, bends=DUMPS, breaks=_OPERATION, gist=gist)
    def middleware(_server: Server, context: CallContext, args: Void, proceed: AnyProceed) -> t.Any:
        """Bend the list."""
        reply = proceed(context, args)
        return type(reply)(bend(reply.entries))


def _with_another_port(entry: Mapping | Rpcb) -> Mapping | Rpcb:
    if isinstance(entry, Mapping):
        return replace(entry, port=entry.port + 1)
    host, port = from_universal(entry.r_addr.decode())
    return replace(entry, r_addr=to_universal(host, port + 1).encode())


_dump(
    "portmap-dump-has-another-port-for-mount",
    "DUMP lists MOUNT at a port behind that of GETPORT and GETADDR",
    lambda entries: [_with_another_port(each) if _program_of(each) == _MOUNT else each for each in entries],
)
_dump(
    "portmap-dump-omits-itself",
    "DUMP does not list portmap and rpcbind",
    lambda entries: [each for each in entries if _program_of(each) != pm.PROGRAM],
)
_dump(
    "portmap-dump-repeats-itself", "DUMP lists its first entry again", lambda entries: entries + entries[:1]
)


@mutant(
    "rpcbind-dump-writes-the-port-behind-a-colon",
    bends=(rb.DUMP3, rb.DUMP4),
    breaks="RFC 5665 section 5.2.3.3",
    gist="DUMP of rpcbind writes the address of portmap itself as host:port",
)
def rpcbind_dump_writes_the_port_behind_a_colon(
    _server: Server, context: CallContext, args: Void, proceed: Proceed[Void, rb.Rpcblist]
) -> rb.Rpcblist:
    """Only in one kind of entry."""
    entries = proceed(context, args).entries
    return rb.Rpcblist(
        [
            replace(each, r_addr=_with_colon(each.r_addr)) if each.r_prog == pm.PROGRAM else each
            for each in entries
        ]
    )


# ---------------------------------------------------------------- addresses and time


def _netbuf(name: str, gist: str, bend: Callable[[bytes], bytes]) -> None:
    @mutant(name, bends=(rb.UADDR2TADDR3, rb.UADDR2TADDR4), breaks=_OPERATION, gist=gist)
    def middleware(
        _server: Server, context: CallContext, args: rb.TextArgs, proceed: Proceed[rb.TextArgs, rb.Netbuf]
    ) -> rb.Netbuf:
        """Bend the form."""
        reply = proceed(context, args)
        return replace(reply, buf=bend(bytes(reply.buf)))


_netbuf(
    "uaddr2taddr-swaps-the-bytes-of-the-port",
    "UADDR2TADDR writes the port with its low byte first",
    lambda data: data[:2] + data[3:1:-1] + data[4:],
)
_netbuf(
    "uaddr2taddr-knows-one-address", "UADDR2TADDR gives the family alone", lambda data: data[:2] + bytes(14)
)


def _time(name: str, gist: str, bend: Callable[[int, int], int]) -> None:
    @mutant(name, bends=(rb.GETTIME3, rb.GETTIME4), breaks=_OPERATION, gist=gist)
    def middleware(
        server: Server, context: CallContext, args: Void, proceed: Proceed[Void, rb.GettimeRes]
    ) -> rb.GettimeRes:
        """Bend the time; the second number counts calls."""
        state = server.mutant_state(name)
        state["calls"] = state.get("calls", 0) + 1
        return rb.GettimeRes(bend(proceed(context, args).seconds, state["calls"]))


_time("gettime-begins-in-2000", "GETTIME counts from 2000", lambda seconds, _: seconds - 946_684_800)
_time(
    "gettime-counts-calls-by-the-hour",
    "GETTIME moves on by an hour with each call but the first",
    lambda seconds, calls: seconds + 3600 * (calls - 1),
)


# ---------------------------------------------------------------- GETADDRLIST and GETSTAT


def _list(
    name: str, gist: str, bend: Callable[[list[RpcbEntry], bytes], list[RpcbEntry]], *, found: bool = True
) -> None:
    """A mutant of GETADDRLIST, of lists that have entries, or of those that have none."""

    @mutant(name, bends=rb.GETADDRLIST4, breaks=_VERSION_4, gist=gist)
    def middleware(
        _server: Server, context: CallContext, args: Rpcb, proceed: Proceed[Rpcb, RpcbEntryList]
    ) -> RpcbEntryList:
        """Bend the list; the second argument is the transport of the call."""
        entries = proceed(context, args).entries
        return RpcbEntryList(bend(entries, context.transport.encode()) if bool(entries) is found else entries)


_PIGEON = RpcbEntry(b"127.0.0.1.18.103", b"pigeon", 1, b"inet", b"pigeon")
_list(
    "getaddrlist4-omits-the-transport-of-the-call",
    "GETADDRLIST does not list the transport over which it is asked",
    lambda entries, netid: [each for each in entries if each.r_nc_netid != netid],
)
_list(
    "getaddrlist4-has-what-is-not-registered",
    "GETADDRLIST lists a transport on which the program is not registered",
    lambda entries, _: [*entries, _PIGEON],
)
_list(
    "getaddrlist4-lists-nobody",
    "GETADDRLIST of a program that is not registered lists an address",
    lambda _entries, _: [_PIGEON],
    found=False,
)
_list(
    "getaddrlist4-mixes-families-up",
    "GETADDRLIST has inet6 where inet is meant",
    lambda entries, _: [replace(each, r_nc_protofmly=b"inet6") for each in entries],
)
_list(
    "getaddrlist4-takes-udp-for-connections",
    "GETADDRLIST gives UDP the semantics of connections",
    lambda entries, _: [replace(each, r_nc_semantics=3) for each in entries],
)


@mutant(
    "getstat4-counts-nothing", bends=rb.GETSTAT4, breaks=_VERSION_4, gist="GETSTAT says 0 of every procedure"
)
def getstat4_counts_nothing(
    _server: Server, context: CallContext, args: Void, proceed: Proceed[Void, rb.RpcbStatByvers]
) -> rb.RpcbStatByvers:
    """Forget the numbers."""
    versions = proceed(context, args).versions
    return rb.RpcbStatByvers([replace(each, info=[0] * rb.RPCBSTAT_HIGHPROC) for each in versions])
