# SPDX-License-Identifier: MIT
"""Calls in both directions on one connection: a server that calls its clients, and clients that answer."""

from __future__ import annotations

import asyncio
import itertools
import socket
import typing as t
from collections.abc import Callable, Iterator

import pytest

from nfsclient.errors import ConnectionLost, GarbageArgs, ProcUnavail, RpcError, RpcTimeout, XdrError
from nfsclient.rpc import aio, channel, link
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp, connect_udp
from nfsclient.rpc.channel import Channel, result_of
from nfsclient.rpc.core import Pending
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.program import Procedure, Program
from nfsclient.rpc.server import RpcServer
from nfsclient.rpc.service import CallContext, Dispatcher
from nfsclient.xdr import Buffer
from tests.nfsclient.rpc_peer import (
    ECHO,
    NULL,
    PROGRAM,
    TOY,
    EchoArgs,
    EchoRes,
    Peer,
    answer,
    framed,
    success,
    words,
)
from tests.waiting import AT_MOST

BACK = PROGRAM + 1
CB_ECHO: Procedure[EchoArgs, EchoRes] = Procedure(BACK, 1, 1, "CB_ECHO", EchoArgs, EchoRes)
CB = Program(BACK, 1, "CB", (Procedure(BACK, 1, 0, "CB_NULL", NULL.args, NULL.res), CB_ECHO))
Over: t.TypeAlias = Pending[EchoRes]


class Clock:
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Rig:
    """A server that calls back while it answers, and its clients, on one loop."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.loop = Loop(self.clock)
        self.over: list[Over] = []
        self.channels: list[Channel | None] = []
        self.on_echo: Callable[[CallContext, EchoArgs], None] = lambda *_: None
        dispatcher = Dispatcher()
        dispatcher.register(TOY, {1: self._echo})
        self.server = RpcServer(self.loop, dispatcher)
        self.host, self.port = self.server.listen_tcp()
        self.clients: list[RpcClient] = []

    def _echo(self, context: CallContext, args: EchoArgs) -> EchoRes:
        self.channels.append(context.channel)
        self.on_echo(context, args)
        return EchoRes(args.number, args.text)

    def client(self) -> RpcClient:
        self.clients.append(connect_tcp(self.host, self.port, loop=self.loop, timeout=AT_MOST))
        return self.clients[-1]

    def channel_of(self, client: RpcClient) -> Channel:
        """The server's channel to a client, which it learns by a call."""
        client.call(ECHO, EchoArgs(1))
        found = self.channels[-1]
        assert found is not None
        return found

    def call_back(self, to: Channel, number: int = 1, **options: t.Any) -> Over:
        options.setdefault("timeout", 5.0)
        return to.call(CB_ECHO, EchoArgs(number, b"back"), self.over.append, **options)

    def until_over(self, count: int = 1) -> None:
        assert self.loop.run_until(lambda: len(self.over) >= count, self.clock.now + 1)

    def close(self) -> None:
        for client in self.clients:
            client.close()
        self.server.close()
        self.loop.close()


@pytest.fixture
def rig() -> Iterator[Rig]:
    rig = Rig()
    yield rig
    rig.close()


def service(seen: list[CallContext] | None = None) -> Dispatcher:
    """What a client has to say to CB_ECHO."""

    def echo(context: CallContext, args: EchoArgs) -> EchoRes:
        if seen is not None:
            seen.append(context)
        return EchoRes(args.number + 100, args.text)

    dispatcher = Dispatcher()
    dispatcher.register(CB, {1: echo})
    return dispatcher


# ---------------------------------------------------------------- the server calls


def test_a_handler_calls_the_client_that_waits_for_it(rig: Rig) -> None:
    client, seen = rig.client(), list[CallContext]()
    client.serve(service(seen))

    def on_echo(context: CallContext, args: EchoArgs) -> None:
        assert context.channel is not None
        rig.call_back(context.channel, args.number, credential=AuthSys(7, 8))

    rig.on_echo = on_echo
    assert client.call(ECHO, EchoArgs(5)) == EchoRes(5)
    rig.until_over()
    assert result_of(rig.over[0]) == EchoRes(105, b"back")
    assert isinstance(seen[0].credential, AuthSys)
    assert (seen[0].credential.uid, seen[0].peer, seen[0].channel) == (7, client.peer_address, None)


def test_an_idle_client_answers_while_the_loop_runs(rig: Rig) -> None:
    first, second = rig.client(), rig.client()
    for client in (first, second):
        client.serve(service())
    channels = [rig.channel_of(first), rig.channel_of(second)]
    assert channels[0] != channels[1]
    for number, used in enumerate(channels * 2):
        rig.call_back(used, number)
    assert [channel.under_way for channel in channels] == [2, 2]
    rig.until_over(4)
    assert sorted(result_of(over).number for over in rig.over) == [100, 101, 102, 103]
    assert [channel.under_way for channel in channels] == [0, 0]


