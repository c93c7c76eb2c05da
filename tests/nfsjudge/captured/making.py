# SPDX-License-Identifier: MIT
"""Captures made for tests: frames of our writer, packed into other files, links, fragments and segments."""

from __future__ import annotations

import random
import struct
import typing as t
from collections.abc import Sequence
from io import BytesIO

from nfsclient.rpc.exchange import Exchange
from nfsjudge.capture import packets
from nfsjudge.captured import Reading

Timed: t.TypeAlias = tuple[float, bytes]
"""Seconds, and a frame of Ethernet."""
EPOCH = 1_700_000_000.0


def frames_of(exchanges: Sequence[Exchange]) -> list[Timed]:
    return [(EPOCH + moment, frame) for moment, frame, _ in packets(exchanges, {})]


# ---------------------------------------------------------------- files


def pcap(
    frames: Sequence[Timed], *, order: str = "<", ticks: int = 10**6, link: int = 1, keep: int = 262_144
) -> bytes:
    magic = 0xA1B2C3D4 if ticks == 10**6 else 0xA1B23C4D
    out = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262_144, link)]
    for moment, frame in frames:
        seconds, fraction = divmod(round(moment * ticks), ticks)
        kept = frame[:keep]
        out.append(struct.pack(order + "IIII", seconds, fraction, len(kept), len(frame)) + kept)
    return b"".join(out)


def block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    length = 12 + len(body)
    return struct.pack(order + "II", kind, length) + body + struct.pack(order + "I", length)


def pcapng(
    frames: Sequence[Timed],
    *,
    order: str = "<",
    resolution: int | None = None,
    link: int = 1,
    offset: int = 0,
) -> bytes:
    options = b""
    if resolution is not None:
        options += struct.pack(order + "HHB3x", 9, 1, resolution)
    if offset:
        options += struct.pack(order + "HHq", 14, 8, offset)
    if options:
        options += bytes(4)
    power = 6 if resolution is None else resolution & 0x7F
    ticks = 2**power if resolution is not None and resolution & 0x80 else 10**power
    out = [
        block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)),
        block(order, 1, struct.pack(order + "HHI", link, 0, 0) + options),
        block(order, 4, bytes(4)),  # names: to be passed over
    ]
    for moment, frame in frames:
        stamp = round((moment - offset) * ticks)
        head = struct.pack(order + "IIIII", 0, stamp >> 32, stamp & 0xFFFF_FFFF, len(frame), len(frame))
        out.append(block(order, 6, head + frame))
    return b"".join(out)


# ---------------------------------------------------------------- links


def with_link(frames: Sequence[Timed], name: str) -> tuple[int, list[Timed]]:
    """The link type of this name, and the frames in it."""
    number, wrap = LINKS[name]
    return number, [(moment, wrap(frame[12:14], frame[14:])) for moment, frame in frames]


def _family(kind: bytes, order: str) -> bytes:
    return struct.pack(order + "I", 2 if kind == b"\x08\x00" else 30)


MACS = bytes(12)
LINKS: dict[str, tuple[int, t.Callable[[bytes, bytes], bytes]]] = {
    "ethernet": (1, lambda kind, ip: MACS + kind + ip),
    "ethernet with a trailer": (1, lambda kind, ip: MACS + kind + ip + b"trail"),
    "vlan": (1, lambda kind, ip: MACS + b"\x81\x00\x00\x07" + kind + ip),
    "two vlans": (1, lambda kind, ip: MACS + b"\x88\xa8\x00\x07\x81\x00\x00\x08" + kind + ip),
    "raw": (101, lambda kind, ip: ip),
    "raw by its other number": (12, lambda kind, ip: ip),
    "null, little-endian": (0, lambda kind, ip: _family(kind, "<") + ip),
    "null, big-endian": (0, lambda kind, ip: _family(kind, ">") + ip),
    "loop": (108, lambda kind, ip: _family(kind, ">") + ip),
    "cooked": (113, lambda kind, ip: struct.pack(">HHHQ", 0, 1, 6, 0) + kind + ip),
    "cooked 2": (276, lambda kind, ip: kind + struct.pack(">HIHBBQ", 0, 1, 1, 0, 6, 0) + ip),
}


