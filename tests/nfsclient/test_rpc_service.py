# SPDX-License-Identifier: MIT
"""Answering calls: every refusal, any bytes, and sockets that clients treat badly."""

from __future__ import annotations

import contextlib
import socket
import typing as t
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.errors import (
    AuthFailed,
    GarbageArgs,
    ProcUnavail,
    ProgMismatch,
    ProgUnavail,
    SystemErr,
)
from nfsclient.rpc.auth import AuthNone, AuthSys, RawCredential
from nfsclient.rpc.blocking import RpcClient, connect_tcp, connect_udp
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.messages import AcceptStat, AuthStat
from nfsclient.rpc.program import Procedure, Program
from nfsclient.rpc.record import RecordAssembler, fragment
from nfsclient.rpc.server import RpcServer
from nfsclient.rpc.service import CallContext, Dispatcher, Refused
from nfsclient.xdr import Void
from tests.nfsclient.rpc_peer import (
    ECHO,
    FETCH,
    NULL,
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
    framed,
    success,
    words,
)

PEER = ("192.0.2.1", 700)
TOY3 = Program(PROGRAM, 3, "TOY", (Procedure(PROGRAM, 3, 0, "NULL", Void, Void),))


def echo(_context: CallContext, args: EchoArgs) -> EchoRes:
    if args.number == 13:
        raise Refused(auth_stat=AuthStat.AUTH_TOOWEAK)
    if args.number == 14:
        raise Refused(accept_stat=AcceptStat.PROC_UNAVAIL)
    if args.number == 15:
        raise ZeroDivisionError("a fault of the handler")
    if args.number == 16:
        return EchoRes(-1)
    return EchoRes(args.number, args.text)


def fetch(_context: CallContext, args: FetchArgs) -> FetchRes:
    return FetchRes(0, FetchResOk(args.count, PATTERN[: args.count]))


def make_dispatcher() -> Dispatcher:
    dispatcher = Dispatcher()
    dispatcher.register(TOY, {1: echo, 2: fetch})
    dispatcher.register(TOY3, {})
    return dispatcher


def call_bytes(*header: int, tail: bytes = b"") -> bytes:
    return words(7, *header) + tail


def answer(message: bytes, dispatcher: Dispatcher | None = None) -> bytes | None:
    reply = (dispatcher or make_dispatcher()).answer(message, PEER, "tcp")
    return None if reply is None else b"".join(reply)


EMPTY_AUTH = (0, 0, 0, 0)


