# SPDX-License-Identifier: MIT
"""Hostile captures raise nothing but `BadCapture`, which names the packet, and memory is bounded."""

from __future__ import annotations

import contextlib
import random
import re
import struct

import pytest

from nfsclient.rpc.exchange import Exchange
from nfsjudge.captured import BadCapture
from nfsjudge.captured.segments import Dissector
from nfsjudge.captured.streams import Mark, Stream
from tests.nfsjudge.captured.making import block, found, frames_of, judge, pcap, pcapng


@pytest.mark.parametrize("make", [pcap, pcapng])
def test_a_file_that_ends_anywhere(right: list[Exchange], make: object) -> None:
    assert callable(make)
    data: bytes = make(frames_of(right[:6]))
    for end in range(len(data)):
        # pcapng may end after any block, pcap after any packet.
        with contextlib.suppress(BadCapture):
            judge(data[:end])


def test_what_came_before_the_end_is_judged(wrong: list[Exchange]) -> None:
    from io import BytesIO

    from nfsjudge.captured import Reading

    reading = Reading()
    with pytest.raises(BadCapture, match=r"after packet \d+: the file ends in a packet") as error:
        reading.read(BytesIO(pcap(frames_of(wrong))[:-3]))
    assert error.value.packet > 100
    assert "nfs3/write-count" in found(reading)


@pytest.mark.parametrize("make", [pcap, pcapng])
@pytest.mark.parametrize("seed", range(40))
def test_bytes_that_are_wrong(right: list[Exchange], make: object, seed: int) -> None:
    assert callable(make)
    chance = random.Random(seed)
    data = bytearray(make(frames_of(right)))
    for _ in range(chance.choice([1, 10, 300])):
        data[chance.randrange(len(data))] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
    with contextlib.suppress(BadCapture):
        judge(bytes(data), alone=True)


@pytest.mark.parametrize("seed", range(40))
def test_frames_that_are_wrong(right: list[Exchange], seed: int) -> None:
    """The file is valid, its content is not."""
    chance = random.Random(seed)
    frames = []
    for moment, frame in frames_of(right):
        data = bytearray(frame)
        for _ in range(chance.choice([0, 0, 1, 5])):
            data[chance.randrange(12, len(data))] = chance.randrange(256)
        frames.append(
            (moment, bytes(data[: chance.choice([len(data), len(data), chance.randrange(len(data))])]))
        )
    judge(pcap(frames), alone=True)
    judge(pcapng(frames, link=chance.choice([0, 101, 108, 113, 276])), alone=True)


MARK = Mark(1, 1.0)
HEAD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1)
SECTION = block("<", 0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
BROKEN = {
    "neither pcap nor pcapng: the file begins with nothing": b"",
    "neither pcap nor pcapng: the file begins with 7f454c46": b"\x7fELF",
    "a packet of 4294967295 bytes": HEAD + struct.pack("<IIII", 0, 0, 0xFFFF_FFFF, 0xFFFF_FFFF),
    "pcap of version 1": struct.pack("<IHHiIII", 0xA1B2C3D4, 1, 4, 0, 0, 262_144, 1),
    "a section with byte order": b"\x0a\x0d\x0d\x0a" + bytes(24),
    "a header of a section of 4294967292 bytes": b"\x0a\x0d\x0d\x0a"
    + struct.pack("<II", 2**32 - 4, 0x1A2B3C4D),
    "a block of type 6 and 4294967292 bytes": SECTION + struct.pack("<II", 6, 2**32 - 4),
    "a block of type 6 and 13 bytes": SECTION + struct.pack("<II", 6, 13),
    "a block of type 6 is too short": SECTION + block("<", 6, bytes(8)),
    "which was not described": SECTION + block("<", 6, bytes(20)),
    "says 7 at its end": SECTION + struct.pack("<IIII", 5, 16, 0, 7),
    "a packet of 99 bytes in a block of 24": SECTION
    + block("<", 1, struct.pack("<HHI", 1, 0, 0))
    + block("<", 6, struct.pack("<IIIII", 0, 0, 0, 99, 99) + bytes(4)),
    "an option of 99 bytes goes beyond": SECTION
    + block("<", 1, struct.pack("<HHI", 1, 0, 0) + struct.pack("<HHI", 9, 99, 0)),
}


@pytest.mark.parametrize("why", BROKEN)
def test_broken_files_are_reported_in_words(why: str) -> None:
    with pytest.raises(BadCapture, match=re.escape(why)):
        judge(BROKEN[why])


def test_a_stream_holds_no_more_than_it_may() -> None:
    stream = Stream()
    stream.open(0)
    for at in range(5000):
        stream.feed(10_000 + at * 60_000, bytes(50_000), 0, MARK)
        assert stream.buffered < 40 << 20


def test_a_record_is_not_longer_than_it_may_be() -> None:
    stream = Stream()
    stream.open(0)
    head = struct.pack(">IIIIIIII", 0x7000_0000, 1, 0, 2, 100_003, 3, 0, 0)
    assert stream.feed(1, head, 0, MARK) == []
    assert not stream.is_synced
    for at in range(1000):
        stream.feed(33 + at * 1000, bytes(1000), 0, MARK)
    assert stream.buffered == 0


def test_fragments_wait_in_bounded_memory() -> None:
    from nfsjudge.captured.packets import Packet

    dissector = Dissector()
    for ident in range(3000):
        head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 1020, ident, 0x2000, 64, 17, 0, b"abcd", b"efgh")
        assert dissector.segment(Packet(1, 0.0, 101, head + bytes(1000), 1020)) is None
    waiting = sum(len(part) for datagram in dissector._waiting.values() for part in datagram.parts.values())
    assert waiting < 1 << 20


def test_sequence_numbers_go_round() -> None:
    stream = Stream()
    stream.open(2**32 - 11)
    record = struct.pack(">I", 0x8000_0000 | 28) + struct.pack(">IIIIII", 7, 0, 2, 100_003, 3, 0) + bytes(4)
    assert stream.feed(2**32 - 10, record[:10], 0, MARK) == []
    assert [len(message) for message, _ in stream.feed(0, record[10:], 0, MARK)] == [28]
