# SPDX-License-Identifier: MIT
"""Calls to clients on connections that the server makes: whom it calls, and what misbehaving clients can do."""

from __future__ import annotations

import socket
import typing as t
from collections.abc import Iterator

import pytest

from nfsclient.errors import ConnectionLost, RpcTimeout
from nfsclient.rpc.channel import result_of
from nfsclient.rpc.core import Pending
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.server import RpcServer
from nfsclient.rpc.service import CallContext, Dispatcher
from nfsclient.rpc.sockets import Address
from nfsserver import Server, dialing
from nfsserver.bounds import MOST
from nfsserver.dialing import Dialer, DialRefused, Policy, loopback_only
from nfsserver.handlers import ServerApi
from nfsserver.service import Service
from tests.nfsclient.rpc_peer import ECHO, NULL, TOY, EchoArgs, EchoRes
from tests.nfsserver.conftest import HOSTS, Rig
from tests.waiting import AT_MOST

HERE: t.Final = ("127.0.0.1", 40_000)
"""Where the request came from that named an address."""
OWN: t.Final = ("127.0.0.1", 2049)
TIMEOUT: t.Final = 10.0


class Clock:
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Dialing:
    """A dialer, and programs that it may call, on one loop."""

    def __init__(self, policy: Policy = loopback_only) -> None:
        self.clock = Clock()
        self.loop = Loop(self.clock)
        self.dialer = Dialer(policy)
        self.dialer.start(self.loop, OWN)
        self.over: list[Pending[EchoRes]] = []
        self.servers: list[RpcServer] = []
        self.listening: list[socket.socket] = []

    def answering(self, host: str = "127.0.0.1") -> tuple[RpcServer, Address]:
        """A client's program that answers ECHO."""
        dispatcher = Dispatcher()
        dispatcher.register(TOY, {1: lambda _, args: EchoRes(args.number + 1, args.text)})
        server = RpcServer(self.loop, dispatcher)
        self.servers.append(server)
        return server, server.listen_tcp(host)

    def silent(self) -> Address:
        """A program that accepts connections when a test does, and answers nothing."""
        sock = socket.create_server(("127.0.0.1", 0))
        sock.settimeout(AT_MOST)
        self.listening.append(sock)
        host, port = sock.getsockname()
        return host, port

    def call(self, target: Address, asker: Address = HERE, number: int = 1) -> None:
        args = EchoArgs(number, b"text")
        self.dialer.call(asker, target, ECHO, args, self.over.append, timeout=TIMEOUT)

    def turn(self, *, until: int | None = None) -> None:
        """Serve what there is to serve; with `until`, until this many calls are over."""
        if until is None:
            self.loop.run_once(self.clock.now)
            return
        served = Loop.run_until
        assert served(self.loop, lambda: len(self.over) >= until, self.clock.now + AT_MOST)

    def close(self) -> None:
        self.dialer.close()
        for server in self.servers:
            server.close()
        for sock in self.listening:
            sock.close()
        self.loop.close()


@pytest.fixture
def calls() -> Iterator[Dialing]:
    made = Dialing()
    yield made
    made.close()


# ---------------------------------------------------------------- calls


@pytest.mark.parametrize("host", HOSTS)
def test_calls_to_one_address_share_a_connection(calls: Dialing, host: str) -> None:
    server, address = calls.answering(host)
    for number in (1, 2):
        calls.call(address, number=number)
    assert not calls.over  # nothing has waited
    calls.turn(until=2)
    assert sorted(result_of(call).number for call in calls.over) == [2, 3]
    assert (len(calls.dialer), len(server.connections)) == (1, 1)


def test_a_connection_without_calls_ends(calls: Dialing) -> None:
    _, address = calls.answering()
    calls.call(address)
    calls.turn(until=1)
    calls.clock.now += dialing.IDLE - 1
    calls.turn()
    assert len(calls.dialer) == 1
    calls.clock.now += 1
    calls.turn()
    assert len(calls.dialer) == 0
    calls.call(address)
    calls.turn(until=2)
    assert result_of(calls.over[1]).number == 2


def test_a_client_that_does_not_answer_is_given_up_at_the_deadline(calls: Dialing) -> None:
    address = calls.silent()
    calls.call(address)
    calls.turn()
    calls.clock.now += TIMEOUT
    calls.turn()
    assert isinstance(calls.over[0].error, RpcTimeout)


def test_an_address_that_nobody_listens_on_rests(calls: Dialing) -> None:
    address = calls.silent()
    calls.listening.pop().close()
    try:
        calls.call(address)
        calls.turn(until=1)
        assert isinstance(calls.over[0].error, ConnectionLost)
    except DialRefused:
        pass  # the kernel has said so at once
    with pytest.raises(DialRefused, match="did not answer within the last 5 s"):
        calls.call(address)
    calls.clock.now += dialing.REST
    sock = socket.create_server(address)
    calls.listening.append(sock)
    calls.call(address)
    assert len(calls.dialer) == 1


def test_a_client_that_ends_the_connection_ends_its_calls(calls: Dialing) -> None:
    address = calls.silent()
    calls.call(address)
    calls.turn()
    connection, _ = calls.listening[0].accept()
    connection.close()
    calls.turn(until=1)
    assert isinstance(calls.over[0].error, ConnectionLost)
    assert len(calls.dialer) == 0