@given(
    flavor=st.sampled_from([0, 1, 6]),
    body=st.one_of(
        st.builds(
            lambda uid, name: AuthSys(uid, 7, (1, 2), name).opaque()[0][8:],
            st.integers(0, 3),
            st.sampled_from([b"a", b"abcd"]),
        ),
        st.binary(max_size=12),
    ),
    verifier=st.one_of(st.just(b""), st.binary(max_size=8)),
)
def test_a_caller_that_is_known_is_taken_for_the_same_one(flavor: int, body: bytes, verifier: bytes) -> None:
    """What is kept of headers changes no reply, and not whom a handler sees."""
    seen: list[object] = []

    def note(context: CallContext, args: EchoArgs) -> EchoRes:
        seen.append(context.credential)
        return EchoRes(args.number, args.text)

    def made() -> Dispatcher:
        dispatcher = Dispatcher()
        dispatcher.register(TOY, {1: note})
        return dispatcher

    credential = b"".join(RawCredential(flavor, body, 0, verifier).opaque())
    message = words(9, 0, 2, PROGRAM, TOY.version, 1) + credential + EchoArgs(3, b"text").to_xdr()
    again, known = [made().answer(message, PEER, "tcp") for _ in range(2)], made()
    replies = [known.answer(message, PEER, "tcp") for _ in range(3)]
    assert replies == [again[0]] * 3
    assert len(set(map(repr, seen))) <= 1


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        (call_bytes(0, 2, PROGRAM, 1, 0, *EMPTY_AUTH), words(7, 1, 0, 0, 0, 0)),
        (call_bytes(0, 2, PROGRAM, 1, 1, *EMPTY_AUTH, 5, 0), words(7, 1, 0, 0, 0, 0, 5, 0)),
        (call_bytes(0, 3), words(7, 1, 1, 0, 2, 2)),
        (call_bytes(0, 2, PROGRAM + 1, 1, 0, *EMPTY_AUTH), words(7, 1, 0, 0, 0, 1)),
        (call_bytes(0, 2, PROGRAM, 2, 0, *EMPTY_AUTH), words(7, 1, 0, 0, 0, 2, 1, 3)),
        (call_bytes(0, 2, PROGRAM, 1, 99, *EMPTY_AUTH), words(7, 1, 0, 0, 0, 3)),
        (call_bytes(0, 2, PROGRAM, 1, 3, *EMPTY_AUTH, 0), words(7, 1, 0, 0, 0, 3)),
        (call_bytes(0, 2, PROGRAM, 1, 1, *EMPTY_AUTH, 5), words(7, 1, 0, 0, 0, 4)),
        (call_bytes(0, 2, PROGRAM, 1, 1, *EMPTY_AUTH, 5, 0, 0), words(7, 1, 0, 0, 0, 4)),
        (call_bytes(0, 2, PROGRAM, 1, 1, *EMPTY_AUTH, 15, 0), words(7, 1, 0, 0, 0, 5)),
        (call_bytes(0, 2, PROGRAM, 1, 1, *EMPTY_AUTH, 16, 0), words(7, 1, 0, 0, 0, 5)),
        (call_bytes(0, 2, PROGRAM, 1, 1, *EMPTY_AUTH, 13, 0), words(7, 1, 1, 1, 5)),
        (call_bytes(0, 2, PROGRAM, 1, 1, *EMPTY_AUTH, 14, 0), words(7, 1, 0, 0, 0, 3)),
        (call_bytes(0, 2, PROGRAM, 1, 0, 1, 4, 0, 0, 0), words(7, 1, 1, 1, 1)),
        (call_bytes(0, 2, PROGRAM, 1, 0, 1, 401), words(7, 1, 1, 1, 1)),
        (call_bytes(0, 2, PROGRAM, 1, 0, 0, 0, 0, 401), words(7, 1, 1, 1, 3)),
        (call_bytes(0, 2, PROGRAM, 1, 0, 6, 0, 0, 0), words(7, 1, 1, 1, 2)),
        (call_bytes(0, 2, PROGRAM, 1, 0, 2**32 - 1, 0, 0, 0), words(7, 1, 1, 1, 2)),
        (call_bytes(0, 2, PROGRAM, 1), None),
        (call_bytes(1, 0, 0, 0, 0, 0), None),
        (call_bytes(2, 2), None),
        (b"", None),
        (b"\0" * 11, None),
    ],
    ids=[
        "null",
        "echo",
        "rpc-mismatch",
        "prog-unavail",
        "prog-mismatch",
        "proc-unknown",
        "proc-unhandled",
        "args-short",
        "args-trailing",
        "handler-fails",
        "result-does-not-encode",
        "handler-denies",
        "handler-rejects",
        "auth-sys-malformed",
        "credential-too-long",
        "verifier-too-long",
        "flavour-unserved",
        "flavour-negative",
        "header-short",
        "a-reply",
        "mtype-unknown",
        "empty",
        "too-short",
    ],
)
def test_each_answer(message: bytes, reply: bytes | None) -> None:
    assert answer(message) == reply


def test_what_a_handler_knows_of_its_call() -> None:
    seen: list[tuple[CallContext, EchoArgs]] = []

    def handler(context: CallContext, args: EchoArgs) -> EchoRes:
        seen.append((context, args))
        return EchoRes(0)

    dispatcher = Dispatcher()
    dispatcher.register(TOY, {1: handler})
    user = AuthSys(5, 6, (7,), b"krypton", 8)
    for credential in (user, user, AuthNone()):
        cred, verf = credential.opaque()
        answer(call_bytes(0, 2, PROGRAM, 1, 1, tail=cred + verf + words(9, 0)), dispatcher)
    contexts = [context for context, _ in seen]
    assert [context.credential for context in contexts] == [user, user, AuthNone()]
    context, args = seen[0]
    assert (context.peer, context.transport, context.xid) == (PEER, "tcp", 7)
    assert (context.program, context.version, context.operation) == (PROGRAM, 1, ECHO)
    assert args == EchoArgs(9)


