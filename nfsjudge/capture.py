# SPDX-License-Identifier: MIT
"""Captures: exchanges as a pcapng file that Wireshark and tshark open.

The RPC messages are those of the wire, byte for byte. What carries them (Ethernet, IP, TCP or UDP headers, the
opening of connections, record marks) is made up around them, since no packet was ever seen: addresses of
peers are real, client ports and sequence numbers are not. Errors and notes stand as packet comments.

The format is pcapng (draft-ietf-opsawg-pcapng): a section, one interface of nanoseconds, enhanced packets.
"""

from __future__ import annotations

import ipaddress
import itertools
import struct
import sys
import typing as t
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nfsclient.rpc.exchange import Exchange

_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_LINK_ETHERNET = 1
_NANOSECONDS = 9
_OPT_COMMENT, _OPT_IF_NAME, _OPT_IF_TSRESOL, _OPT_SHB_USERAPPL = 1, 2, 9, 4

_TCP, _UDP = 6, 17
_SYN, _PSH, _ACK = 0x02, 0x08, 0x10
_MOST_SEGMENT = 65_000
"""Bytes of a TCP segment: an IPv4 packet holds 65535 with its headers."""
_FIRST_CLIENT_PORT = 50_000
_DEFAULT_NFS_PORT = 2049
_LAST_FRAGMENT = 0x8000_0000

# Documentation addresses (RFC 5737, RFC 3849) stand for what has no numeric address here.
_CLIENT = {4: ipaddress.ip_address("192.0.2.1"), 6: ipaddress.ip_address("2001:db8::1")}
_NAMELESS_SERVER = ipaddress.ip_address("192.0.2.2")

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


def write_capture(
    path: Path, exchanges: Iterable[Exchange], *, epoch: float = 0.0, notes: Mapping[int, str] | None = None
) -> int:
    """Write the exchanges to `path`; gives the number of packets.

    `epoch` is what to add to the exchanges' times (of a monotonic clock) to have seconds since 1970. `notes`
    are comments for single exchanges by their number from 1 on; they stand at the reply, or at the call where
    there is none.
    """
    count = 0
    with path.open("wb") as file:
        file.write(_section_header() + _interface())
        for moment, frame, comment in packets(exchanges, notes or {}):
            file.write(_packet(moment + epoch, frame, comment))
            count += 1
    return count


# ---------------------------------------------------------------- pcapng


def _block(kind: int, body: bytes) -> bytes:
    length = 12 + len(body)
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def _options(*options: tuple[int, bytes]) -> bytes:
    if not options:
        return b""
    parts = [struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4) for code, value in options]
    return b"".join(parts) + bytes(4)


def _section_header() -> bytes:
    body = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
    return _block(_SECTION, body + _options((_OPT_SHB_USERAPPL, b"nfsproof")))


def _interface() -> bytes:
    options = _options((_OPT_IF_NAME, b"nfsproof"), (_OPT_IF_TSRESOL, bytes([_NANOSECONDS])))
    return _block(_INTERFACE, struct.pack("<HHI", _LINK_ETHERNET, 0, 0) + options)


def _packet(moment: float, frame: bytes, comment: str) -> bytes:
    stamp = max(0, round(moment * 10**_NANOSECONDS))
    head = struct.pack("<IIIII", 0, stamp >> 32, stamp & 0xFFFF_FFFF, len(frame), len(frame))
    # An option's length is 16 bits.
    options = _options((_OPT_COMMENT, comment.encode()[:60_000])) if comment else b""
    return _block(_PACKET, head + frame + bytes(-len(frame) % 4) + options)


# ---------------------------------------------------------------- from exchanges to packets


@dataclass(slots=True)
class _Message:
    """One RPC message on its way."""

    moment: float
    from_client: bool
    data: bytes
    exchange: Exchange
    comment: str


def _messages(exchanges: Iterable[Exchange], notes: Mapping[int, str]) -> list[_Message]:
    """Calls and replies in order of time."""
    found: list[_Message] = []
    for number, exchange in enumerate(exchanges, 1):
        name = exchange.procedure.name if exchange.procedure is not None else "raw bytes"
        note = notes.get(number, "")
        error = "" if exchange.error is None else f"{type(exchange.error).__name__}: {exchange.error}"
        late = [text for text in (error, note) if text]
        has_reply = exchange.reply is not None
        call_comment = "\n".join([f"exchange #{number}: {name}", *([] if has_reply else late)])
        if exchange.call:
            found.append(_Message(exchange.sent_at, True, exchange.call, exchange, call_comment))
        if exchange.reply is not None:
            moment = exchange.sent_at if exchange.received_at is None else exchange.received_at
            found.append(_Message(moment, False, bytes(exchange.reply), exchange, "\n".join(late)))
    # Sorting is stable: a reply in the same instant stays behind its call.
    return sorted(found, key=lambda message: message.moment)


def packets(exchanges: Iterable[Exchange], notes: Mapping[int, str]) -> Iterator[tuple[float, bytes, str]]:
    """(time, Ethernet frame, comment) of each packet, in order of time."""
    flows: dict[tuple[str, str], _Flow] = {}
    ports = itertools.count(_FIRST_CLIENT_PORT)
    for message in _messages(exchanges, notes):
        key = (message.exchange.transport, message.exchange.peer)
        flow = flows.get(key)
        if flow is None:
            flow = flows[key] = _Flow.to(message.exchange.peer, next(ports))
            if message.exchange.transport == "tcp":
                for frame in flow.handshake():
                    yield message.moment, frame, ""
        if message.exchange.transport == "tcp":
            comment = message.comment
            for frame in flow.segments(message.data, from_client=message.from_client):
                yield message.moment, frame, comment
                comment = ""
        else:
            yield (
                message.moment,
                flow.datagram(message.data, from_client=message.from_client),
                message.comment,
            )


