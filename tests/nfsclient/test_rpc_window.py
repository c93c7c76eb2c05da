# SPDX-License-Identifier: MIT
"""A window of calls, without sockets: whatever arrives in whatever pieces, with others on the connection."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.errors import GarbageArgs, XdrError
from nfsclient.rpc.auth import AuthNone
from nfsclient.rpc.core import StreamCore
from nfsclient.rpc.plan import carries_bulk
from nfsclient.rpc.record import RecordAssembler, fragment, frame, size_of
from nfsclient.rpc.window import CallWindow
from nfsclient.xdr import Void
from tests.nfsclient.rpc_peer import (
    ECHO,
    STORE,
    EchoArgs,
    EchoRes,
    FetchArgs,
    FetchRes,
    StoreArgs,
    answer,
    framed,
    success,
    words,
)


class Bench:
    """A core with one window of ECHO calls, and the bytes that it sent."""

    def __init__(self, numbers: list[int], outstanding: int = 100) -> None:
        self.core = StreamCore(xids=itertools.count(1))
        plan = self.core.plans.plan(ECHO, AuthNone())
        self.window = CallWindow(self.core, plan, map(EchoArgs, numbers), self.feed)
        self.core.windows.append(self.window)
        self.seen: list[int] = []
        self.calls = self.sent(outstanding)

    def sent(self, room: int) -> list[bytes]:
        burst = b"".join(self.window.burst(room))
        return [record.payload() for record in RecordAssembler().feed(burst)]

    def feed(self, data: bytes) -> None:
        self.core.receive(data, 0.0)

    def arrive(self, chunk: bytes, most: int = 1000) -> None:
        """What a driver does with a chunk; `most` results are looked at before the next one arrives."""
        if not self.window.is_alone:
            self.window.release()
            self.feed(chunk)
        else:
            self.window.hold(chunk)
            self.take(self.window.take(), most)
        self.take(self.window.take_late(), 1000)

    def take(self, results: object, most: int) -> None:
        for args, reply in itertools.islice(results, most):  # type: ignore[call-overload]
            assert reply == EchoRes(args.number)
            self.seen.append(args.number)


def test_calls_are_framed_as_the_core_frames_them() -> None:
    bench = Bench([5])
    bench.core.next_xid = itertools.count(1).__next__
    bench.core.submit(ECHO, EchoArgs(5), 0.0, credential=AuthNone(), timeout=1.0)
    assert framed(bench.calls[0]) == b"".join(bench.core.take_output())


def test_bursts_keep_to_the_room() -> None:
    bench = Bench(list(range(5)), outstanding=2)
    assert len(bench.calls) == 2
    assert bench.sent(0) == []
    assert bench.sent(-1) == []
    assert len(bench.sent(100)) == 3
    assert bench.window.is_exhausted
    assert bench.sent(100) == []


def test_bulk_arguments_are_not_copied() -> None:
    core = StreamCore()
    data = memoryview(bytes(1000))
    window = CallWindow(core, core.plans.plan(STORE, AuthNone()), iter([StoreArgs(data)]), lambda _: None)
    burst = window.burst(1)
    assert any(buffer is data for buffer in burst)
    assert RecordAssembler().feed(b"".join(burst))[0].end == size_of(burst)


replies = st.sampled_from(["usual", "fragments", "verifier", "stray"])


@given(
    st.lists(replies, min_size=1, max_size=12),
    st.lists(st.integers(0, 2000), max_size=12),
    st.lists(st.integers(0, 3), max_size=12),
)
def test_every_call_is_answered_once_in_any_pieces(
    kinds: list[str], places: list[int], looks: list[int]
) -> None:
    """A look that ends before its chunk is used up must leave the stream in order."""
    bench = Bench(list(range(len(kinds))))
    stream = b""
    for kind, call in zip(kinds, bench.calls, strict=True):
        if kind == "fragments":
            stream += fragment(answer(call), [5, 0])
        elif kind == "verifier":
            stream += framed(call[:4] + words(1, 0, 2, 4, 0x61626364, 0) + call[40:])
        else:
            stream += framed(words(0xFFFF, 1)) * (kind == "stray") + framed(answer(call))
    edges = sorted({0, len(stream), *(place % len(stream) for place in places)})
    for index, (start, end) in enumerate(itertools.pairwise(edges)):
        bench.arrive(stream[start:end], looks[index] if index < len(looks) else 1000)
    bench.window.release()
    bench.take(bench.window.take_late(), 1000)
    assert sorted(bench.seen) == list(range(len(kinds)))
    assert not bench.window.inflight
    assert bench.core.assembler.is_idle
    assert len(bench.core.strays) == kinds.count("stray")


def test_bytes_that_arrive_during_a_held_chunk_stay_after_it() -> None:
    bench = Bench([1, 2, 3])
    stream = b"".join(framed(answer(call)) for call in bench.calls)
    bench.window.hold(stream[:60])
    results = bench.window.take()
    assert next(results)[1] == EchoRes(1)
    bench.window.release()
    bench.feed(stream[60:])
    assert list(results) == []
    assert [reply.number for _, reply in bench.window.take_late()] == [2, 3]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (lambda call: success(call, words(1)), XdrError),
        (lambda call: call[:4] + words(1, 0, 0, 0, 4), GarbageArgs),
    ],
    ids=["undecodable", "refused"],
)
def test_an_error_is_raised_in_its_turn(reply: object, error: type[Exception]) -> None:
    bench = Bench([1, 2, 3])
    assert callable(reply)
    first, second, third = bench.calls
    stream = framed(answer(first)) + framed(reply(second)) + framed(answer(third))
    with pytest.raises(error):
        bench.arrive(stream)
    assert bench.seen == [1]
    bench.take(bench.window.take_late(), 10)
    assert bench.seen == [1, 3]


def test_how_many_calls_a_chunk_answers() -> None:
    bench = Bench(list(range(10)))
    whole = [framed(answer(call)) for call in bench.calls]
    for chunk, count in (
        (b"".join(whole), 10),
        (b"".join(whole)[:-1], 9),
        (b"".join(whole[:3]) + b"\x80", 3),
        (whole[0] + framed(words(1, 2)), 1),
        (whole[0] + framed(words(1, 2)) * 9, 0),
        (whole[0][:-1], 0),
        (bytes(100), 0),
        (b"", 0),
    ):
        bench.window.hold(chunk)
        assert bench.window.answered() == count


def test_which_types_carry_bulk_data() -> None:
    assert [carries_bulk(cls) for cls in (StoreArgs, FetchRes)] == [True, True]
    assert [carries_bulk(cls) for cls in (EchoArgs, FetchArgs, Void)] == [False, False, False]
    assert frame([b"x"])[1] == b"x"
