# SPDX-License-Identifier: MIT
"""The blocking client against scripted peers, alone on its loop (direct ways) and with others (the loop)."""

from __future__ import annotations

import itertools
import socket
import typing as t
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfsclient.errors import (
    BadReply,
    ConnectFailed,
    ConnectionLost,
    GarbageArgs,
    NfsClientError,
    RpcTimeout,
    XdrError,
)
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.record import fragment
from nfsclient.rpc.server import RpcServer
from nfsclient.rpc.service import Dispatcher
from nfsclient.xdr import Void
from tests.nfsclient.rpc_peer import (
    ECHO,
    FETCH,
    NULL,
    PATTERN,
    STORE,
    EchoArgs,
    EchoRes,
    FetchArgs,
    FetchRes,
    HangUp,
    Peer,
    Script,
    StoreArgs,
    answer,
    framed,
    honest,
    success,
    words,
)

BIG = 300_001
SHORT = 0.2
"""Seconds, where a test is about a timeout that must pass."""


@pytest.fixture(params=["alone", "shared"])
def loop(request: pytest.FixtureRequest) -> Iterator[Loop]:
    """A loop, with nothing else on it (the client then waits on its own socket) or with a listener."""
    made = Loop()
    server = RpcServer(made, Dispatcher())
    if request.param == "shared":
        server.listen_tcp()
    yield made
    server.close()
    made.close()


Connect: t.TypeAlias = Callable[..., RpcClient]


@pytest.fixture
def connect(loop: Loop) -> Iterator[Connect]:
    """Start a peer with a script and connect to it."""
    opened: list[t.Any] = []

    def make(script: Script = honest, host: str = "127.0.0.1", **options: t.Any) -> RpcClient:
        peer = Peer(script, host)
        opened.append(peer)
        client = connect_tcp(peer.host, peer.port, loop=loop, **options)
        opened.append(client)
        return client

    yield make
    for each in reversed(opened):
        each.__exit__(None, None, None)


def each_call(make: Callable[[bytes], bytes]) -> Script:
    """A script that answers every call by itself; `make` gives framed bytes."""
    return lambda calls: b"".join(map(make, calls)) if calls else None


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


# ---------------------------------------------------------------- calls


def test_calls_bring_results(connect: Connect) -> None:
    client = connect()
    for number in range(5):
        assert client.call(ECHO, EchoArgs(number, b"x" * number)) == EchoRes(number, b"x" * number)
    assert client.call(NULL, Void()) == Void()


@pytest.mark.skipif(not has_ipv6(), reason="no IPv6 on the loopback interface")
def test_calls_over_ipv6(connect: Connect) -> None:
    client = connect(host="::1")
    assert client.call(ECHO, EchoArgs(1)) == EchoRes(1)
    assert client.peer_address[0] == "::1"
    assert client.core.peer.startswith("[::1]:")


@pytest.mark.parametrize("size", [0, 1, 3, 4, 1000, 49_151, 49_152, 65_535, BIG, BIG + 1, BIG + 2, BIG + 3])
def test_data_of_any_size_arrives(connect: Connect, size: int) -> None:
    client = connect()
    for _ in range(2):
        fetched = client.call(FETCH, FetchArgs(size))
        assert fetched.resok is not None
        assert bytes(fetched.resok.data) == PATTERN[:size]
        assert fetched.resok.count == size
    assert client.call(STORE, StoreArgs(PATTERN[:size])).count == size


@pytest.mark.parametrize("size", [0, 10, 50_000, BIG])
def test_data_lands_where_the_caller_wants_it(connect: Connect, size: int) -> None:
    client = connect()
    place = bytearray(BIG + 10)
    fetched = client.call(FETCH, FetchArgs(size), into=memoryview(place))
    assert place[:size] == PATTERN[:size]
    assert not any(place[size:])
    assert fetched.resok is not None
    assert isinstance(fetched.resok.data, memoryview)
    assert fetched.resok.data.obj is place
    assert len(fetched.resok.data) == size


@pytest.mark.parametrize("size", [100, BIG])
def test_data_that_does_not_fit_gets_a_new_place(connect: Connect, size: int) -> None:
    place = bytearray(size - 1)
    fetched = connect().call(FETCH, FetchArgs(size), into=memoryview(place))
    assert fetched.resok is not None
    assert bytes(fetched.resok.data) == PATTERN[:size]
    assert not any(place)


