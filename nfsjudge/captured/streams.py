# SPDX-License-Identifier: MIT
"""One direction of a TCP connection: segments in any order become the bytes of the stream, and then records.

Segments may be missing, doubled, out of order or cut; the capture may begin in the middle. Where bytes are
lost for good, reading goes on at the next segment that looks like the beginning of an RPC record.
"""

from __future__ import annotations

import struct
import typing as t

from nfsclient.errors import BadReply
from nfsclient.rpc.messages import MAX_AUTH_BYTES, RPC_VERSION
from nfsclient.rpc.record import LAST_FRAGMENT, RecordAssembler

MOST_RECORD = 16 << 20
_MOST_WAITING = 256
"""Segments that wait for one before them, until that is given up."""
_MOST_WAITING_BYTES = 4 << 20
_HALF = 1 << 31
_ALL = (1 << 32) - 1
_SMALLEST = 24
"""Bytes of the shortest record that is taken for RPC: a reply without results."""


def looks_like_rpc(message: bytes) -> bool:
    """Whether bytes are the beginning of a call or a reply."""
    if len(message) < _SMALLEST:
        return False
    words: tuple[int, ...] = struct.unpack_from(">6I", message)
    _, mtype, third, fourth, fifth, sixth = words
    if mtype == 0:
        return third == RPC_VERSION and 100_000 <= fourth < _HALF and fifth < 1000 and sixth < 1000
    if mtype != 1 or third > 1:
        return False
    return fourth <= 1 if third else fifth <= MAX_AUTH_BYTES


def looks_like_record(data: bytes) -> bool:
    """Whether bytes are the beginning of a record with a call or reply in it."""
    if len(data) < 4 + _SMALLEST:
        return False
    length = int.from_bytes(data[:4], "big") & ~LAST_FRAGMENT
    return _SMALLEST <= length <= MOST_RECORD and looks_like_rpc(data[4:])


class Mark(t.NamedTuple):
    """A packet: its number, and when it was captured.

    Where segments were captured out of order, what they carry was sent from `time` on and by `until`.
    """

    number: int
    time: float
    until: float = 0.0


_NOWHERE = Mark(0, 0.0)


class Stream:
    """One direction. What it gives are messages with the packets in which they ended."""

    def __init__(self) -> None:
        self.next: int | None = None
        """The sequence number of the next byte; None before the first segment."""
        self.is_synced = False
        """Whether the next byte is the first of a record, or within one whose beginning was seen."""
        self.is_whole = False
        """Whether everything since the opening of the connection was seen."""
        self.losses: list[tuple[Mark, Mark]] = []
        """Between which packets bytes were lost, since this list was emptied last."""
        self._lost_at: Mark | None = None
        """The last packet before bytes were lost, until a record begins again."""
        self._latest = _NOWHERE
        self._waiting: dict[int, tuple[bytes, int, Mark]] = {}
        """Sequence number -> payload, bytes cut off after it, packet."""
        self._waiting_bytes = 0
        self._assembler = RecordAssembler(MOST_RECORD)

    @property
    def buffered(self) -> int:
        """Bytes in memory."""
        return self._waiting_bytes + self._assembler.buffered

    @property
    def unclear_since(self) -> float | None:
        """Since when it is not known what was sent; None if all is."""
        if self._lost_at is not None:
            return self._lost_at.time
        return self._latest.time if self._waiting else None

    def open(self, sequence: int) -> None:
        """The connection begins: the next byte has number `sequence` + 1."""
        following = (sequence + 1) & _ALL
        if self.next == following and self.is_whole:
            return  # the SYN again
        self._waiting.clear()
        self._waiting_bytes = 0
        self._assembler = RecordAssembler(MOST_RECORD)
        self.next = following
        self.is_synced = self.is_whole = True
        self._lost_at = None

    def feed(self, sequence: int, payload: bytes, missing: int, mark: Mark) -> list[tuple[bytes, Mark]]:
        """The messages that a segment completes."""
        if not payload and not missing:
            return []
        if self.next is None:
            self.next = sequence
            self._lost_at = mark
        found: list[tuple[bytes, Mark]] = []
        if (sequence - self.next) & _ALL < _HALF and sequence != self.next:
            self._keep(sequence, payload, missing, mark)
            if len(self._waiting) > _MOST_WAITING or self._waiting_bytes > _MOST_WAITING_BYTES:
                self._skip(found)
            return found
        self._take(sequence, payload, missing, self._not_after(mark), found)
        self._catch_up(found)
        return found

    def finish(self) -> list[tuple[bytes, Mark]]:
        """At the end of the capture: what waits for segments that never came."""
        found: list[tuple[bytes, Mark]] = []
        while self._waiting:
            self._skip(found)
        if self._lost_at is not None:
            self.losses.append((self._lost_at, self._latest))
        return found

    def _keep(self, sequence: int, payload: bytes, missing: int, mark: Mark) -> None:
        known = self._waiting.get(sequence)
        if known is None or len(known[0]) < len(payload):
            self._waiting_bytes += len(payload) - (len(known[0]) if known is not None else 0)
            self._waiting[sequence] = (payload, missing, mark)

    def _take(
        self, sequence: int, payload: bytes, missing: int, mark: Mark, found: list[tuple[bytes, Mark]]
    ) -> None:
        """A segment that begins at, or before, the next byte."""
        assert self.next is not None
        known = (self.next - sequence) & _ALL
        if known >= len(payload) + missing:
            return
        fresh = payload[known:]
        mark = mark._replace(until=max(mark.time, mark.until, self._latest.until))
        self.next = (sequence + len(payload) + missing) & _ALL
        if fresh:
            self._assemble(fresh, mark, found)
        self._latest = mark
        if missing:
            self._lose()

    def _catch_up(self, found: list[tuple[bytes, Mark]]) -> None:
        while self._waiting:
            assert self.next is not None
            due = [at for at in self._waiting if (at - self.next) & _ALL >= _HALF or at == self.next]
            if not due:
                return
            for at in due:
                payload, missing, mark = self._waiting.pop(at)
                self._waiting_bytes -= len(payload)
                self._take(at, payload, missing, self._not_after(mark), found)

    def _not_after(self, mark: Mark) -> Mark:
        """Something came late, or was captured late: what follows it in the stream was not sent before it."""
        if not self._waiting:
            return mark
        early = min(mark.time for _, _, mark in self._waiting.values())
        return mark._replace(time=min(mark.time, early), until=mark.time)

    def _skip(self, found: list[tuple[bytes, Mark]]) -> None:
        """Give up what is missing before the first segment that waits."""
        assert self.next is not None
        origin = self.next
        first = min(self._waiting, key=lambda at: (at - origin) & _ALL)
        self.next = first
        self._lose()
        self._catch_up(found)

    def _lose(self) -> None:
        if self._lost_at is None:
            self._lost_at = self._latest
        self.is_synced = self.is_whole = False
        self._assembler = RecordAssembler(MOST_RECORD)

    def _assemble(self, data: bytes, mark: Mark, found: list[tuple[bytes, Mark]]) -> None:
        if not self.is_synced:
            if not looks_like_record(data):
                return
            self.is_synced = True
        if self._lost_at is not None:
            self.losses.append((self._lost_at, mark))
            self._lost_at = None
        try:
            found += [(record.payload(), mark) for record in self._assembler.feed(data)]
            if self._assembler.broken is not None:
                self._lose()
        except BadReply:
            self._lose()
