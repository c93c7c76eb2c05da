# SPDX-License-Identifier: MIT
"""rpcbind, versions 3 and 4 of the RPC binding protocol (RFC 1833 section 2), and universal addresses.

Unlike version 2 (`portmap`) it names transports ("tcp6") and writes addresses as text: IPv6 has a place.
Constants of procedures end in the version: `GETADDR3`, `GETADDR4`.
"""

from __future__ import annotations

import ipaddress
import typing as t

from nfsclient.errors import NfsClientError
from nfsclient.protocol.portmap import PROGRAM, BoolRes
from nfsclient.rpc.program import Procedure, Program
from nfsclient.xdr import FixedArray, Identity, LinkedList, Opaque, String, Struct, Void, XdrType, i32, u32

RPCBSTAT_HIGHPROC = 13
"""How many procedures the statistics count: those of version 4, NULL included."""
RPCBVERS_STAT = 3
"""How many versions the statistics count: 2, 3 and 4, in this order."""

Text = t.Annotated[bytes, String()]
"""A string without a limit."""
AddressText = t.Annotated[bytes, String(), Identity("address")]
"""A universal address: where a machine is reached."""


class Rpcb(Struct):
    """rpcb: a program, its version, and where it is reached."""

    r_prog: u32
    r_vers: u32
    r_netid: Text = b""
    """Name of the transport: tcp, udp, tcp6, udp6, local. GETADDR ignores it: that of the call counts."""
    r_addr: AddressText = b""
    """Universal address."""
    r_owner: t.Annotated[bytes, String(), Identity("principal")] = b""
    """Owner of the registration; ignored in calls, filled in by the server."""


class TextRes(Struct):
    """A bare `string`: a universal address, or empty when there is none."""

    value: AddressText


class TextArgs(Struct):
    """A bare `string`: the argument of UADDR2TADDR."""

    value: AddressText


class Rpcblist(Struct):
    """rpcblist, the result of DUMP."""

    entries: t.Annotated[list[Rpcb], LinkedList()]


class RpcbRmtcallargs(Struct):
    """rpcb_rmtcallargs: a call to be passed on to a program of the same machine."""

    prog: u32
    vers: u32
    proc: u32
    args: t.Annotated[bytes, Opaque(), Identity("body")]


class RpcbRmtcallres(Struct):
    """rpcb_rmtcallres: the universal address that answered, and its encoded results."""

    addr: AddressText
    results: t.Annotated[bytes, Opaque(), Identity("body")]


class GettimeRes(Struct):
    """A bare `unsigned int`: seconds since 1970-01-01 00:00 UTC."""

    seconds: u32


class Netbuf(Struct):
    """netbuf: an address in the form of the server's own operating system."""

    maxlen: u32
    buf: t.Annotated[bytes, Opaque(), Identity("address")]


class RpcbEntry(Struct):
    """rpcb_entry: one transport of a service."""

    r_maddr: AddressText
    """Universal address."""
    r_nc_netid: Text
    r_nc_semantics: u32
    """1 datagrams, 2 connections, 3 connections with orderly release, 4 raw."""
    r_nc_protofmly: Text
    """Family of protocols: inet, inet6, loopback."""
    r_nc_proto: Text
    """Name of the protocol: tcp, udp."""


class RpcbEntryList(Struct):
    """rpcb_entry_list, the result of GETADDRLIST."""

    entries: t.Annotated[list[RpcbEntry], LinkedList()]


class RpcbsAddrlist(Struct):
    """rpcbs_addrlist: how often a program was looked up."""

    prog: u32
    vers: u32
    success: i32
    failure: i32
    netid: Text


class RpcbsRmtcalllist(Struct):
    """rpcbs_rmtcalllist: how often calls to a procedure were passed on."""

    prog: u32
    vers: u32
    proc: u32
    success: i32
    failure: i32
    indirect: i32
    """Whether by INDIRECT (not 0) or by CALLIT and BCAST."""
    netid: Text


class RpcbStat(Struct):
    """rpcb_stat: what one version of the service has counted."""

    info: t.Annotated[list[i32], FixedArray(RPCBSTAT_HIGHPROC)]
    """Calls of each procedure, by its number."""
    setinfo: i32
    unsetinfo: i32
    addrinfo: t.Annotated[list[RpcbsAddrlist], LinkedList()]
    rmtinfo: t.Annotated[list[RpcbsRmtcalllist], LinkedList()]


class RpcbStatByvers(Struct):
    """rpcb_stat_byvers, the result of GETSTAT: versions 2, 3 and 4."""

    versions: t.Annotated[list[RpcbStat], FixedArray(RPCBVERS_STAT)]


