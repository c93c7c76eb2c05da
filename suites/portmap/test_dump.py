# SPDX-License-Identifier: MIT
"""DUMP (RFC 1833): the list of registered programs."""

from __future__ import annotations

from fixtures.checks.rpcbind import Entry, MakePortMapper
from fixtures.checks.wire import MOUNT, NFS, Proto
from nfsclient.protocol.portmap import PROGRAM
from nfsjudge import expect, expect_once, expect_that, observe, proves, should, skip, stated
from nfsjudge.showing import show_names
from suites.portmap.addresses import is_universal
from suites.portmap.clauses import (
    EVERY_VERSION,
    PORTMAP,
    RPCBIND_VERSIONS,
    TRANSPORTS,
    UNIVERSAL_ADDRESS_OF_IPV4,
    UNIVERSAL_ADDRESS_OF_IPV6,
)

DUMP_LISTS_ALL = stated("RFC 1833", "2.2.1", "DUMP lists all registered programs", also=PORTMAP)
DUMP_AGREES_WITH_LOOKUP = stated(
    "RFC 1833", "2.2.1", "DUMP, GETPORT and GETADDR use the same database", also=PORTMAP
)
DUMP_HAS_NO_DUPLICATES = should(  # the RFC says so of SET, not of entries that the server makes itself
    "RFC 1833", "2.2.1", "a program version has at most one mapping per transport", also=PORTMAP
)
NETIDS_OF_IP = {"tcp", "udp", "tcp6", "udp6"}


# ---------------------------------------------------------------- syntax


@RPCBIND_VERSIONS
@proves(
    UNIVERSAL_ADDRESS_OF_IPV4,
    UNIVERSAL_ADDRESS_OF_IPV6,
    killed_by="rpcbind-dump-lists-host-colon-port",
)
def test_universal_addresses(port_mapper: MakePortMapper, version: int) -> None:
    """DUMP returns valid universal addresses."""
    # Only well-known programs: others may register any text as their address.
    entries = [
        (each.r_netid.decode(errors="replace"), each.r_addr)
        for each in port_mapper(version).rpcbind.dump()
        if each.r_prog in {PROGRAM, NFS, MOUNT}
    ]
    of_ip = [(netid, address) for netid, address in entries if netid in NETIDS_OF_IP]
    observe("transports", sorted({netid for netid, _ in entries}))
    wrong = [address for netid, address in of_ip if not is_universal(address, netid)]
    expect_that(not wrong, "universal addresses", show_names(wrong), "addresses in DUMP")


# ---------------------------------------------------------------- entries


def _of_ip(entries: list[Entry], netid: str) -> set[Entry]:
    return {each for each in entries if each.netid == netid}


@TRANSPORTS
@EVERY_VERSION
@proves(DUMP_AGREES_WITH_LOOKUP, killed_by="portmap-dump-lists-another-port-for-mount")
def test_agrees_with_lookup(port_mapper: MakePortMapper, version: int, proto: Proto) -> None:
    """DUMP lists the same ports as GETPORT or GETADDR return."""
    client, lookup = port_mapper(version, proto), "GETPORT" if version == 2 else "GETADDR"
    listed = _of_ip(client.entries(), client.netid)
    found = {Entry(each.prog, each.vers, client.netid, client.port(each.prog, each.vers)) for each in listed}
    observe("entries", len(listed))
    if found != listed and listed != _of_ip(client.entries(), client.netid):
        skip("registrations changed during the check")
    ports = {(each.prog, each.vers): each.port for each in found}
    wrong = [
        f"port {each.port} for program {each.prog} version {each.vers}, where {lookup} returns {port}"
        for each in sorted(listed, key=lambda each: (each.prog, each.vers))
        if each.port != (port := ports[each.prog, each.vers])
    ]
    expect_that(found == listed, f"the ports that {lookup} returns", "; ".join(wrong), "DUMP")


@TRANSPORTS
@EVERY_VERSION
@proves(DUMP_LISTS_ALL, killed_by="portmap-dump-omits-itself")
def test_lists_portmap(port_mapper: MakePortMapper, version: int, proto: Proto) -> None:
    """DUMP lists the port mapper's own registration."""
    client = port_mapper(version, proto)
    port = client.port(PROGRAM, version)
    if not port:
        skip("the port mapper has not registered itself")
    listed = [each.port for each in _of_ip(client.entries(), client.netid) if each.prog == PROGRAM]
    expect(listed, "ports of the port mapper in DUMP").contains(port)


@EVERY_VERSION
@proves(DUMP_HAS_NO_DUPLICATES, killed_by="portmap-dump-repeats-an-entry")
def test_no_duplicates(port_mapper: MakePortMapper, version: int) -> None:
    """DUMP lists each program, version and transport at most once."""
    entries = port_mapper(version).entries()
    keys = [
        f"program {each.prog} version {each.vers} over {each.netid}"
        for each in entries
        if each.netid in NETIDS_OF_IP
    ]
    expect_once(keys, what="registrations in DUMP")
