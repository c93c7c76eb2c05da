# SPDX-License-Identifier: MIT
"""Reads as much of IPv4, UDP and TCP as a bridge must know to pass a frame, or to give it to a rule. No sockets.

It makes nothing: what no rule wants passes as the frames that came, and what a rule wants is made by scapy
(`nfsfaults.packet.making`). It completes checksums, which a virtual machine may leave to its
device.
"""

from __future__ import annotations

import struct
import typing as t
from collections import OrderedDict
from dataclasses import dataclass

IPV4, ARP = 0x0800, 0x0806
TCP, UDP = 6, 17
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
MORE: t.Final = 0x2000
"""The flag that more fragments follow."""
_OFFSET: t.Final = 0x1FFF
_MOST_DATAGRAMS: t.Final = 64
_MOST_FRAGMENTS: t.Final = 256
_ETHERNET: t.Final = 14
_IP = struct.Struct("!BBHHHBBH4s4s")
_UDP = struct.Struct("!HHHH")
_TCP = struct.Struct("!HHIIBBHHH")
_CHECKSUMS: t.Final = {TCP: 16, UDP: 6}
"""Where in their headers the checksum stands."""


@dataclass(frozen=True, slots=True)
class IpPacket:
    """An IPv4 packet, whole or a fragment, with the frames that it came in."""

    frames: tuple[bytes, ...]
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


def read_ip(frame: bytes) -> IpPacket | None:
    """The packet in a frame; None: it has none, or a broken one."""
    if len(frame) < 34 or frame[12:14] != b"\x08\0":
        return None
    first, _, length, ident, fragment, _, protocol, _, source, destination = _IP.unpack_from(frame, _ETHERNET)
    head = (first & 15) * 4
    if first >> 4 != 4 or head < 20 or not head <= length <= len(frame) - _ETHERNET:
        return None
    payload = frame[_ETHERNET + head : _ETHERNET + length]
    return IpPacket((frame,), source, destination, protocol, ident, fragment & ~0x4000, payload)


class Ports(t.NamedTuple):
    """The ports of UDP or TCP."""

    source: int
    destination: int


class Heading(t.NamedTuple):
    """Where a packet that is made goes."""

    ethernet: bytes
    """The header of the frame."""
    source: bytes
    destination: bytes
    ports: Ports


def read_udp(packet: IpPacket) -> tuple[Ports, bytes] | None:
    """Ports and data of a datagram."""
    if len(packet.payload) < _UDP.size:
        return None
    source, destination, length, _ = _UDP.unpack_from(packet.payload)
    return Ports(source, destination), packet.payload[_UDP.size : length]


@dataclass(frozen=True, slots=True)
class Segment:
    """What a TCP segment says about its place in the stream."""

    ports: Ports
    number: int
    """Its sequence number."""
    flags: int
    data: bytes

    @property
    def end(self) -> int:
        """The sequence number after it."""
        extra = bool(self.flags & SYN) + bool(self.flags & FIN)
        return (self.number + len(self.data) + extra) & 0xFFFF_FFFF


def read_tcp(packet: IpPacket) -> Segment | None:
    """The segment in a packet."""
    if len(packet.payload) < _TCP.size:
        return None
    source, destination, number, _, offset, flags, _, _, _ = _TCP.unpack_from(packet.payload)
    head = (offset >> 4) * 4
    if not _TCP.size <= head <= len(packet.payload):
        return None
    return Segment(Ports(source, destination), number, flags, packet.payload[head:])


def with_checksum(frame: bytes) -> bytes:
    """A frame whose TCP or UDP checksum was left to a device: the sum of the pseudo header stands in its place."""
    packet = read_ip(frame)
    at = _CHECKSUMS.get(packet.protocol, 0) if packet is not None else 0
    if packet is None or packet.is_fragment or len(packet.payload) < at + 2:
        return frame
    total = sum(word for (word,) in struct.iter_unpack("!H", packet.payload + bytes(len(packet.payload) % 2)))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    made = total ^ 0xFFFF or 0xFFFF  # over UDP, 0 stands for none
    place = _ETHERNET + (frame[_ETHERNET] & 15) * 4 + at
    return frame[:place] + made.to_bytes(2, "big") + frame[place + 2 :]


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
    for part in sorted(parts, key=lambda part: part.fragment & _OFFSET):
        start = (part.fragment & _OFFSET) * 8
        if start > len(data):
            return None
        data = data[:start] + part.payload
        if not part.fragment & MORE:
            frames = tuple(frame for part in parts for frame in part.frames)
            return IpPacket(
                frames, part.source, part.destination, part.protocol, part.identification, 0, data
            )
    return None
