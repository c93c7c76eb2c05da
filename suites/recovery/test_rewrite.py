# SPDX-License-Identifier: MIT
"""What the verifier is for (RFC 1813 section 3.3.21): a client writes again what a crash has lost.

The client is the library: `NfsFile` keeps uncommitted data, compares verifiers, and writes again.
"""

from __future__ import annotations

import random
import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Patience
from nfsclient.errors import ConnectFailed, NfsStatusError
from nfsclient.highlevel import NfsClient
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import expect_data, observe, proves, skip
from suites.nfs3.clauses import COMMIT_FLUSHES_DATA, VERIFIER_CHANGES_ON_LOSS
from suites.nfs3.contents import pattern
from suites.recovery.after_crash import directory_again

MIB: t.Final = 1 << 20
PIECE: t.Final = MIB
PIECES: t.Final = 64


@pytest.mark.exclusive
@pytest.mark.parametrize("crashes", [1, 3])
@proves(VERIFIER_CHANGES_ON_LOSS, COMMIT_FLUSHES_DATA, killed_by="write3-verifier-survives-crash")
def test_stream(
    target: TargetView, scratch: Nfs3Scratch, rpc_connect: Callable[..., RpcClient], crashes: int, seed: int
) -> None:
    """A file of 64 MiB that is written through crashes, with what was lost written again, is complete."""
    points = sorted(random.Random(seed).sample(range(1, PIECES), crashes))
    observe("seed", seed)
    observe("crashes after this many MiB", points)
    rpc = rpc_connect("nfs")
    rpc.on_exchange = None  # keep 64 MiB out of the evidence
    try:
        with NfsClient(rpc, scratch.handle).open("stream", "w") as file:
            for number in range(PIECES):
                if number in points:
                    target.crash()
                    rpc.reconnect(Patience.of(rpc.loop).pauses())
                file.write(pattern(PIECE, salt=number))
    except (NfsStatusError, ConnectFailed) as error:
        skip(f"the file cannot be written to its end: {error}")
    client = NfsClient(target_connection(rpc_connect), directory_again(target, scratch))
    with client.open("stream") as stored:
        for number in range(PIECES):
            seen = stored.read(PIECE)
            expect_data(seen or b"", pattern(PIECE, salt=number), at=number * PIECE, of="range")


def target_connection(connect: Callable[..., RpcClient]) -> RpcClient:
    """A connection whose calls are not kept."""
    rpc = connect("nfs")
    rpc.on_exchange = None
    return rpc
