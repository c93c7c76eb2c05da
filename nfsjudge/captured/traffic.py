# SPDX-License-Identifier: MIT
"""From packets to exchanges and to findings: calls and replies are matched by XID, in order of time."""

from __future__ import annotations

import typing as t
from collections import Counter, OrderedDict
from dataclasses import dataclass, field

from nfsclient.protocol.registry import OTHER_PROGRAMS, protocol_of
from nfsjudge.captured.calls import call_to_judge, callback_in
from nfsjudge.captured.frames import Frames
from nfsjudge.captured.packets import Packet
from nfsjudge.captured.queue import InOrder
from nfsjudge.captured.segments import ACK, FIN, RST, SYN, TCP, Dissector, Segment, name_of
from nfsjudge.captured.streams import Mark, Stream, looks_like_rpc
from nfsjudge.lint import Event, Happening, Linter

Side: t.TypeAlias = tuple[bytes, int]
Direction: t.TypeAlias = tuple[Side, Side]

_MOST_FLOWS = 4096
_PORTS: t.Final = frozenset({111, 2049})
"""Of rpcbind and NFS: what is cut there was RPC, even if no message is left."""
_CALLBACK = "NFSv4 callback"
"""What a server calls at a client. The reply is the client's, and is not judged."""
_MOST_BUFFERED = 128 << 20
"""Bytes that wait in all streams together; beyond them the streams that were idle longest are given up."""


@dataclass(slots=True)
class Statistics:
    """What was in a capture."""

    packets: int = 0
    exchanges: Counter[str] = field(default_factory=Counter)
    """Calls by the program's name or number, answered or not."""
    answered: int = 0
    """Of these, the calls with a reply of which more than the header was judged."""
    not_judged: dict[str, Frames] = field(default_factory=dict)
    """Why no more than the headers of replies was judged -> the frames with these calls."""
    unanswered: int = 0
    unmatched: int = 0
    """Replies to calls that were not seen, where that proves nothing."""
    cut: Frames = field(default_factory=Frames)
    """Packets of which the capture kept the beginning only (a snapshot length)."""
    hidden: Frames = field(default_factory=Frames)
    """Those of them that belong to connections with RPC: calls or replies are missing."""
    begun: Frames = field(default_factory=Frames)
    """Packets of connections whose beginning is not in the capture, and in which no message of RPC begins."""
    unopened: dict[str, Frames] = field(default_factory=dict)
    """What carries other packets, and is not opened -> the frames."""
    lost: int = 0
    """Places where bytes of a stream with RPC in it were not captured."""


@dataclass(slots=True)
class _Flow:
    """One direction of a TCP connection."""

    stream: Stream = field(default_factory=Stream)
    has_rpc: bool = False
    is_closed: bool = False
    cut: Frames = field(default_factory=Frames)
    begun: Frames = field(default_factory=Frames)
    """Packets with bytes in which no message has begun so far."""


