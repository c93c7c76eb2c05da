# SPDX-License-Identifier: MIT
"""portmap and rpcbind types against bytes laid out by hand after RFC 1833; universal addresses (RFC 5665)."""

from __future__ import annotations

import ipaddress
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.protocol import portmap as pm
from nfsclient.protocol import rpcbind as rb
from nfsclient.rpc.program import Program
from nfsclient.xdr import Void, XdrError, XdrType


def u(*values: int) -> bytes:
    return struct.pack(f">{len(values)}I", *values)


TCP6, TCP6_WIRE = b"tcp6", u(4) + b"tcp6"
ADDR, ADDR_WIRE = b"::1.8.1", u(7) + b"::1.8.1\0"
MAPPING, MAPPING_WIRE = pm.Mapping(100003, 3, 6, 2049), u(100003, 3, 6, 2049)
RPCB = rb.Rpcb(100003, 3, TCP6, ADDR, b"su")
RPCB_WIRE = u(100003, 3) + TCP6_WIRE + ADDR_WIRE + u(2) + b"su\0\0"
STAT = rb.RpcbStat(
    list(range(13)),
    14,
    15,
    [rb.RpcbsAddrlist(1, 2, 3, 4, TCP6)],
    [rb.RpcbsRmtcalllist(1, 2, 3, 4, 5, 6, TCP6)],
)
STAT_WIRE = (
    u(*range(13), 14, 15)
    + (u(1, 1, 2, 3, 4) + TCP6_WIRE + u(0))
    + (u(1, 1, 2, 3, 4, 5, 6) + TCP6_WIRE + u(0))
)

VECTORS: list[tuple[XdrType, bytes]] = [
    (Void(), b""),
    (MAPPING, MAPPING_WIRE),
    (pm.BoolRes(True), u(1)),
    (pm.GetportRes(2049), u(2049)),
    (pm.Pmaplist([MAPPING, MAPPING]), (u(1) + MAPPING_WIRE) * 2 + u(0)),
    (pm.CallArgs(100003, 3, 0, b"arg"), u(100003, 3, 0, 3) + b"arg\0"),
    (pm.CallResult(2049, b"result"), u(2049, 6) + b"result\0\0"),
    (RPCB, RPCB_WIRE),
    (rb.TextArgs(ADDR), ADDR_WIRE),
    (rb.TextRes(b""), u(0)),
    (rb.Rpcblist([RPCB]), u(1) + RPCB_WIRE + u(0)),
    (rb.RpcbRmtcallargs(1, 2, 3, b""), u(1, 2, 3, 0)),
    (rb.RpcbRmtcallres(ADDR, b"abcd"), ADDR_WIRE + u(4) + b"abcd"),
    (rb.GettimeRes(0xFFFFFFFF), u(0xFFFFFFFF)),
    (rb.Netbuf(16, b"\2\0"), u(16, 2) + b"\2\0\0\0"),
    (
        rb.RpcbEntryList([rb.RpcbEntry(ADDR, TCP6, 3, b"inet6", b"tcp")]),
        u(1) + ADDR_WIRE + TCP6_WIRE + u(3, 5) + b"inet6\0\0\0" + u(3) + b"tcp\0" + u(0),
    ),
    (rb.RpcbStatByvers([STAT, STAT, STAT]), STAT_WIRE * 3),
]
PROGRAMS = [pm.PORTMAP2, rb.RPCBIND3, rb.RPCBIND4]
IDS = [f"{number}-{type(value).__name__}" for number, (value, _) in enumerate(VECTORS)]


@pytest.mark.parametrize(("value", "wire"), VECTORS, ids=IDS)
def test_both_directions_match_the_layout_of_the_rfc(value: XdrType, wire: bytes) -> None:
    assert value.to_xdr() == wire
    assert type(value).from_xdr(wire) == value


def test_every_type_of_the_programs_has_a_vector() -> None:
    covered = {type(value) for value, _ in VECTORS}
    procedures = [each for program in PROGRAMS for each in program.procedures]
    assert {cls for procedure in procedures for cls in (procedure.args, procedure.res)} <= covered


@pytest.mark.parametrize(
    ("program", "count"), [(pm.PORTMAP2, 6), (rb.RPCBIND3, 9), (rb.RPCBIND4, 13)], ids=["v2", "v3", "v4"]
)
def test_procedures_are_numbered_without_gaps(program: Program, count: int) -> None:
    assert [each.number for each in program.procedures] == list(range(count))
    assert {(each.program, each.version) for each in program.procedures} == {(100000, program.version)}


def test_a_boolean_is_0_or_1() -> None:
    with pytest.raises(XdrError):
        pm.BoolRes.from_xdr(u(2))


@pytest.mark.parametrize(
    ("host", "port", "text"),
    [
        ("192.0.2.7", 52049, "192.0.2.7.203.81"),
        ("127.0.0.1", 111, "127.0.0.1.0.111"),
        ("::1", 2049, "::1.8.1"),
        ("2001:db8::7", 65535, "2001:db8::7.255.255"),
    ],
)
def test_universal_addresses_of_known_services(host: str, port: int, text: str) -> None:
    assert rb.to_universal(host, port) == text
    assert rb.from_universal(text) == (host, port)


def test_an_ipv6_address_may_end_in_ipv4_form() -> None:
    host, port = rb.from_universal("::ffff:192.0.2.7.8.1")
    assert (ipaddress.ip_address(host), port) == (ipaddress.ip_address("::ffff:192.0.2.7"), 2049)


@given(st.ip_addresses(), st.integers(0, 0xFFFF))
def test_universal_addresses_survive_the_round_trip(address: ipaddress.IPv4Address, port: int) -> None:
    assert rb.from_universal(rb.to_universal(str(address), port)) == (str(address), port)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "127.0.0.1",
        "127.0.0.1.8",
        "127.0.0.1.256.1",
        "127.0.0.1.-8.1",
        "a.8.1",
        "::1.8.1.1",
        "::1.8.",
        "1.8",
    ],
)
def test_other_text_is_no_universal_address(text: str) -> None:
    with pytest.raises(rb.UniversalAddressError, match="expected"):
        rb.from_universal(text)


@given(st.text())
def test_any_text_is_an_address_or_a_typed_error(text: str) -> None:
    try:
        host, port = rb.from_universal(text)
    except rb.UniversalAddressError:
        return
    assert rb.from_universal(rb.to_universal(host, port)) == (host, port)


@pytest.mark.parametrize(("host", "port"), [("localhost", 1), ("127.0.0.1", 65536), ("127.0.0.1", -1)])
def test_only_addresses_and_ports_make_a_universal_address(host: str, port: int) -> None:
    with pytest.raises(rb.UniversalAddressError, match="expected"):
        rb.to_universal(host, port)
