# SPDX-License-Identifier: MIT
"""What portmap and rpcbind have in common: the registry of all three versions, and statistics.

Port mapper (version 2) and rpcbind (3 and 4) are views of one table (RFC 1833 sections 2.2 and 3.2): its key is
program, version and the name of a transport ("tcp6"), its value a universal address.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import typing as t

from nfsclient.protocol.portmap import IPPROTO_TCP, IPPROTO_UDP
from nfsclient.protocol.rpcbind import (
    RPCBSTAT_HIGHPROC,
    Rpcb,
    RpcbsAddrlist,
    RpcbsRmtcalllist,
    RpcbStat,
    UniversalAddressError,
    from_universal,
    to_universal,
)
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.service import CallContext
from nfsserver.bounds import MOST

Key: t.TypeAlias = tuple[int, int, bytes]
"""Program, version, netid."""

SUPERUSER = b"superuser"
"""Owner of what this server itself has registered, and of what user 0 has."""


class Netid(t.NamedTuple):
    """One row of netconfig."""

    semantics: int
    """1 datagrams, 2 connections, 3 connections with orderly release."""
    family: bytes
    protocol: bytes


NETIDS: t.Final[t.Mapping[bytes, Netid]] = {
    b"tcp": Netid(3, b"inet", b"tcp"),
    b"udp": Netid(1, b"inet", b"udp"),
    b"tcp6": Netid(3, b"inet6", b"tcp"),
    b"udp6": Netid(1, b"inet6", b"udp"),
}
"""The transports that can be registered."""
OF_PROTOCOL: t.Final = {IPPROTO_TCP: (b"tcp", b"tcp6"), IPPROTO_UDP: (b"udp", b"udp6")}
"""The transports that version 2 shows under a protocol number, the one of IPv4 first."""


class Registry:
    """Registrations of this server, which nobody can UNSET, and those of others."""

    def __init__(self) -> None:
        self._own: dict[Key, Rpcb] = {}
        self._others: dict[Key, Rpcb] = {}
        self.statistics: t.Final = {version: Statistics() for version in (2, 3, 4)}
        self.trusts_loopback = True
        """Whether callers on loopback are taken for callers of this machine, as they are."""

    def publish(
        self, programs: t.Iterable[tuple[int, int]], host: str, *, tcp: int | None, udp: int | None
    ) -> None:
        """The ports of this server's (program, version) pairs at `host`, in place of those published before."""
        self._own = {}
        for netid, address in _addresses(host, tcp, udp):
            for program, version in programs:
                entry = Rpcb(program, version, netid, address.encode(), SUPERUSER)
                self._own[program, version, netid] = entry

    def find(self, key: Key) -> Rpcb | None:
        """One registration."""
        return self._own.get(key) or self._others.get(key)

    def entries(self) -> list[Rpcb]:
        """All of them, own ones last."""
        return [*self._others.values(), *self._own.values()]

    def set(self, entry: Rpcb) -> bool:
        """A new registration; False if it exists, is invalid, or there is no room (RFC 1833 section 2.2.1)."""
        key = (entry.r_prog, entry.r_vers, entry.r_netid)
        if self.find(key) is not None or len(self._others) >= MOST.registrations:
            return False
        if len(entry.r_addr) > MOST.universal_address:
            return False
        if entry.r_netid not in NETIDS or not port_of(entry):
            return False
        self._others[key] = entry
        return True

    def unset(self, prog: int, vers: int, netids: t.Collection[bytes], owner: bytes) -> bool:
        """Remove what `owner` may remove of a program and version on these transports; False if there was nothing."""
        doomed = [
            key
            for key, entry in self._others.items()
            if key[:2] == (prog, vers) and key[2] in netids and owner in (SUPERUSER, entry.r_owner)
        ]
        for key in doomed:
            del self._others[key]
        return bool(doomed)

    def is_local(self, context: CallContext) -> bool:
        """Whether the caller is on this machine, as SET and UNSET require (RFC 1833 section 2.2.2)."""
        address = _ip(context)
        return self.trusts_loopback and address is not None and address.is_loopback


