# SPDX-License-Identifier: MIT
"""Versions: of RPC itself, and of programs that the server lacks (RFC 1831 section 8)."""

from __future__ import annotations

import pytest

from fixtures.checks.side_by_side import Waiting, side_by_side
from fixtures.checks.wire import AUTH_ERROR, CLOSED, PROG_MISMATCH, RPC_MISMATCH, SILENCE, MakeWire, Proto
from nfsjudge import expect, observe, proves, should, skip, stated
from suites.rpc.parameters import HIGHEST, TRANSPORTS, short

REFUSES_OTHER_RPC_VERSIONS = stated("RFC 1831", "8", "a server rejects a call whose RPC version is not 2")
REPORTS_RPC_MISMATCH = should(
    "RFC 1831", "7", "a server should answer RPC_MISMATCH to a call with another RPC version"
)
RPC_MISMATCH_HAS_RANGE = stated(
    "RFC 1831",
    "8",
    "RPC_MISMATCH returns the range of RPC versions supported, which includes 2 but not the version refused",
)
RETURNS_PROG_MISMATCH = stated(
    "RFC 1831", "7.1", "a server answers PROG_MISMATCH to a call of a program version that it does not serve"
)
PROG_MISMATCH_HAS_RANGE = stated(
    "RFC 1831",
    "8",
    "PROG_MISMATCH returns the lowest and highest version served, and a version served is in that range",
)


@side_by_side
@TRANSPORTS
@pytest.mark.parametrize("version", [0, 1, 3, HIGHEST], ids=short)
@proves(REFUSES_OTHER_RPC_VERSIONS, killed_by="rpc-accepts-any-rpc-version")
def test_other_rpc_version(wire: MakeWire, proto: Proto, version: int) -> Waiting[None]:
    """The server does not accept a call with an RPC version other than 2."""
    peer = wire(proto)
    answer = yield from peer.trying(peer.make(rpcvers=version).message())
    observe("answer", answer.outcome)
    expect(answer.outcome, f"answer to a call with RPC version {version}", of=answer).one_of(
        RPC_MISMATCH, AUTH_ERROR, SILENCE, CLOSED
    )


@pytest.mark.parametrize("version", [0, 1, 3, HIGHEST], ids=short)
@proves(REPORTS_RPC_MISMATCH, killed_by="rpc-drops-another-rpc-version")
def test_rpc_mismatch(wire: MakeWire, version: int) -> None:
    """The server answers a call with another RPC version with RPC_MISMATCH."""
    peer = wire()
    answer = peer.try_message(peer.make(rpcvers=version).message())
    expect(answer.outcome, f"answer to a call with RPC version {version}", of=answer).equals(RPC_MISMATCH)


@pytest.mark.parametrize("version", [0, 3, HIGHEST], ids=short)
@proves(RPC_MISMATCH_HAS_RANGE, killed_by="rpc-mismatch-reports-wrong-versions")
def test_rpc_mismatch_range(wire: MakeWire, version: int) -> None:
    """The version range in RPC_MISMATCH includes 2 and excludes the version refused."""
    peer = wire()
    answer = peer.try_message(peer.make(rpcvers=version).message())
    if answer.low is None or answer.high is None or answer.outcome != RPC_MISMATCH:
        skip(f"expected RPC_MISMATCH, got {answer.outcome}; another check judges that")
    versions = (answer.low, answer.high)
    observe("versions", versions)
    expect(versions, "versions in RPC_MISMATCH").satisfies(
        lambda ends: ends[0] <= 2 <= ends[1] and not ends[0] <= version <= ends[1],
        f"a range that includes 2 and excludes {version}",
    )


@TRANSPORTS
@pytest.mark.parametrize("version", [0, 77, HIGHEST], ids=short)
@proves(RETURNS_PROG_MISMATCH, killed_by="rpc-unknown-version-is-prog-unavail")
def test_prog_mismatch(wire: MakeWire, proto: Proto, version: int) -> None:
    """The server answers a call of an unknown NFS version with PROG_MISMATCH."""
    peer = wire(proto)
    answer = peer.call(peer.make(vers=version))
    expect(answer.outcome, f"answer to a call of version {version}", of=answer).one_of(
        PROG_MISMATCH, AUTH_ERROR
    )


@pytest.mark.parametrize("version", [0, 77, HIGHEST], ids=short)
@proves(RETURNS_PROG_MISMATCH, killed_by="rpc-unknown-version-is-prog-unavail", needs="mount")
def test_prog_mismatch_mount(wire: MakeWire, version: int) -> None:
    """The server answers a call of an unknown MOUNT version with PROG_MISMATCH."""
    peer = wire("tcp", "mount")
    answer = peer.call(peer.make(vers=version))
    expect(answer.outcome, f"answer to a call of version {version}", of=answer).one_of(
        PROG_MISMATCH, AUTH_ERROR
    )


@pytest.mark.parametrize("service", ["nfs", "mount"])
@pytest.mark.parametrize("version", [0, 77, HIGHEST], ids=short)
@proves(PROG_MISMATCH_HAS_RANGE, killed_by="rpc-prog-mismatch-swaps-versions")
def test_prog_mismatch_range(wire: MakeWire, service: str, version: int) -> None:
    """The version range in PROG_MISMATCH includes a version that the server serves."""
    peer = wire("tcp", "mount" if service == "mount" else "nfs")
    answer = peer.call(peer.make(vers=version))
    if answer.low is None or answer.high is None or answer.outcome != PROG_MISMATCH:
        skip(f"expected PROG_MISMATCH, got {answer.outcome}; another check judges that")
    versions = (answer.low, answer.high)
    observe("versions", versions)
    # The range may include versions that are refused here: a server may serve them over another transport only.
    expect(versions, "versions in PROG_MISMATCH").satisfies(
        lambda ends: ends[0] <= peer.version <= ends[1], f"a range that includes {peer.version}"
    )
