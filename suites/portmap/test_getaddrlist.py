# SPDX-License-Identifier: MIT
"""GETADDRLIST of rpcbind 4 (RFC 1833 section 2.2.1)."""

from __future__ import annotations

from fixtures.checks.rpcbind import UNUSED_PROGRAM, MakePortMapper
from nfsjudge import expect, observe, proves, should, show, skip, stated

GETADDRLIST_LISTS_ADDRESSES = stated(
    "RFC 1833", "2.2.2", "GETADDRLIST returns the list of addresses of the given program"
)
GETADDRLIST_DESCRIBES_TRANSPORTS = should(
    "RFC 1833", "2.1", "an entry of GETADDRLIST describes its transport by semantics, family and protocol"
)


@proves(
    GETADDRLIST_LISTS_ADDRESSES, killed_by="getaddrlist4-omits-the-transport-of-the-call", needs="rpcbind4"
)
def test_transport_of_call(port_mapper: MakePortMapper, nfs_program: tuple[int, int]) -> None:
    """GETADDRLIST lists the transport over which it is called."""
    rpcbind = port_mapper(4)
    if not rpcbind.rpcbind.getversaddr(*nfs_program, rpcbind.netid):
        skip(f"NFS is not registered for {rpcbind.netid}")
    netids = [each.r_nc_netid.decode(errors="replace") for each in rpcbind.rpcbind.getaddrlist(*nfs_program)]
    observe("transports", netids)
    expect(netids, "netids in GETADDRLIST").contains(rpcbind.netid)


@proves(
    GETADDRLIST_LISTS_ADDRESSES, killed_by="getaddrlist4-lists-an-unregistered-transport", needs="rpcbind4"
)
def test_only_registered(port_mapper: MakePortMapper, nfs_program: tuple[int, int]) -> None:
    """GETADDRLIST lists only transports that DUMP lists."""
    rpcbind = port_mapper(4)
    registered = {each.netid for each in rpcbind.entries() if (each.prog, each.vers) == nfs_program}
    listed = {each.r_nc_netid.decode(errors="replace") for each in rpcbind.rpcbind.getaddrlist(*nfs_program)}
    expect(sorted(listed - registered), "netids in GETADDRLIST that DUMP does not list").equals([])


@proves(GETADDRLIST_LISTS_ADDRESSES, killed_by="getaddrlist4-lists-unregistered-programs", needs="rpcbind4")
def test_unregistered_program(port_mapper: MakePortMapper) -> None:
    """GETADDRLIST returns an empty list for a program that is not registered."""
    listed = port_mapper(4).rpcbind.getaddrlist(UNUSED_PROGRAM, 1)
    expect(len(listed), "addresses of a program that is not registered").equals(0)


@proves(GETADDRLIST_DESCRIBES_TRANSPORTS, killed_by="getaddrlist4-lists-inet6-for-inet", needs="rpcbind4")
def test_family_and_protocol(port_mapper: MakePortMapper, nfs_program: tuple[int, int]) -> None:
    """GETADDRLIST returns the right family and protocol for each transport."""
    known = {
        b"tcp": (b"inet", b"tcp"),
        b"udp": (b"inet", b"udp"),
        b"tcp6": (b"inet6", b"tcp"),
        b"udp6": (b"inet6", b"udp"),
    }
    entries = [each for each in port_mapper(4).rpcbind.getaddrlist(*nfs_program) if each.r_nc_netid in known]
    for each in entries:
        what = f"family and protocol of netid {show(each.r_nc_netid)}"
        expect((each.r_nc_protofmly, each.r_nc_proto), what, of=each, field="r_nc_protofmly").equals(
            known[each.r_nc_netid]
        )


@proves(GETADDRLIST_DESCRIBES_TRANSPORTS, killed_by="getaddrlist4-lists-udp-as-connections", needs="rpcbind4")
def test_semantics(port_mapper: MakePortMapper, nfs_program: tuple[int, int]) -> None:
    """GETADDRLIST returns the right semantics for each transport."""
    meant = {b"tcp": (2, 3), b"tcp6": (2, 3), b"udp": (1,), b"udp6": (1,)}
    entries = [each for each in port_mapper(4).rpcbind.getaddrlist(*nfs_program) if each.r_nc_netid in meant]
    for each in entries:
        what = f"nc_semantics of netid {show(each.r_nc_netid)}"
        expect(each).field("r_nc_semantics", what).one_of(*meant[each.r_nc_netid])
