# SPDX-License-Identifier: MIT
"""Captures: what passed on connections as a pcapng file that Wireshark and tshark open.

The bytes of streams and datagrams are those of the wire, with their record marks. Everything
around them (Ethernet, IP, TCP and UDP headers, the opening of connections) is
artificial, since nfsproof does not see packets: addresses of peers and ports are real, addresses of
clients and sequence numbers are not. Of exchanges about whose connection nothing else is known, each message is one
fragment. Errors and notes stand as packet comments; every packet with bytes that a check
made itself, and that may be malformed on purpose, says `OWN_BYTES`.
"""

from __future__ import annotations

import ipaddress
import itertools
import struct
import sys
import typing as t
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nfsclient.rpc.exchange import Exchange, Segment
from nfsclient.xdr import Unread
from nfsjudge import pcapng
from nfsjudge.answers import describe_error
from nfsjudge.placing import Flow, Message, Placing, flow_of, made_up
from nfsjudge.transcript import name_of

OWN_BYTES = "bytes of the check's own making"
"""The comment on packets that a check may have made wrong on purpose."""
MOST_BYTES = 32 << 20
"""Bytes of messages in a capture."""


_TCP, _UDP = 6, 17
_FIN, _SYN, _PSH, _ACK = 0x01, 0x02, 0x08, 0x10
_MOST_SEGMENT = 65_000
"""Bytes of a TCP segment: an IPv4 packet holds 65535 with its headers."""
_FIRST_CLIENT_PORT = 50_000
_DEFAULT_NFS_PORT = 2049
_MOST_FLOWS = 8192
"""Connections whose sequence numbers are known; of more, the oldest begin again."""

# Documentation addresses (RFC 5737, RFC 3849) stand for what has no numeric address here.
_CLIENT = {4: ipaddress.ip_address("192.0.2.1"), 6: ipaddress.ip_address("2001:db8::1")}
_NAMELESS_SERVER = ipaddress.ip_address("192.0.2.2")

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Fault:
    """What was done to a message on its way, on purpose: a comment on the packet in which it ends."""

    at: float
    """Seconds of the loop's clock."""
    sent: bool
    """Whether it was on its way to the server."""
    local: str
    """The client's own address of the connection."""
    text: str


def write_capture(
    path: Path,
    exchanges: Sequence[Exchange],
    *,
    segments: Sequence[Segment] = (),
    own: Collection[str] = (),
    faults: Sequence[Fault] = (),
    epoch: float = 0.0,
    notes: Mapping[int, str] | None = None,
    about: str = "",
    most_bytes: int = MOST_BYTES,
) -> int:
    """Write what passed to `path`, with comments on the exchanges; gives the number of packets.

    `segments` are the bytes as they passed; those of exchanges that are of no connection of them are made up. `own` are
    the client's own addresses of connections on which a check sent bytes that it made itself. `faults` are what was
    done to messages on their way; that of a message that never went out stands at the packet before it.
    `epoch` is what to add to times (of a monotonic clock) to have seconds since 1970. `notes`
    are comments for single exchanges by their number from 1 on; they stand at the reply, or at the call where
    there is none. `about` is the comment on the whole, which stands at the first packet too. Of more than
    `most_bytes` the last are kept.
    """
    commented = _commented(exchanges, segments, own, notes or {})
    _add_faults(commented, faults)
    kept, left_out = _newest(commented, most_bytes)
    if left_out:
        text = f"{left_out} bytes that passed earlier are left out"
        about = "\n".join([*([about] if about else []), text])
    count = 0
    with path.open("wb") as file:
        file.write(pcapng.section(about) + pcapng.interface())
        for moment, frame, comment in _packets(kept):
            whole = comment if count else "\n".join(text for text in (about, comment) if text)
            file.write(pcapng.packet(moment + epoch, frame, whole))
            count += 1
    return count


def packets(
    exchanges: Sequence[Exchange], notes: Mapping[int, str], segments: Sequence[Segment] = ()
) -> Iterator[tuple[float, bytes, str]]:
    """(time, Ethernet frame, comment) of each packet, in order of time."""
    return _packets(_commented(exchanges, segments, (), notes))


# ---------------------------------------------------------------- comments


@dataclass(slots=True)
class _Commented:
    """A segment with what is to be said of it."""

    segment: Segment
    is_own: bool = False
    """Every packet of it says that the check made its bytes."""
    begins: bool = False
    """Whether a message begins with it."""
    comments: list[str] = field(default_factory=list)


