# SPDX-License-Identifier: MIT
"""The blocking client over UDP: the same datagram again until it is answered, or until the deadline."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from nfsclient.errors import RpcTimeout
from nfsclient.rpc.blocking import connect_udp
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.server import RpcServer
from nfsclient.rpc.service import Dispatcher
from tests.nfsclient.rpc_peer import ECHO, EchoArgs, EchoRes, answer

SHORT = 0.2
"""Seconds, where a test is about a timeout that must pass."""


@pytest.fixture(params=["alone", "shared"])
def loop(request: pytest.FixtureRequest) -> Iterator[Loop]:
    """A loop with nothing else on it, or with a listener: the client waits in another way then."""
    made = Loop()
    server = RpcServer(made, Dispatcher())
    if request.param == "shared":
        server.listen_udp()
    yield made
    server.close()
    made.close()


def test_udp_calls_and_retransmission(loop: Loop) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(10)
        with connect_udp(*sock.getsockname(), loop=loop, first_interval=0.01) as client:
            pending = client.submit(ECHO, EchoArgs(4))
            first, _ = sock.recvfrom(2000)
            client.pump(loop.clock() + 5)
            second, source = sock.recvfrom(2000)
            assert first == second
            sock.sendto(answer(first), source)
            assert client.wait(pending) == EchoRes(4)


def test_udp_silence_ends_at_the_deadline(loop: Loop) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        client = connect_udp(*sock.getsockname(), loop=loop, first_interval=0.01)
        with client, pytest.raises(RpcTimeout):
            client.call(ECHO, EchoArgs(4), timeout=SHORT)


def test_udp_where_nobody_listens_ends_at_the_deadline(loop: Loop) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        address = sock.getsockname()
    with connect_udp(*address, loop=loop, first_interval=0.01) as client:
        with pytest.raises(RpcTimeout):
            client.call(ECHO, EchoArgs(4), timeout=SHORT)
        assert client.is_open