def test_faults_of_handlers_are_reported() -> None:
    errors: list[Exception] = []
    dispatcher = Dispatcher(on_error=lambda _context, error: errors.append(error))
    dispatcher.register(TOY, {1: echo})
    answer(call_bytes(0, 2, PROGRAM, 1, 1, *EMPTY_AUTH, 15, 0), dispatcher)
    assert [type(error) for error in errors] == [ZeroDivisionError]


header_words = st.lists(
    st.one_of(st.integers(0, 8), st.just(PROGRAM), st.integers(0, 2**32 - 1)), max_size=20
)


@given(st.one_of(st.binary(max_size=100), header_words.map(lambda values: words(7, 0, 2, *values))))
def test_any_bytes_are_answered_or_passed_over(message: bytes) -> None:
    reply = answer(message)
    if reply is not None:
        assert reply[:4] == message[:4]
        assert len(reply) % 4 == 0


# ---------------------------------------------------------------- sockets


@pytest.fixture
def loop() -> Iterator[Loop]:
    made = Loop()
    yield made
    made.close()


@pytest.fixture
def server(loop: Loop) -> Iterator[RpcServer]:
    made = RpcServer(loop, make_dispatcher(), max_record=100_000, max_connections=8, max_output=1 << 20)
    yield made
    made.close()
    assert not made.connections


@pytest.fixture
def client(loop: Loop, server: RpcServer) -> Iterator[RpcClient]:
    with connect_tcp(*server.listen_tcp(), loop=loop, timeout=20) as made:
        yield made


def finish(loop: Loop, condition: t.Callable[[], bool]) -> None:
    assert loop.run_until(condition, loop.clock() + 20), "it never came to that"


@contextlib.contextmanager
def stranger(server: RpcServer) -> Iterator[socket.socket]:
    """A plain socket to the server, non-blocking, for all that a client should not do."""
    with socket.create_connection(server.listen_tcp()) as sock:
        sock.setblocking(False)
        yield sock


def receive_all(loop: Loop, sock: socket.socket, size: int) -> bytes:
    """`size` bytes, or all until the end of the stream."""
    got = b""

    def enough() -> bool:
        nonlocal got
        with contextlib.suppress(BlockingIOError):
            data = sock.recv(1 << 20)
            got += data
            return not data or len(got) >= size
        return False

    while not enough():
        loop.run_once(loop.clock() + 0.05)
    return got


def test_calls_over_tcp_and_udp(loop: Loop, server: RpcServer, client: RpcClient) -> None:
    assert client.call(ECHO, EchoArgs(1, b"abc")) == EchoRes(1, b"abc")
    with connect_udp(*server.listen_udp(), loop=loop) as datagrams:
        assert datagrams.call(ECHO, EchoArgs(2)) == EchoRes(2)
        assert datagrams.call(NULL, Void()) == Void()


def test_refusals_reach_the_client(client: RpcClient) -> None:
    for number, error in ((13, AuthFailed), (14, ProcUnavail), (15, SystemErr)):
        with pytest.raises(error):
            client.call(ECHO, EchoArgs(number))
    for procedure, kind in (
        (Procedure(PROGRAM + 1, 1, 0, "NULL", Void, Void), ProgUnavail),
        (Procedure(PROGRAM, 2, 0, "NULL", Void, Void), ProgMismatch),
        (Procedure(PROGRAM, 1, 1, "ECHO", Void, Void), GarbageArgs),
    ):
        with pytest.raises(kind):
            client.call(procedure, Void())
    with pytest.raises(AuthFailed):
        client.call(NULL, Void(), credential=RawCredential(1, b"junk"))