A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)


def _procedure(version: int, number: int, name: str, args: type[A], res: type[R]) -> Procedure[A, R]:
    return Procedure(PROGRAM, version, number, name, args, res)


NULL3 = _procedure(3, 0, "NULL", Void, Void)
SET3 = _procedure(3, 1, "SET", Rpcb, BoolRes)
UNSET3 = _procedure(3, 2, "UNSET", Rpcb, BoolRes)
GETADDR3 = _procedure(3, 3, "GETADDR", Rpcb, TextRes)
DUMP3 = _procedure(3, 4, "DUMP", Void, Rpcblist)
CALLIT3 = _procedure(3, 5, "CALLIT", RpcbRmtcallargs, RpcbRmtcallres)
GETTIME3 = _procedure(3, 6, "GETTIME", Void, GettimeRes)
UADDR2TADDR3 = _procedure(3, 7, "UADDR2TADDR", TextArgs, Netbuf)
TADDR2UADDR3 = _procedure(3, 8, "TADDR2UADDR", Netbuf, TextRes)

RPCBIND3 = Program(
    PROGRAM,
    3,
    "RPCBIND",
    (NULL3, SET3, UNSET3, GETADDR3, DUMP3, CALLIT3, GETTIME3, UADDR2TADDR3, TADDR2UADDR3),
)
"""Program 100000, version 3."""

NULL4 = _procedure(4, 0, "NULL", Void, Void)
SET4 = _procedure(4, 1, "SET", Rpcb, BoolRes)
UNSET4 = _procedure(4, 2, "UNSET", Rpcb, BoolRes)
GETADDR4 = _procedure(4, 3, "GETADDR", Rpcb, TextRes)
DUMP4 = _procedure(4, 4, "DUMP", Void, Rpcblist)
BCAST4 = _procedure(4, 5, "BCAST", RpcbRmtcallargs, RpcbRmtcallres)
GETTIME4 = _procedure(4, 6, "GETTIME", Void, GettimeRes)
UADDR2TADDR4 = _procedure(4, 7, "UADDR2TADDR", TextArgs, Netbuf)
TADDR2UADDR4 = _procedure(4, 8, "TADDR2UADDR", Netbuf, TextRes)
GETVERSADDR4 = _procedure(4, 9, "GETVERSADDR", Rpcb, TextRes)
INDIRECT4 = _procedure(4, 10, "INDIRECT", RpcbRmtcallargs, RpcbRmtcallres)
GETADDRLIST4 = _procedure(4, 11, "GETADDRLIST", Rpcb, RpcbEntryList)
GETSTAT4 = _procedure(4, 12, "GETSTAT", Void, RpcbStatByvers)

RPCBIND4 = Program(
    PROGRAM,
    4,
    "RPCBIND",
    (
        NULL4,
        SET4,
        UNSET4,
        GETADDR4,
        DUMP4,
        BCAST4,
        GETTIME4,
        UADDR2TADDR4,
        TADDR2UADDR4,
        GETVERSADDR4,
        INDIRECT4,
        GETADDRLIST4,
        GETSTAT4,
    ),
)
"""Program 100000, version 4."""


class UniversalAddressError(NfsClientError):
    """Text that is no universal address of IPv4 or IPv6."""


def to_universal(host: str, port: int) -> str:
    """The universal address of an IP address and a port: the port as two decimal bytes at the end of the address.

    ``to_universal("127.0.0.1", 2049)`` is ``"127.0.0.1.8.1"`` (RFC 5665 sections 5.2.3.3 and 5.2.3.4).
    Raises `UniversalAddressError` when `host` is no IP address or `port` is not within 0 to 65535.
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise UniversalAddressError(
            f"expected an IPv4 or IPv6 address, saw {host!r}; resolve names first"
        ) from None
    if not 0 <= port <= 0xFFFF:
        raise UniversalAddressError(f"expected a port of 0 to 65535, saw {port}")
    return f"{address}.{port >> 8}.{port & 0xFF}"


def from_universal(text: str) -> tuple[str, int]:
    """IP address and port of a universal address. Raises `UniversalAddressError`."""
    host, *port_bytes = text.rsplit(".", 2)
    try:
        high, low = (_octet(part) for part in port_bytes)
        address = ipaddress.ip_address(host)
    except ValueError:
        expected = (
            "expected an IP address and two decimal numbers of 0 to 255, all joined by dots (127.0.0.1.8.1)"
        )
        raise UniversalAddressError(f"{expected}, saw {text!r}") from None
    return str(address), high << 8 | low


def _octet(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) > 0xFF:
        raise ValueError(text)
    return int(text)
