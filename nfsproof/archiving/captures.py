# SPDX-License-Identifier: MIT
"""Hides secrets in captures: replaces addresses in the headers, and letters in the messages.

Only captures that nfsproof wrote are understood (nfsjudge.capture): little-endian pcapng, Ethernet, no IP options.
"""

from __future__ import annotations

import ipaddress
import struct
import typing as t
from collections.abc import Iterator
from dataclasses import dataclass

from nfsproof.archiving.masks import Masks
from nfsproof.archiving.messages import Place, Talk, places_in
from nfsproof.archiving.scrub import Scrubber
from nfsproof.archiving.secrets import Address

_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_COMMENT = 1
_TCP, _UDP = 6, 17
_ETHERNET = 14
_MADE_UP = {
    4: int(ipaddress.IPv4Address("192.0.2.0")),
    6: int(ipaddress.IPv6Address("2001:db8::")),
}
"""Addresses of documentation (RFC 5737, RFC 3849)."""
_MADE_UP_NETS = (ipaddress.ip_network("192.0.2.0/24"), ipaddress.ip_network("2001:db8::/32"))


class NotOurs(ValueError):
    """A file that nfsproof did not write, or one that is torn."""


@dataclass(slots=True)
class _Packet:
    """One packet, taken apart."""

    head: bytes
    """Of the block: interface and time."""
    ethernet: bytes
    source: Address
    destination: Address
    ip: bytes
    protocol: int
    header: bytes
    """Of TCP or UDP."""
    payload: bytes
    options: bytes

    @property
    def flow(self) -> tuple[Address, Address, int, bytes]:
        """All packets of one direction of a connection have the same."""
        return self.source, self.destination, self.protocol, self.header[:4]


def addresses_in(data: bytes) -> set[Address]:
    """The addresses in the headers of a capture that were not made up, and are not loopback. Raises `NotOurs`."""
    found: set[Address] = set()
    for kind, body in _blocks(data):
        if kind == _PACKET:
            packet = _taken_apart(body)
            found |= {packet.source, packet.destination}
    return {
        address
        for address in found
        if not address.is_loopback and not any(address in net for net in _MADE_UP_NETS)
    }


def note_names(data: bytes, masks: Masks) -> None:
    """Let masks know of all that messages in a capture name. Raises `NotOurs`, `TooManyNames`."""
    packets = [_taken_apart(body) for kind, body in _blocks(data) if kind == _PACKET]
    _mask_names(_streams(packets), masks)


def scrubbed(data: bytes, scrubber: Scrubber, masks: Masks | None = None) -> bytes:
    """The capture with made-up addresses, and without what the scrubber hides. Raises `NotOurs`.

    With `masks`, what the wire types declare as identity is masked, too.
    """
    hidden = sorted(addresses_in(data), key=lambda address: (address.version, int(address)))
    instead = {
        address: ipaddress.ip_address(_MADE_UP[address.version] + 2 + at) for at, address in enumerate(hidden)
    }
    blocks = list(_blocks(data))
    packets = [_taken_apart(body) for kind, body in blocks if kind == _PACKET]
    _scrub_streams(packets, scrubber, masks)
    done = bytearray()
    rest = iter(packets)
    for kind, body in blocks:
        if kind == _PACKET:
            done += _block(kind, _put_together(next(rest), instead, scrubber))
        elif kind == _SECTION:
            done += _block(kind, body[:16] + _options(body[16:], scrubber))
        else:
            done += _block(kind, body)
    return bytes(done)


_Flow: t.TypeAlias = tuple[Address, Address, int, bytes]
_Streams: t.TypeAlias = dict[_Flow, list[_Packet]]


def _streams(packets: list[_Packet]) -> _Streams:
    """The packets of each direction of each connection."""
    flows: _Streams = {}
    for packet in packets:
        flows.setdefault(packet.flow, []).append(packet)
    return flows


def _scrub_streams(packets: list[_Packet], scrubber: Scrubber, masks: Masks | None) -> None:
    """What was sent in one direction of a connection is one text: a name may be cut by the end of a packet."""
    flows = _streams(packets)
    masked = {} if masks is None else _mask_names(flows, masks)
    for flow, parts in flows.items():
        stream = scrubber.data(masked.get(flow) or b"".join(packet.payload for packet in parts))
        at = 0
        for packet in parts:
            packet.payload = stream[at : at + len(packet.payload)]
            at += len(packet.payload)


def _mask_names(flows: _Streams, masks: Masks) -> dict[_Flow, bytes]:
    """The streams without what their messages name."""
    done: dict[_Flow, bytes] = {}
    for flow, parts in flows.items():
        source, destination, protocol, ports = flow
        back = (destination, source, protocol, ports[2:] + ports[:2])
        if flow in done:
            continue
        there, here = _talk(parts), _talk(flows.get(back, []) if back != flow else [])
        mine, others = places_in(there, here)
        done[flow] = _with_masks(there.data, mine, here.data, masks)
        done.setdefault(back, _with_masks(here.data, others, there.data, masks))
    return done


