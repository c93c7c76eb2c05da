# SPDX-License-Identifier: MIT
"""GETPORT of the port mapper (RFC 1833 section 3.2)."""

from __future__ import annotations

from collections.abc import Callable

from fixtures.binding import NOBODYS_PROGRAM
from fixtures.checks import TargetView
from nfsclient.clients import Portmap
from nfsclient.protocol.portmap import IPPROTO_TCP, IPPROTO_UDP
from nfsjudge import Requirement, expect, proves, skip
from suites.portmap.clauses import PROGRAM_AWAITS_CALLS

GETPORT_RETURNS_0 = Requirement(
    rfc="RFC 1833", section="3.2", gist="GETPORT returns 0 for a program that is not registered"
)


@proves(GETPORT_RETURNS_0, killed_by="getport2-invents-ports", needs="portmap")
def test_an_unregistered_program_has_port_0(portmap_client: Portmap) -> None:
    """GETPORT returns 0 for a program that is not registered."""
    port = portmap_client.getport(NOBODYS_PROGRAM, 1, IPPROTO_TCP)
    expect(port, "the port of a program that nobody registered").equals(0)


@proves(PROGRAM_AWAITS_CALLS[2], killed_by="getport2-gives-a-wrong-port", needs="portmap")
def test_nfs_waits_at_its_port(
    portmap_client: Portmap, target: TargetView, why_nobody_answers: Callable[[int, int, int, str], str]
) -> None:
    """NFS answers at the port that GETPORT returns."""
    proto = target.address.proto
    version = target.address.version
    port = portmap_client.getport(100003, version, IPPROTO_UDP if proto == "udp" else IPPROTO_TCP)
    if not port:
        skip("NFS is not registered")
    if port == target.address.nfs_port:
        return
    # The server under test may be reached through another port, such as a forwarded one.
    reason = why_nobody_answers(100003, version, port, proto)
    expect(reason, f"what is wrong with port {port} of NFS over {proto.upper()}").equals("")