# ---------------------------------------------------------------- segments and fragments


def cut_segments(frames: Sequence[Timed], size: int) -> list[Timed]:
    """Every TCP segment over IPv4 in pieces of at most `size` bytes. Checksums are not fixed."""
    out = []
    for moment, frame in frames:
        head, payload = frame[:54], frame[54:]
        if frame[23] != 6 or len(payload) <= size:
            out.append((moment, frame))
            continue
        (sequence,) = struct.unpack_from(">I", head, 38)
        for at in range(0, len(payload), size):
            piece = payload[at : at + size]
            renumbered = head[:38] + struct.pack(">I", (sequence + at) % 2**32) + head[42:]
            sized = renumbered[:16] + struct.pack(">H", 40 + len(piece)) + renumbered[18:]
            out.append((moment, sized + piece))
    return out


def shuffle_some(frames: Sequence[Timed], seed: int, *, reach: int = 6, double: float = 0.1) -> list[Timed]:
    """Packets out of order by a few places, some of them twice; connections begin first."""
    chance = random.Random(seed)
    places: list[tuple[float, int, Timed]] = []
    for at, record in enumerate(frames):
        is_first = record[1][23] == 6 and bool(record[1][47] & 2)
        places.append((at if is_first else at + chance.random() * reach, at, record))
        if chance.random() < double:
            places.append((at + chance.random() * 4 * reach, at, record))
    shuffled = [packet for _, _, packet in sorted(places)]
    # Times go on as they do in a capture: packets that came out of order have the times of where they stand.
    times = sorted(moment for moment, _ in shuffled)
    return [(moment, frame) for moment, (_, frame) in zip(times, shuffled, strict=True)]


def cut_fragments(frames: Sequence[Timed], size: int) -> list[Timed]:
    """IPv4 or IPv6 packets in fragments of `size` bytes, the last one first."""
    out: list[Timed] = []
    for ident, (moment, frame) in enumerate(frames, 1):
        pieces = (_fragments_4 if frame[12:14] == b"\x08\x00" else _fragments_6)(frame, size, ident)
        out += [(moment, piece) for piece in reversed(pieces)]
    return out


def _fragments_4(frame: bytes, size: int, ident: int) -> list[bytes]:
    ethernet, head, body = frame[:14], frame[14:34], frame[34:]
    pieces = []
    for at in range(0, len(body), size):
        piece, more = body[at : at + size], at + size < len(body)
        place = at // 8 | (0x2000 if more else 0)
        new = head[:2] + struct.pack(">HHH", 20 + len(piece), ident, place) + head[8:]
        pieces.append(ethernet + new + piece)
    return pieces


def _fragments_6(frame: bytes, size: int, ident: int) -> list[bytes]:
    ethernet, head, body = frame[:14], frame[14:54], frame[54:]
    pieces = []
    for at in range(0, len(body), size):
        piece, more = body[at : at + size], at + size < len(body)
        extension = struct.pack(">BBHI", head[6], 0, at | int(more), ident)
        new = head[:4] + struct.pack(">HB", 8 + len(piece), 44) + head[7:]
        pieces.append(ethernet + new + extension + piece)
    return pieces


# ---------------------------------------------------------------- judging


def judge(data: bytes, *, alone: bool = False) -> Reading:
    """A capture that is read. Raises `BadCapture`."""
    reading = Reading(alone=alone)
    reading.read(BytesIO(data))
    return reading


def found(reading: Reading) -> dict[str, int]:
    """Rule -> how often it was broken."""
    return {finding.rule.name: finding.count for finding in reading.findings if finding.severity != "INFO"}