def test_xids_are_those_of_the_caller(rig: Rig) -> None:
    client = rig.client()
    client.serve(service())
    rig.on_echo = lambda context, _: void(rig.call_back(t.cast("Channel", context.channel), xid=77))
    assert client.call(ECHO, EchoArgs(9, b"forth"), xid=77) == EchoRes(9, b"forth")
    rig.until_over()
    assert result_of(rig.over[0]) == EchoRes(101, b"back")


def test_a_client_that_is_called_may_call(rig: Rig) -> None:
    client = rig.client()
    to = rig.channel_of(client)

    def on_call(message: bytes) -> list[Buffer]:
        assert client.call(ECHO, EchoArgs(3)) == EchoRes(3)
        return [success(message, words(4, 0))]

    client.on_call = on_call
    rig.call_back(to)
    rig.until_over()
    assert result_of(rig.over[0]) == EchoRes(4)


def test_what_is_done_with_a_reply_may_call(rig: Rig) -> None:
    client = rig.client()
    client.serve(service())
    to = rig.channel_of(client)
    to.call(CB_ECHO, EchoArgs(1), lambda _: void(rig.call_back(to, 2)), timeout=5)
    rig.until_over()
    assert result_of(rig.over[0]).number == 102


def repeat(deed: Callable[[], None]) -> None:
    """Until it raises, or for very long."""
    for _ in range(100_000):
        deed()


def void(_: object) -> None:
    """For a lambda that returns nothing."""


# ---------------------------------------------------------------- scripted answers


def test_a_reply_that_is_late_but_in_time(rig: Rig) -> None:
    client, held = rig.client(), list[bytes]()
    client.on_call = held.append
    rig.call_back(rig.channel_of(client))
    assert rig.loop.run_until(lambda: bool(held), rig.clock.now + 1)
    assert client.call(ECHO, EchoArgs(2)) == EchoRes(2)
    rig.clock.now += 4
    client.send_reply([success(held[0], words(1, 0))])
    rig.until_over()
    assert result_of(rig.over[0]) == EchoRes(1)


def test_a_reply_that_comes_too_late_is_ignored(rig: Rig) -> None:
    client, held = rig.client(), list[bytes]()
    client.on_call = held.append
    to = rig.channel_of(client)
    rig.call_back(to)
    assert rig.loop.run_until(lambda: bool(held), rig.clock.now + 1)
    rig.clock.now += 6
    rig.loop.run_once(rig.clock.now)
    with pytest.raises(RpcTimeout, match="CB_ECHO"):
        result_of(rig.over[0])
    client.send_reply([success(held[0], words(1, 0))])
    assert client.call(ECHO, EchoArgs(2)) == EchoRes(2)
    assert len(rig.over) == 1
    assert to.is_open


@pytest.mark.parametrize(
    ("tail", "error"),
    [
        (words(1, 0, 0, 0, 3), ProcUnavail),
        (words(1, 0, 0, 0, 4), GarbageArgs),
        (words(1, 0, 0, 0, 0, 5), XdrError),
        (words(1, 7), RpcError),
    ],
    ids=["proc-unavail", "garbage-args", "results-short", "no-reply-stat"],
)
def test_a_wrong_reply_is_the_error_of_its_call(rig: Rig, tail: bytes, error: type[Exception]) -> None:
    client = rig.client()
    client.on_call = lambda message: [message[:4], tail]
    rig.call_back(rig.channel_of(client))
    rig.until_over()
    with pytest.raises(error):
        result_of(rig.over[0])
    assert client.call(ECHO, EchoArgs(2)) == EchoRes(2)


def test_replies_to_nothing_are_ignored(rig: Rig) -> None:
    client = rig.client()
    rig.channel_of(client)
    client.send_record(words(1, 1, 0, 0, 0, 0))
    client.serve(service())
    rig.call_back(rig.channel_of(client), xid=5)
    client.send_record(words(6, 1, 0, 0, 0, 0))
    rig.until_over()
    assert result_of(rig.over[0]).number == 101


def test_a_client_without_a_service_keeps_the_call(rig: Rig) -> None:
    client = rig.client()
    rig.call_back(rig.channel_of(client), xid=9)
    assert client.receive_record()[:12] == words(9, 0, 2)


def test_programs_that_a_client_does_not_have(rig: Rig) -> None:
    client = rig.client()
    client.serve(service())
    rig.channel_of(client).call(ECHO, EchoArgs(1), rig.over.append, timeout=5)
    rig.until_over()
    with pytest.raises(RpcError, match="program"):
        result_of(rig.over[0])


# ---------------------------------------------------------------- ends and bounds


@pytest.mark.parametrize("who", ["client", "server"])
def test_a_lost_connection_ends_its_calls(rig: Rig, who: str) -> None:
    client = rig.client()
    client.on_call = lambda _: None
    to = rig.channel_of(client)
    rig.call_back(to)
    rig.call_back(to)
    if who == "client":
        client.close()
        rig.until_over(2)
    else:
        rig.server.drop_connections()
    for over in rig.over:
        with pytest.raises(ConnectionLost):
            result_of(over)
    assert (len(rig.over), to.is_open) == (2, False)
    with pytest.raises(ConnectionLost):
        rig.call_back(to)
    assert len(rig.over) == 2