def test_a_pipeline_in_the_loop_of_the_server(client: RpcClient) -> None:
    pairs = list(client.pipeline(FETCH, (FetchArgs(size * 100) for size in range(300)), outstanding=16))
    assert len(pairs) == 300
    for args, fetched in pairs:
        assert fetched.resok is not None
        assert bytes(fetched.resok.data) == PATTERN[: args.count]


def test_two_clients_are_served_while_one_waits(loop: Loop, server: RpcServer, client: RpcClient) -> None:
    with connect_tcp(*server.listen_tcp(), loop=loop) as other:
        pending = other.submit(ECHO, EchoArgs(1))
        assert client.call(ECHO, EchoArgs(2)) == EchoRes(2)
        assert other.wait(pending) == EchoRes(1)


def test_a_record_beyond_the_bound_closes_its_connection_only(
    loop: Loop, server: RpcServer, client: RpcClient
) -> None:
    with stranger(server) as sock:
        good = framed(call_bytes(0, 2, PROGRAM, 1, 0, *EMPTY_AUTH))
        sock.sendall(good + words(0x8000_0000 | 100_001))
        assert receive_all(loop, sock, 1000) == framed(words(7, 1, 0, 0, 0, 0))
    assert client.call(ECHO, EchoArgs(1)) == EchoRes(1)


def test_a_half_closed_connection_gets_its_replies(loop: Loop, server: RpcServer) -> None:
    with stranger(server) as sock:
        sock.sendall(framed(call_bytes(0, 2, PROGRAM, 1, 2, *EMPTY_AUTH, 1_000_000)))
        sock.shutdown(socket.SHUT_WR)
        assert len(receive_all(loop, sock, 2_000_000)) == 4 + 24 + 12 + 1_000_000
        finish(loop, lambda: not server.connections)


def test_calls_in_fragments_and_bytes(loop: Loop, server: RpcServer) -> None:
    message = call_bytes(0, 2, PROGRAM, 1, 1, *EMPTY_AUTH, 5, 4, tail=b"text")
    with stranger(server) as sock:
        for byte in fragment(message, [1, 0, 30]):
            sock.sendall(bytes([byte]))
            loop.run_once(loop.clock())
        assert receive_all(loop, sock, 40) == framed(success(message, words(5, 4) + b"text"))


def test_a_client_that_does_not_read_costs_a_bounded_amount_of_memory(
    loop: Loop, server: RpcServer, client: RpcClient
) -> None:
    """One segment of small calls asks for 1000 times as much as the server may hold."""
    size = 1_000_000
    call = framed(call_bytes(0, 2, PROGRAM, 1, 2, *EMPTY_AUTH, size))
    with stranger(server) as sock:
        sock.sendall(call * 1000)
        finish(loop, lambda: any(connection.wants_to_write() for connection in server.connections))
        for _ in range(20):
            client.call(NULL, Void())
        (greedy,) = [connection for connection in server.connections if connection.wants_to_write()]
        held = sum(map(len, greedy._output))
        assert held <= server.max_output + size + 100
        assert not greedy.wants_to_read()
        assembler, replies = RecordAssembler(), 0
        while replies < 1000:
            replies += len(assembler.feed(receive_all(loop, sock, 1)))
    finish(loop, lambda: len(server.connections) == 1)


def test_no_more_connections_than_allowed(loop: Loop, server: RpcServer) -> None:
    address = server.listen_tcp()
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(socket.create_connection(address))
        for _ in range(40):
            loop.run_once(loop.clock())
        assert len(server.connections) == server.max_connections
    finish(loop, lambda: not server.connections)
    with connect_tcp(*address, loop=loop) as client:
        assert client.call(ECHO, EchoArgs(1)) == EchoRes(1)


