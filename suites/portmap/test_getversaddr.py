# SPDX-License-Identifier: MIT
"""GETVERSADDR of rpcbind 4 (RFC 1833 section 2.2.1)."""

from __future__ import annotations

from fixtures.checks.rpcbind import MakeBinder
from fixtures.checks.wire import Proto
from nfsjudge import Requirement, expect, observe, proves, skip
from suites.portmap.addresses import expect_universal
from suites.portmap.clauses import TRANSPORTS, UNIVERSAL_ADDRESS_OF_IPV4, UNIVERSAL_ADDRESS_OF_IPV6

GETVERSADDR_MATCHES_VERSION = Requirement(
    rfc="RFC 1833",
    section="2.2.2",
    gist="GETVERSADDR returns no address for a version that is not registered",
)


# ---------------------------------------------------------------- syntax


@proves(
    UNIVERSAL_ADDRESS_OF_IPV4,
    UNIVERSAL_ADDRESS_OF_IPV6,
    killed_by="getversaddr4-writes-the-port-behind-a-colon",
    needs="rpcbind4",
)
def test_universal_address(binder: MakeBinder, nfs_program: tuple[int, int]) -> None:
    """GETVERSADDR returns a valid universal address."""
    rpcbind = binder(4)
    address = rpcbind.rpcbind.getversaddr(*nfs_program, rpcbind.netid)
    if not address:
        skip(f"NFS is not registered for {rpcbind.netid}")
    expect_universal(address, rpcbind.netid, "address from GETVERSADDR")


# ---------------------------------------------------------------- not registered


@TRANSPORTS
@proves(GETVERSADDR_MATCHES_VERSION, killed_by="getversaddr4-takes-any-version", needs="rpcbind4")
def test_unregistered_version(binder: MakeBinder, proto: Proto, nfs_program: tuple[int, int]) -> None:
    """GETVERSADDR returns no address for a version that is not registered."""
    rpcbind = binder(4, proto)
    if any((each.prog, each.vers) == (nfs_program[0], 99) for each in rpcbind.entries()):
        skip("version 99 of NFS is registered")
    observe(
        "GETADDR of that version", rpcbind.rpcbind.getaddr(nfs_program[0], 99, rpcbind.netid) or "nothing"
    )
    address = rpcbind.rpcbind.getversaddr(nfs_program[0], 99, rpcbind.netid)
    expect(address, "address of a version that is not registered").equals("")
