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

pytest.importorskip("scapy", reason="scapy is not installed (extra `packet`)")

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from nfsfaults.packet import making

PORTS = f.Ports(700, 2049)
ETHERNET = bytes(12) + b"\x08\0"


def segment(data: bytes, number: int = 100) -> f.Segment:
    return f.Segment(PORTS, number & 0xFFFF_FFFF, f.PSH | f.ACK, data)


def whole(data: bytes, number: int = 7) -> bytes:
    """A datagram in one packet, of any size."""
    made = IP(src="198.18.0.2", dst="198.18.0.1", id=number) / UDP(sport=700, dport=2049) / Raw(data)
    return ETHERNET + bytes(made)


def read(frame: bytes) -> f.IpPacket:
    found = f.read_ip(frame)
    assert found is not None
    return found


@given(st.binary(max_size=3000))
def test_datagrams_are_read(data: bytes) -> None:
    packet = read(whole(data))
    assert (packet.source, packet.destination) == (b"\xc6\x12\0\x02", b"\xc6\x12\0\x01")
    assert (packet.protocol, packet.identification, packet.fragment) == (f.UDP, 7, 0)
    assert f.read_udp(packet) == (PORTS, data)


@given(st.binary(max_size=3000))
def test_segments_are_read(data: bytes) -> None:
    sent = TCP(sport=700, dport=2049, seq=100, flags="PA", options=[("NOP", None), ("Timestamp", (1, 2))])
    frame = bytes(Ether(ETHERNET) / IP(src="198.18.0.2", dst="198.18.0.1") / sent / Raw(data))
    assert f.read_tcp(read(frame)) == segment(data)


@given(
    st.binary(min_size=1, max_size=5000),
    st.integers(1, 60),
    st.integers(0, 59),
    st.randoms(use_true_random=False),
)
def test_fragments_come_together_in_any_order(
    data: bytes, size: int, overlap: int, order: random.Random
) -> None:
    heading = f.Heading(ETHERNET, b"\xc6\x12\0\x02", b"\xc6\x12\0\x01", PORTS)
    action = a.IpFragments(8 * size, overlap=8 * min(overlap, size - 1))
    frames = making.datagram(heading, data, 7, [action])
    pieces = [read(frame) for frame in frames]
    assert all(len(piece.payload) % 8 == 0 for piece in pieces if piece.fragment & f.MORE)
    order.shuffle(pieces)
    reassembler = f.Reassembler()
    found = [packet for packet in (reassembler.feed(piece) for piece in pieces[:200]) if packet is not None]
    if len(pieces) <= 200:
        assert f.read_udp(found[0]) == (PORTS, data)
        assert set(found[0].frames) <= set(frames)


def test_fragments_that_never_become_whole_are_forgotten() -> None:
    reassembler = f.Reassembler()
    for number in range(1000):
        first = f.IpPacket((b"",), bytes(4), bytes(4), f.UDP, number, f.MORE, bytes(1480))
        assert reassembler.feed(first) is None
    assert len(reassembler._parts) <= 65


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
        cut = segment(stream[at:end], number + at)
        found += half.messages_in(cut)
        assert half.messages_in(cut) == []
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
        lambda: a.ChangePacket("window", 1),
        lambda: a.CallFunction("module:function"),
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
    ids=str.split(
        "path function times copies seconds layer no-sizes zero-size size overlap lose toward number"
    ),
)
def test_values_that_cannot_be_meant_are_refused(make: object) -> None:
    with pytest.raises(BadPlan):
        make()  # type: ignore[operator]
