# SPDX-License-Identifier: MIT
"""Where the messages of exchanges lie in the bytes that passed on connections.

Calls and replies are found by their bytes. What is left belongs to no recorded exchange: bytes that a check made
itself, calls that were made without a record of them.
"""

from __future__ import annotations

import bisect
import dataclasses
import typing as t
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence

from nfsclient.rpc.exchange import Exchange, Segment
from nfsclient.rpc.record import LAST_FRAGMENT, fragment

Flow: t.TypeAlias = tuple[str, str, str, int]
"""Transport, the server's address, the client's, and the number of the connection."""


def flow_of(segment: Segment) -> Flow:
    """The connection of a segment."""
    return segment.transport, segment.peer, segment.local, segment.connection


@dataclasses.dataclass(slots=True, eq=False)
class Message:
    """A message: a record of a stream, or a datagram."""

    data: bytes
    """Without record marks."""
    flow: Flow
    sent: bool
    first: int
    last: int
    """The segments in which it begins and ends, by their places in the list of all."""
    begin: int
    end: int
    """Its place in the stream of its direction, with record marks."""
    exchange: int | None = None
    """The place of the exchange of which it is the call, or the reply."""
    is_again: bool = False
    """Whether it is a copy of a call that was sent before."""


@dataclasses.dataclass(slots=True)
class _Direction:
    """What passed on a connection in one direction."""

    flow: Flow
    sent: bool
    places: list[int] = dataclasses.field(default_factory=list)
    starts: list[int] = dataclasses.field(default_factory=list)
    """Segment by segment: where it begins in the stream."""
    stream: bytearray = dataclasses.field(default_factory=bytearray)

    def add(self, place: int, data: bytes) -> None:
        self.places.append(place)
        self.starts.append(len(self.stream))
        self.stream += data

    def messages(self) -> Iterator[Message]:
        if self.flow[0] == "udp":
            for place, begin, end in zip(
                self.places, self.starts, [*self.starts[1:], len(self.stream)], strict=True
            ):
                data = bytes(self.stream[begin:end])
                yield Message(data, self.flow, self.sent, place, place, begin, end)
            return
        for begin, end, data in records(self.stream):
            first, last = self._place(begin), self._place(end - 1)
            yield Message(data, self.flow, self.sent, first, last, begin, end)

    def _place(self, at: int) -> int:
        return self.places[bisect.bisect_right(self.starts, at) - 1]


def records(stream: bytes | bytearray) -> Iterator[tuple[int, int, bytes]]:
    """(begin, end, message) of the complete records of a stream."""
    begin, at, parts = 0, 0, list[bytes]()
    while at + 4 <= len(stream):
        mark = int.from_bytes(stream[at : at + 4], "big")
        size = mark & ~LAST_FRAGMENT
        if at + 4 + size > len(stream):
            return
        parts.append(bytes(stream[at + 4 : at + 4 + size]))
        at += 4 + size
        if mark & LAST_FRAGMENT:
            yield begin, at, b"".join(parts)
            begin, parts = at, []


def fragment_sizes(stream: bytes | bytearray) -> list[int] | None:
    """The sizes of the fragments of a stream that is one record, but for the last; None if it is none, or several."""
    sizes, at = list[int](), 0
    while at + 4 <= len(stream):
        mark = int.from_bytes(stream[at : at + 4], "big")
        sizes.append(mark & ~LAST_FRAGMENT)
        at += 4 + sizes[-1]
        if mark & LAST_FRAGMENT:
            break
    is_whole = at == len(stream) and bool(sizes) and bool(mark & LAST_FRAGMENT)
    return sizes[:-1] if is_whole else None


