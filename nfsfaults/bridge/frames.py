# SPDX-License-Identifier: MIT
"""IPv4, UDP and TCP in Ethernet frames: as much as a bridge must read, change and make. No sockets."""

from __future__ import annotations

import itertools
import struct
import typing as t
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace

IPV4, ARP = 0x0800, 0x0806
TCP, UDP = 6, 17
MOST_IN_PACKET: t.Final = 1480
"""Bytes after an IP header of 20 bytes, with the MTU of Ethernet."""
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
MORE: t.Final = 0x2000
"""The flag that more fragments follow."""
_OFFSET: t.Final = 0x1FFF
_MOST_DATAGRAMS: t.Final = 64
_MOST_FRAGMENTS: t.Final = 256
_IP = struct.Struct("!BBHHHBBH4s4s")
_UDP = struct.Struct("!HHHH")
_TCP = struct.Struct("!HHIIBBHHH")


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    if len(data) % 2:
        data += b"\0"
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@dataclass(frozen=True, slots=True)
class IpPacket:
    """An IPv4 packet, or a fragment of one, with the Ethernet header that it came with. Options are not kept."""

    ethernet: bytes
    source: bytes
    destination: bytes
    protocol: int
    identification: int
    fragment: int
    """Flags and offset, as they stand in the header."""
    payload: bytes

    @property
    def is_fragment(self) -> bool:
        return bool(self.fragment & (MORE | _OFFSET))

    def frame(self, *, is_bad: bool = False) -> bytes:
        """The Ethernet frame; `is_bad` makes the checksum of the IP header wrong."""
        length = 20 + len(self.payload)
        head = (69, 0, length, self.identification, self.fragment, 64, self.protocol)
        sum_ = checksum(_IP.pack(*head, 0, self.source, self.destination)) ^ (0x5555 if is_bad else 0)
        return self.ethernet + _IP.pack(*head, sum_, self.source, self.destination) + self.payload


def read_ip(frame: bytes) -> IpPacket | None:
    """The packet in a frame; None: it has none, or a broken one."""
    if len(frame) < 34 or frame[12:14] != b"\x08\0":
        return None
    first, _, length, ident, fragment, _, protocol, _, source, destination = _IP.unpack_from(frame, 14)
    head = (first & 15) * 4
    if first >> 4 != 4 or head < 20 or not head <= length <= len(frame) - 14:
        return None
    return IpPacket(
        frame[:14], source, destination, protocol, ident, fragment & ~0x4000, frame[14 + head : 14 + length]
    )


def _pseudo(packet: IpPacket, length: int) -> bytes:
    """What the checksums of UDP and TCP have of the IP header."""
    return packet.source + packet.destination + struct.pack("!BBH", 0, packet.protocol, length)


class Ports(t.NamedTuple):
    """The ports of UDP or TCP."""

    source: int
    destination: int


def read_udp(packet: IpPacket) -> tuple[Ports, bytes] | None:
    """Ports and data of a datagram."""
    if len(packet.payload) < 8:
        return None
    source, destination, length, _ = _UDP.unpack_from(packet.payload)
    return Ports(source, destination), packet.payload[8:length]


def with_udp(packet: IpPacket, ports: Ports, data: bytes, *, is_bad: bool = False) -> IpPacket:
    """The packet with a datagram; `is_bad` makes its checksum wrong."""
    length = 8 + len(data)
    plain = _UDP.pack(*ports, length, 0) + data
    sum_ = checksum(_pseudo(packet, length) + plain) or 0xFFFF
    if is_bad:
        sum_ ^= 0x5555
        sum_ = sum_ or 0x1234  # 0 would say that there is none
    return replace(packet, payload=_UDP.pack(*ports, length, sum_) + data)


@dataclass(frozen=True, slots=True)
class Segment:
    """A TCP segment."""

    ports: Ports
    number: int
    """Its sequence number."""
    acknowledged: int
    flags: int
    window: int
    options: bytes
    data: bytes

    @property
    def end(self) -> int:
        """The sequence number after it."""
        extra = bool(self.flags & SYN) + bool(self.flags & FIN)
        return (self.number + len(self.data) + extra) & 0xFFFF_FFFF


