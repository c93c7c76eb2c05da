# SPDX-License-Identifier: MIT
"""The requests of RPC in a capture, each with its reply. Bounded: a capture may hold anything, of any length."""

from __future__ import annotations

import contextlib
import typing as t
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from nfsclient.errors import NfsClientError, XdrError
from nfsclient.protocol.registry import programs
from nfsclient.rpc.auth import decode_credential
from nfsclient.rpc.core import decode_reply
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.messages import CallHeader
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.record import Record
from nfsjudge.captured import read_packets
from nfsjudge.captured.segments import SYN, TCP, Dissector, Segment, name_of
from nfsjudge.captured.streams import Mark, Stream, looks_like_rpc
from nfsjudge.transcript import call_line

Side: t.TypeAlias = tuple[bytes, int]
MOST_REQUESTS: t.Final = 10_000
_MOST_BYTES: t.Final = 256 << 20
"""Of all messages together."""
_MOST_FLOWS: t.Final = 1024
_MOST_BUFFERED: t.Final = 128 << 20


@dataclass(slots=True, eq=False)
class Request:
    """A call that was captured."""

    frame: int
    """The frame in which it ends."""
    source: Side
    destination: Side
    transport: t.Literal["tcp", "udp"]
    message: bytes
    """Without record marks."""
    reply: bytes | None = None

    @property
    def xid(self) -> int:
        return int.from_bytes(self.message[:4], "big")

    @property
    def program(self) -> int:
        return int.from_bytes(self.message[12:16], "big")

    @property
    def procedure(self) -> Procedure[t.Any, t.Any] | None:
        """None for what is not declared here."""
        program = programs().get((self.program, int.from_bytes(self.message[16:20], "big")))
        return None if program is None else program.by_number.get(int.from_bytes(self.message[20:24], "big"))

    def exchange(self, reply: bytes | None, message: bytes | None = None) -> Exchange:
        """The request, or the bytes that were sent in its place, with a reply, decoded as far as it decodes."""
        message = message or self.message
        xid, procedure = int.from_bytes(message[:4], "big"), self.procedure
        peer = name_of(self.destination)
        found = Exchange(xid, procedure, None, None, message, 0.0, peer, self.transport, reply)
        with contextlib.suppress(XdrError):
            header, at = CallHeader.unpack_from(message)
            found.credential = decode_credential(header.cred, header.verf)
            if procedure is not None:
                found.args = procedure.args.from_xdr(message[at:])
        if procedure is not None and reply is not None:
            try:
                found.result = decode_reply(procedure, Record(reply, 0, len(reply)))
            except NfsClientError as error:
                found.error = error
        return found

    @property
    def line(self) -> str:
        """For a list."""
        procedure = self.procedure
        if procedure is None:
            numbers = [int.from_bytes(self.message[at : at + 4], "big") for at in (12, 16, 20)]
            what = "program {} version {} procedure {}".format(*numbers)
        else:
            what = call_line(self.exchange(None))
        ends = f"{name_of(self.source)} -> {name_of(self.destination)}"
        return f"frame {self.frame}  {self.transport} {ends}  xid 0x{self.xid:08x}  {what}"


class Requests:
    """Takes the packets of a capture."""

    def __init__(self) -> None:
        self.found: list[Request] = []
        self.is_cut = False
        """Whether there are more than are kept."""
        self._dissector = Dissector()
        self._flows: OrderedDict[tuple[Side, Side], Stream] = OrderedDict()
        self._open: dict[tuple[str, Side, Side, int], Request] = {}
        self._bytes = 0

    def read(self, file: t.BinaryIO) -> None:
        """All packets. Raises `BadCapture` where the file is broken; what was before it is kept."""
        for packet in read_packets(file):
            segment = self._dissector.segment(packet)
            mark = Mark(packet.number, packet.time)
            if segment is None:
                continue
            if segment.protocol == TCP:
                self._take("tcp", segment, self._stream(segment, mark))
            elif not segment.missing:
                self._take("udp", segment, [(segment.payload, mark)])

    def _stream(self, segment: Segment, mark: Mark) -> list[tuple[bytes, Mark]]:
        """The messages that a segment completes."""
        direction = segment.source, segment.destination
        stream = self._flows.setdefault(direction, Stream())
        self._flows.move_to_end(direction)
        while len(self._flows) > 1 and (
            len(self._flows) > _MOST_FLOWS
            or sum(flow.buffered for flow in self._flows.values()) > _MOST_BUFFERED
        ):
            self._flows.popitem(last=False)
        if segment.flags & SYN:
            stream.open(segment.sequence)
        sequence = segment.sequence + bool(segment.flags & SYN)
        found = stream.feed(sequence, segment.payload, segment.missing, mark)
        stream.losses.clear()
        return found

    def _take(
        self, transport: t.Literal["tcp", "udp"], segment: Segment, messages: Iterable[tuple[bytes, Mark]]
    ) -> None:
        for message, mark in messages:
            if not looks_like_rpc(message):
                continue
            if len(self.found) >= MOST_REQUESTS or self._bytes + len(message) > _MOST_BYTES:
                self.is_cut = True
                return
            xid = int.from_bytes(message[:4], "big")
            if message[4:8] == bytes(4):
                request = Request(mark.number, segment.source, segment.destination, transport, message)
                self.found.append(request)
                self._open[transport, segment.source, segment.destination, xid] = request
            else:
                called = self._open.pop((transport, segment.destination, segment.source, xid), None)
                if called is None:
                    continue
                called.reply = message
            self._bytes += len(message)