class Placing:
    """The messages in segments, and of which exchanges they are."""

    def __init__(self, exchanges: Sequence[Exchange], segments: Sequence[Segment]) -> None:
        self.exchanges = exchanges
        self.segments = segments
        self._directions: dict[tuple[Flow, bool], _Direction] = {}
        for place, segment in enumerate(segments):
            if not segment.end:
                key = (flow_of(segment), segment.sent)
                if key not in self._directions:
                    self._directions[key] = _Direction(*key)
                self._directions[key].add(place, segment.data)
        self.messages = [message for each in self._directions.values() for message in each.messages()]
        self.call_of: dict[int, Message] = {}
        """The place of an exchange -> its call."""
        self.reply_of: dict[int, Message] = {}
        self._match()

    def _match(self) -> None:
        known: dict[tuple[bool, bytes], deque[Message]] = defaultdict(deque)
        for message in sorted(self.messages, key=lambda message: message.first):
            known[message.sent, message.data].append(message)
        calls: set[bytes] = set()
        for place, exchange in enumerate(self.exchanges):
            is_ours = not exchange.is_callback
            if exchange.call:
                calls.update([exchange.call] if is_ours else [])
                self._take(known[is_ours, exchange.call], place, exchange, self.call_of)
            if exchange.reply:
                self._take(known[not is_ours, bytes(exchange.reply)], place, exchange, self.reply_of)
        for (sent, data), left in known.items():
            for message in left:
                message.is_again = sent and data in calls

    def _take(
        self, messages: deque[Message], place: int, exchange: Exchange, found: dict[int, Message]
    ) -> None:
        for message in messages:
            if message.flow[:2] == (exchange.transport, exchange.peer) and exchange.local in (
                "",
                message.flow[2],
            ):
                message.exchange = place
                found[place] = message
                messages.remove(message)
                return

    def flows(self) -> set[Flow]:
        """All connections."""
        return {flow for flow, _ in self._directions}

    def left(self, is_known: t.Callable[[Message], bool]) -> Iterator[tuple[int, Flow, bytes]]:
        """(place of the segment, connection, bytes) of what was sent besides the messages that are known."""
        for direction in self._directions.values():
            if not direction.sent:
                continue
            known = sorted(
                (message.begin, message.end)
                for message in self.messages
                if message.sent and message.flow == direction.flow and is_known(message)
            )
            yield from _without(direction, known)


def _without(direction: _Direction, known: Sequence[tuple[int, int]]) -> Iterator[tuple[int, Flow, bytes]]:
    """What lies between parts of a stream that are known, segment by segment."""
    ends = [*direction.starts[1:], len(direction.stream)]
    for place, begin, end in zip(direction.places, direction.starts, ends, strict=True):
        at = begin
        if begin == end and direction.flow[0] == "udp":
            yield place, direction.flow, b""  # an empty datagram
        for index in range(max(0, bisect.bisect_right(known, (begin, 0)) - 1), len(known)):
            low, high = known[index]
            if low >= end:
                break
            if low > at:
                yield place, direction.flow, bytes(direction.stream[at:low])
            at = max(at, high)
        if at < end:
            yield place, direction.flow, bytes(direction.stream[at:end])


def made_up(exchanges: Iterable[Exchange], known: t.Container[tuple[str, str, str]]) -> list[Segment]:
    """Segments of exchanges of connections about which nothing else is known: each message is one fragment."""
    found: list[Segment] = []
    for exchange in exchanges:
        if (exchange.transport, exchange.peer, exchange.local) in known:
            continue
        is_stream = exchange.transport == "tcp"
        if exchange.call:
            data = fragment(exchange.call, ()) if is_stream else exchange.call
            found.append(
                Segment(
                    exchange.sent_at,
                    not exchange.is_callback,
                    data,
                    exchange.peer,
                    exchange.transport,
                    exchange.local,
                )
            )
        if exchange.reply is not None:
            data = fragment(bytes(exchange.reply), ()) if is_stream else bytes(exchange.reply)
            at = exchange.sent_at if exchange.received_at is None else exchange.received_at
            found.append(
                Segment(at, exchange.is_callback, data, exchange.peer, exchange.transport, exchange.local)
            )
    return sorted(found, key=lambda segment: segment.at)  # stable: a reply stays after its call