@pytest.mark.parametrize("asked", [10, BIG])
def test_more_data_than_asked_for_is_decoded_and_does_no_harm(connect: Connect, asked: int) -> None:
    more = 2 * BIG

    def generous(call: bytes) -> bytes:
        return framed(answer(call[:40] + words(more)))

    place = bytearray(asked)
    fetched = connect(each_call(generous)).call(FETCH, FetchArgs(asked), into=memoryview(place))
    assert fetched.resok is not None
    assert bytes(fetched.resok.data) == PATTERN[:more]
    assert not any(place)


@pytest.mark.parametrize("sizes", [(1,), (4, 28, 0, 100), (BIG - 5,), (BIG + 36,)])
def test_large_replies_in_fragments(connect: Connect, sizes: tuple[int, ...]) -> None:
    client = connect(each_call(lambda call: fragment(answer(call), sizes)))
    fetched = client.call(FETCH, FetchArgs(BIG))
    assert fetched.resok is not None
    assert bytes(fetched.resok.data) == PATTERN[:BIG]
    assert client.call(ECHO, EchoArgs(4)) == EchoRes(4)


def test_a_result_without_its_data_arm(connect: Connect) -> None:
    client = connect(each_call(lambda call: framed(success(call, words(70)))))
    assert client.call(FETCH, FetchArgs(BIG)) == FetchRes(70)


def test_calls_that_are_refused(connect: Connect) -> None:
    client = connect(each_call(lambda call: framed(call[:4] + words(1, 0, 0, 0, 4))))
    for _ in range(2):
        with pytest.raises(GarbageArgs) as caught:
            client.call(ECHO, EchoArgs(1))
        assert caught.value.exchange is not None
        assert caught.value.exchange.call.endswith(words(1, 0))


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (lambda call: success(call, words(1)), XdrError),
        (lambda call: success(call, words(1, 0, 0)), XdrError),
        (lambda call: success(call, words(1, 1) + b"a\0\0\1"), XdrError),
        (lambda call: call[:4] + words(1, 9), BadReply),
        (lambda call: call[:4] + words(7, 0), BadReply),
    ],
    ids=["short", "trailing", "padding", "reply-stat", "mtype"],
)
def test_a_bad_reply_fails_its_call_and_no_other(
    connect: Connect, reply: Callable[[bytes], bytes], error: type[NfsClientError]
) -> None:
    def script(call: bytes) -> bytes:
        return framed(reply(call) if call[40:44] == words(13) else answer(call))

    client = connect(each_call(script))
    for _ in range(2):
        with pytest.raises(error) as caught:
            client.call(ECHO, EchoArgs(13))
        assert caught.value.exchange is not None
        assert caught.value.exchange.reply is not None
        assert client.call(ECHO, EchoArgs(14)) == EchoRes(14)


@pytest.mark.parametrize("asked", [100, BIG])
def test_dirty_padding_after_data_fails_the_call(connect: Connect, asked: int) -> None:
    size = asked // 4 * 4 - 3

    def dirty(call: bytes) -> bytes:
        return framed(success(call, words(0, size, size) + PATTERN[:size] + b"\0\0\1"))

    client = connect(each_call(dirty))
    for into in (None, memoryview(bytearray(BIG))):
        with pytest.raises(XdrError, match="padding"):
            client.call(FETCH, FetchArgs(asked), into=into)
    assert client.is_open


def test_a_reply_to_nothing_is_kept_and_the_call_goes_on(connect: Connect) -> None:
    stray = words(0xDEAD, 1, 0, 0, 0, 0)
    client = connect(each_call(lambda call: framed(stray) + framed(answer(call)) + framed(stray)))
    assert client.call(ECHO, EchoArgs(1)) == EchoRes(1)
    assert client.receive_record() == stray
    assert client.receive_record() == stray


def test_a_call_may_choose_its_xid_and_credential(connect: Connect) -> None:
    seen: list[bytes] = []

    def script(call: bytes) -> bytes:
        seen.append(call)
        return framed(success(call, words(0, 0)))

    client = connect(each_call(script))
    client.call(ECHO, EchoArgs(1), xid=77, credential=AuthSys(5, 6))
    client.call(ECHO, EchoArgs(1), credential=AuthSys(5, 6))
    assert seen[0][:4] == words(77)
    assert seen[0][24:28] == seen[1][24:28] == words(1)


def test_results_may_be_waited_for_in_any_order(connect: Connect) -> None:
    def backwards(calls: list[bytes]) -> bytes | None:
        return b"".join(framed(answer(call)) for call in reversed(calls)) if len(calls) == 4 else None

    client = connect(backwards)
    pendings = [client.submit(ECHO, EchoArgs(number)) for number in range(4)]
    assert client.wait_any(pendings) is pendings[-1] or pendings[-1].done
    assert [client.wait(pending).number for pending in pendings] == [0, 1, 2, 3]