@dataclass(slots=True)
class _Flow:
    """One made-up connection: the client's address and port, the server's, and TCP's next sequence numbers."""

    client: IpAddress
    server: IpAddress
    client_port: int
    server_port: int
    sequence: dict[bool, int] = field(default_factory=lambda: {True: 1000, False: 2000})
    """Next sequence number, by whether it is the client's."""

    @classmethod
    def to(cls, peer: str, client_port: int) -> t.Self:
        """A flow to `peer`: "192.0.2.7:2049", "[::1]:2049", or a name."""
        host, _, port_text = peer.rpartition(":")
        port = int(port_text) if port_text.isdigit() and host else _DEFAULT_NFS_PORT
        try:
            # A scope ("fe80::1%eth0") has no place in an IPv6 header.
            server = ipaddress.ip_address((host or peer).strip("[]").partition("%")[0])
        except ValueError:
            server = _NAMELESS_SERVER
        client = server if server.is_loopback else _CLIENT[server.version]
        return cls(client, server, client_port, port)

    def _sides(self, from_client: bool) -> tuple[IpAddress, IpAddress, int, int]:
        if from_client:
            return self.client, self.server, self.client_port, self.server_port
        return self.server, self.client, self.server_port, self.client_port

    def handshake(self) -> Iterator[bytes]:
        """SYN, SYN and ACK, ACK."""
        yield self._tcp(b"", _SYN, from_client=True)
        self._advance(1, from_client=True)
        yield self._tcp(b"", _SYN | _ACK, from_client=False)
        self._advance(1, from_client=False)
        yield self._tcp(b"", _ACK, from_client=True)

    def segments(self, message: bytes, *, from_client: bool) -> Iterator[bytes]:
        """A message with its record mark (RFC 5531 section 11), as one fragment."""
        stream = struct.pack(">I", _LAST_FRAGMENT | len(message)) + message
        for at in range(0, len(stream), _MOST_SEGMENT):
            piece = stream[at : at + _MOST_SEGMENT]
            is_last = at + _MOST_SEGMENT >= len(stream)
            yield self._tcp(piece, _ACK | (_PSH if is_last else 0), from_client=from_client)
            self._advance(len(piece), from_client=from_client)

    def _advance(self, count: int, *, from_client: bool) -> None:
        self.sequence[from_client] = (self.sequence[from_client] + count) & 0xFFFF_FFFF

    def _tcp(self, payload: bytes, flags: int, *, from_client: bool) -> bytes:
        _, _, source, destination = self._sides(from_client)
        acknowledged = self.sequence[not from_client] if flags & _ACK else 0
        header = struct.pack(
            ">HHIIBBHHH",
            source,
            destination,
            self.sequence[from_client],
            acknowledged,
            5 << 4,
            flags,
            0xFFFF,
            0,
            0,
        )
        return self._frame(_TCP, header, 16, payload, from_client)

    def datagram(self, message: bytes, *, from_client: bool) -> bytes:
        """A message as one UDP datagram."""
        _, _, source, destination = self._sides(from_client)
        header = struct.pack(">HHHH", source, destination, 8 + len(message), 0)
        return self._frame(_UDP, header, 6, message, from_client)

    def _frame(
        self, protocol: int, header: bytes, checksum_at: int, payload: bytes, from_client: bool
    ) -> bytes:
        """Ethernet and IP around a transport header whose checksum belongs at `checksum_at`."""
        source, destination, _, _ = self._sides(from_client)
        length = len(header) + len(payload)
        if source.version == 4:
            pseudo = struct.pack(">4s4sBBH", source.packed, destination.packed, 0, protocol, length)
        else:
            pseudo = struct.pack(">16s16sI3xB", source.packed, destination.packed, length, protocol)
        # Zero means "no checksum" in UDP: the other form of zero is sent (RFC 768).
        checksum = _checksum(pseudo + header + payload) or 0xFFFF
        filled = header[:checksum_at] + struct.pack(">H", checksum) + header[checksum_at + 2 :]
        names = (b"\x02\x00\x00\x00\x00\x01", b"\x02\x00\x00\x00\x00\x02")
        sender, receiver = names if from_client else names[::-1]
        kind = 0x0800 if source.version == 4 else 0x86DD
        ethernet = receiver + sender + struct.pack(">H", kind)
        return ethernet + _ip(source, destination, protocol, length) + filled + payload


def _ip(source: IpAddress, destination: IpAddress, protocol: int, length: int) -> bytes:
    if source.version == 6:
        return struct.pack(">IHBB", 6 << 28, length, protocol, 64) + source.packed + destination.packed
    head = struct.pack(
        ">BBHHHBBH4s4s", 0x45, 0, 20 + length, 0, 0x4000, 64, protocol, 0, source.packed, destination.packed
    )
    return head[:10] + struct.pack(">H", _checksum(head)) + head[12:]


def _checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    padded = data + bytes(len(data) % 2)
    total = sum(memoryview(padded).cast("H")) if len(padded) else 0
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    # The sum of swapped words is the swapped sum: no need to look at the byte order before the end.
    return int.from_bytes((~total & 0xFFFF).to_bytes(2, sys.byteorder), "big")
