# SPDX-License-Identifier: MIT
"""Sealed calls, by a toy flavor on both sides."""

from __future__ import annotations

import asyncio
import threading
import typing as t
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from nfsclient.errors import AuthFailed, BadReply, ProcUnavail, RpcTimeout
from nfsclient.rpc import aio
from nfsclient.rpc.auth import AuthNone, AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp
from nfsclient.rpc.core import DatagramCore, StreamCore
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.messages import OpaqueAuth
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.record import Record
from nfsclient.rpc.security import OpenedCall
from nfsclient.rpc.server import RpcServer
from nfsclient.rpc.service import CallContext, Dispatcher
from nfsclient.xdr import Buffer, Void
from tests.nfsclient.rpc_peer import (
    ECHO,
    FETCH,
    PATTERN,
    PROGRAM,
    STORE,
    TOY,
    EchoArgs,
    EchoRes,
    FetchArgs,
    FetchRes,
    FetchResOk,
    StoreArgs,
)
from tests.nfsclient.toy_security import FLAVOR, Opened, ToyAcceptor, ToySecurity

KEY = b"k" * 32
BIG = 200_001
SECRET = b"attack at dawn"


class Hall:
    """The toy program that uses the toy flavor, and clients of it on the same loop."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.acceptor = ToyAcceptor(KEY)
        self.users: list[object] = []
        dispatcher = Dispatcher()
        dispatcher.acceptors[FLAVOR] = self.acceptor
        dispatcher.register(TOY, {ECHO.number: self.echo, FETCH.number: self.fetch, STORE.number: self.store})
        self.rpc = RpcServer(self.loop, dispatcher)
        self.address = self.rpc.listen_tcp()

    def echo(self, context: CallContext, args: EchoArgs) -> EchoRes:
        self.users.append(context.credential)
        assert context.message[context.arguments_at :] == args.to_xdr()
        return EchoRes(args.number, args.text)

    def fetch(self, _context: CallContext, args: FetchArgs) -> FetchRes:
        return FetchRes(0, FetchResOk(args.count, PATTERN[: args.count]))

    def store(self, _context: CallContext, args: StoreArgs) -> FetchArgs:
        return FetchArgs(len(args.data))

    def connect(self, security: ToySecurity, **options: t.Any) -> RpcClient:
        return connect_tcp(*self.address, loop=self.loop, credential=security, **options)


@pytest.fixture
def hall() -> Iterator[Hall]:
    made = Hall()
    yield made
    made.rpc.close()
    made.loop.close()


@pytest.fixture
def security() -> ToySecurity:
    return ToySecurity(KEY)


def test_each_call_has_a_number_and_a_signature(hall: Hall, security: ToySecurity) -> None:
    with hall.connect(security) as client:
        for number in range(5):
            assert client.call(ECHO, EchoArgs(number, SECRET)) == EchoRes(number, SECRET)
    assert hall.acceptor.seen == {1, 2, 3, 4, 5}
    assert hall.users == [AuthSys(7, 7)] * 5
    assert security.opened == [[1], [2], [3], [4], [5]]


def test_data_passes_encrypted(hall: Hall, security: ToySecurity) -> None:
    passed: list[bytes] = []
    with hall.connect(security) as client:
        client.on_wire = lambda _sent, data, _end: passed.append(data)
        client.call(ECHO, EchoArgs(1, SECRET))
        client.credential = AuthNone()
        assert SECRET not in b"".join(passed)
        client.call(ECHO, EchoArgs(1, SECRET))
    assert b"".join(passed).count(SECRET) == 2


def test_bulk_data_and_many_calls_take_the_ordinary_way(hall: Hall, security: ToySecurity) -> None:
    room = bytearray(BIG)
    with hall.connect(security) as client:
        fetched = client.call(FETCH, FetchArgs(BIG), into=memoryview(room))
        assert fetched.resok is not None
        assert room == PATTERN[:BIG]
        assert client.call(STORE, StoreArgs(PATTERN[:BIG])) == FetchArgs(BIG)
        results = client.pipeline(ECHO, (EchoArgs(number) for number in range(100)), outstanding=16)
        assert sorted(result.number for _, result in results) == list(range(100))
        mixed = [
            client.submit(FETCH, FetchArgs(BIG)),
            client.submit(FETCH, FetchArgs(BIG), credential=AuthNone()),
        ]
        for pending in mixed:
            result = client.wait(pending).resok
            assert result is not None
            assert result.data == PATTERN[:BIG]


def test_client_that_is_alone_on_its_loop(hall: Hall, security: ToySecurity) -> None:
    """It would take the fast path, and receive bulk data in place."""
    stop = threading.Event()

    def serve() -> None:
        while not stop.is_set():
            hall.loop.run_once(hall.loop.clock() + 0.02)

    async def story() -> None:
        async with await aio.connect_tcp(*hall.address, credential=ToySecurity(KEY, b"here")) as client:
            client.credential = security
            calls = client.pipeline(ECHO, (EchoArgs(number) for number in range(50)), outstanding=16)
            assert len([result async for _, result in calls]) == 50
            assert await client.call(STORE, StoreArgs(PATTERN[:BIG])) == FetchArgs(BIG)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with connect_tcp(*hall.address, credential=security) as client:
            assert client.call(ECHO, EchoArgs(1, SECRET)) == EchoRes(1, SECRET)
            fetched = client.call(FETCH, FetchArgs(BIG), into=memoryview(bytearray(BIG))).resok
            assert fetched is not None
            assert fetched.data == PATTERN[:BIG]
            pending = client.submit(FETCH, FetchArgs(BIG), credential=AuthNone())
            assert client.wait(client.submit(FETCH, FetchArgs(BIG))).resok is not None
            assert client.wait(pending).resok is not None
        asyncio.run(story())
    finally:
        stop.set()
        thread.join()


def test_recorded_calls_are_the_bytes_that_were_sent(hall: Hall, security: ToySecurity) -> None:
    exchanges: list[Exchange] = []
    sent: list[bytes] = []
    with hall.connect(security) as client:
        client.on_wire = lambda was_sent, data, _end: sent.append(data[4:]) if was_sent and data else None
        client.on_exchange = exchanges.append
        client.call(ECHO, EchoArgs(1, SECRET))
        client.on_exchange = None
        with pytest.raises(ProcUnavail) as caught:
            client.call(Procedure(PROGRAM, 1, 99, "NONE", Void, Void), Void())
    exchange = caught.value.exchange
    assert exchange is not None
    assert [exchanges[0].call, exchange.call] == sent
    assert security.opened == [[1], [2]]  # an error has a verifier, too


# ---------------------------------------------------------------- what is not believed


def _of_another_call(call: Opened) -> OpenedCall:
    return replace(call, seq=call.seq + 1)


class WithoutVerifier(Opened):
    def seal(self, results: bytes | None) -> tuple[OpaqueAuth, list[Buffer]]:
        return OpaqueAuth(), super().seal(results)[1]


class Damaged(Opened):
    def seal(self, results: bytes | None) -> tuple[OpaqueAuth, list[Buffer]]:
        verifier, (wrapped,) = super().seal(results)
        changed = bytearray(wrapped)
        changed[6] ^= 1
        return verifier, [bytes(changed)]


@pytest.mark.parametrize(
    "forge",
    [
        _of_another_call,
        lambda call: WithoutVerifier(call.key, call.seq, call.arguments),
        lambda call: Damaged(call.key, call.seq, call.arguments),
    ],
    ids=["other-number", "no-verifier", "damaged"],
)
def test_forged_replies_are_errors(
    hall: Hall, security: ToySecurity, forge: Callable[[Opened], OpenedCall]
) -> None:
    hall.acceptor.forge = forge
    with hall.connect(security) as client:
        with pytest.raises(BadReply):
            client.call(ECHO, EchoArgs(1))
        with pytest.raises(BadReply):
            client.call(FETCH, FetchArgs(BIG))
        hall.acceptor.forge = lambda call: call
        assert client.call(ECHO, EchoArgs(2)) == EchoRes(2)


def test_wrong_signature_and_unknown_context_are_denied(hall: Hall) -> None:
    for security in (ToySecurity(b"x" * 32), ToySecurity(KEY, b"gone")):
        with hall.connect(security) as client, pytest.raises(AuthFailed, match="RPCSEC_GSS_CREDPROBLEM"):
            client.call(ECHO, EchoArgs(1))
    assert not hall.acceptor.seen


def test_used_number_gets_silence(hall: Hall, security: ToySecurity) -> None:
    with hall.connect(security, timeout=0.2) as client:
        client.call(ECHO, EchoArgs(1))
        security.numbers = iter([1, 2])
        with pytest.raises(RpcTimeout):
            client.call(ECHO, EchoArgs(1))
        assert client.call(ECHO, EchoArgs(2)) == EchoRes(2)


# ---------------------------------------------------------------- without sockets


def test_datagram_that_is_sent_again_has_a_new_number(security: ToySecurity) -> None:
    """RFC 2203 section 5.3.3.1; the reply may be to any of them."""
    core = DatagramCore(first_interval=1.0)
    pending = core.submit(ECHO, EchoArgs(5), 0.0, credential=security, timeout=10.0)
    core.handle_timeout(1.5)
    first, second = core.take_output()
    assert first[:24] == second[:24]
    assert first != second
    assert pending.call == second
    for datagram in (first,):
        dispatcher = Dispatcher()
        dispatcher.acceptors[FLAVOR] = ToyAcceptor(KEY)
        dispatcher.register(TOY, {ECHO.number: lambda _, args: EchoRes(args.number, args.text)})
        reply = dispatcher.answer(datagram, ("127.0.0.1", 1), "udp")
        assert reply is not None
        core.receive(b"".join(reply), 2.0)
    assert pending.result == EchoRes(5)
    assert security.opened == [[1, 2]]


def test_arguments_that_do_not_encode_use_no_number(security: ToySecurity) -> None:
    core = StreamCore()
    with pytest.raises(Exception, match="EchoArgs"):
        core.submit(ECHO, EchoArgs(-1), 0.0, credential=security, timeout=1.0)
    assert next(security.numbers) == 1
    assert not core.pending


def test_acceptor_may_answer_itself() -> None:
    """As RPCSEC_GSS does to calls that make a context (RFC 2203 section 5.2)."""

    class Maker(ToyAcceptor):
        def open(self, *_: object) -> OpenedCall | list[Buffer] | None:
            return [b"whole", b"reply"]

    dispatcher = Dispatcher()
    dispatcher.acceptors[FLAVOR] = Maker(KEY)
    core = StreamCore()
    core.submit(ECHO, EchoArgs(1), 0.0, credential=ToySecurity(KEY), timeout=1.0)
    call = b"".join(core.take_output())[4:]
    assert dispatcher.answer(call, ("127.0.0.1", 1), "tcp") == [b"whole", b"reply"]
    bad = call[:24] + FLAVOR.to_bytes(4, "big") + bytes(4) + bytes(8)
    dispatcher.acceptors[FLAVOR] = ToyAcceptor(KEY)
    reply = dispatcher.answer(bad, ("127.0.0.1", 1), "tcp")
    assert reply is not None
    with pytest.raises(AuthFailed, match="AUTH_BADCRED"):
        _raise(core, b"".join(reply))


def _raise(core: StreamCore, reply: bytes) -> None:
    (pending,) = core.pending.values()
    core.take_message(Record(reply, 0, len(reply)), 1.0)
    assert pending.error is not None
    raise pending.error