def _commented(
    exchanges: Sequence[Exchange], segments: Sequence[Segment], own: Collection[str], notes: Mapping[int, str]
) -> list[_Commented]:
    """Segments in order of time, each with the comments on the messages that end in it."""
    known = {(segment.transport, segment.peer, segment.local) for segment in segments}
    whole = sorted([*segments, *made_up(exchanges, known)], key=lambda segment: segment.at)
    placing = Placing(exchanges, whole)
    made_by_check = {
        *own,
        *(exchange.local for exchange in exchanges if _is_made_by_check(exchange) and exchange.call),
    }
    found = [
        _Commented(segment, _is_own(segment, made_by_check), comments=_aside(segment)) for segment in whole
    ]
    _own_but_typed(found, placing)
    for message in placing.messages:
        found[message.first].begins = True
        _comment(found, message, exchanges, notes)
    for place, exchange in enumerate(exchanges):
        if place not in placing.reply_of and exchange.call and not exchange.is_callback:
            at = placing.call_of.get(place)
            nearest = _nearest(whole, exchange) if at is None else at.last
            if nearest is not None:
                more = [_about(place + 1, exchange, is_whole=True)] if at is None else []
                found[nearest].comments += [*more, *_late(place + 1, exchange, notes)]
    for segment in found:
        if segment.is_own:
            segment.comments.append(OWN_BYTES)
    return found


def _add_faults(found: list[_Commented], faults: Sequence[Fault]) -> None:
    """A reply has come before something is done to it; what becomes of a call goes out afterwards, or not at all."""
    for fault in faults:
        mine = [commented for commented in found if commented.segment.local == fault.local]
        same_way = [
            commented
            for commented in mine
            if commented.segment.sent == fault.sent and not commented.segment.end
        ]
        before = [commented for commented in same_way if commented.segment.at <= fault.at]
        after = [commented for commented in same_way if commented.segment.at >= fault.at]
        places = after[:1] or mine[-1:] if fault.sent else before[-1:] or mine[-1:]
        for place in places or found[-1:]:
            place.comments.append(fault.text)


def _is_made_by_check(exchange: Exchange) -> bool:
    """Whether a check has made the call from bytes, or the arguments of an operation in it."""
    if exchange.procedure is None:
        return True
    return exchange.is_compound and any(isinstance(step.args, Unread) for step in exchange.steps)


def _is_own(segment: Segment, own: Collection[str]) -> bool:
    return segment.sent and not segment.end and segment.local in own


def _aside(segment: Segment) -> list[str]:
    return [f"nfsproof, {segment.aside}"] if segment.aside and not segment.end else []


def _own_but_typed(found: list[_Commented], placing: Placing) -> None:
    """What is wholly calls of a client is not made by the check, on whatever connection."""
    own = {at for at, commented in enumerate(found) if commented.is_own}
    if not own:
        return

    def is_typed(message: Message) -> bool:
        return message.exchange is not None and not _is_made_by_check(placing.exchanges[message.exchange])

    left = {place for place, _, _ in placing.left(is_typed)}
    for at in own - left:
        found[at].is_own = False


def _comment(
    found: list[_Commented], message: Message, exchanges: Sequence[Exchange], notes: Mapping[int, str]
) -> None:
    comments = found[message.last].comments
    if message.exchange is None:
        comments += ["a copy of a call that was sent before"] if message.is_again else []
        return
    number, exchange = message.exchange + 1, exchanges[message.exchange]
    if message.sent != exchange.is_callback:
        comments.append(_about(number, exchange, is_whole=message.flow[3] != 0))
        comments += _late(number, exchange, notes) if exchange.is_callback else []
    elif exchange.is_callback:
        comments.append(f"exchange #{number}: the reply")
    else:
        whose = [f"exchange #{number}: the reply"] if exchange.procedure is None else []
        comments += [*whose, *_late(number, exchange, notes)]


def _about(number: int, exchange: Exchange, *, is_whole: bool) -> str:
    """Which call it is. When it was sent again is known only of connections whose bytes were kept."""
    again = (
        f", sent {exchange.resent + 1} times{'' if is_whole else ', shown once'}" if exchange.resent else ""
    )
    return f"exchange #{number}: {name_of(exchange)}{again}"


def _late(number: int, exchange: Exchange, notes: Mapping[int, str]) -> list[str]:
    """What is known of an exchange when it is over."""
    error = "" if exchange.error is None else describe_error(exchange.error)
    return [text for text in (error, notes.get(number, "")) if text]