@pytest.mark.parametrize(
    "sent", [b"\xff\xff\xff\xff", b"\x80\x00\x00\x04abcd" * 50, bytes(8000), b"\x80\x00\x00\x08" + bytes(8)]
)
def test_what_is_no_reply_does_no_harm(calls: Dialing, sent: bytes) -> None:
    address = calls.silent()
    calls.call(address)
    calls.turn()
    connection, _ = calls.listening[0].accept()
    with connection:
        connection.sendall(sent)
        calls.turn()
        calls.clock.now += TIMEOUT
        calls.turn(until=1)
    assert isinstance(calls.over[0].error, ConnectionLost | RpcTimeout)
    other = calls.answering()[1]
    calls.call(other)
    calls.turn(until=2)
    assert result_of(calls.over[1]).number == 2


def test_connections_are_bounded(calls: Dialing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MOST, "dialed", 2)
    first, second, third = (calls.silent() for _ in range(3))
    calls.call(first)
    calls.call(second)
    with pytest.raises(DialRefused, match="2 connections to clients have calls under way"):
        calls.call(third)
    calls.turn()
    calls.clock.now += TIMEOUT
    calls.turn()
    calls.call(second)
    calls.call(third)  # instead of the first, which has no calls any more
    with pytest.raises(DialRefused):
        calls.call(first)


def test_the_end_of_the_server_ends_calls(calls: Dialing) -> None:
    address = calls.silent()
    calls.call(address)
    calls.dialer.close()
    assert isinstance(calls.over[0].error, ConnectionLost)
    with pytest.raises(DialRefused, match="does not listen"):
        calls.call(address)


# ---------------------------------------------------------------- whom it calls


@pytest.mark.parametrize(
    ("asker", "target", "why"),
    [
        (HERE, ("192.0.2.1", 40_001), "not an address of this machine"),
        (HERE, ("2001:db8::1", 40_001), "not an address of this machine"),
        (HERE, ("::ffff:192.0.2.1", 40_001), "not an address of this machine"),
        (HERE, ("0.0.0.0", 40_001), "not an address of this machine"),
        (("192.0.2.1", 40_000), ("127.0.0.1", 40_001), "only callers of this machine"),
        (("192.0.2.1", 40_000), ("192.0.2.1", 40_001), "only callers of this machine"),
        (HERE, ("localhost", 40_001), "it is a name"),
        (HERE, ("", 40_001), "it is a name"),
        (HERE, ("127.0.0.1", 111), "ports below 1024"),
        (HERE, ("127.0.0.1", 0), "no such port"),
        (HERE, ("127.0.0.1", 0x1_0000), "no such port"),
        (HERE, OWN, "it is this server"),
        (HERE, ("::ffff:127.0.0.1", OWN[1]), "it is this server"),
    ],
)
def test_a_stranger_makes_it_call_nobody(
    calls: Dialing, monkeypatch: pytest.MonkeyPatch, asker: Address, target: Address, why: str
) -> None:
    def no_socket(*_: object) -> t.NoReturn:
        pytest.fail("a socket was made")

    monkeypatch.setattr(socket, "socket", no_socket)
    monkeypatch.setattr(socket, "getaddrinfo", no_socket)
    with pytest.raises(DialRefused, match=why):
        calls.call(target, asker)
    assert not calls.over


def test_another_policy_is_requested_with_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Address, Address]] = []

    def nobody(asker: Address, target: Address) -> str:
        asked.append((asker, target))
        return "nobody is called"

    made = Dialing(nobody)
    monkeypatch.setattr(socket, "socket", None)
    with pytest.raises(DialRefused, match="nobody is called"):
        made.call(("::ffff:192.0.2.2", 40_001), ("::ffff:192.0.2.1", 700))
    assert asked == [(("192.0.2.1", 700), ("192.0.2.2", 40_001))]
    made.close()


# ---------------------------------------------------------------- from a handler


def test_a_handler_calls_its_caller_back_on_another_connection(rig: Rig) -> None:
    """As 4.0 and a lock manager do: the request names a port, the call goes there after the reply."""
    over: list[Pending[EchoRes]] = []
    heard: list[int] = []

    def echo(server: ServerApi, context: CallContext, args: EchoArgs) -> EchoRes:
        target = context.peer[0], args.number
        server.dialer.call(context.peer, target, ECHO, EchoArgs(7, b"granted"), over.append, timeout=TIMEOUT)
        return EchoRes(args.number, args.text)

    def granted(_: CallContext, args: EchoArgs) -> EchoRes:
        heard.append(args.number)
        return EchoRes(args.number, args.text)

    rig.server.offer(Service(TOY, {ECHO: echo, NULL: lambda *_: None}))
    rig.server._obey()
    dispatcher = Dispatcher()
    dispatcher.register(TOY, {1: granted})
    callback = RpcServer(rig.loop, dispatcher)
    _, port = callback.listen_tcp()
    assert rig.rpc().call(ECHO, EchoArgs(port, b"")).number == port
    assert rig.loop.run_until(lambda: bool(over), rig.loop.clock() + AT_MOST)
    assert (result_of(over[0]).number, heard) == (7, [7])
    rig.server.restart()
    assert not callback.connections or rig.loop.run_until(
        lambda: not callback.connections, rig.loop.clock() + AT_MOST
    )
    callback.close()


def test_a_server_calls_nobody_before_it_listens() -> None:
    with pytest.raises(DialRefused):
        Server(seed=1).dialer.call(HERE, HERE, ECHO, EchoArgs(1, b""), lambda _: None, timeout=1)
