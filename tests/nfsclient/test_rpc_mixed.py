# SPDX-License-Identifier: MIT
"""Calls of several procedures at once: their times, their ends, and what they share with other calls."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from nfsclient.clients import Nfs3
from nfsclient.errors import AuthFailed, ConnectionLost, NfsClientError, ProgMismatch, RpcTimeout, XdrError
from nfsclient.protocol import nfs3
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.mixed import MixedCalls, TimedCall
from nfsclient.xdr import Void
from nfsserver.server import Server
from tests.nfsclient.rpc_peer import ECHO, EchoArgs, Peer, framed, words


@pytest.fixture
def rig() -> Iterator[tuple[RpcClient, Server]]:
    with closing(Loop()) as loop:
        server = Server()
        server.listen(loop)
        client = connect_tcp("127.0.0.1", server.port, loop=loop, timeout=5.0, credential=AuthSys(0, 0))
        yield client, server
        client.close()
        server.close()


def _serve(mixed: MixedCalls, over: list[TimedCall], count: int) -> None:
    mixed.flush()
    while len(over) < count:
        mixed.rpc.loop.run_once(mixed.rpc.loop.clock() + 5.0)
        mixed.check()
        mixed.dispatch()


def test_calls_of_several_procedures_each_get_their_end(rig: tuple[RpcClient, Server]) -> None:
    client, server = rig
    mixed, over = MixedCalls(client), list[TimedCall]()
    root = _root(client, server)
    intended = client.loop.clock() - 1.0
    for number in range(20):
        mixed.start(nfs3.NULL, Void(), over.append)
        mixed.start(nfs3.GETATTR, nfs3.Getattr3Args(root), over.append, intended=intended)
        mixed.start(nfs3.ACCESS, nfs3.Access3Args(root, number), over.append)
    assert len(mixed.inflight) == 60
    _serve(mixed, over, 60)
    assert not mixed.inflight
    assert {call.procedure.name for call in over} == {"NULL", "GETATTR", "ACCESS"}
    for call in over:
        assert call.error is None
        assert call.received_at is not None
        assert call.intended <= call.sent_at <= call.received_at
    getattrs = [call for call in over if call.procedure is nfs3.GETATTR]
    assert all(call.intended == intended for call in getattrs)
    assert all(call.result.resok.obj_attributes.type == nfs3.Ftype3.NF3DIR for call in getattrs)


def _root(client: RpcClient, server: Server) -> bytes:
    from nfsclient.clients import Mount

    del server
    port = client.peer_address[1]
    with closing(connect_tcp("127.0.0.1", port, loop=client.loop, credential=AuthSys(0, 0))) as rpc:
        mounted = Mount(rpc).mnt(b"/export").resok
        assert mounted is not None
        return mounted.fhandle


def test_bytes_and_the_exchange_are_those_of_the_wire(rig: tuple[RpcClient, Server]) -> None:
    client, server = rig
    root = _root(client, server)
    passed: list[tuple[bool, bytes]] = []
    client.on_wire = lambda sent, data, _end="": passed.append((sent, bytes(data)))
    mixed, over = MixedCalls(client), list[TimedCall]()
    mixed.start(nfs3.FSINFO, nfs3.Fsinfo3Args(root), over.append)
    _serve(mixed, over, 1)
    exchange = mixed.exchange_of(over[0])
    sent = b"".join(data for is_sent, data in passed if is_sent)
    received = b"".join(data for is_sent, data in passed if not is_sent)
    assert exchange.call == sent[4:]
    assert exchange.reply == received[4:]
    assert (over[0].sent_bytes, over[0].received_bytes) == (len(sent), len(received))


@pytest.mark.parametrize(
    ("end", "error"),
    [
        (words(1, 0, 0, 0, 0) + words(7, 2000), XdrError),  # a text that is longer than it may be
        (words(1, 0, 0, 0, 2, 1, 3), ProgMismatch),
        (words(1, 1, 1, 5), AuthFailed),
    ],
    ids=["does not decode", "mismatch", "denied"],
)
def test_the_exchange_has_the_bytes_of_a_reply_without_a_result(
    end: bytes, error: type[NfsClientError]
) -> None:
    """Else neither the lint nor a capture shows what a broken server has sent."""
    said: list[bytes] = []

    def script(calls: list[bytes]) -> bytes:
        said[:] = [calls[-1][:4] + end]
        return framed(said[0])

    other = AuthSys(7, 8)
    with (
        closing(Loop()) as loop,
        Peer(script) as peer,
        closing(connect_tcp("127.0.0.1", peer.port, loop=loop, credential=AuthSys(0, 0))) as client,
    ):
        mixed, over = MixedCalls(client), list[TimedCall]()
        mixed.start(ECHO, EchoArgs(7), over.append, credential=other)
        _serve(mixed, over, 1)
        exchange = mixed.exchange_of(over[0])
    assert type(exchange.error) is error
    assert exchange.reply == said[0]
    assert exchange.credential == other
    assert other.opaque()[0] in exchange.call


def test_ordinary_calls_are_possible_meanwhile(rig: tuple[RpcClient, Server]) -> None:
    client, server = rig
    root = _root(client, server)
    mixed, over = MixedCalls(client), list[TimedCall]()
    for _ in range(5):
        mixed.start(nfs3.GETATTR, nfs3.Getattr3Args(root), over.append)
    mixed.flush()
    assert Nfs3(client).getattr(root).resok is not None
    _serve(mixed, over, 5)
    assert [call.error for call in over] == [None] * 5


def test_a_function_may_make_the_next_call(rig: tuple[RpcClient, Server]) -> None:
    client, server = rig
    root = _root(client, server)
    mixed, over = MixedCalls(client), list[TimedCall]()

    def again(call: TimedCall) -> None:
        over.append(call)
        if len(over) < 10:
            mixed.start(nfs3.GETATTR, nfs3.Getattr3Args(root), again)
            mixed.flush()

    mixed.start(nfs3.GETATTR, nfs3.Getattr3Args(root), again)
    _serve(mixed, over, 10)
    assert len(over) == 10


@pytest.fixture
def silent() -> Iterator[RpcClient]:
    """A client of a server that never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = connect_tcp(*server.getsockname()[:2], timeout=3000.0)
        yield client
        client.close()


