# SPDX-License-Identifier: MIT
"""A process that did not run for longer than any deadline calls nothing late that has come meanwhile."""

from __future__ import annotations

import select
import typing as t
from collections.abc import Callable, Iterator

import pytest

from nfsclient.errors import RpcTimeout
from nfsclient.rpc.blocking import RpcClient, connect_tcp
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.server import RpcServer
from nfsclient.rpc.service import CallContext, Dispatcher
from tests.nfsclient.rpc_peer import ECHO, TOY, EchoArgs, EchoRes, Peer

HOURS = 10_000.0


class Clock:
    """Stands still, but where the process is held up."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def loop(clock: Clock) -> Iterator[Loop]:
    made = Loop(clock)
    yield made
    made.close()


@pytest.fixture
def slow(loop: Loop, clock: Clock) -> Iterator[RpcClient]:
    """A client of a server in the same process, that is held up within every call."""

    def handler(_: CallContext, args: EchoArgs) -> EchoRes:
        clock.now += HOURS
        return EchoRes(args.number)

    dispatcher = Dispatcher()
    dispatcher.register(TOY, {ECHO.number: handler})
    server = RpcServer(loop, dispatcher)
    host, port = server.listen_tcp()[:2]
    with connect_tcp(host, port, loop=loop) as client:
        yield client
    server.close()


def one_call(client: RpcClient) -> list[int]:
    return [client.call(ECHO, EchoArgs(1)).number]


def two_under_way(client: RpcClient) -> list[int]:
    calls = [client.submit(ECHO, EchoArgs(number)) for number in (1, 2)]
    return [client.wait(call).number for call in calls]


def a_window(client: RpcClient) -> list[int]:
    return sorted(
        reply.number for _, reply in client.pipeline(ECHO, map(EchoArgs, range(200)), outstanding=64)
    )


@pytest.mark.parametrize("how", [one_call, two_under_way, a_window])
def test_a_server_in_the_same_process_that_was_held_up_has_answered(
    slow: RpcClient, how: Callable[[RpcClient], list[int]]
) -> None:
    numbers = how(slow)
    assert numbers == list(range(200)) or numbers == [1, 2][: len(numbers)]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("what", ["call", "record"])
def test_what_came_while_we_were_held_up_is_not_late(
    loop: Loop, clock: Clock, shared: bool, what: str
) -> None:
    server = RpcServer(loop, Dispatcher())
    if shared:
        server.listen_tcp()
    with Peer() as peer, connect_tcp(peer.host, peer.port, loop=loop) as client:
        call = client.submit(ECHO, EchoArgs(7))
        if what == "record":
            client.core.cancel(call, RpcTimeout("given up", 0.0))
        assert select.select([client.fileno()], [], [], 30)[0]
        clock.now += HOURS
        if what == "record":
            deadlines = iter([0.0, HOURS])
            loop.clock = lambda: next(deadlines, HOURS)
            assert client.receive_record(1)
        else:
            assert client.wait(call).number == 7
    server.close()


@pytest.mark.parametrize("shared", [False, True])
def test_silence_is_late_all_the_same(loop: Loop, clock: Clock, shared: bool) -> None:
    server = RpcServer(loop, Dispatcher())
    if shared:
        server.listen_tcp()
    silent: Callable[[t.Any], bytes | None] = lambda _: None  # noqa: E731
    with Peer(silent) as peer, connect_tcp(peer.host, peer.port, loop=loop) as client:
        call = client.submit(ECHO, EchoArgs(7))
        clock.now += HOURS
        with pytest.raises(RpcTimeout):
            client.wait(call)
    server.close()