def _talk(packets: list[_Packet]) -> Talk:
    is_stream = not packets or packets[0].protocol == _TCP
    payloads = [packet.payload for packet in packets]
    return Talk(b"".join(payloads), None if is_stream else [len(payload) for payload in payloads])


def _with_masks(data: bytes, places: list[Place], heard: bytes, masks: Masks) -> bytes:
    """A stream with masks in these places; what its sender only repeats of what it `heard` is no secret."""
    done = bytearray(data)
    for place in places:
        mask = iter(zip(place.data, masks.hidden(place.what, place.data, heard), strict=True))
        for start, end in place.pieces:
            for at, (was, now) in zip(range(start, end), mask, strict=False):
                if was != now:
                    done[at] = now
    return bytes(done)


def _blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        if at + 12 > len(data):
            raise NotOurs("the last block is incomplete")
        kind, length = struct.unpack_from("<II", data, at)
        if length < 12 or length % 4 or at + length > len(data):
            raise NotOurs(f"a block of {length} bytes at {at}")
        if at == 0 and (kind != _SECTION or data[8:12] != b"\x4d\x3c\x2b\x1a"):
            raise NotOurs("not pcapng, or of another byte order")
        if kind not in {_SECTION, _INTERFACE, _PACKET}:
            raise NotOurs(f"a block of kind {kind}")
        yield kind, data[at + 8 : at + length - 4]
        at += length


def _block(kind: int, body: bytes) -> bytes:
    length = 12 + len(body)
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def _taken_apart(body: bytes) -> _Packet:
    try:
        (length,) = struct.unpack_from("<I", body, 12)
        frame, options = body[20 : 20 + length], body[20 + length + -length % 4 :]
        (kind,) = struct.unpack_from(">H", frame, 12)
        if kind == 0x0800:
            size, protocol = (frame[_ETHERNET] & 15) * 4, frame[_ETHERNET + 9]
            ends = frame[26:30], frame[30:34]
        else:
            size, protocol = 40, frame[_ETHERNET + 6]
            ends = frame[22:38], frame[38:54]
        ip = frame[_ETHERNET : _ETHERNET + size]
        above = frame[_ETHERNET + size :]
        count = (above[12] >> 4) * 4 if protocol == _TCP else 8
    except (struct.error, IndexError) as error:
        raise NotOurs("an incomplete packet") from error
    if kind not in {0x0800, 0x86DD} or protocol not in {_TCP, _UDP} or len(above) < count:
        raise NotOurs("a packet of an unknown kind")
    source, destination = (ipaddress.ip_address(end) for end in ends)
    return _Packet(
        body[:12], frame[:_ETHERNET], source, destination, ip, protocol, above[:count], above[count:], options
    )


def _put_together(packet: _Packet, instead: dict[Address, Address], scrubber: Scrubber) -> bytes:
    source = instead.get(packet.source, packet.source)
    destination = instead.get(packet.destination, packet.destination)
    length = len(packet.header) + len(packet.payload)
    if source.version == 4:
        head = packet.ip[:10] + bytes(2) + source.packed + destination.packed + packet.ip[20:]
        ip = head[:10] + struct.pack(">H", checksum(head)) + head[12:]
        pseudo = source.packed + destination.packed + struct.pack(">BBH", 0, packet.protocol, length)
    else:
        ip = packet.ip[:8] + source.packed + destination.packed
        pseudo = source.packed + destination.packed + struct.pack(">I3xB", length, packet.protocol)
    at = 16 if packet.protocol == _TCP else 6
    header = packet.header[:at] + bytes(2) + packet.header[at + 2 :]
    total = checksum(pseudo + header + packet.payload) or 0xFFFF
    frame = packet.ethernet + ip + header[:at] + struct.pack(">H", total) + header[at + 2 :] + packet.payload
    size = struct.pack("<II", len(frame), len(frame))
    return packet.head + size + frame + bytes(-len(frame) % 4) + _options(packet.options, scrubber)


def _options(data: bytes, scrubber: Scrubber) -> bytes:
    """Options with comments that tell nothing."""
    done, at = bytearray(), 0
    while at + 4 <= len(data):
        code, length = struct.unpack_from("<HH", data, at)
        value = data[at + 4 : at + 4 + length]
        at += 4 + length + -length % 4
        if code == _COMMENT:
            value = scrubber.text(value.decode("utf-8", "replace")).encode()[:65_000]
        done += struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)
        if code == 0:
            break
    return bytes(done)


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    total: int = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