def _addresses(host: str, tcp: int | None, udp: int | None) -> t.Iterator[tuple[bytes, str]]:
    """Pairs of netid and universal address. Who listens on all addresses of IPv6 takes IPv4 as well."""
    is_6 = ":" in host
    hosts = {True: host} if is_6 else {False: host}
    if is_6 and ipaddress.ip_address(host.partition("%")[0]).is_unspecified:
        hosts[False] = "0.0.0.0"  # noqa: S104 - said, not bound
    for six, numeric in sorted(hosts.items()):
        for name, port in (("tcp", tcp), ("udp", udp)):
            if port is not None:
                yield f"{name}6".encode() if six else name.encode(), to_universal(numeric, port)


def port_of(entry: Rpcb) -> int:
    """The port of a registration; 0 when its address is none."""
    try:
        return from_universal(entry.r_addr.decode())[1]
    except (UniversalAddressError, UnicodeDecodeError):
        return 0


def _ip(context: CallContext) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Where a call came from; None when it did not come over IP."""
    try:
        address = ipaddress.ip_address(context.peer[0].partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def netid_of(context: CallContext) -> bytes:
    """The transport of a call, which GETADDR uses (RFC 1833 section 2.2.1)."""
    address = _ip(context)
    six = "6" if address is not None and address.version == 6 else ""
    return f"{context.transport}{six}".encode()


def reachable(entry: Rpcb | None, context: CallContext) -> bytes:
    """The universal address of a registration for this caller; empty without one.

    A service that listens on all addresses is reached at the address from which a reply to this caller would be sent.
    """
    if entry is None:
        return b""
    host, port = from_universal(entry.r_addr.decode())
    if not ipaddress.ip_address(host).is_unspecified:
        return entry.r_addr
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((str(_ip(context)), context.peer[1]))  # of a datagram socket: nothing is sent
        host = probe.getsockname()[0].partition("%")[0]
    return to_universal(host, port).encode()


def owner_of(context: CallContext) -> bytes:
    """Who makes a registration. AUTH_SYS is believed, because only callers on this machine get here."""
    if not isinstance(context.credential, AuthSys):
        return b"unknown"
    uid = context.credential.uid
    return SUPERUSER if uid == 0 else str(uid).encode()


class Statistics:
    """What GETSTAT says of one version."""

    def __init__(self) -> None:
        self._calls = [0] * RPCBSTAT_HIGHPROC
        self.sets = self.unsets = 0
        """Those that succeeded."""
        self._asked: dict[Key, list[int]] = {}
        self._passed: dict[tuple[int, int, int, bytes, bool], list[int]] = {}

    def count(self, procedure: int) -> None:
        """A call of a procedure."""
        self._calls[procedure] += 1

    def count_asked(self, key: Key, found: bool) -> None:
        """A program was looked up."""
        if key in self._asked or len(self._asked) < MOST.counted:
            self._asked.setdefault(key, [0, 0])[not found] += 1

    def count_passed(self, key: tuple[int, int, int, bytes, bool], worked: bool) -> None:
        """A call was passed on: (program, version, procedure, netid, whether by INDIRECT)."""
        if key in self._passed or len(self._passed) < MOST.counted:
            self._passed.setdefault(key, [0, 0])[not worked] += 1

    def result(self) -> RpcbStat:
        """As it goes on the wire."""
        asked = [
            RpcbsAddrlist(prog, vers, good, bad, netid)
            for (prog, vers, netid), (good, bad) in self._asked.items()
        ]
        passed = [
            RpcbsRmtcalllist(prog, vers, proc, good, bad, int(indirect), netid)
            for (prog, vers, proc, netid, indirect), (good, bad) in self._passed.items()
        ]
        return RpcbStat(list(self._calls), self.sets, self.unsets, asked, passed)