class Traffic:
    """Takes packets; judges exchanges as they are complete."""

    def __init__(self, linter: Linter) -> None:
        self.statistics = Statistics()
        self._dissector = Dissector(self.statistics.unopened)
        self._flows: OrderedDict[Direction, _Flow] = OrderedDict()
        self._buffered = 0
        self._queue = InOrder(linter, self._proves_no_call, not_judged=self.statistics.not_judged)

    def take(self, packet: Packet) -> None:
        """One packet. Raises `BadCapture` for frames that cannot be read."""
        self.statistics.packets += 1
        if len(packet.data) < packet.size:
            self.statistics.cut.add(packet.number)
        segment = self._dissector.segment(packet)
        if segment is None:
            return
        if segment.protocol == TCP:
            self._take_tcp(packet, segment)
        elif segment.missing:
            if looks_like_rpc(segment.payload):
                self.statistics.hidden.add(packet.number)
        elif looks_like_rpc(segment.payload):
            mark = Mark(packet.number, packet.time)
            self._take_message((segment.source, segment.destination), mark, segment.payload, None)
        if self._queue.is_due():
            self._queue.advance(packet.time, self._unclear_since())

    def finish(self) -> Statistics:
        """The capture is over."""
        for direction, flow in self._flows.items():
            self._take_messages(direction, flow, flow.stream.finish())
            self._account(direction, flow)
        self._queue.finish()
        self.statistics.answered = self._queue.answered
        self.statistics.unanswered = self._queue.unanswered
        self.statistics.unmatched = self._queue.unmatched
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
        direction, flow = self._flows.popitem(last=False)
        self._buffered -= flow.stream.buffered
        self._account(direction, flow)

    def _account(self, direction: Direction, flow: _Flow) -> None:
        """Note what was not seen of a flow that is over."""
        if flow.has_rpc or any(port in _PORTS for _, port in direction):
            self.statistics.hidden.join(flow.cut)
        if not flow.has_rpc:
            self.statistics.begun.join(flow.begun)

    def _take_tcp(self, packet: Packet, segment: Segment) -> None:
        flow = self._flow((segment.source, segment.destination))
        stream, before = flow.stream, flow.stream.buffered
        if segment.flags & SYN:
            if not segment.flags & ACK:
                self._connects(packet, segment)
            stream.open(segment.sequence)
            flow.is_closed = False
        sequence = segment.sequence + bool(segment.flags & SYN)
        mark = Mark(packet.number, packet.time)
        messages = stream.feed(sequence, segment.payload, segment.missing, mark)
        self._take_messages((segment.source, segment.destination), flow, messages)
        if segment.missing:
            flow.cut.add(packet.number)
        if segment.payload and not stream.is_synced and not flow.has_rpc:
            flow.begun.add(packet.number)
        if segment.flags & (FIN | RST) and not flow.is_closed:
            self._closes(packet, segment, flow)
        self._buffered += stream.buffered - before
        while self._buffered > _MOST_BUFFERED and len(self._flows) > 1:
            self._give_up()

    def _take_messages(self, direction: Direction, flow: _Flow, messages: list[tuple[bytes, Mark]]) -> None:
        for message, mark in messages:
            if looks_like_rpc(message):
                flow.has_rpc = True
                self._take_message(direction, mark, message, flow)
            else:
                # Whatever it is, a server may answer it.
                self._queue.excuse((*direction, int.from_bytes(message[:4], "big")))
        if flow.has_rpc:
            # What was not seen may have been a call that changed anything.
            self.statistics.lost += len(flow.stream.losses)
            for before, after in flow.stream.losses:
                self._queue.lose(after.number, before.time, after.time, name_of(direction[1]))
        flow.stream.losses.clear()

    def _unclear_since(self) -> float:
        """Since when it is not known what some client called."""
        moments = [flow.stream.unclear_since for flow in self._flows.values() if flow.has_rpc]
        return min((moment for moment in moments if moment is not None), default=float("inf"))

    def _connects(self, packet: Packet, segment: Segment) -> None:
        """A client that leaves calls open and connects again may have seen the server stop."""
        if self._queue.waits(segment.source[0], segment.destination):
            self._queue.happen(Event(packet.time, Happening.RESTART))

    def _closes(self, packet: Packet, segment: Segment, flow: _Flow) -> None:
        """A server that closes first may be stopping, and may restart with another state."""
        flow.is_closed = True
        other = self._flows.get((segment.destination, segment.source))
        is_server = self._queue.is_server(segment.source)
        if is_server and (other is None or not other.is_closed):
            self._queue.happen(Event(packet.time, Happening.RESTART))

    # ------------------------------------------------------------ messages

    def _take_message(self, direction: Direction, mark: Mark, message: bytes, flow: _Flow | None) -> None:
        transport: t.Literal["tcp", "udp"] = "udp" if flow is None else "tcp"
        source, destination = direction
        is_call = message[4:8] == bytes(4)
        callback = callback_in(message, mark.time, name_of(source), transport) if is_call else None
        if callback is not None:
            self.statistics.exchanges[_CALLBACK] += 1
            self._queue.callback(mark.number, callback)
            self._queue.excuse((source, destination, callback.xid))
            return
        if is_call:
            exchange, minor, reason = call_to_judge(message, mark.time, name_of(destination), transport)
            self.statistics.exchanges[program_of(message, minor)] += 1
            if reason:
                self.statistics.not_judged.setdefault(reason, Frames()).add(mark.number)
            self._queue.call(mark.number, exchange, source, destination, is_judged=not reason)
            return
        key = (destination, source, int.from_bytes(message[:4], "big"))
        moment = max(mark.time, mark.until)
        if not self._queue.reply(key, message, moment):
            self._queue.stray(key, mark.number, message, moment)

    def _proves_no_call(self, client: Side, server: Side) -> bool:
        """Whether all calls of a connection were seen."""
        flow, back = self._flows.get((client, server)), self._flows.get((server, client))
        if flow is None or back is None or not (flow.has_rpc and back.has_rpc):
            return False
        return all(side.stream.is_whole and side.stream.unclear_since is None for side in (flow, back))


def program_of(message: bytes, minor: int | None = None) -> str:
    """Program and version of a call, by name where it has one."""
    program, version = int.from_bytes(message[12:16], "big"), int.from_bytes(message[16:20], "big")
    more = "" if minor is None else f".{minor}"
    protocol = protocol_of(program)
    name = OTHER_PROGRAMS.get(program, program) if protocol is None else protocol.programs[0].name
    return f"{name} version {version}{more}"
