# SPDX-License-Identifier: MIT
"""What the verifier is for (RFC 1813 section 3.3.21): a client writes again what a crash has lost.

The client is the library: `NfsFile` keeps uncommitted data, compares verifiers, and writes again.
"""

from __future__ import annotations

import random
import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.budget import Budget
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs3, Patience
from nfsclient.errors import ConnectFailed, NfsStatusError
from nfsclient.nfs3 import NfsClient
from nfsclient.protocol.nfs3 import StableHow
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import expect, expect_data, observe, proves, skip
from nfsjudge.deviation import Deviation
from nfsjudge.expect import fail
from suites.nfs3.clauses import COMMIT_FLUSHES_DATA, VERIFIER_CHANGES_ON_LOSS
from suites.nfs3.contents import pattern
from suites.recovery.after_crash import directory_again

MIB: t.Final = 1 << 20
PIECES: t.Final = 64
_CALLS: t.Final = 32
"""For a piece, on a server that takes or gives little at a time."""


@pytest.mark.exclusive
@pytest.mark.parametrize("crashes", [1, 3])
@proves(VERIFIER_CHANGES_ON_LOSS, COMMIT_FLUSHES_DATA, killed_by="write3-verifier-survives-crash")
def test_stream(
    nfs3: Nfs3,
    target: TargetView,
    scratch: Nfs3Scratch,
    rpc_connect: Callable[..., RpcClient],
    crashes: int,
    seed: int,
    budget: Budget,
) -> None:
    """A file of 64 MiB (or of 2,048 calls), written through crashes with what was lost written again, is complete."""
    pieces = budget.of(PIECES, ours=8)
    points = sorted(random.Random(seed).sample(range(1, pieces), crashes))
    observe("seed", seed)
    observe(f"crashes after this many of {pieces} pieces", points)
    observe("not in the transcript", "the calls that write and read the file")
    size = piece_size(nfs3, scratch)
    observe("bytes between two points", size)
    rpc = unrecorded(rpc_connect("nfs"))
    try:
        with NfsClient(rpc, scratch.handle).open("stream", "w") as file:
            for number in range(pieces):
                if number in points:
                    target.crash()
                    rpc.reconnect(Patience.of(rpc.loop).pauses())
                file.write(pattern(size, salt=number))
    except (NfsStatusError, ConnectFailed) as error:
        skip(f"the file cannot be written to its end: {error}")
    root = directory_again(target, scratch)
    try:
        with NfsClient(unrecorded(rpc_connect("nfs")), root).open("stream") as stored:
            for number in range(pieces):
                if (stored.read(size) or b"") != pattern(size, salt=number):
                    break
            else:
                return
    except NfsStatusError as error:
        skip(f"the file cannot be read back, which other checks judge: {error}")
    # Once more, for the evidence.
    with NfsClient(rpc_connect("nfs"), root).open("stream") as stored:
        stored.seek(number * size)
        expect_data(stored.read(size) or b"", pattern(size, salt=number), at=number * size, of="range")
    fail(
        "data that was read once",
        ("what was written",),
        "other bytes, and what was written when read again",
        kind=Deviation.DATA,
    )


def piece_size(nfs3: Nfs3, scratch: Nfs3Scratch) -> int:
    """Bytes of a piece: 1 MiB, unless the server handles so little in a call that this would take too long."""
    file = scratch.file("small")
    written = expect(nfs3.write(file, 0, bytes(MIB // _CALLS), StableHow.UNSTABLE)).ok().count
    read = expect(nfs3.read(file, 0, MIB // _CALLS)).ok().count
    return _CALLS * max(1, min(written, read))


def unrecorded(rpc: RpcClient) -> RpcClient:
    """The connection, with its calls kept out of the evidence: they are too many."""
    rpc.on_exchange = rpc.on_raw = rpc.on_wire = None
    return rpc
