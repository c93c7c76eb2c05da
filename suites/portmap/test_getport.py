# SPDX-License-Identifier: MIT
"""GETPORT of the port mapper (RFC 1833 section 3.2)."""

from __future__ import annotations

import pytest

from fixtures.checks.rpcbind import UNUSED_PROGRAM, MakePortMapper
from fixtures.checks.target import TargetView
from fixtures.checks.wire import Proto
from nfsclient.clients import Portmap
from nfsclient.protocol.portmap import GETPORT, IPPROTO_TCP, IPPROTO_UDP, Mapping
from nfsjudge import expect, proves, should, skip, stated
from suites.portmap.addresses import WhyNobodyAnswers, expect_service
from suites.portmap.clauses import EVERY_VERSION, PROGRAM_AWAITS_CALLS, TRANSPORTS

GETPORT_RETURNS_0 = stated("RFC 1833", "3.2", "GETPORT returns 0 for a program that is not registered")
GETPORT_IGNORES_PORT = stated("RFC 1833", "3.2", "GETPORT ignores the port in its arguments")
GETPORT_KNOWS_TCP_AND_UDP = should(  # the RFC does not say what happens with other values
    "RFC 1833", "3.1", "prot is IPPROTO_TCP or IPPROTO_UDP, so GETPORT finds no program for other protocols"
)


@proves(GETPORT_RETURNS_0, killed_by="getport2-invents-ports", needs="portmap")
def test_unregistered_program(portmap: Portmap) -> None:
    """GETPORT returns 0 for a program that is not registered."""
    port = portmap.getport(UNUSED_PROGRAM, 1, IPPROTO_TCP)
    expect(port, "port of a program that is not registered", field="port").equals(0)


@proves(PROGRAM_AWAITS_CALLS.of("2"), killed_by="getport2-returns-a-wrong-port", needs="portmap")
def test_nfs(portmap: Portmap, target: TargetView, why_nobody_answers: WhyNobodyAnswers) -> None:
    """NFS answers at the port that GETPORT returns."""
    proto = target.address.proto
    version = target.address.version
    port = portmap.getport(100003, version, IPPROTO_UDP if proto == "udp" else IPPROTO_TCP)
    if not port:
        skip("NFS is not registered")
    if port == target.address.nfs_port:
        return
    # The server under test may be reached through another port, such as a forwarded one.
    reason = why_nobody_answers(100003, version, port, proto)
    expect_service(reason, f"NFS at port {port} over {proto.upper()}")


# ---------------------------------------------------------------- not registered


@pytest.mark.parametrize("prot", [0, 1, 99, 2**32 - 1], ids=["0", "1", "99", "4g-1"])
@proves(GETPORT_KNOWS_TCP_AND_UDP, killed_by="getport2-treats-any-protocol-as-tcp", needs="portmap")
def test_other_protocols(portmap: Portmap, nfs_program: tuple[int, int], prot: int) -> None:
    """GETPORT returns 0 for a protocol other than TCP and UDP."""
    port = portmap.getport(*nfs_program, prot)
    expect(port, f"port of NFS from GETPORT with protocol {prot}", field="port").equals(0)


# ---------------------------------------------------------------- registered


@TRANSPORTS
@EVERY_VERSION
@proves(PROGRAM_AWAITS_CALLS, killed_by="getport-returns-a-wrong-port-for-mount")
def test_mount(
    port_mapper: MakePortMapper,
    version: int,
    proto: Proto,
    mount_program: tuple[int, int],
    why_nobody_answers: WhyNobodyAnswers,
) -> None:
    """MOUNT answers at the port that GETPORT or GETADDR returns."""
    port = port_mapper(version, proto).port(*mount_program)
    if not port:
        skip(f"MOUNT is not registered for {proto}")
    reason = why_nobody_answers(*mount_program, port, proto)
    what = f"MOUNT at port {port} over {proto.upper()}"
    expect_service(reason, what)


@EVERY_VERSION
@proves(PROGRAM_AWAITS_CALLS, killed_by="getport-returns-a-wrong-port-for-nfs-udp", needs="portmap_udp")
def test_nfs_udp(
    port_mapper: MakePortMapper,
    version: int,
    nfs_program: tuple[int, int],
    why_nobody_answers: WhyNobodyAnswers,
) -> None:
    """NFS over UDP answers at the port that GETPORT or GETADDR returns."""
    port = port_mapper(version, "udp").port(*nfs_program)
    if not port:
        skip("NFS is not registered for UDP")
    reason = why_nobody_answers(*nfs_program, port, "udp")
    expect_service(reason, f"NFS at port {port} over UDP")


@pytest.mark.parametrize("port", [1, 65535, 2**32 - 1], ids=["1", "65535", "4g-1"])
@proves(GETPORT_IGNORES_PORT, killed_by="getport2-requires-port-0", needs="portmap")
def test_ignores_port(portmap: Portmap, nfs_program: tuple[int, int], port: int) -> None:
    """GETPORT ignores the port in its arguments."""
    wanted = portmap.getport(*nfs_program, IPPROTO_TCP)
    reply = portmap.call(GETPORT, Mapping(*nfs_program, IPPROTO_TCP, port))
    expect(reply).field("port", f"port of NFS from GETPORT with port {port}").equals(wanted)