def read_tcp(packet: IpPacket) -> Segment | None:
    """The segment in a packet."""
    if len(packet.payload) < 20:
        return None
    source, destination, number, acknowledged, offset, flags, window, _, _ = _TCP.unpack_from(packet.payload)
    head = (offset >> 4) * 4
    if not 20 <= head <= len(packet.payload):
        return None
    return Segment(
        Ports(source, destination),
        number,
        acknowledged,
        flags,
        window,
        packet.payload[20:head],
        packet.payload[head:],
    )


def with_tcp(packet: IpPacket, segment: Segment, *, is_bad: bool = False) -> IpPacket:
    """The packet with a segment; `is_bad` makes its checksum wrong."""
    offset = (20 + len(segment.options)) // 4 << 4
    head = (*segment.ports, segment.number, segment.acknowledged, offset, segment.flags, segment.window)
    plain = _TCP.pack(*head, 0, 0) + segment.options + segment.data
    sum_ = checksum(_pseudo(packet, len(plain)) + plain) ^ (0x5555 if is_bad else 0)
    return replace(packet, payload=_TCP.pack(*head, sum_, 0) + segment.options + segment.data)


def divided(segment: Segment, sizes: tuple[int, ...], overlap: int) -> list[Segment]:
    """The segment as several with the same bytes; each begins `overlap` bytes before the end of the one before it."""
    pieces: list[Segment] = []
    at = 0
    for index in itertools.count():
        end = min(at + sizes[min(index, len(sizes) - 1)], len(segment.data))
        start = max(0, at - overlap)
        flags = segment.flags if end == len(segment.data) else segment.flags & ~(FIN | PSH)
        number = (segment.number + start) & 0xFFFF_FFFF
        pieces.append(replace(segment, number=number, flags=flags, data=segment.data[start:end]))
        at = end
        if at >= len(segment.data):
            break
    return pieces


def fragments(packet: IpPacket, size: int = MOST_IN_PACKET, overlap: int = 0) -> list[IpPacket]:
    """The packet in fragments of `size` bytes (a multiple of 8), which share `overlap` bytes; itself, if it fits."""
    if len(packet.payload) <= size:
        return [packet]
    pieces: list[IpPacket] = []
    for start in range(0, len(packet.payload) - overlap, size - overlap):
        payload = packet.payload[start : start + size]
        more = MORE if start + size < len(packet.payload) else 0
        pieces.append(replace(packet, fragment=start // 8 | more, payload=payload))
    return pieces


class Reassembler:
    """Puts fragments together as the bridge needs them: whole, in any order. Bounded."""

    def __init__(self) -> None:
        self._parts: OrderedDict[tuple[bytes, bytes, int, int], list[IpPacket]] = OrderedDict()

    def feed(self, packet: IpPacket) -> IpPacket | None:
        """The whole packet, when it is there."""
        if not packet.is_fragment:
            return packet
        key = (packet.source, packet.destination, packet.protocol, packet.identification)
        parts = self._parts.setdefault(key, [])
        parts.append(packet)
        whole = _joined(parts)
        if whole is not None or len(parts) >= _MOST_FRAGMENTS:
            del self._parts[key]
        elif len(self._parts) > _MOST_DATAGRAMS:
            self._parts.popitem(last=False)
        return whole


def _joined(parts: list[IpPacket]) -> IpPacket | None:
    data = b""
    for part in _in_order(parts):
        start = (part.fragment & _OFFSET) * 8
        if start > len(data):
            return None
        data = data[:start] + part.payload
        if not part.fragment & MORE:
            return replace(parts[0], fragment=0, payload=data)
    return None


def _in_order(parts: list[IpPacket]) -> Iterator[IpPacket]:
    yield from sorted(parts, key=lambda part: part.fragment & _OFFSET)
