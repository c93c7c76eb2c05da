# SPDX-License-Identifier: MIT
"""From frames to what TCP and UDP carry: link layers, VLAN tags, IPv4 and IPv6 with their fragments.

Packets that are not IP, or that break its rules, are ignored: a capture may contain anything. An unknown link type
raises `BadCapture`, since such a file cannot be judged.
"""

from __future__ import annotations

import ipaddress
import struct
import typing as t
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from nfsjudge.captured.errors import BadCapture
from nfsjudge.captured.frames import Frames
from nfsjudge.captured.packets import Packet

TCP, UDP = 6, 17
FIN, SYN, RST, ACK = 1, 2, 4, 16
_IPV4, _IPV6 = 0x0800, 0x86DD
_VLAN: t.Final = frozenset({0x8100, 0x88A8, 0x9100})
_MOST_TAGS = 4
_FRAGMENT = 44
_EXTENSIONS: t.Final = frozenset({0, 43, 60, 135})
"""Headers of IPv6 that are skipped: hop-by-hop, routing, destination, mobility."""
_MOST_EXTENSIONS = 16
_MOST_DATAGRAMS = 256
_MOST_PARTS = 128
"""Fragments of one datagram: 64 KiB in pieces of 512 bytes."""
_MOST_DATAGRAM = 65_535
_TUNNELS: t.Final = {
    "PPPoE": (0x8864,),
    "MPLS": (0x8847, 0x8848),
    "MACsec": (0x88E5,),
    "NSH": (0x894F,),
}
"""What carries other packets over Ethernet: name -> EtherTypes. VLAN tags are opened."""
_UNOPENED: t.Final = {kind: name for name, kinds in _TUNNELS.items() for kind in kinds}
_UNOPENED_IP: t.Final = {4: "IP in IP", 41: "IPv6 in IP", 47: "GRE", 50: "ESP (IPsec)", 51: "AH (IPsec)"}
_UNOPENED_UDP: t.Final = {4789: "VXLAN", 8472: "VXLAN", 6081: "Geneve", 4500: "ESP (IPsec)"}
"""By destination port."""


class Segment(t.NamedTuple):
    """A TCP segment, or a UDP datagram (then `sequence`, `acknowledged` and `flags` are 0).

    `source` and `destination` are (address in bytes, port). `missing` counts bytes that were not kept at its end.
    """

    protocol: int
    source: tuple[bytes, int]
    destination: tuple[bytes, int]
    payload: bytes
    missing: int
    sequence: int = 0
    flags: int = 0


def name_of(side: tuple[bytes, int]) -> str:
    """An address and port for people."""
    address = ipaddress.ip_address(side[0])
    return f"[{address}]:{side[1]}" if address.version == 6 else f"{address}:{side[1]}"


# ---------------------------------------------------------------- link layers

Payload: t.TypeAlias = tuple[int, bytes] | None
"""An EtherType and what it carries."""


def _ethernet(data: bytes) -> Payload:
    return _tagged(int.from_bytes(data[12:14], "big"), data[14:])


def _tagged(kind: int, data: bytes) -> Payload:
    for _ in range(_MOST_TAGS):
        if kind not in _VLAN:
            break
        kind, data = int.from_bytes(data[2:4], "big"), data[4:]
    return (kind, data) if kind in {_IPV4, _IPV6} or kind in _UNOPENED else None


def _raw(data: bytes) -> Payload:
    version = data[0] >> 4 if data else 0
    return {4: (_IPV4, data), 6: (_IPV6, data)}.get(version)


def _loopback(data: bytes) -> Payload:
    # The family is in the byte order of whoever captured; 2 is IPv4 everywhere, IPv6 is 10, 24, 28 or 30.
    return _raw(data[4:])


def _cooked(data: bytes) -> Payload:
    return _tagged(int.from_bytes(data[14:16], "big"), data[16:])


def _cooked_2(data: bytes) -> Payload:
    return _tagged(int.from_bytes(data[:2], "big"), data[20:])


_LINKS: t.Final[dict[int, Callable[[bytes], Payload]]] = {
    0: _loopback,
    1: _ethernet,
    12: _raw,
    14: _raw,
    101: _raw,
    108: _loopback,
    113: _cooked,
    228: _raw,
    229: _raw,
    276: _cooked_2,
}
"""Link type -> what finds IP in a frame: null, Ethernet, raw IP, loopback, Linux cooked of both versions."""


# ---------------------------------------------------------------- IP


@dataclass(slots=True)
class _Datagram:
    """Fragments of one datagram, by where they begin."""

    parts: dict[int, bytes] = field(default_factory=dict)
    size: int | None = None

    def add(self, at: int, data: bytes, *, more: bool) -> bytes | None:
        """The whole of it, when this was the last piece that was missing."""
        if at + len(data) > _MOST_DATAGRAM or len(self.parts) >= _MOST_PARTS:
            self.parts.clear()
            self.size = None
            return None
        self.parts.setdefault(at, data)
        if not more:
            self.size = at + len(data)
        if self.size is None or sum(map(len, self.parts.values())) < self.size:
            return None
        joined = bytearray()
        for start in sorted(self.parts):
            if start != len(joined):  # a hole, or fragments that overlap: not to be guessed at
                return None
            joined += self.parts[start]
        return bytes(joined) if len(joined) == self.size else None


