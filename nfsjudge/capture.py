# SPDX-License-Identifier: MIT
"""Captures: exchanges as a pcapng file that Wireshark and tshark open.

The RPC messages, and the raw bytes of a check with their record marks, are those of the wire, byte for byte. Everything
around them (Ethernet, IP, TCP and UDP headers, the opening of connections, the record marks of ordinary messages) is
artificial, since nfsproof does not see packets: addresses of peers and ports are real, addresses of
clients and sequence numbers are not. Errors and notes stand as packet comments; every packet with bytes that a check
made itself, and that may be malformed on purpose, says `OWN_BYTES`.
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

from nfsclient.rpc.exchange import Exchange, RawBytes
from nfsjudge import pcapng
from nfsjudge.answers import describe_error
from nfsjudge.transcript import name_of

OWN_BYTES = "bytes of the check's own making"
"""The comment on packets that a check may have made wrong on purpose."""
MOST_BYTES = 32 << 20
"""Bytes of messages in a capture."""


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
    path: Path,
    exchanges: Iterable[Exchange],
    *,
    raw: Iterable[RawBytes] = (),
    epoch: float = 0.0,
    notes: Mapping[int, str] | None = None,
    about: str = "",
    most_bytes: int = MOST_BYTES,
) -> int:
    """Write the exchanges, and the raw bytes of the check, to `path`; gives the number of packets.

    `epoch` is what to add to the exchanges' times (of a monotonic clock) to have seconds since 1970. `notes`
    are comments for single exchanges by their number from 1 on; they stand at the reply, or at the call where
    there is none. `about` is the comment on the whole, which stands at the first packet too. Of more than
    `most_bytes` the last are kept.
    """
    messages, left_out = _newest(_messages(exchanges, raw, notes or {}), most_bytes)
    if left_out:
        about = "\n".join([*([about] if about else []), f"{left_out} earlier messages are left out"])
    count = 0
    with path.open("wb") as file:
        file.write(pcapng.section(about) + pcapng.interface())
        for moment, frame, comment in _packets(messages):
            whole = comment if count else "\n".join(text for text in (about, comment) if text)
            file.write(pcapng.packet(moment + epoch, frame, whole))
            count += 1
    return count


# ---------------------------------------------------------------- from exchanges to packets


@dataclass(slots=True)
class _Message:
    """One RPC message, or a piece of a stream, on its way."""

    moment: float
    from_client: bool
    data: bytes
    flow: tuple[str, str, str]
    """Transport, the server's address, the client's."""
    comments: list[str]
    is_piece: bool = False
    """It has its own record marks, or lacks them."""
    is_own: bool = False
    """Every packet of it says that the check made its bytes."""


def _messages(
    exchanges: Iterable[Exchange], raw: Iterable[RawBytes], notes: Mapping[int, str]
) -> list[_Message]:
    """Calls and replies in order of time. What raw bytes show already is commented there."""
    found = [_of_raw(one) for one in raw]
    shown: dict[tuple[bool, tuple[str, str, str], bytes], list[_Message]] = {}
    for message in found:
        shown.setdefault((message.from_client, message.flow, message.data), []).append(message)
    for number, exchange in enumerate(exchanges, 1):
        for message in _of_exchange(number, exchange, notes.get(number, "")):
            twins = [] if exchange.procedure is not None else _twins(shown, message)
            if twins:
                twins[0].comments += message.comments
            else:
                found.append(message)
    # Sorting is stable: a reply in the same instant stays after its call.
    return sorted(found, key=lambda message: message.moment)


def _twins(shown: dict[t.Any, list[_Message]], message: _Message) -> list[_Message]:
    """The raw bytes that are the same message: as they are, or after a record mark."""
    marked = struct.pack(">I", (_LAST_FRAGMENT | len(message.data)) & 0xFFFF_FFFF) + message.data
    for data in (message.data, marked):
        twins = shown.get((message.from_client, message.flow, data))
        if twins:
            return [twins.pop(0)] if len(twins) > 1 else twins
    return []


def _of_raw(raw: RawBytes) -> _Message:
    comment = OWN_BYTES if raw.sent else "read by the check itself"
    flow = (raw.transport, raw.peer, raw.local)
    return _Message(raw.at, raw.sent, raw.data, flow, [comment], raw.sent, raw.sent)


def _of_exchange(number: int, exchange: Exchange, note: str) -> Iterator[_Message]:
    is_own = exchange.procedure is None
    name = name_of(exchange)
    error = "" if exchange.error is None else describe_error(exchange.error)
    late = [text for text in (error, note) if text]
    flow = (exchange.transport, exchange.peer, exchange.local)
    # When it was sent again is not known: it is shown once.
    again = f", sent {exchange.resent + 1} times, shown once" if exchange.resent else ""
    about = [f"exchange #{number}: {name}{again}", *([OWN_BYTES] if is_own else [])]
    if exchange.call:
        comments = about if exchange.reply is not None else [*about, *late]
        yield _Message(exchange.sent_at, True, exchange.call, flow, comments, is_own=is_own)
    if exchange.reply is not None:
        moment = exchange.sent_at if exchange.received_at is None else exchange.received_at
        whose = [f"exchange #{number}: the reply"] if is_own else []
        yield _Message(moment, False, bytes(exchange.reply), flow, [*whose, *late])


def _newest(messages: list[_Message], most: int) -> tuple[list[_Message], int]:
    """The last messages of at most `most` bytes, at least one, and how many came before them."""
    room = most
    for at in range(len(messages) - 1, -1, -1):
        room -= len(messages[at].data)
        if room < 0 and at < len(messages) - 1:
            return messages[at + 1 :], at + 1
    return messages, 0


def packets(
    exchanges: Iterable[Exchange], notes: Mapping[int, str], raw: Iterable[RawBytes] = ()
) -> Iterator[tuple[float, bytes, str]]:
    """(time, Ethernet frame, comment) of each packet, in order of time."""
    return _packets(_messages(exchanges, raw, notes))


def _packets(messages: Iterable[_Message]) -> Iterator[tuple[float, bytes, str]]:
    """(time, Ethernet frame, comment) of each packet, in order of time."""
    flows: dict[tuple[str, str, str], _Flow] = {}
    ports = itertools.count(_FIRST_CLIENT_PORT)
    for message in messages:
        transport, peer, local = message.flow
        flow = flows.get(message.flow)
        if flow is None:
            flow = flows[message.flow] = _Flow.to(peer, _port_of(local) or next(ports))
            if transport == "tcp":
                for frame in flow.handshake():
                    yield message.moment, frame, ""
        comment = "\n".join(dict.fromkeys(message.comments))
        if transport == "tcp":
            for frame in flow.segments(message.data, message.is_piece, from_client=message.from_client):
                yield message.moment, frame, comment
                comment = OWN_BYTES if message.is_own else ""
        else:
            yield message.moment, flow.datagram(message.data, from_client=message.from_client), comment


def _port_of(address: str) -> int | None:
    """The port in "192.0.2.7:2049" or "[::1]:2049"."""
    host, _, port = address.rpartition(":")
    return int(port) if host and port.isdecimal() and 0 < int(port) < 1 << 16 else None


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
        host, _, _ = peer.rpartition(":")
        port = _port_of(peer) or _DEFAULT_NFS_PORT
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

    def segments(self, message: bytes, is_piece: bool, *, from_client: bool) -> Iterator[bytes]:
        """A message with its record mark (RFC 5531 section 11), as one fragment; or a piece of the stream."""
        mark = b"" if is_piece else struct.pack(">I", _LAST_FRAGMENT | len(message))
        stream = mark + message
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