def _nearest(segments: Sequence[Segment], exchange: Exchange) -> int | None:
    """The segment nearest to a call that is not in them as a message: broken bytes, or too many."""
    places = [
        at
        for at, segment in enumerate(segments)
        if segment.sent
        and not segment.end
        and segment.local == exchange.local
        and segment.peer == exchange.peer
    ]
    return min(places, key=lambda at: abs(segments[at].at - exchange.sent_at), default=None)


def _newest(messages: list[_Commented], most: int) -> tuple[list[_Commented], int]:
    """The last segments of at most `most` bytes, at least one, and the bytes of those before that are left out.

    What is kept of each direction of a connection begins with a message.
    """
    room, first = most, len(messages)
    while first and room >= 0:
        first -= 1
        room -= len(messages[first].segment.data)
    if room >= 0 or first == len(messages) - 1:
        return messages, 0
    kept, open_flows = list[_Commented](), set[object]()
    for message in messages[first + 1 :]:
        key = (flow_of(message.segment), message.segment.sent)
        if message.begins or message.segment.end or key in open_flows:
            open_flows.add(key)
            kept.append(message)
    left = sum(len(message.segment.data) for message in messages) - sum(
        len(message.segment.data) for message in kept
    )
    return kept or messages[-1:], left


# ---------------------------------------------------------------- packets


def _packets(messages: Iterable[_Commented]) -> Iterator[tuple[float, bytes, str]]:
    """(time, Ethernet frame, comment) of each packet, in order of time."""
    made = Packets()
    for message in messages:
        comment = "\n".join(dict.fromkeys(message.comments))
        yield from made.of(message.segment, comment, OWN_BYTES if message.is_own else "")


class Packets:
    """Makes packets of segments that come one after the other."""

    def __init__(self, *, with_clients: bool = False) -> None:
        """`with_clients`: the addresses of clients stand in the packets, too."""
        self._flows: dict[Flow, _Connection] = {}
        self._ports = itertools.count(_FIRST_CLIENT_PORT)
        self._with_clients = with_clients

    def of(self, segment: Segment, comment: str = "", more: str = "") -> Iterator[tuple[float, bytes, str]]:
        """(time, Ethernet frame, comment) of each packet; `more` is the comment on all but the first."""
        key = flow_of(segment)
        flow = self._flows.get(key)
        if flow is None:
            if segment.end:
                return
            if len(self._flows) >= _MOST_FLOWS:
                del self._flows[next(iter(self._flows))]
            flow = _Connection.to(segment.peer, _port_of(segment.local) or next(self._ports))
            if self._with_clients:
                flow.client = ipaddress.ip_address(segment.local.rpartition(":")[0].strip("[]"))
            self._flows[key] = flow
            if segment.transport == "tcp":
                for frame in flow.handshake():
                    yield segment.at, frame, ""
        if segment.transport == "udp":
            if not segment.end:
                yield segment.at, flow.datagram(segment.data, from_client=segment.sent), comment
        elif segment.end:
            for frame in flow.ends(from_client=segment.sent):
                yield segment.at, frame, comment
        else:
            for frame in flow.segments(segment.data, from_client=segment.sent):
                yield segment.at, frame, comment
                comment = more


def _port_of(address: str) -> int | None:
    """The port in "192.0.2.7:2049" or "[::1]:2049"."""
    host, _, port = address.rpartition(":")
    return int(port) if host and port.isdecimal() and 0 < int(port) < 1 << 16 else None


@dataclass(slots=True)
class _Connection:
    """One made-up connection: the client's address and port, the server's, and TCP's next sequence numbers."""

    client: IpAddress
    server: IpAddress
    client_port: int
    server_port: int
    sequence: dict[bool, int] = field(default_factory=lambda: {True: 1000, False: 2000})
    """Next sequence number, by whether it is the client's."""
    ended: set[bool] = field(default_factory=set)
    """Which sides have said that they send nothing more."""

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

    def segments(self, stream: bytes, *, from_client: bool) -> Iterator[bytes]:
        """A piece of the stream."""
        for at in range(0, len(stream), _MOST_SEGMENT):
            piece = stream[at : at + _MOST_SEGMENT]
            is_last = at + _MOST_SEGMENT >= len(stream)
            yield self._tcp(piece, _ACK | (_PSH if is_last else 0), from_client=from_client)
            self._advance(len(piece), from_client=from_client)

    def ends(self, *, from_client: bool) -> Iterator[bytes]:
        """FIN, once from each side."""
        if from_client not in self.ended:
            self.ended.add(from_client)
            yield self._tcp(b"", _FIN | _ACK, from_client=from_client)
            self._advance(1, from_client=from_client)

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