def test_large_results_of_calls_under_way_together(connect: Connect) -> None:
    client = connect()
    places = [bytearray(BIG) for _ in range(3)]
    pendings = [client.submit(FETCH, FetchArgs(BIG), into=memoryview(place)) for place in places]
    small = client.submit(ECHO, EchoArgs(1))
    for pending, place in zip(pendings, places, strict=True):
        client.wait(pending)
        assert place == PATTERN[:BIG]
    assert client.wait(small) == EchoRes(1)


def test_calls_in_fragments(connect: Connect) -> None:
    client = connect(fragment_sizes=[10, 0, 7])
    assert client.call(ECHO, EchoArgs(1, b"abc")) == EchoRes(1, b"abc")


# ---------------------------------------------------------------- time and loss


def test_silence_ends_at_the_deadline(connect: Connect) -> None:
    client = connect(lambda _calls: None)
    with pytest.raises(RpcTimeout) as caught:
        client.call(ECHO, EchoArgs(1), timeout=SHORT)
    assert "ECHO" in str(caught.value)
    assert client.is_open


@pytest.mark.parametrize("delivered", [0, 3, 20, 39, 40, 41, 100, BIG, BIG + 39])
def test_a_large_reply_that_stops_half_way_leaves_the_stream_in_step(
    connect: Connect, delivered: int
) -> None:
    rest = b""

    def halting(calls: list[bytes]) -> bytes | None:
        nonlocal rest
        if not calls:
            return None
        output = rest + framed(answer(calls[-1]))
        if not rest and len(output) > BIG:
            output, rest = output[:delivered], output[delivered:]
            return output or None
        return output

    client = connect(halting)
    for into in (None, memoryview(bytearray(BIG + 3))):
        rest = b""
        with pytest.raises(RpcTimeout):
            client.call(FETCH, FetchArgs(BIG), timeout=SHORT, into=into)
        assert client.call(ECHO, EchoArgs(5)) == EchoRes(5)
        assert len(client.receive_record()) == 24 + 12 + BIG + 3


