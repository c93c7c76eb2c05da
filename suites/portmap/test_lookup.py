# SPDX-License-Identifier: MIT
"""Lookup of programs by GETPORT, GETADDR, GETVERSADDR and DUMP (RFC 1833 sections 2.2.1, 2.2.2 and 3.2)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.binding import NOBODYS_PROGRAM, Entry, MakeBinder
from fixtures.raw import Proto
from nfsclient.clients import Portmap
from nfsclient.protocol.portmap import GETPORT, IPPROTO_TCP, PROGRAM, Mapping
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from suites.portmap.clauses import (
    EVERY_VERSION,
    PROGRAM_AWAITS_CALLS,
    RPCBIND_VERSIONS,
    TRANSPORTS,
    both,
    clause,
)

NULL_RETURNS_NOTHING = Requirement(
    rfc="RFC 1833", section="3.2", gist="NULL does nothing, takes no parameters and returns no results"
)
GETADDR_RETURNS_NOTHING = Requirement(
    rfc="RFC 1833",
    section="2.2.1",
    gist="GETADDR returns no address for a program that is not registered",
)
GETVERSADDR_MATCHES_VERSION = Requirement(
    rfc="RFC 1833",
    section="2.2.2",
    gist="GETVERSADDR returns no address for a version that is not registered",
)
GETADDR_IGNORES_NETID = Requirement(
    rfc="RFC 1833",
    section="2.2.1",
    gist="GETADDR ignores r_netid and returns the address for the transport of the call",
)
GETPORT_IGNORES_PORT = Requirement(
    rfc="RFC 1833", section="3.2", gist="GETPORT ignores the port in its arguments"
)
GETPORT_KNOWS_TCP_AND_UDP = Requirement(
    rfc="RFC 1833",
    section="3.1",
    level=Level.SHOULD,  # the RFC does not say what happens with other values
    gist="prot is IPPROTO_TCP or IPPROTO_UDP, so GETPORT finds no program for other protocols",
)
DUMP_LISTS_ALL = clause("DUMP lists all registered programs")
DUMP_AGREES_WITH_LOOKUP = clause("DUMP, GETPORT and GETADDR use the same database")
DUMP_HAS_NO_DUPLICATES = clause(
    "a program version has at most one mapping per transport",
    Level.SHOULD,  # the RFC says so of SET, not of entries that the server makes itself
)
VERSIONS_AGREE = clause("all versions of the port mapper return the same registrations", Level.SHOULD)
NETIDS_OF_IP = {"tcp", "udp", "tcp6", "udp6"}
WhyNobodyAnswers = Callable[[int, int, int, str], str]


@TRANSPORTS
@EVERY_VERSION
@proves(NULL_RETURNS_NOTHING, killed_by="portmap-null-returns-results")
def test_null_is_answered_without_results(binder: MakeBinder, version: int, proto: Proto) -> None:
    """The port mapper answers NULL without results."""
    binder(version, proto).null()


# ---------------------------------------------------------------- not registered


@TRANSPORTS
@RPCBIND_VERSIONS
@proves(GETADDR_RETURNS_NOTHING, killed_by="getaddr-invents-addresses")
def test_an_unregistered_program_has_no_address(binder: MakeBinder, version: int, proto: Proto) -> None:
    """GETADDR returns no address for a program that is not registered."""
    rpcbind = binder(version, proto)
    address = rpcbind.rpcbind.getaddr(NOBODYS_PROGRAM, 1, rpcbind.netid)
    expect(address, "the address of a program that nobody registered").equals("")


@TRANSPORTS
@proves(GETVERSADDR_MATCHES_VERSION, killed_by="getversaddr4-takes-any-version", needs="rpcbind4")
def test_an_unregistered_version_has_no_address(
    binder: MakeBinder, proto: Proto, nfs_program: tuple[int, int]
) -> None:
    """GETVERSADDR returns no address for a version that is not registered."""
    rpcbind = binder(4, proto)
    if any((each.prog, each.vers) == (nfs_program[0], 99) for each in rpcbind.entries()):
        skip("somebody has registered version 99 of NFS")
    observe(
        "GETADDR of that version", rpcbind.rpcbind.getaddr(nfs_program[0], 99, rpcbind.netid) or "nothing"
    )
    address = rpcbind.rpcbind.getversaddr(nfs_program[0], 99, rpcbind.netid)
    expect(address, "the address of a version that nobody registered").equals("")


@proves(GETPORT_KNOWS_TCP_AND_UDP, killed_by="getport2-takes-any-protocol", needs="portmap")
@pytest.mark.parametrize("prot", [0, 1, 99, 2**32 - 1], ids=["0", "1", "99", "4g-1"])
def test_nothing_waits_on_other_protocols(
    portmap_client: Portmap, nfs_program: tuple[int, int], prot: int
) -> None:
    """GETPORT returns 0 for a protocol other than TCP and UDP."""
    port = portmap_client.getport(*nfs_program, prot)
    expect(port, f"the port of NFS on protocol {prot}").equals(0)


# ---------------------------------------------------------------- registered


@TRANSPORTS
@EVERY_VERSION
@proves(*both(PROGRAM_AWAITS_CALLS), killed_by="getport-is-wrong-for-mount")
def test_mount_waits_at_its_port(
    binder: MakeBinder,
    version: int,
    proto: Proto,
    mount_program: tuple[int, int],
    why_nobody_answers: WhyNobodyAnswers,
) -> None:
    """MOUNT answers at the port that GETPORT or GETADDR returns."""
    port = binder(version, proto).port(*mount_program)
    if not port:
        skip(f"MOUNT is not registered for {proto}")
    reason = why_nobody_answers(*mount_program, port, proto)
    expect(reason, f"what is wrong with port {port}", because=PROGRAM_AWAITS_CALLS[version]).equals("")


@EVERY_VERSION
@proves(*both(PROGRAM_AWAITS_CALLS), killed_by="getport-is-wrong-for-nfs-over-udp", needs="portmap_udp")
def test_nfs_waits_at_its_port_over_udp(
    binder: MakeBinder, version: int, nfs_program: tuple[int, int], why_nobody_answers: WhyNobodyAnswers
) -> None:
    """NFS over UDP answers at the port that GETPORT or GETADDR returns."""
    port = binder(version, "udp").port(*nfs_program)
    if not port:
        skip("NFS is not registered for UDP")
    reason = why_nobody_answers(*nfs_program, port, "udp")
    expect(reason, f"what is wrong with port {port}", because=PROGRAM_AWAITS_CALLS[version]).equals("")


@RPCBIND_VERSIONS
@proves(PROGRAM_AWAITS_CALLS[4], killed_by="getaddr-is-wrong-for-nfs-over-tcp")
def test_nfs_waits_at_its_address_over_tcp(
    binder: MakeBinder, version: int, nfs_program: tuple[int, int], why_nobody_answers: WhyNobodyAnswers
) -> None:
    """NFS over TCP answers at the address that GETADDR returns."""
    port = binder(version, "tcp").port(*nfs_program)
    if not port:
        skip("NFS is not registered for TCP")
    reason = why_nobody_answers(*nfs_program, port, "tcp")
    expect(reason, f"what is wrong with port {port}").equals("")


@TRANSPORTS
@RPCBIND_VERSIONS
@proves(GETADDR_IGNORES_NETID, killed_by="getaddr-goes-by-r-netid")
def test_getaddr_goes_by_the_transport_of_the_call(
    binder: MakeBinder, version: int, proto: Proto, mount_program: tuple[int, int]
) -> None:
    """GETADDR ignores r_netid and returns the address for the transport of the call."""
    rpcbind = binder(version, proto)
    wanted = rpcbind.rpcbind.getaddr(*mount_program, rpcbind.netid)
    if not wanted:
        skip(f"MOUNT is not registered for {rpcbind.netid}")
    found = [rpcbind.rpcbind.getaddr(*mount_program, netid) for netid in ("tcp", "udp", "", "nfsproof")]
    expect(found, "the addresses when r_netid is tcp, udp, empty, unknown").equals([wanted] * 4)


@pytest.mark.parametrize("port", [1, 65535, 2**32 - 1], ids=["1", "65535", "4g-1"])
@proves(GETPORT_IGNORES_PORT, killed_by="getport2-wants-the-port-to-be-0", needs="portmap")
def test_getport_ignores_the_port(portmap_client: Portmap, nfs_program: tuple[int, int], port: int) -> None:
    """GETPORT ignores the port in its arguments."""
    wanted = portmap_client.getport(*nfs_program, IPPROTO_TCP)
    reply = portmap_client.call(GETPORT, Mapping(*nfs_program, IPPROTO_TCP, port))
    expect(reply.port, f"the port of NFS when asked with port {port}").equals(wanted)


# ---------------------------------------------------------------- DUMP


@TRANSPORTS
@EVERY_VERSION
@proves(*both(DUMP_AGREES_WITH_LOOKUP), killed_by="portmap-dump-has-another-port-for-mount")
def test_dump_agrees_with_looking_up(binder: MakeBinder, version: int, proto: Proto) -> None:
    """DUMP lists the same ports as GETPORT or GETADDR return."""
    client = binder(version, proto)
    listed = _of_ip(client.entries(), client.netid)
    found = {Entry(each.prog, each.vers, client.netid, client.port(each.prog, each.vers)) for each in listed}
    observe("entries", len(listed))
    if found != listed and listed != _of_ip(client.entries(), client.netid):
        skip("programs come and go meanwhile")
    expect(found, "what is looked up one by one", because=DUMP_AGREES_WITH_LOOKUP[version]).equals(listed)


def _of_ip(entries: list[Entry], netid: str) -> set[Entry]:
    return {each for each in entries if each.netid == netid}


@TRANSPORTS
@EVERY_VERSION
@proves(*both(DUMP_LISTS_ALL), killed_by="portmap-dump-omits-itself")
def test_dump_has_what_is_registered(binder: MakeBinder, version: int, proto: Proto) -> None:
    """DUMP lists the port mapper's own registration."""
    client = binder(version, proto)
    port = client.port(PROGRAM, version)
    if not port:
        skip("portmap has not registered itself")
    listed = [each.port for each in _of_ip(client.entries(), client.netid) if each.prog == PROGRAM]
    expect(listed, "ports of portmap itself in DUMP", because=DUMP_LISTS_ALL[version]).contains(port)


@EVERY_VERSION
@proves(*both(DUMP_HAS_NO_DUPLICATES), killed_by="portmap-dump-repeats-itself")
def test_dump_has_each_mapping_once(binder: MakeBinder, version: int) -> None:
    """DUMP lists each program, version and transport at most once."""
    entries = binder(version).entries()
    keys = [(each.prog, each.vers, each.netid) for each in entries if each.netid in NETIDS_OF_IP]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    expect(twice, "what DUMP lists more than once", because=DUMP_HAS_NO_DUPLICATES[version]).equals([])


@TRANSPORTS
@RPCBIND_VERSIONS
@proves(VERSIONS_AGREE[4], killed_by="getaddr-is-wrong-for-portmap")
def test_rpcbind_and_the_port_mapper_agree(binder: MakeBinder, version: int, proto: Proto) -> None:
    """All versions of the port mapper return the same port for itself."""
    rpcbind, portmap = binder(version, proto), binder(2, proto)
    if rpcbind.netid.endswith("6"):
        skip("the port mapper knows no IPv6")
    wanted = portmap.port(PROGRAM, 2)
    if not wanted:
        skip("the port mapper has not registered itself")
    expect(rpcbind.port(PROGRAM, 2), f"port of portmap in version {version}").equals(wanted)
