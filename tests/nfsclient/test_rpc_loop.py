# SPDX-License-Identifier: MIT
"""The loop: an end of all waiting."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from nfsclient.errors import LoopEnded
from nfsclient.protocol import nfs3
from nfsclient.rpc.blocking import RpcClient, connect_tcp
from nfsclient.rpc.loop import Loop
from nfsclient.xdr import Void


@pytest.fixture
def silent() -> Iterator[RpcClient]:
    """A client of a server that never answers; its calls have nearly an hour."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = connect_tcp(*server.getsockname()[:2], timeout=3000.0)
        yield client
        client.close()


def test_no_call_outlives_the_end(silent: RpcClient) -> None:
    silent.loop.end_at(silent.loop.clock() + 0.01)
    for _ in range(3):
        with pytest.raises(LoopEnded):
            silent.call(nfs3.NULL, Void())


def test_a_call_that_is_under_way_ends(silent: RpcClient) -> None:
    pending = silent.submit(nfs3.NULL, Void())
    silent.loop.end_at(silent.loop.clock())
    with pytest.raises(LoopEnded):
        silent.wait(pending)


def test_the_earliest_end_counts() -> None:
    loop = Loop()
    assert loop.time_left(3.0) == 3.0
    loop.end_at(loop.clock() + 1000.0)
    assert loop.time_left(3.0) == 3.0
    loop.end_at(loop.clock())
    loop.end_at(loop.clock() + 1000.0)
    with pytest.raises(LoopEnded):
        loop.time_left(3.0)
    with pytest.raises(LoopEnded):
        loop.run_until(lambda: False, loop.clock() + 1.0)
    loop.close()
