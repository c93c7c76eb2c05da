# SPDX-License-Identifier: MIT
"""The clauses of RFC 1833 for portmap (version 2) and rpcbind (3 and 4), by version."""

from __future__ import annotations

import pytest

from nfsjudge import should, stated

UNIVERSAL_ADDRESS_OF_IPV4 = stated(
    "RFC 5665",
    "5.2.3.3",
    "a universal address of IPv4 is h1.h2.h3.h4.p1.p2, each a decimal number from 0 to 255",
)
UNIVERSAL_ADDRESS_OF_IPV6 = stated(
    "RFC 5665", "5.2.3.4", "a universal address of IPv6 is an IPv6 address as text, followed by .p1.p2"
)
SET_IS_LOCAL = stated(
    "RFC 1833", "2.2.2", "a server accepts SET and UNSET only from clients on the same machine"
)
PORTMAP_SET_IS_LOCAL = should(
    "RFC 1833", "3.2", "a program should register only with the port mapper on its own machine"
)


EVERY_VERSION = pytest.mark.parametrize("version", [2, 3, 4], ids=["v2", "v3", "v4"])
RPCBIND_VERSIONS = pytest.mark.parametrize("version", [3, 4], ids=["v3", "v4"])
PORTMAP = {"2": ("RFC 1833", "3.2")}
"""Where version 2 states what section 2.2.1 states of versions 3 and 4."""
TRANSPORTS = pytest.mark.parametrize("proto", ["tcp", "udp"])


PROGRAM_AWAITS_CALLS = should(  # the program may have died without removing its registration
    "RFC 1833",
    "2.2.1",
    "GETPORT and GETADDR return the port or address where the program awaits calls",
    also=PORTMAP,
)
