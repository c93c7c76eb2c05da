# SPDX-License-Identifier: MIT
"""GETTIME of rpcbind (RFC 1833 section 2.2.1)."""

from __future__ import annotations

import time

from fixtures.checks.rpcbind import MakePortMapper
from nfsjudge import expect, observe, proves, should, stated
from suites.portmap.clauses import RPCBIND_VERSIONS

GETTIME_RETURNS_SECONDS = stated(
    "RFC 1833", "2.2.1", "GETTIME returns the time of the server's clock in seconds"
)
GETTIME_RETURNS_CURRENT_TIME = should(  # the clock of the machine may be wrong
    "RFC 1833", "2.2.1", "GETTIME returns the current time in seconds since 1970"
)
_DAY = 86_400


@RPCBIND_VERSIONS
@proves(GETTIME_RETURNS_CURRENT_TIME, killed_by="gettime-counts-from-2000")
def test_current_day(port_mapper: MakePortMapper, version: int) -> None:
    """GETTIME returns the current time, to within a day."""
    seconds = port_mapper(version).rpcbind.gettime()
    observe("difference from the clock here", f"{round(seconds - time.time())} s")
    now = int(time.time())
    expect(seconds, "time in seconds since 1970", field="seconds").between(now - _DAY, now + _DAY)


@RPCBIND_VERSIONS
@proves(GETTIME_RETURNS_SECONDS, killed_by="gettime-advances-an-hour-per-call")
def test_steady(port_mapper: MakePortMapper, version: int) -> None:
    """GETTIME returns times as far apart as the two calls."""
    rpcbind = port_mapper(version).rpcbind
    began = time.monotonic()
    first, second = rpcbind.gettime(), rpcbind.gettime()
    passed = int(time.monotonic() - began) + 2
    expect(second - first, "seconds between the times of two calls").between(-passed, passed)
