# SPDX-License-Identifier: MIT
"""NULL of portmap and rpcbind (RFC 1833 section 3.2)."""

from __future__ import annotations

from fixtures.checks.rpcbind import MakePortMapper
from fixtures.checks.wire import Proto
from nfsjudge import proves, stated
from suites.portmap.clauses import EVERY_VERSION, TRANSPORTS

NULL_RETURNS_NOTHING = stated(
    "RFC 1833", "3.2", "NULL does nothing, takes no parameters and returns no results"
)


@TRANSPORTS
@EVERY_VERSION
@proves(NULL_RETURNS_NOTHING, killed_by="portmap-null-returns-results")
def test_answered(port_mapper: MakePortMapper, version: int, proto: Proto) -> None:
    """The port mapper answers NULL without results."""
    port_mapper(version, proto).null()
