# SPDX-License-Identifier: MIT
"""Frames without sockets: checksums, fragments, segments, and where records begin."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.rpc.record import fragment
from nfsfaults import actions as a
from nfsfaults.bridge import frames as f
from nfsfaults.bridge.streams import HalfStream
from nfsfaults.names import BadPlan
from tests.needs import needs

EMPTY = f.IpPacket(bytes(12) + b"\x08\0", b"\xc6\x12\0\x02", b"\xc6\x12\0\x01", f.UDP, 7, 0, b"")
PORTS = f.Ports(700, 2049)


def segment(data: bytes, number: int = 100) -> f.Segment:
    return f.Segment(PORTS, number & 0xFFFF_FFFF, 5, f.PSH | f.ACK, 1000, b"\x01\x01\x01\x00", data)


@given(st.binary(max_size=3000))
def test_datagrams_survive(data: bytes) -> None:
    packet = f.with_udp(EMPTY, PORTS, data)
    read = f.read_ip(packet.frame())
    assert read == packet
    assert f.read_udp(packet) == (PORTS, data)
    assert f.checksum(packet.frame()[14:34]) == 0


@given(st.binary(max_size=3000))
def test_segments_survive(data: bytes) -> None:
    packet = f.with_tcp(replace(EMPTY, protocol=f.TCP), segment(data))
    assert f.read_tcp(packet) == segment(data)


@needs("scapy")
def test_checksums_are_those_of_other_tools() -> None:
    from scapy.layers import inet

    for packet, layer in (
        (f.with_udp(EMPTY, PORTS, b"some data"), inet.UDP),
        (f.with_tcp(replace(EMPTY, protocol=f.TCP), segment(b"some data")), inet.TCP),
    ):
        read = inet.IP(packet.frame()[14:])
        sums = read.chksum, read[layer].chksum
        del read.chksum, read[layer].chksum
        again = inet.IP(bytes(read))
        assert (again.chksum, again[layer].chksum) == sums


@given(st.binary(max_size=300))
def test_bad_checksums_are_bad(data: bytes) -> None:
    good, bad = f.with_udp(EMPTY, PORTS, data), f.with_udp(EMPTY, PORTS, data, is_bad=True)
    assert good.payload[6:8] != bad.payload[6:8] != b"\0\0"
    assert f.checksum(good.frame(is_bad=True)[14:34]) != 0


@given(
    st.binary(min_size=1, max_size=5000),
    st.integers(1, 60),
    st.integers(0, 59),
    st.randoms(use_true_random=False),
)
def test_fragments_come_together_in_any_order(
    data: bytes, size: int, overlap: int, order: random.Random
) -> None:
    whole = f.with_udp(EMPTY, PORTS, data)
    pieces = f.fragments(whole, 8 * size, 8 * min(overlap, size - 1))
    assert all(len(one.payload) % 8 == 0 for one in pieces if one.fragment & f.MORE)
    order.shuffle(pieces)
    reassembler = f.Reassembler()
    *before, last = [reassembler.feed(one) for one in pieces[:200]]
    if len(pieces) <= 200:
        assert whole in [*before, last]


def test_fragments_that_never_become_whole_are_forgotten() -> None:
    reassembler = f.Reassembler()
    for number in range(1000):
        first = f.fragments(replace(f.with_udp(EMPTY, PORTS, bytes(2000)), identification=number))[0]
        assert reassembler.feed(first) is None
    assert len(reassembler._parts) <= 65


@given(st.binary(min_size=1, max_size=400), st.lists(st.integers(1, 90), min_size=1), st.integers(0, 50))
def test_divided_segments_are_the_same_stream(data: bytes, sizes: list[int], overlap: int) -> None:
    stream = bytearray(len(data))
    for piece in f.divided(segment(data, -20), tuple(sizes), overlap):
        at = (piece.number + 20) & 0xFFFF_FFFF
        stream[at : at + len(piece.data)] = piece.data
    assert stream == data


@given(
    st.lists(st.tuples(st.binary(max_size=60), st.lists(st.integers(0, 30), max_size=3)), max_size=6),
    st.lists(st.integers(1, 50), min_size=1, max_size=40),
    st.integers(0, 2**32 - 1),
)
def test_the_beginnings_of_records_are_found(
    messages: list[tuple[bytes, list[int]]], cuts: list[int], number: int
) -> None:
    """However the stream is divided into segments, and whichever of them are sent again."""
    half = HalfStream()
    half.messages_in(replace(segment(b"", number - 1), flags=f.SYN))
    stream = b"".join(fragment(data, sizes) for data, sizes in messages)
    found: list[bytes] = []
    at = 0
    while at < len(stream):
        end = at + cuts[at % len(cuts)]
        one = segment(stream[at:end], number + at)
        found += half.messages_in(one)
        assert half.messages_in(one) == []
        at = end
    assert len(found) == len(messages)
    assert all(data.startswith(seen) for (data, _), seen in zip(messages, found, strict=True))


def test_what_was_never_opened_has_no_records() -> None:
    assert HalfStream().messages_in(segment(b"\x80\0\0\x04data")) == []


@given(st.binary(max_size=100))
def test_damaged_frames_are_none(data: bytes) -> None:
    frame = bytes(12) + b"\x08\0" + data
    read = f.read_ip(frame)
    if read is not None:
        f.read_udp(read)
        f.read_tcp(read)


@pytest.mark.parametrize(
    "make",
    [
        lambda: a.LosePackets(0),
        lambda: a.DoublePackets(10_000),
        lambda: a.LatePackets(seconds=-1),
        lambda: a.BadChecksum("link"),  # type: ignore[arg-type]
        lambda: a.SplitSegment(()),
        lambda: a.SplitSegment((0,)),
        lambda: a.IpFragments(10),
        lambda: a.IpFragments(16, overlap=16),
        lambda: a.IpFragments(16, lose=0),
        lambda: a.ForgeReset("both"),  # type: ignore[arg-type]
        lambda: a.ForgeReset(number="wild"),  # type: ignore[arg-type]
    ],
    ids=str.split("times copies seconds layer no-sizes zero-size size overlap lose toward number"),
)
def test_values_that_cannot_be_meant_are_refused(make: object) -> None:
    with pytest.raises(BadPlan):
        make()  # type: ignore[operator]
