# SPDX-License-Identifier: MIT
"""All versions of portmap and rpcbind (RFC 1833): unknown versions and procedures, and the same answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.rpcbind import MakePortMapper
from fixtures.checks.wire import AUTH_ERROR, PROC_UNAVAIL, PROG_MISMATCH, Proto, Wire
from nfsclient.protocol.portmap import PROGRAM
from nfsjudge import expect, observe, proves, should, skip, stated
from suites.portmap.clauses import PORTMAP, RPCBIND_VERSIONS, TRANSPORTS

RETURNS_PROG_MISMATCH = stated(
    "RFC 1831", "7.1", "a server answers PROG_MISMATCH to a call of a program version that it does not serve"
)
PROG_MISMATCH_HAS_RANGE = stated(
    "RFC 1831",
    "8",
    "PROG_MISMATCH returns the lowest and highest version served, and a version served is in that range",
)
RETURNS_PROC_UNAVAIL = stated(
    "RFC 1831", "7.1", "a server answers PROC_UNAVAIL to a call of a procedure that does not exist"
)
VERSIONS_AGREE = should(
    "RFC 1833", "2.2.1", "all versions of the port mapper return the same registrations", also=PORTMAP
)


# ---------------------------------------------------------------- unknown versions and procedures


@TRANSPORTS
@pytest.mark.parametrize("version", [0, 5, 77])
@proves(RETURNS_PROG_MISMATCH, killed_by="portmap-serves-unknown-versions", needs="portmap")
def test_prog_mismatch(port_mapper_wire: Callable[[int, Proto], Wire], proto: Proto, version: int) -> None:
    """The port mapper answers a call of an unknown version with PROG_MISMATCH."""
    wire = port_mapper_wire(2, proto)
    answer = wire.call(wire.make(vers=version))
    expect(answer.outcome, f"answer to a call of version {version}", of=answer).one_of(
        PROG_MISMATCH, AUTH_ERROR
    )


@pytest.mark.parametrize("version", [0, 5, 77])
@proves(PROG_MISMATCH_HAS_RANGE, killed_by="portmap-mismatch-swaps-versions", needs="portmap")
def test_prog_mismatch_range(port_mapper_wire: Callable[[int, Proto], Wire], version: int) -> None:
    """The version range in the port mapper's PROG_MISMATCH includes 2."""
    wire = port_mapper_wire(2, "tcp")
    answer = wire.call(wire.make(vers=version))
    if answer.low is None or answer.high is None or answer.outcome != PROG_MISMATCH:
        skip(f"expected PROG_MISMATCH, got {answer.outcome}; another check judges that")
    observe("versions", (answer.low, answer.high))
    expect((answer.low, answer.high), "versions in PROG_MISMATCH", of=answer).satisfies(
        lambda ends: ends[0] <= 2 <= ends[1], "a range that includes 2"
    )


@pytest.mark.parametrize(
    ("version", "number"),
    [(2, 6), (3, 9), (4, 13), (2, 99), (3, 99), (4, 99)],
    ids=["v2-6", "v3-9", "v4-13", "v2-99", "v3-99", "v4-99"],
)
@proves(RETURNS_PROC_UNAVAIL, killed_by="portmap-treats-unknown-procedures-as-null", needs="portmap")
def test_unknown_procedure(port_mapper_wire: Callable[[int, Proto], Wire], version: int, number: int) -> None:
    """The port mapper answers a call of an unknown procedure with PROC_UNAVAIL."""
    wire = port_mapper_wire(version, "tcp")
    answer = wire.call(wire.make(number))
    expect(answer.outcome, f"answer to procedure {number} of version {version}", of=answer).one_of(
        PROC_UNAVAIL, AUTH_ERROR
    )


# ---------------------------------------------------------------- agreement


@TRANSPORTS
@RPCBIND_VERSIONS
@proves(VERSIONS_AGREE, killed_by="getaddr-returns-a-wrong-port-for-portmap")
def test_versions_agree(port_mapper: MakePortMapper, version: int, proto: Proto) -> None:
    """All versions of the port mapper return the same port for itself."""
    rpcbind, portmap = port_mapper(version, proto), port_mapper(2, proto)
    if rpcbind.netid.endswith("6"):
        skip("portmap version 2 has no IPv6")
    wanted = portmap.port(PROGRAM, 2)
    if not wanted:
        skip("the port mapper has not registered itself")
    expect(rpcbind.port(PROGRAM, 2), f"port of the port mapper in version {version}").equals(wanted)
