# SPDX-License-Identifier: MIT
"""GETVERSADDR of rpcbind 4 (RFC 1833 section 2.2.1)."""

from __future__ import annotations

from fixtures.checks.rpcbind import MakePortMapper
from fixtures.checks.wire import Proto
from nfsjudge import expect, observe, proves, skip, stated
from suites.portmap.addresses import expect_universal
from suites.portmap.clauses import TRANSPORTS, UNIVERSAL_ADDRESS_OF_IPV4, UNIVERSAL_ADDRESS_OF_IPV6

GETVERSADDR_MATCHES_VERSION = stated(
    "RFC 1833", "2.2.2", "GETVERSADDR returns no address for a version that is not registered"
)


# ---------------------------------------------------------------- syntax


@proves(
    UNIVERSAL_ADDRESS_OF_IPV4,
    UNIVERSAL_ADDRESS_OF_IPV6,
    killed_by="getversaddr4-returns-host-colon-port",
    needs="rpcbind4",
)
def test_universal_address(port_mapper: MakePortMapper, nfs_program: tuple[int, int]) -> None:
    """GETVERSADDR returns a valid universal address."""
    rpcbind = port_mapper(4)
    address = rpcbind.rpcbind.getversaddr(*nfs_program, rpcbind.netid)
    if not address:
        skip(f"NFS is not registered for {rpcbind.netid}")
    expect_universal(address, rpcbind.netid, "address from GETVERSADDR")


# ---------------------------------------------------------------- not registered


@TRANSPORTS
@proves(GETVERSADDR_MATCHES_VERSION, killed_by="getversaddr4-accepts-any-version", needs="rpcbind4")
def test_unregistered_version(
    port_mapper: MakePortMapper, proto: Proto, nfs_program: tuple[int, int]
) -> None:
    """GETVERSADDR returns no address for a version that is not registered."""
    rpcbind = port_mapper(4, proto)
    if any((each.prog, each.vers) == (nfs_program[0], 99) for each in rpcbind.entries()):
        skip("version 99 of NFS is registered")
    observe(
        "GETADDR of that version", rpcbind.rpcbind.getaddr(nfs_program[0], 99, rpcbind.netid) or "nothing"
    )
    address = rpcbind.rpcbind.getversaddr(nfs_program[0], 99, rpcbind.netid)
    expect(address, "address of a version that is not registered").equals("")