class Dissector:
    """Takes packets and gives segments. Fragments wait in memory: those of the latest datagrams."""

    def __init__(self, unopened: dict[str, Frames] | None = None) -> None:
        """`unopened` gets the frames of tunnels, by the name of the tunnel."""
        self._unopened = {} if unopened is None else unopened
        self._waiting: OrderedDict[tuple[bytes, bytes, int, int], _Datagram] = OrderedDict()

    def segment(self, packet: Packet) -> Segment | None:
        """What a packet carries, if that is TCP or UDP and whole. Raises `BadCapture` for unknown links."""
        find = _LINKS.get(packet.link)
        if find is None:
            raise BadCapture(f"frames of link type {packet.link} are not read", packet.number)
        found = find(packet.data)
        if found is None:
            return None
        kind, data = found
        if kind in _UNOPENED:
            self._leave(_UNOPENED[kind], packet)
            return None
        cut = packet.size - len(packet.data)
        try:
            segment = self._ipv4(data, cut) if kind == _IPV4 else self._ipv6(data, cut)
        except (struct.error, IndexError):
            return None
        if segment is None:
            protocol = data[9] if kind == _IPV4 else data[6]
            if protocol in _UNOPENED_IP:
                self._leave(_UNOPENED_IP[protocol], packet)
        elif segment.protocol == UDP and segment.destination[1] in _UNOPENED_UDP:
            self._leave(_UNOPENED_UDP[segment.destination[1]], packet)
        return segment

    def _leave(self, name: str, packet: Packet) -> None:
        self._unopened.setdefault(name, Frames()).add(packet.number)

    def _ipv4(self, data: bytes, cut: int) -> Segment | None:
        head = (data[0] & 15) * 4
        total, ident, place = struct.unpack_from(">HHH", data, 2)
        protocol, source, destination = data[9], data[12:16], data[16:20]
        if data[0] >> 4 != 4 or head < 20 or len(data) < head:
            return None
        # A segment that the network card is to cut says 0.
        total = total or len(data) + cut
        body = data[head:total]
        missing = max(0, total - head - len(body))
        if not place & 0x3FFF:
            return _transport(protocol, source, destination, body, missing)
        more, at = bool(place & 0x2000), (place & 0x1FFF) * 8
        if missing:
            return None
        return self._fragment((source, destination, protocol, ident), at, body, more=more)

    def _ipv6(self, data: bytes, cut: int) -> Segment | None:
        length, following = struct.unpack_from(">HB", data, 4)
        source, destination = data[8:24], data[24:40]
        if data[0] >> 4 != 6 or len(data) < 40:
            return None
        total = 40 + length if length else len(data) + cut
        body = data[40:total]
        missing = max(0, total - 40 - len(body))
        for _ in range(_MOST_EXTENSIONS):
            if following in _EXTENSIONS:
                size = (body[1] + 1) * 8
                following, body = body[0], body[size:]
            elif following == _FRAGMENT:
                then, place, ident = body[0], *struct.unpack_from(">HI", body, 2)
                if missing:
                    return None
                key = (source, destination, then, ident)
                return self._fragment(key, place & 0xFFF8, body[8:], more=bool(place & 1))
            else:
                break
        return _transport(following, source, destination, body, missing)

    def _fragment(
        self, key: tuple[bytes, bytes, int, int], at: int, data: bytes, *, more: bool
    ) -> Segment | None:
        datagram = self._waiting.setdefault(key, _Datagram())
        self._waiting.move_to_end(key)
        if len(self._waiting) > _MOST_DATAGRAMS:
            self._waiting.popitem(last=False)
        whole = datagram.add(at, data, more=more)
        if whole is None:
            return None
        del self._waiting[key]
        source, destination, protocol, _ = key
        return _transport(protocol, source, destination, whole, 0)


def _transport(protocol: int, source: bytes, destination: bytes, body: bytes, missing: int) -> Segment | None:
    if protocol == UDP:
        sport, dport, length = struct.unpack_from(">HHH", body)
        if length and length < 8:
            return None
        payload = body[8 : length or None]
        return Segment(UDP, (source, sport), (destination, dport), payload, missing)
    if protocol != TCP:
        return None
    sport, dport, sequence = struct.unpack_from(">HHI", body)
    head, flags = (body[12] >> 4) * 4, body[13]
    if head < 20 or len(body) < head:
        return None
    return Segment(TCP, (source, sport), (destination, dport), body[head:], missing, sequence, flags)
