# SPDX-License-Identifier: MIT
"""GETPORT of the port mapper (RFC 1833 section 3.2)."""

from __future__ import annotations

from collections.abc import Callable

from fixtures.checks import TargetView
from nfsclient.clients import Portmap
from nfsclient.protocol.portmap import IPPROTO_TCP, IPPROTO_UDP
from nfsjudge import Level, Requirement, expect, proves, skip

UNREGISTERED = Requirement(
    rfc="RFC 1833", section="3.2", gist="GETPORT answers 0 for a program that is not registered"
)
REGISTERED = Requirement(
    rfc="RFC 1833",
    section="3.2",
    level=Level.SHOULD,  # the program may have died and left its registration
    gist="GETPORT answers the port at which a registered program waits",
)
_NOBODYS_PROGRAM = 0x3FFF_FF42
"""In the range that is for users to define (RFC 5531 section 8.3), where nobody is expected."""


@proves(UNREGISTERED, killed_by="getport2-invents-ports", needs="portmap")
def test_an_unregistered_program_has_port_0(portmap_client: Portmap) -> None:
    port = portmap_client.getport(_NOBODYS_PROGRAM, 1, IPPROTO_TCP)
    expect(port, "the port of a program that nobody registered").equals(0)


@proves(REGISTERED, killed_by="getport2-gives-a-wrong-port", needs="portmap")
def test_nfs_waits_at_its_port(
    portmap_client: Portmap, target: TargetView, why_nobody_answers: Callable[[int, int, int, str], str]
) -> None:
    proto = target.address.proto
    version = target.address.version
    port = portmap_client.getport(100003, version, IPPROTO_UDP if proto == "udp" else IPPROTO_TCP)
    if not port:
        skip("NFS is not registered")
    if port == target.address.nfs_port:
        return
    # The one that is tested may be reached by another port, such as one that is forwarded.
    reason = why_nobody_answers(100003, version, port, proto)
    expect(reason, f"what is wrong with port {port} of NFS over {proto.upper()}").equals("")