def test_a_peer_that_dribbles_does_not_hold_a_call_beyond_its_deadline(loop: Loop) -> None:
    """Bytes keep coming, so no single receive ever times out: only the clock can end the call."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = connect_tcp(*listener.getsockname(), loop=loop)
        sock, _ = listener.accept()
        with sock, client:
            pending = client.submit(FETCH, FetchArgs(BIG), timeout=SHORT)
            reply = framed(success(words(pending.xid), words(0, BIG, BIG)))
            sock.sendall(reply[:4])
            for at in range(4, 40):
                if pending.done:
                    break
                sock.sendall(reply[at : at + 1])
                loop.run_until(lambda: pending.done, loop.clock() + SHORT / 10)
            assert isinstance(pending.error, RpcTimeout)


@pytest.mark.parametrize("delivered", [0, 10, 45, 10_000, BIG + 39])
def test_the_end_of_the_connection_ends_the_call(connect: Connect, delivered: int) -> None:
    def closing(calls: list[bytes]) -> bytes | None:
        raise HangUp(framed(answer(calls[0]))[:delivered])

    client = connect(closing)
    with pytest.raises(ConnectionLost) as caught:
        client.call(FETCH, FetchArgs(BIG))
    assert not client.is_open
    assert "FETCH" in str(caught.value)
    with pytest.raises(ConnectionLost):
        client.call(ECHO, EchoArgs(1))
    with pytest.raises(ConnectionLost):
        list(client.pipeline(ECHO, [EchoArgs(1)]))


def test_reconnecting_is_explicit(connect: Connect) -> None:
    def script(calls: list[bytes]) -> bytes | None:
        if calls[-1][40:44] == words(9):
            raise HangUp
        return honest(calls)

    client = connect(script)
    with pytest.raises(ConnectionLost):
        client.call(ECHO, EchoArgs(9))
    client.reconnect()
    assert client.call(ECHO, EchoArgs(1)) == EchoRes(1)


def test_closing_ends_calls_under_way(connect: Connect) -> None:
    client = connect(lambda _calls: None)
    pending = client.submit(ECHO, EchoArgs(1))
    client.close()
    client.close()
    with pytest.raises(ConnectionLost, match="closed by us"):
        client.wait(pending)


def test_a_record_mark_beyond_the_bound_closes_the_connection(connect: Connect) -> None:
    client = connect(lambda _calls: words(0xFFFF_FFFF), max_record=1000)
    with pytest.raises(BadReply):
        client.call(ECHO, EchoArgs(1))
    assert not client.is_open


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ConnectFailed, match=str(port)):
        connect_tcp("127.0.0.1", port)


def test_a_name_that_does_not_resolve() -> None:
    with pytest.raises(ConnectFailed, match="resolve"):
        connect_tcp("host.invalid", 2049)


def test_a_peer_that_does_not_read_does_not_hold_a_call_beyond_its_deadline(loop: Loop) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = connect_tcp(*listener.getsockname(), loop=loop)
        sock, _ = listener.accept()
        with sock, client:
            with pytest.raises(RpcTimeout):
                client.call(STORE, StoreArgs(bytes(32 << 20)), timeout=SHORT)
            assert client.is_open
            assert client.wants_to_write()


# ---------------------------------------------------------------- pipeline


@pytest.mark.parametrize("outstanding", [1, 2, 7, 64, 1000])
def test_a_pipeline_answers_every_call_once(connect: Connect, outstanding: int) -> None:
    client = connect()
    pairs = list(client.pipeline(ECHO, (EchoArgs(number) for number in range(500)), outstanding=outstanding))
    assert sorted(args.number for args, _ in pairs) == list(range(500))
    assert all(reply == EchoRes(args.number) for args, reply in pairs)


def test_a_pipeline_of_nothing(connect: Connect) -> None:
    assert list(connect().pipeline(ECHO, [])) == []


def test_a_pipeline_keeps_within_its_window(connect: Connect) -> None:
    most = 0

    def script(calls: list[bytes]) -> bytes | None:
        nonlocal most
        most = max(most, len(calls))
        return honest(calls)

    assert len(list(connect(script).pipeline(ECHO, map(EchoArgs, range(300)), outstanding=8))) == 300
    assert 0 < most <= 8


def test_a_pipeline_of_large_results(connect: Connect) -> None:
    client = connect()
    sizes = [BIG, 10, BIG + 1, 70_000, 0, BIG]
    pairs = list(client.pipeline(FETCH, map(FetchArgs, sizes), outstanding=3))
    assert sorted(args.count for args, _ in pairs) == sorted(sizes)
    for args, fetched in pairs:
        assert fetched.resok is not None
        assert bytes(fetched.resok.data) == PATTERN[: args.count]


def test_a_pipeline_of_large_arguments(connect: Connect) -> None:
    arguments = [StoreArgs(PATTERN[:size]) for size in (BIG, 1, 3, BIG)] * 5
    pairs = connect().pipeline(STORE, arguments, outstanding=4)
    assert all(reply.count == len(args.data) for args, reply in pairs)


def test_leaving_a_pipeline_early_leaves_the_stream_in_step(connect: Connect) -> None:
    client = connect()
    for _ in range(3):
        pipeline = client.pipeline(ECHO, map(EchoArgs, itertools.count()), outstanding=16)
        assert isinstance(next(pipeline), tuple)
        t.cast("t.Any", pipeline).close()
        assert client.call(ECHO, EchoArgs(7)) == EchoRes(7)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (lambda call: success(call, words(1)), XdrError),
        (lambda call: call[:4] + words(1, 0, 0, 0, 4), GarbageArgs),
    ],
    ids=["undecodable", "refused"],
)
def test_the_first_error_ends_a_pipeline_and_the_stream_stays_in_step(
    connect: Connect, reply: Callable[[bytes], bytes], error: type[NfsClientError]
) -> None:
    def script(call: bytes) -> bytes:
        return framed(reply(call) if call[40:44] == words(13) else answer(call))

    client = connect(each_call(script))
    seen: list[int] = []
    with pytest.raises(error):
        seen.extend(
            args.number for args, _ in client.pipeline(ECHO, map(EchoArgs, range(100)), outstanding=10)
        )
    assert seen == list(range(13))
    assert client.call(ECHO, EchoArgs(5)) == EchoRes(5)


def test_a_pipeline_ends_when_no_answer_comes(connect: Connect) -> None:
    client = connect(lambda _calls: None)
    with pytest.raises(RpcTimeout):
        list(client.pipeline(ECHO, [EchoArgs(1)], timeout=SHORT))
    assert client.is_open


def test_a_pipeline_through_unusual_replies(connect: Connect) -> None:
    def script(call: bytes) -> bytes:
        number = int.from_bytes(call[40:44], "big")
        if number % 3 == 0:
            return fragment(answer(call), [5, 0])
        if number % 3 == 1:
            return framed(call[:4] + words(1, 0, 2, 4, 0x61626364, 0) + call[40:])
        return framed(words(1, 1)) + framed(answer(call))

    client = connect(each_call(script))
    pairs = list(client.pipeline(ECHO, map(EchoArgs, range(50)), outstanding=10))
    assert sorted(reply.number for _, reply in pairs) == list(range(50))


def test_calls_between_the_results_of_a_pipeline(connect: Connect) -> None:
    client = connect()
    seen = 0
    for args, reply in client.pipeline(ECHO, map(EchoArgs, range(40)), outstanding=10):
        assert reply.number == args.number
        assert client.call(ECHO, EchoArgs(1000)) == EchoRes(1000)
        seen += 1
    assert seen == 40


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 90_000), max_size=12), st.integers(1, 6), st.integers(1, 5_000))
def test_pipelines_whatever_the_sizes_and_pieces(sizes: list[int], outstanding: int, piece: int) -> None:
    def script(calls: list[bytes]) -> bytes | None:
        return b"".join(fragment(answer(call), [piece]) for call in calls) if calls else None

    with Peer(script) as peer, connect_tcp(peer.host, peer.port) as client:
        pairs = list(client.pipeline(FETCH, map(FetchArgs, sizes), outstanding=outstanding))
        assert sorted(args.count for args, _ in pairs) == sorted(sizes)


# ---------------------------------------------------------------- recording


def test_exchanges_are_recorded(connect: Connect) -> None:
    client = connect()
    seen: list[Exchange] = []
    client.on_exchange = seen.append
    client.call(ECHO, EchoArgs(1, b"a"))
    fetched = client.call(FETCH, FetchArgs(BIG))
    list(client.pipeline(ECHO, [EchoArgs(2)]))
    client.on_exchange = None
    client.call(ECHO, EchoArgs(3))
    assert [exchange.procedure for exchange in seen] == [ECHO, FETCH, ECHO]
    first = seen[0]
    assert first.call[40:] == EchoArgs(1, b"a").to_xdr()
    assert first.reply == success(first.call, EchoRes(1, b"a").to_xdr())
    assert first.received_at is not None
    assert first.received_at >= first.sent_at
    assert (first.peer, first.transport) == (f"127.0.0.1:{client.peer_address[1]}", "tcp")
    assert seen[1].result is fetched


# ---------------------------------------------------------------- below calls


def test_raw_bytes_and_records(connect: Connect) -> None:
    client = connect(each_call(lambda call: framed(call[::-1])))
    client.send_raw(framed(b"abcdefgh"))
    assert client.receive_record() == b"hgfedcba"
    client.send_record(b"12345678", [3, 0])
    assert client.receive_record() == b"87654321"
    with pytest.raises(RpcTimeout):
        client.receive_record(SHORT)


def test_half_close_is_seen_by_the_peer_and_answers_still_come(connect: Connect) -> None:
    client = connect()
    pending = client.submit(ECHO, EchoArgs(3))
    client.shutdown_write()
    assert client.wait(pending) == EchoRes(3)
    assert client.wait_closed()


def test_waiting_for_a_close_that_does_not_come(connect: Connect) -> None:
    assert not connect().wait_closed(SHORT)


def test_the_source_port_may_be_chosen(connect: Connect) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    assert connect(source_port=free).local_address == ("127.0.0.1", free)


def test_a_privileged_source_port_or_a_clear_refusal(connect: Connect) -> None:
    try:
        client = connect(privileged=True)
    except ConnectFailed as error:
        assert "privilege" in str(error)  # noqa: PT017  (either outcome is right, by the rights of the caller)
    else:
        assert 0 < client.local_address[1] < 1024


def test_the_peer_may_call(connect: Connect) -> None:
    incoming = words(55, 0, 2, 0x4000_0000, 1, 0, 0, 0, 0, 0)

    def script(calls: list[bytes]) -> bytes | None:
        if calls and calls[-1][:4] == words(55):
            return framed(calls[-1])
        return framed(incoming) + (honest(calls) or b"") if calls else None

    client = connect(script)
    assert client.call(ECHO, EchoArgs(1)) == EchoRes(1)
    assert client.receive_record() == incoming
    client.on_call = lambda message: [success(message)]
    assert client.call(ECHO, EchoArgs(2)) == EchoRes(2)
    assert client.receive_record() == success(incoming)
