# SPDX-License-Identifier: MIT
"""Looking programs up: GETPORT, GETADDR, GETVERSADDR and DUMP (RFC 1833 sections 2.2.1, 2.2.2 and 3.2)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.binding import NOBODYS_PROGRAM, Entry, MakeBinder
from fixtures.raw import Proto
from nfsclient.clients import Portmap
from nfsclient.protocol.portmap import GETPORT, IPPROTO_TCP, PROGRAM, Mapping
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from suites.portmap.clauses import EVERY_VERSION, RPCBIND_VERSIONS, TRANSPORTS, both, clause

NULL_ANSWERS = Requirement(
    rfc="RFC 1833", section="3.2", gist="NULL does no work, takes no parameters and returns no results"
)
UNREGISTERED = Requirement(
    rfc="RFC 1833",
    section="2.2.1",
    gist="GETADDR returns the address on which the program waits: of one that is not registered there is none",
)
EXACT_VERSION = Requirement(
    rfc="RFC 1833",
    section="2.2.2",
    gist="GETVERSADDR returns no address for a version that is not registered",
)
NETID_IS_IGNORED = Requirement(
    rfc="RFC 1833",
    section="2.2.1",
    gist="GETADDR ignores r_netid: the transport is the one over which the call came",
)
PORT_IS_IGNORED = Requirement(rfc="RFC 1833", section="3.2", gist="GETPORT ignores the port in its argument")
PROTOCOLS = Requirement(
    rfc="RFC 1833",
    section="3.1",
    level=Level.SHOULD,  # other values are not supported: what comes of them is nowhere said
    gist="prot is IPPROTO_TCP or IPPROTO_UDP: nothing waits on any other",
)
SOMEBODY_WAITS = clause(
    "the port or address is the one on which the program awaits calls",
    Level.SHOULD,  # the program may have died and left its registration
)
DUMP_IS_ALL = clause("DUMP lists all entries in the database")
SAME_DATABASE = clause("DUMP and the procedure that looks up one program go by the same database")
ONE_OF_A_KIND = clause(
    "there is at most one mapping for a program, version and transport",
    Level.SHOULD,  # said of SET, and not of what the server enters itself
)
ONE_SERVER = clause("all versions of the port mapper tell of the same programs", Level.SHOULD)
NETIDS_OF_IP = {"tcp", "udp", "tcp6", "udp6"}
WhyNobody = Callable[[int, int, int, str], str]


@TRANSPORTS
@EVERY_VERSION
@proves(NULL_ANSWERS, killed_by="portmap-null-returns-results")
def test_null_is_answered_without_results(binder: MakeBinder, version: int, proto: Proto) -> None:
    binder(version, proto).null()


# ---------------------------------------------------------------- what is not registered


@TRANSPORTS
@RPCBIND_VERSIONS
@proves(UNREGISTERED, killed_by="getaddr-invents-addresses")
def test_an_unregistered_program_has_no_address(binder: MakeBinder, version: int, proto: Proto) -> None:
    rpcbind = binder(version, proto)
    address = rpcbind.rpcbind.getaddr(NOBODYS_PROGRAM, 1, rpcbind.netid)
    expect(address, "the address of a program that nobody registered").equals("")


@TRANSPORTS
@proves(EXACT_VERSION, killed_by="getversaddr4-takes-any-version", needs="rpcbind4")
def test_an_unregistered_version_has_no_address(
    binder: MakeBinder, proto: Proto, nfs_program: tuple[int, int]
) -> None:
    rpcbind = binder(4, proto)
    if any((each.prog, each.vers) == (nfs_program[0], 99) for each in rpcbind.entries()):
        skip("somebody has registered version 99 of NFS")
    observe(
        "GETADDR of that version", rpcbind.rpcbind.getaddr(nfs_program[0], 99, rpcbind.netid) or "nothing"
    )
    address = rpcbind.rpcbind.getversaddr(nfs_program[0], 99, rpcbind.netid)
    expect(address, "the address of a version that nobody registered").equals("")


@proves(PROTOCOLS, killed_by="getport2-takes-any-protocol", needs="portmap")
@pytest.mark.parametrize("prot", [0, 1, 99, 2**32 - 1])
def test_nothing_waits_on_other_protocols(
    portmap_client: Portmap, nfs_program: tuple[int, int], prot: int
) -> None:
    port = portmap_client.getport(*nfs_program, prot)
    expect(port, f"the port of NFS on protocol {prot}").equals(0)


# ---------------------------------------------------------------- what is registered


@TRANSPORTS
@EVERY_VERSION
@proves(*both(SOMEBODY_WAITS), killed_by="getport-is-wrong-for-mount")
def test_mount_waits_at_its_port(
    binder: MakeBinder,
    version: int,
    proto: Proto,
    mount_program: tuple[int, int],
    why_nobody_answers: WhyNobody,
) -> None:
    port = binder(version, proto).port(*mount_program)
    if not port:
        skip(f"MOUNT is not registered for {proto}")
    reason = why_nobody_answers(*mount_program, port, proto)
    expect(reason, f"what is wrong with port {port}", because=SOMEBODY_WAITS[version]).equals("")


@EVERY_VERSION
@proves(*both(SOMEBODY_WAITS), killed_by="getport-is-wrong-for-nfs-over-udp", needs="portmap_udp")
def test_nfs_waits_at_its_port_over_udp(
    binder: MakeBinder, version: int, nfs_program: tuple[int, int], why_nobody_answers: WhyNobody
) -> None:
    port = binder(version, "udp").port(*nfs_program)
    if not port:
        skip("NFS is not registered for UDP")
    reason = why_nobody_answers(*nfs_program, port, "udp")
    expect(reason, f"what is wrong with port {port}", because=SOMEBODY_WAITS[version]).equals("")


@RPCBIND_VERSIONS
@proves(SOMEBODY_WAITS[4], killed_by="getaddr-is-wrong-for-nfs-over-tcp")
def test_nfs_waits_at_its_address_over_tcp(
    binder: MakeBinder, version: int, nfs_program: tuple[int, int], why_nobody_answers: WhyNobody
) -> None:
    port = binder(version, "tcp").port(*nfs_program)
    if not port:
        skip("NFS is not registered for TCP")
    reason = why_nobody_answers(*nfs_program, port, "tcp")
    expect(reason, f"what is wrong with port {port}").equals("")


@TRANSPORTS
@RPCBIND_VERSIONS
@proves(NETID_IS_IGNORED, killed_by="getaddr-goes-by-r-netid")
def test_getaddr_goes_by_the_transport_of_the_call(
    binder: MakeBinder, version: int, proto: Proto, mount_program: tuple[int, int]
) -> None:
    rpcbind = binder(version, proto)
    wanted = rpcbind.rpcbind.getaddr(*mount_program, rpcbind.netid)
    if not wanted:
        skip(f"MOUNT is not registered for {rpcbind.netid}")
    found = [rpcbind.rpcbind.getaddr(*mount_program, netid) for netid in ("tcp", "udp", "", "nfsproof")]
    expect(found, "the addresses when r_netid is tcp, udp, empty, unknown").equals([wanted] * 4)


@pytest.mark.parametrize("port", [1, 65535, 2**32 - 1])
@proves(PORT_IS_IGNORED, killed_by="getport2-wants-the-port-to-be-0", needs="portmap")
def test_getport_ignores_the_port(portmap_client: Portmap, nfs_program: tuple[int, int], port: int) -> None:
    wanted = portmap_client.getport(*nfs_program, IPPROTO_TCP)
    reply = portmap_client.call(GETPORT, Mapping(*nfs_program, IPPROTO_TCP, port))
    expect(reply.port, f"the port of NFS when asked with port {port}").equals(wanted)


# ---------------------------------------------------------------- DUMP


@TRANSPORTS
@EVERY_VERSION
@proves(*both(SAME_DATABASE), killed_by="portmap-dump-has-another-port-for-mount")
def test_dump_agrees_with_looking_up(binder: MakeBinder, version: int, proto: Proto) -> None:
    client = binder(version, proto)
    listed = _of_ip(client.entries(), client.netid)
    found = {Entry(each.prog, each.vers, client.netid, client.port(each.prog, each.vers)) for each in listed}
    observe("entries", len(listed))
    if found != listed and listed != _of_ip(client.entries(), client.netid):
        skip("programs come and go meanwhile")
    expect(found, "what is looked up one by one", because=SAME_DATABASE[version]).equals(listed)


def _of_ip(entries: list[Entry], netid: str) -> set[Entry]:
    return {each for each in entries if each.netid == netid}


@TRANSPORTS
@EVERY_VERSION
@proves(*both(DUMP_IS_ALL), killed_by="portmap-dump-omits-itself")
def test_dump_has_what_is_registered(binder: MakeBinder, version: int, proto: Proto) -> None:
    client = binder(version, proto)
    port = client.port(PROGRAM, version)
    if not port:
        skip("portmap has not registered itself")
    listed = [each.port for each in _of_ip(client.entries(), client.netid) if each.prog == PROGRAM]
    expect(listed, "ports of portmap itself in DUMP", because=DUMP_IS_ALL[version]).contains(port)


@EVERY_VERSION
@proves(*both(ONE_OF_A_KIND), killed_by="portmap-dump-repeats-itself")
def test_dump_has_each_mapping_once(binder: MakeBinder, version: int) -> None:
    entries = binder(version).entries()
    keys = [(each.prog, each.vers, each.netid) for each in entries if each.netid in NETIDS_OF_IP]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    expect(twice, "what DUMP lists more than once", because=ONE_OF_A_KIND[version]).equals([])


@TRANSPORTS
@RPCBIND_VERSIONS
@proves(ONE_SERVER[4], killed_by="getaddr-is-wrong-for-portmap")
def test_rpcbind_and_the_port_mapper_agree(binder: MakeBinder, version: int, proto: Proto) -> None:
    rpcbind, portmap = binder(version, proto), binder(2, proto)
    if rpcbind.netid.endswith("6"):
        skip("the port mapper knows no IPv6")
    wanted = portmap.port(PROGRAM, 2)
    if not wanted:
        skip("the port mapper has not registered itself")
    expect(rpcbind.port(PROGRAM, 2), f"port of portmap in version {version}").equals(wanted)
