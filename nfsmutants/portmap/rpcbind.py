# SPDX-License-Identifier: MIT
"""Mutants of rpcbind, and of what the port mapper has in common with it: looking up, lists, addresses, the time."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import portmap as pm
from nfsclient.protocol import rpcbind as rb
from nfsclient.protocol.portmap import GetportRes, Mapping
from nfsclient.protocol.rpcbind import Rpcb, RpcbEntry, RpcbEntryList, TextRes, from_universal, to_universal
from nfsclient.xdr import Void, replace
from nfsmutants.form import AnyCall, Call, Message, mutant, wire_mutant
from nfsmutants.rules import (
    RFC1833_OPERATIONS,
    RFC1833_PORTMAP_OPERATIONS,
    RFC1833_VERSION_4,
    RFC5665_ADDRESSES,
)
from nfsserver.middleware import Answer

DUMPS = (pm.DUMP, rb.DUMP3, rb.DUMP4)
GETADDRS = (rb.GETADDR3, rb.GETADDR4)
LOOKUPS = (pm.GETPORT, *GETADDRS)
_NFS, _MOUNT = 100003, 100005


@wire_mutant(RFC1833_PORTMAP_OPERATIONS)
def portmap_null_returns_results(message: Message) -> Answer:
    """NULL of portmap and rpcbind returns a word where there are no results"""
    reply = message.proceed()
    is_null = message.data[12:16] == pm.PROGRAM.to_bytes(4, "big") and message.data[20:24] == bytes(4)
    is_served = 2 <= int.from_bytes(message.data[16:20], "big") <= 4
    return [*reply, bytes(4)] if reply is not None and is_null and is_served else reply


# ---------------------------------------------------------------- looking up


def _program_of(args: Mapping | Rpcb) -> int:
    return args.prog if isinstance(args, Mapping) else args.r_prog


def _next_port(call: AnyCall, *, is_meant: bool) -> GetportRes | TextRes:
    """A port behind the right one."""
    reply: GetportRes | TextRes = call.proceed()
    if not is_meant or not (reply.port if isinstance(reply, GetportRes) else reply.value):
        return reply
    if isinstance(reply, GetportRes):
        return GetportRes(reply.port + 1)
    host, port = from_universal(reply.value.decode())
    return TextRes(to_universal(host, port + 1).encode())


@mutant(LOOKUPS, RFC1833_OPERATIONS)
def getport_is_wrong_for_mount(call: AnyCall) -> GetportRes | TextRes:
    """GETPORT and GETADDR give the port after that of MOUNT"""
    return _next_port(call, is_meant=_program_of(call.args) == _MOUNT)


@mutant(LOOKUPS, RFC1833_OPERATIONS)
def getport_is_wrong_for_nfs_over_udp(call: AnyCall) -> GetportRes | TextRes:
    """GETPORT and GETADDR give the port after that of NFS over UDP"""
    is_meant = _program_of(call.args) == _NFS and call.context.transport == "udp"
    return _next_port(call, is_meant=is_meant)


@mutant(GETADDRS, RFC1833_OPERATIONS)
def getaddr_is_wrong_for_nfs_over_tcp(call: AnyCall) -> GetportRes | TextRes:
    """GETADDR gives the port after that of NFS over TCP"""
    is_meant = _program_of(call.args) == _NFS and call.context.transport == "tcp"
    return _next_port(call, is_meant=is_meant)


@mutant(GETADDRS, RFC1833_OPERATIONS)
def getaddr_is_wrong_for_portmap(call: AnyCall) -> GetportRes | TextRes:
    """GETADDR gives the port after that of portmap version 2"""
    return _next_port(call, is_meant=(call.args.r_prog, call.args.r_vers) == (pm.PROGRAM, 2))


def _with_colon(address: bytes) -> bytes:
    if not address:
        return address
    host, port = from_universal(address.decode())
    return f"{host}:{port}".encode()


@mutant(GETADDRS, RFC1833_OPERATIONS)
def getaddr_invents_addresses(call: Call[Rpcb, TextRes]) -> TextRes:
    """GETADDR gives an address for programs that are not registered"""
    return TextRes(call.proceed().value or b"127.0.0.1.18.103")


@mutant(rb.GETVERSADDR4, RFC5665_ADDRESSES)
def getversaddr4_writes_the_port_behind_a_colon(call: Call[Rpcb, TextRes]) -> TextRes:
    """GETVERSADDR writes an address as host:port"""
    return TextRes(_with_colon(call.proceed().value))


@mutant(GETADDRS, RFC1833_OPERATIONS)
def getaddr_gives_the_wildcard(call: Call[Rpcb, TextRes]) -> TextRes:
    """GETADDR gives the address 0.0.0.0, which nobody can call"""
    address = call.proceed().value
    return TextRes(b".".join([b"0.0.0.0", *address.split(b".")[-2:]]) if address else address)


@mutant(GETADDRS, RFC5665_ADDRESSES)
def getaddr_writes_the_port_behind_a_colon(call: Call[Rpcb, TextRes]) -> TextRes:
    """GETADDR writes the address of rpcbind itself as host:port"""
    reply = call.proceed()
    return TextRes(_with_colon(reply.value)) if call.args.r_prog == pm.PROGRAM else reply


@mutant(rb.GETVERSADDR4, RFC1833_VERSION_4)
def getversaddr4_takes_any_version(call: Call[Rpcb, TextRes]) -> TextRes:
    """GETVERSADDR of a version that is not registered gives the address of another one"""
    reply = call.proceed()
    others = [entry for entry in call.server.registry.entries() if entry.r_prog == call.args.r_prog]
    return reply if reply.value or not others else TextRes(others[0].r_addr)


@mutant(GETADDRS, RFC1833_OPERATIONS)
def getaddr_goes_by_r_netid(call: Call[Rpcb, TextRes]) -> TextRes:
    """GETADDR gives the address on the transport that the argument names"""
    entry = call.server.registry.find((call.args.r_prog, call.args.r_vers, call.args.r_netid))
    reply = call.proceed()
    return reply if entry is not None or call.args.r_netid in (b"", b"tcp", b"udp") else TextRes(b"")


# ---------------------------------------------------------------- DUMP


def _with_entries(reply: t.Any, entries: list[t.Any]) -> t.Any:
    """The list of any version with other entries."""
    return type(reply)(entries)


def _with_another_port(entry: Mapping | Rpcb) -> Mapping | Rpcb:
    if isinstance(entry, Mapping):
        return replace(entry, port=entry.port + 1)
    host, port = from_universal(entry.r_addr.decode())
    return replace(entry, r_addr=to_universal(host, port + 1).encode())


@mutant(DUMPS, RFC1833_OPERATIONS)
def portmap_dump_has_another_port_for_mount(call: AnyCall) -> t.Any:
    """DUMP lists MOUNT at the port after that of GETPORT and GETADDR"""
    reply = call.proceed()
    return _with_entries(
        reply, [_with_another_port(each) if _program_of(each) == _MOUNT else each for each in reply.entries]
    )


@mutant(DUMPS, RFC1833_OPERATIONS)
def portmap_dump_omits_itself(call: AnyCall) -> t.Any:
    """DUMP does not list portmap and rpcbind"""
    reply = call.proceed()
    return _with_entries(reply, [each for each in reply.entries if _program_of(each) != pm.PROGRAM])


@mutant(DUMPS, RFC1833_OPERATIONS)
def portmap_dump_repeats_itself(call: AnyCall) -> t.Any:
    """DUMP lists its first entry again"""
    reply = call.proceed()
    return _with_entries(reply, reply.entries + reply.entries[:1])


@mutant((rb.DUMP3, rb.DUMP4), RFC5665_ADDRESSES)
def rpcbind_dump_writes_the_port_behind_a_colon(call: Call[Void, rb.Rpcblist]) -> rb.Rpcblist:
    """DUMP of rpcbind writes the address of portmap itself as host:port"""
    entries = call.proceed().entries
    return rb.Rpcblist(
        [
            replace(each, r_addr=_with_colon(each.r_addr)) if each.r_prog == pm.PROGRAM else each
            for each in entries
        ]
    )


# ---------------------------------------------------------------- addresses and time


@mutant((rb.UADDR2TADDR3, rb.UADDR2TADDR4), RFC1833_OPERATIONS)
def uaddr2taddr_swaps_the_bytes_of_the_port(call: Call[rb.TextArgs, rb.Netbuf]) -> rb.Netbuf:
    """UADDR2TADDR writes the port with its low byte first"""
    reply = call.proceed()
    data = bytes(reply.buf)
    return replace(reply, buf=data[:2] + data[3:1:-1] + data[4:])


@mutant((rb.UADDR2TADDR3, rb.UADDR2TADDR4), RFC1833_OPERATIONS)
def uaddr2taddr_knows_one_address(call: Call[rb.TextArgs, rb.Netbuf]) -> rb.Netbuf:
    """UADDR2TADDR gives the family alone"""
    reply = call.proceed()
    return replace(reply, buf=bytes(reply.buf)[:2] + bytes(14))


@mutant((rb.GETTIME3, rb.GETTIME4), RFC1833_OPERATIONS)
def gettime_begins_in_2000(call: Call[Void, rb.GettimeRes]) -> rb.GettimeRes:
    """GETTIME counts from 2000"""
    return rb.GettimeRes(call.proceed().seconds - 946_684_800)


@mutant((rb.GETTIME3, rb.GETTIME4), RFC1833_OPERATIONS)
def gettime_counts_calls_by_the_hour(call: Call[Void, rb.GettimeRes]) -> rb.GettimeRes:
    """GETTIME moves on by an hour with each call but the first"""
    before = call.state.get("calls", 0)
    call.state["calls"] = before + 1
    return rb.GettimeRes(call.proceed().seconds + 3600 * before)


# ---------------------------------------------------------------- GETADDRLIST and GETSTAT


GetaddrList: t.TypeAlias = Call[Rpcb, RpcbEntryList]

_PIGEON = RpcbEntry(b"127.0.0.1.18.103", b"pigeon", 1, b"inet", b"pigeon")


@mutant(rb.GETADDRLIST4, RFC1833_VERSION_4)
def getaddrlist4_omits_the_transport_of_the_call(call: GetaddrList) -> RpcbEntryList:
    """GETADDRLIST does not list the transport over which it is asked"""
    netid = call.context.transport.encode()
    return RpcbEntryList([each for each in call.proceed().entries if each.r_nc_netid != netid])


@mutant(rb.GETADDRLIST4, RFC1833_VERSION_4)
def getaddrlist4_has_what_is_not_registered(call: GetaddrList) -> RpcbEntryList:
    """GETADDRLIST lists a transport on which the program is not registered"""
    entries = call.proceed().entries
    return RpcbEntryList([*entries, _PIGEON] if entries else [])


@mutant(rb.GETADDRLIST4, RFC1833_VERSION_4)
def getaddrlist4_lists_nobody(call: GetaddrList) -> RpcbEntryList:
    """GETADDRLIST of a program that is not registered lists an address"""
    return RpcbEntryList(call.proceed().entries or [_PIGEON])


@mutant(rb.GETADDRLIST4, RFC1833_VERSION_4)
def getaddrlist4_mixes_families_up(call: GetaddrList) -> RpcbEntryList:
    """GETADDRLIST has inet6 where inet is meant"""
    return RpcbEntryList([replace(each, r_nc_protofmly=b"inet6") for each in call.proceed().entries])


@mutant(rb.GETADDRLIST4, RFC1833_VERSION_4)
def getaddrlist4_takes_udp_for_connections(call: GetaddrList) -> RpcbEntryList:
    """GETADDRLIST gives UDP the semantics of connections"""
    return RpcbEntryList([replace(each, r_nc_semantics=3) for each in call.proceed().entries])


@mutant(rb.GETSTAT4, RFC1833_VERSION_4)
def getstat4_counts_nothing(call: Call[Void, rb.RpcbStatByvers]) -> rb.RpcbStatByvers:
    """GETSTAT says 0 of every procedure"""
    versions = call.proceed().versions
    return rb.RpcbStatByvers([replace(each, info=[0] * rb.RPCBSTAT_HIGHPROC) for each in versions])
