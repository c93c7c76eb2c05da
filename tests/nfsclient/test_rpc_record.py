# SPDX-License-Identifier: MIT
"""Record marking (RFC 5531 section 11): any cutting, any arrival, bounded memory."""

from __future__ import annotations

import itertools
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.errors import BadReply
from nfsclient.rpc.record import RecordAssembler, fragment, frame, size_of

messages = st.binary(max_size=60)
sizes = st.lists(st.integers(0, 20), max_size=6)


def header(length: int, *, last: bool) -> bytes:
    return struct.pack(">I", length | (0x8000_0000 if last else 0))


def collect(assembler: RecordAssembler, chunks: list[bytes]) -> list[bytes]:
    return [record.payload() for chunk in chunks for record in assembler.feed(chunk)]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in itertools.pairwise(edges)]


@given(st.lists(st.tuples(messages, sizes), max_size=5), st.lists(st.integers(0, 10_000), max_size=20))
def test_records_survive_any_fragmenting_and_any_arrival(
    sent: list[tuple[bytes, list[int]]], places: list[int]
) -> None:
    stream = b"".join(fragment(message, cuts) for message, cuts in sent)

    assembler = RecordAssembler(max_record=1000)

    assert collect(assembler, cut(stream, places)) == [message for message, _ in sent]
    assert assembler.is_idle
    assert assembler.buffered == 0


def test_every_split_of_two_records_in_two() -> None:
    stream = fragment(b"abcdefgh", [3, 0, 1]) + fragment(b"xyz", [])
    for place in range(len(stream) + 1):
        assembler = RecordAssembler()
        assert collect(assembler, [stream[:place], stream[place:]]) == [b"abcdefgh", b"xyz"], place


def test_one_byte_at_a_time() -> None:
    stream = fragment(b"abcdefgh", [3, 0, 1]) + fragment(b"", []) + fragment(b"xyz", [])
    assembler = RecordAssembler()
    assert collect(assembler, [bytes([byte]) for byte in stream]) == [b"abcdefgh", b"", b"xyz"]


@given(messages, sizes)
def test_fragments_are_as_asked(message: bytes, cuts: list[int]) -> None:
    stream, seen, lasts = fragment(message, cuts), [], []
    while stream:
        (mark,) = struct.unpack_from(">I", stream)
        length = mark & 0x7FFF_FFFF
        seen.append(stream[4 : 4 + length])
        lasts.append(bool(mark >> 31))
        stream = stream[4 + length :]
    assert b"".join(seen) == message
    assert lasts == [False] * (len(seen) - 1) + [True]
    for piece, size in zip(seen[:-1], cuts, strict=False):
        assert len(piece) <= size


def test_a_message_is_framed_as_one_fragment_without_copying_it() -> None:
    data = memoryview(bytes(100))
    framed = frame([b"head", data])
    assert framed == [header(104, last=True), b"head", data]
    assert framed[2] is data
    assert size_of(framed) == 108


def test_a_record_in_one_piece_is_not_copied() -> None:
    stream = fragment(b"abcd", []) + fragment(b"efgh", [])
    first, second = RecordAssembler().feed(stream)
    assert first.buf is stream
    assert second.buf is stream
    assert (second.start, second.end) == (12, 16)


def test_an_announced_length_beyond_the_bound_is_refused_at_once() -> None:
    assembler = RecordAssembler(max_record=100)
    with pytest.raises(BadReply, match="100"):
        assembler.feed(header(101, last=True))


def test_a_header_in_pieces_beyond_the_bound_is_refused_as_well() -> None:
    assembler = RecordAssembler(max_record=100)
    mark = header(0x7FFF_FFFF, last=True)
    assert assembler.feed(mark[:3]) == []
    with pytest.raises(BadReply):
        assembler.feed(mark[3:])


def test_fragments_that_add_up_beyond_the_bound_are_refused() -> None:
    assembler = RecordAssembler(max_record=100)
    assert assembler.feed(header(60, last=False) + bytes(60)) == []
    with pytest.raises(BadReply):
        assembler.feed(header(41, last=True))


def test_a_record_of_the_bound_is_taken() -> None:
    assembler = RecordAssembler(max_record=100)
    assert collect(assembler, [fragment(bytes(100), [1, 50])]) == [bytes(100)]


def test_endless_empty_fragments_are_refused() -> None:
    assembler = RecordAssembler(max_record=100)
    with pytest.raises(BadReply, match="empty"):
        assembler.feed(header(0, last=False) * 10_000)


@given(st.lists(st.binary(max_size=64), max_size=20))
def test_hostile_bytes_raise_nothing_else_and_hold_no_more_than_arrived(chunks: list[bytes]) -> None:
    assembler = RecordAssembler(max_record=200)
    arrived = 0
    for chunk in chunks:
        arrived += len(chunk)
        try:
            assembler.feed(chunk)
        except BadReply:
            return
        assert assembler.buffered <= arrived
