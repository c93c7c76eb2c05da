# SPDX-License-Identifier: MIT
"""UADDR2TADDR and TADDR2UADDR of rpcbind (RFC 1833 section 2.2.1)."""

from __future__ import annotations

import pytest

from fixtures.checks.rpcbind import MakePortMapper
from nfsclient.protocol.rpcbind import from_universal
from nfsjudge import expect, expect_that, observe, proves, skip, stated
from suites.portmap.addresses import is_universal
from suites.portmap.clauses import RPCBIND_VERSIONS

CONVERTS_ADDRESSES = stated(
    "RFC 1833",
    "2.2.1",
    "UADDR2TADDR and TADDR2UADDR convert universal addresses to transport addresses and back",
)
ADDRESSES = {
    "port-2049": ("127.0.0.1.8.1", "::1.8.1"),
    "port-111": ("192.0.2.200.0.111", "2001:db8::c8.0.111"),
    "port-65534": ("10.255.0.1.255.254", "2001:db8:ffff::ff01.255.254"),
}
"""Id -> a universal address of IPv4, and the one to use instead if the call goes over IPv6."""


def _of_family(address: str, netid: str) -> str:
    ipv4, ipv6 = ADDRESSES[address]
    return ipv6 if netid.endswith("6") else ipv4


@RPCBIND_VERSIONS
@pytest.mark.parametrize("address", list(ADDRESSES))
@proves(CONVERTS_ADDRESSES, killed_by="uaddr2taddr-swaps-the-bytes-of-the-port")
def test_round_trip(port_mapper: MakePortMapper, version: int, address: str) -> None:
    """TADDR2UADDR returns the address that was converted with UADDR2TADDR."""
    rpcbind = port_mapper(version)
    sent = _of_family(address, rpcbind.netid)
    form = rpcbind.rpcbind.uaddr2taddr(sent)
    if not form.buf:
        skip(f"UADDR2TADDR does not convert {sent}")
    observe("transport address", f"{len(form.buf)} bytes")
    back = rpcbind.rpcbind.taddr2uaddr(bytes(form.buf))
    same = is_universal(back, rpcbind.netid) and from_universal(back) == from_universal(sent)
    expect_that(same, sent, back, "address from TADDR2UADDR")


@RPCBIND_VERSIONS
@proves(CONVERTS_ADDRESSES, killed_by="uaddr2taddr-returns-only-the-family")
def test_distinct_results(port_mapper: MakePortMapper, version: int) -> None:
    """UADDR2TADDR converts different addresses to different results."""
    rpcbind = port_mapper(version)
    addresses = [_of_family(address, rpcbind.netid) for address in ADDRESSES]
    forms = {bytes(rpcbind.rpcbind.uaddr2taddr(address).buf) for address in addresses}
    if b"" in forms:
        skip("UADDR2TADDR does not convert every address")
    expect(len(forms), "different results for 3 addresses").equals(3)
