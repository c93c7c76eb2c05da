# SPDX-License-Identifier: MIT
"""GETADDR of rpcbind (RFC 1833 section 2.2.1)."""

from __future__ import annotations

import ipaddress

from fixtures.checks.rpcbind import UNUSED_PROGRAM, MakePortMapper
from fixtures.checks.wire import Proto
from nfsclient.protocol.portmap import PROGRAM
from nfsclient.protocol.rpcbind import from_universal
from nfsjudge import expect, expect_that, observe, proves, should, skip, stated
from suites.portmap.addresses import WhyNobodyAnswers, expect_service, expect_universal, is_universal
from suites.portmap.clauses import (
    PROGRAM_AWAITS_CALLS,
    RPCBIND_VERSIONS,
    TRANSPORTS,
    UNIVERSAL_ADDRESS_OF_IPV4,
    UNIVERSAL_ADDRESS_OF_IPV6,
)

GETADDR_RETURNS_CALLABLE_ADDRESS = should(
    "RFC 1833", "2.2.1", "GETADDR returns an address that a client can call"
)
GETADDR_RETURNS_NOTHING = stated(
    "RFC 1833", "2.2.1", "GETADDR returns no address for a program that is not registered"
)
GETADDR_IGNORES_NETID = stated(
    "RFC 1833", "2.2.1", "GETADDR ignores r_netid and returns the address for the transport of the call"
)


# ---------------------------------------------------------------- syntax


@RPCBIND_VERSIONS
@proves(UNIVERSAL_ADDRESS_OF_IPV4, UNIVERSAL_ADDRESS_OF_IPV6, killed_by="getaddr-returns-host-colon-port")
def test_universal_address(port_mapper: MakePortMapper, version: int) -> None:
    """GETADDR returns a valid universal address."""
    rpcbind = port_mapper(version)
    address = rpcbind.rpcbind.getaddr(PROGRAM, version, rpcbind.netid)
    if not address:
        skip(f"rpcbind has not registered itself for {rpcbind.netid}")
    rule = UNIVERSAL_ADDRESS_OF_IPV6 if rpcbind.netid.endswith("6") else UNIVERSAL_ADDRESS_OF_IPV4
    expect_universal(address, rpcbind.netid, "address from GETADDR", because=rule)


@RPCBIND_VERSIONS
@proves(GETADDR_RETURNS_CALLABLE_ADDRESS, killed_by="getaddr-returns-the-wildcard")
def test_callable_address(port_mapper: MakePortMapper, version: int, nfs_program: tuple[int, int]) -> None:
    """GETADDR returns an address and port that a client can call."""
    rpcbind = port_mapper(version)
    address = rpcbind.rpcbind.getaddr(*nfs_program, rpcbind.netid)
    if not is_universal(address, rpcbind.netid):
        skip("GETADDR returns no universal address for NFS")
    host, port = from_universal(address)
    observe("host", host)
    callable_ = port > 0 and not ipaddress.ip_address(host).is_unspecified
    expect_that(callable_, "an address and port to call", address, "address from GETADDR")


# ---------------------------------------------------------------- not registered


@TRANSPORTS
@RPCBIND_VERSIONS
@proves(GETADDR_RETURNS_NOTHING, killed_by="getaddr-invents-addresses")
def test_unregistered_program(port_mapper: MakePortMapper, version: int, proto: Proto) -> None:
    """GETADDR returns no address for a program that is not registered."""
    rpcbind = port_mapper(version, proto)
    address = rpcbind.rpcbind.getaddr(UNUSED_PROGRAM, 1, rpcbind.netid)
    expect(address, "address of a program that is not registered").equals("")


# ---------------------------------------------------------------- registered


@RPCBIND_VERSIONS
@proves(PROGRAM_AWAITS_CALLS, killed_by="getaddr-returns-a-wrong-port-for-nfs")
def test_nfs_tcp(
    port_mapper: MakePortMapper,
    version: int,
    nfs_program: tuple[int, int],
    why_nobody_answers: WhyNobodyAnswers,
) -> None:
    """NFS over TCP answers at the address that GETADDR returns."""
    port = port_mapper(version, "tcp").port(*nfs_program)
    if not port:
        skip("NFS is not registered for TCP")
    reason = why_nobody_answers(*nfs_program, port, "tcp")
    expect_service(reason, f"NFS at port {port} over TCP")


@TRANSPORTS
@RPCBIND_VERSIONS
@proves(GETADDR_IGNORES_NETID, killed_by="getaddr-obeys-r-netid")
def test_ignores_netid(
    port_mapper: MakePortMapper, version: int, proto: Proto, mount_program: tuple[int, int]
) -> None:
    """GETADDR ignores r_netid and returns the address for the transport of the call."""
    rpcbind = port_mapper(version, proto)
    wanted = rpcbind.rpcbind.getaddr(*mount_program, rpcbind.netid)
    if not wanted:
        skip(f"MOUNT is not registered for {rpcbind.netid}")
    netids = ("tcp", "udp", "", "nfsproof")
    found = [rpcbind.rpcbind.getaddr(*mount_program, netid) for netid in netids]
    for netid, address in zip(netids, found, strict=True):
        expect(address, f"address from GETADDR with r_netid '{netid}'").equals(wanted)