def test_a_half_closed_connection_takes_no_calls(rig: Rig) -> None:
    client = rig.client()
    to = rig.channel_of(client)
    rig.call_back(to)
    client.shutdown_write()
    rig.until_over()
    assert isinstance(rig.over[0].error, ConnectionLost)


def test_a_cancelled_call_is_forgotten(rig: Rig) -> None:
    client = rig.client()
    client.serve(service())
    to = rig.channel_of(client)
    to.cancel(rig.call_back(to))
    rig.call_back(to, 2)
    rig.until_over()
    assert [result_of(over).number for over in rig.over] == [102]


def test_calls_under_way_are_bounded(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "MAX_CALLS", 3)
    to = rig.channel_of(rig.client())
    for _ in range(3):
        rig.call_back(to)
    with pytest.raises(RpcError, match="under way"):
        rig.call_back(to)
    rig.clock.now += 6
    rig.loop.run_once(rig.clock.now)
    assert [type(over.error) for over in rig.over] == [RpcTimeout] * 3
    rig.call_back(to)


def test_a_client_that_does_not_read_is_not_called(rig: Rig) -> None:
    rig.server.max_output = 4000
    with socket.create_connection((rig.host, rig.port)) as sock:
        sock.sendall(framed(words(1, 0, 2, PROGRAM, 1, 1, 0, 0, 0, 0, 1, 0)))
        assert rig.loop.run_until(lambda: bool(rig.channels), rig.clock.now + 1)
        to = rig.channels[0]
        assert to is not None
        with pytest.raises(RpcError, match="does not read"):
            repeat(lambda: to.cancel(rig.call_back(to)))
        assert to.is_open


def test_a_server_that_does_not_read_the_replies(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "MOST_UNREAD_REPLIES", 10)
    client = rig.client()
    with pytest.raises(ConnectionLost):
        repeat(lambda: client.send_reply([bytes(60_000)]))
    assert client.why_closed == "the server does not read the replies to its calls"


def test_arguments_that_cannot_be_encoded(rig: Rig) -> None:
    to = rig.channel_of(rig.client())
    with pytest.raises(XdrError):
        to.call(CB_ECHO, EchoArgs(-1), rig.over.append, timeout=5)
    assert to.under_way == 0


def test_there_is_no_channel_over_udp(rig: Rig) -> None:
    host, port = rig.server.listen_udp()
    with connect_udp(host, port, loop=rig.loop, timeout=AT_MOST) as client:
        client.call(ECHO, EchoArgs(1))
    assert rig.channels == [None]


# ---------------------------------------------------------------- clients that wait alone


def calls_back(number: Iterator[int]) -> Callable[[list[bytes]], bytes | None]:
    """A peer that makes a call before it answers each one, and answers when that one is answered, with what came."""
    held: list[bytes] = []

    def script(messages: list[bytes]) -> bytes | None:
        out = b""
        for message in messages:
            if message[4:8] == words(0):
                held.append(message)
                out += framed(words(next(number), 0, 2, BACK, 1, 1, 0, 0, 0, 0, 30, 0))
            else:
                assert message[4:] == words(1, 0, 0, 0, 0, 130, 0)
                out += framed(answer(held.pop(0)))
        return out or None

    return script


def test_a_client_that_waits_alone_answers() -> None:
    with Peer(calls_back(itertools.count())) as peer, connect_tcp(peer.host, peer.port) as client:
        client.serve(service())
        for number in range(3):
            assert client.call(ECHO, EchoArgs(number)) == EchoRes(number)
        echoes = client.pipeline(ECHO, map(EchoArgs, range(20)), outstanding=4)
        assert sorted(result.number for _, result in echoes) == list(range(20))


def test_an_asyncio_client_answers() -> None:
    async def main(peer: Peer) -> None:
        async with asyncio.timeout(AT_MOST), await aio.connect_tcp(peer.host, peer.port) as client:
            client.serve(service())
            results = await asyncio.gather(*(client.call(ECHO, EchoArgs(number)) for number in range(5)))
            assert [result.number for result in results] == list(range(5))
            pairs = [pair async for pair in client.pipeline(ECHO, map(EchoArgs, range(20)))]
            assert len(pairs) == 20

    with Peer(calls_back(itertools.count())) as peer:
        asyncio.run(main(peer))


def test_an_asyncio_client_answers_late() -> None:
    held: list[bytes] = []

    async def main(peer: Peer) -> None:
        async with asyncio.timeout(AT_MOST), await aio.connect_tcp(peer.host, peer.port) as client:
            called = asyncio.Event()

            def on_call(message: bytes) -> None:
                held.append(message)
                called.set()

            client.on_call = on_call
            call = asyncio.create_task(client.call(ECHO, EchoArgs(4)))
            await called.wait()
            client.send_reply([success(held[0], words(130, 0))])
            assert await call == EchoRes(4)
        with pytest.raises(ConnectionLost):
            client.send_reply([b""])

    with Peer(calls_back(itertools.count())) as peer:
        asyncio.run(main(peer))