def _errors(over: list[TimedCall]) -> set[type[NfsClientError] | None]:
    return {None if call.error is None else type(call.error) for call in over}


def test_calls_end_at_their_deadline_in_order(silent: RpcClient) -> None:
    mixed, over = MixedCalls(silent, timeout=10.0), list[TimedCall]()
    mixed.start(nfs3.NULL, Void(), over.append)
    mixed.flush()
    first = mixed.next_deadline()
    assert first is not None
    mixed.expire(first - 0.001)
    assert mixed.dispatch() == 0
    mixed.expire(first)
    assert mixed.dispatch() == 1
    assert _errors(over) == {RpcTimeout}
    assert mixed.next_deadline() is None


def test_calls_end_with_the_connection(silent: RpcClient) -> None:
    mixed, over = MixedCalls(silent), list[TimedCall]()
    mixed.start(nfs3.NULL, Void(), over.append)
    mixed.flush()
    silent.close()
    mixed.start(nfs3.NULL, Void(), over.append)
    mixed.flush()
    assert mixed.dispatch() == 2
    assert _errors(over) == {ConnectionLost}


def test_waiting_precisely_ends_at_the_time_and_not_before(silent: RpcClient) -> None:
    loop = silent.loop
    for ahead in (0.0, 0.00005, 0.0007, 0.003):
        until = loop.clock() + ahead
        loop.run_precisely(until)
        assert loop.clock() >= until


def test_waiting_precisely_ends_when_something_happens(rig: tuple[RpcClient, Server]) -> None:
    client, _server = rig
    mixed, over = MixedCalls(client), list[TimedCall]()
    mixed.start(nfs3.NULL, Void(), over.append)
    mixed.flush()
    end = client.loop.clock() + 3000.0
    while not mixed.dispatch():
        client.loop.run_precisely(end)
    assert _errors(over) == {None}


def test_a_connection_can_be_made_from_an_address_of_this_machine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with closing(connect_tcp(*server.getsockname()[:2], source="127.0.0.1")) as client:
            assert client.local_address[0] == "127.0.0.1"
        with pytest.raises(NfsClientError, match=r"192\.0\.2\.77|assign"):
            connect_tcp(*server.getsockname()[:2], source="192.0.2.77")


def test_datagrams_are_refused() -> None:
    from nfsclient.rpc.blocking import connect_udp

    with closing(connect_udp("127.0.0.1", 9)) as client, pytest.raises(TypeError, match="over TCP"):
        MixedCalls(client)


def test_a_connection_that_was_closed_meanwhile_is_made_again(rig: tuple[RpcClient, Server]) -> None:
    client, server = rig
    root = _root(client, server)
    mixed, over = MixedCalls(client), list[TimedCall]()
    reopened: list[int] = []
    client.on_reopened.append(lambda: reopened.append(1))
    for count in (1, 2):
        mixed.start(nfs3.GETATTR, nfs3.Getattr3Args(root), over.append)
        _serve(mixed, over, count)
        server.restart()
        client.loop.catch_up()
        assert not client.is_open
    mixed.start(nfs3.GETATTR, nfs3.Getattr3Args(root), over.append)
    _serve(mixed, over, 3)
    assert _errors(over) == {None}
    assert len(reopened) == 2


def test_calls_that_were_under_way_are_not_made_again(rig: tuple[RpcClient, Server]) -> None:
    client, server = rig
    root = _root(client, server)
    mixed, over = MixedCalls(client), list[TimedCall]()
    mixed.start(nfs3.GETATTR, nfs3.Getattr3Args(root), over.append)
    mixed.flush()
    server.restart()
    client.loop.catch_up()
    mixed.check()
    assert mixed.dispatch() == 1
    assert _errors(over) == {ConnectionLost}