def test_connections_that_do_nothing_shut_nobody_out(
    loop: Loop, server: RpcServer, client: RpcClient
) -> None:
    """The one that was idle for the longest time gives way to a new one."""
    address = server.listen_tcp()
    with contextlib.ExitStack() as stack:
        idle = []
        for number in range(server.max_connections):
            idle.append(stack.enter_context(socket.create_connection(address)))
            finish(loop, lambda wanted=number + 2: len(server.connections) >= min(wanted, 8))  # type: ignore[misc]
            assert client.call(ECHO, EchoArgs(number)) == EchoRes(number)
        with connect_tcp(*address, loop=loop) as late:
            assert late.call(ECHO, EchoArgs(1)) == EchoRes(1)
        assert client.call(ECHO, EchoArgs(1)) == EchoRes(1)
        assert receive_all(loop, idle[0], 1) == b""


def test_an_idle_connection_is_closed_but_not_by_a_process_that_was_stopped() -> None:
    now = [0.0]
    loop = Loop(clock=lambda: now[0])
    server = RpcServer(loop, make_dispatcher(), idle=60)
    server.listen_tcp()  # a second listener does not make the time pass faster
    with socket.create_connection(server.listen_tcp()) as idle, stranger(server) as busy:
        while len(server.connections) < 2:
            loop.run_once(now[0])
        now[0] += 3600
        loop.run_once(now[0])
        assert len(server.connections) == 2
        for _ in range(6):
            now[0] += 10
            busy.sendall(framed(call_bytes(0, 2, PROGRAM, 1, 0, *EMPTY_AUTH)))
            for _ in range(3):
                loop.run_once(now[0])
        assert len(server.connections) == 1
        assert idle.recv(1) == b""
    server.close()
    loop.close()


def test_a_reset_connection_is_forgotten(loop: Loop, server: RpcServer) -> None:
    with stranger(server) as sock:
        sock.sendall(framed(call_bytes(0, 2, PROGRAM, 1, 2, *EMPTY_AUTH, 2_000_000)))
        finish(loop, lambda: bool(server.connections))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    finish(loop, lambda: not server.connections)


def test_dropping_connections_keeps_the_listener(loop: Loop, server: RpcServer) -> None:
    with connect_tcp(*server.listen_tcp(), loop=loop) as client:
        client.call(NULL, Void())
        server.drop_connections()
        assert client.wait_closed()
        client.reconnect()
        assert client.call(ECHO, EchoArgs(4)) == EchoRes(4)


def test_a_handler_may_drop_the_connection_it_serves(loop: Loop) -> None:
    dispatcher = Dispatcher()
    server = RpcServer(loop, dispatcher)

    def drop(_context: CallContext, args: EchoArgs) -> EchoRes:
        server.drop_connections()
        return EchoRes(args.number)

    dispatcher.register(TOY, {1: drop})
    with connect_tcp(*server.listen_tcp(), loop=loop) as client:
        client.submit(ECHO, EchoArgs(1))
        client.submit(ECHO, EchoArgs(2))
        assert client.wait_closed()
    server.close()


@given(st.lists(st.binary(max_size=60), max_size=8))
def test_hostile_streams_and_datagrams_do_no_harm(chunks: list[bytes]) -> None:
    loop = Loop()
    server = RpcServer(loop, make_dispatcher(), max_record=1000)
    address, datagrams = server.listen_tcp(), server.listen_udp()
    with socket.create_connection(address) as sock, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        for chunk in chunks:
            with contextlib.suppress(OSError):
                sock.sendall(chunk)
                udp.sendto(chunk, datagrams)
            loop.run_once(loop.clock())
        with connect_tcp(*address, loop=loop) as client:
            assert client.call(ECHO, EchoArgs(1)) == EchoRes(1)
    server.close()
    loop.close()


def test_store_is_served_when_registered(loop: Loop) -> None:
    dispatcher = Dispatcher()
    dispatcher.register(TOY, {3: lambda _context, args: FetchArgs(len(args.data))})
    server = RpcServer(loop, dispatcher)
    with connect_tcp(*server.listen_tcp(), loop=loop) as client:
        assert client.call(STORE, StoreArgs(PATTERN)).count == len(PATTERN)
    server.close()
