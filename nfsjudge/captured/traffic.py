# SPDX-License-Identifier: MIT
"""From packets to exchanges, and these through the lint: calls and replies matched by XID, in order of time."""

from __future__ import annotations

import typing as t
from collections import Counter, OrderedDict
from dataclasses import dataclass, field

from nfsjudge.captured.calls import exchange_of_call
from nfsjudge.captured.packets import Packet
from nfsjudge.captured.queue import InOrder
from nfsjudge.captured.segments import ACK, FIN, RST, SYN, TCP, Dissector, Segment, name_of
from nfsjudge.captured.streams import Stream, looks_like_rpc
from nfsjudge.lint import Event, Happening, Linter

Side: t.TypeAlias = tuple[bytes, int]
Direction: t.TypeAlias = tuple[Side, Side]

_MOST_FLOWS = 4096
_MOST_HELD = 128 << 20
"""Bytes that wait in all streams together; beyond them the streams that were idle longest are given up."""


@dataclass(slots=True)
class Statistics:
    """What was in a capture."""

    packets: int = 0
    exchanges: Counter[str] = field(default_factory=Counter)
    """Calls by the program's name or number, answered or not."""
    unanswered: int = 0
    unmatched: int = 0
    """Replies to calls that were not seen, where that proves nothing."""
    lost: int = 0
    """Places where bytes of a stream with RPC in it were not captured."""


@dataclass(slots=True)
class _Flow:
    """One direction of a TCP connection."""

    stream: Stream = field(default_factory=Stream)
    has_rpc: bool = False
    is_closed: bool = False


class _Seen(t.NamedTuple):
    """Where and when a message became complete."""

    number: int
    time: float
    source: Side
    destination: Side


class Traffic:
    """Takes packets; judges exchanges as they are complete."""

    def __init__(self, linter: Linter) -> None:
        self.statistics = Statistics()
        self._dissector = Dissector()
        self._flows: OrderedDict[Direction, _Flow] = OrderedDict()
        self._held = 0
        self._latest = 0.0
        self._queue = InOrder(linter)

    def take(self, packet: Packet) -> None:
        """One packet. Raises `BadCapture` for frames that cannot be read."""
        self.statistics.packets += 1
        segment = self._dissector.segment(packet)
        if segment is None:
            return
        if segment.protocol == TCP:
            self._take_tcp(packet, segment)
        elif not segment.missing and looks_like_rpc(segment.payload):
            seen = _Seen(packet.number, packet.time, segment.source, segment.destination)
            self._take_message(seen, segment.payload, None)
        self._latest = packet.time
        self._queue.advance(packet.time)

    def finish(self) -> Statistics:
        """The capture is over."""
        for direction, flow in self._flows.items():
            seen = _Seen(self.statistics.packets, self._latest, *direction)
            self._take_messages(seen, flow, flow.stream.finish())
        self._queue.finish()
        self.statistics.unanswered = self._queue.unanswered
        return self.statistics

    # ------------------------------------------------------------ TCP

    def _flow(self, direction: Direction) -> _Flow:
        flow = self._flows.get(direction)
        if flow is None:
            flow = self._flows[direction] = _Flow()
            if len(self._flows) > _MOST_FLOWS:
                self._give_up()
        else:
            self._flows.move_to_end(direction)
        return flow

    def _give_up(self) -> None:
        """Forget the flow that was idle longest."""
        _, flow = self._flows.popitem(last=False)
        self._held -= flow.stream.held

    def _take_tcp(self, packet: Packet, segment: Segment) -> None:
        flow = self._flow((segment.source, segment.destination))
        stream, before = flow.stream, flow.stream.held
        losses = stream.losses
        if segment.flags & SYN:
            if not segment.flags & ACK:
                self._connects(packet, segment)
            stream.open(segment.sequence)
            flow.is_closed = False
        seen = _Seen(packet.number, packet.time, segment.source, segment.destination)
        sequence = segment.sequence + bool(segment.flags & SYN)
        self._take_messages(seen, flow, stream.feed(sequence, segment.payload, segment.missing))
        if stream.losses != losses and flow.has_rpc:
            # What is not seen may have been a call that changed anything.
            self.statistics.lost += stream.losses - losses
            self._queue.happen(Event(packet.time, Happening.TOUCHED))
        if segment.flags & (FIN | RST) and not flow.is_closed:
            self._closes(packet, segment, flow)
        self._held += stream.held - before
        while self._held > _MOST_HELD and len(self._flows) > 1:
            self._give_up()

    def _take_messages(self, seen: _Seen, flow: _Flow, messages: list[bytes]) -> None:
        for message in messages:
            if looks_like_rpc(message):
                flow.has_rpc = True
                self._take_message(seen, message, flow)
            else:
                # Whatever it is, a server may answer it.
                self._queue.excuse((seen.source, seen.destination, int.from_bytes(message[:4], "big")))

    def _connects(self, packet: Packet, segment: Segment) -> None:
        """A client that leaves calls open and comes again may have seen the server go."""
        if self._queue.waits(segment.source[0], segment.destination):
            self._queue.happen(Event(packet.time, Happening.RESTART))

    def _closes(self, packet: Packet, segment: Segment, flow: _Flow) -> None:
        """A server that closes first may be going, and come back as another."""
        flow.is_closed = True
        other = self._flows.get((segment.destination, segment.source))
        is_server = self._queue.is_server(segment.source)
        if is_server and (other is None or not other.is_closed):
            self._queue.happen(Event(packet.time, Happening.RESTART))

    # ------------------------------------------------------------ messages

    def _take_message(self, seen: _Seen, message: bytes, flow: _Flow | None) -> None:
        transport: t.Literal["tcp", "udp"] = "udp" if flow is None else "tcp"
        if message[4:8] == bytes(4):
            exchange = exchange_of_call(message, seen.time, name_of(seen.destination), transport)
            self.statistics.exchanges[program_of(message)] += 1
            self._queue.call(seen.number, exchange, seen.source, seen.destination)
            return
        key = (seen.destination, seen.source, int.from_bytes(message[:4], "big"))
        if self._queue.reply(key, message, seen.time):
            return
        if flow is not None and self._proves_no_call(seen) and self._queue.is_unknown(key):
            self._queue.stray(key, seen.number, message, seen.time)
        else:
            self.statistics.unmatched += 1

    def _proves_no_call(self, seen: _Seen) -> bool:
        """Whether all calls of a connection were seen."""
        calls = self._flows.get((seen.destination, seen.source))
        return calls is not None and calls.stream.is_whole and calls.has_rpc


def program_of(message: bytes) -> str:
    """Program and version of a call, by name where it has one."""
    program, version = int.from_bytes(message[12:16], "big"), int.from_bytes(message[16:20], "big")
    names = {100_000: "portmap", 100_003: "NFS", 100_005: "MOUNT", 100_021: "NLM", 100_024: "NSM"}
    return f"{names.get(program, program)} version {version}"
