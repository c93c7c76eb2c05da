# SPDX-License-Identifier: MIT
"""GETSTAT of rpcbind 4 (RFC 1833 section 2.2.1): statistics."""

from __future__ import annotations

from fixtures.checks.rpcbind import MakePortMapper
from nfsjudge import expect, proves, should
from suites.portmap.clauses import EVERY_VERSION

GETSTAT_COUNTS_REQUESTS = should(
    "RFC 1833", "2.2.2", "GETSTAT returns the number and kind of requests that the server has received"
)


@EVERY_VERSION
@proves(GETSTAT_COUNTS_REQUESTS, killed_by="getstat4-counts-nothing", needs="rpcbind4")
def test_counts_lookups(port_mapper: MakePortMapper, version: int, nfs_program: tuple[int, int]) -> None:
    """GETSTAT counts the calls that look up a program."""
    statistics = port_mapper(4).rpcbind
    before = statistics.getstat()[version - 2].info[3]
    port_mapper(version).port(*nfs_program)
    after = statistics.getstat()[version - 2].info[3]
    expect(after, f"count of procedure 3 of version {version} in GETSTAT").at_least(before + 1)
