# SPDX-License-Identifier: MIT
"""One direction of a TCP connection: segments in any order become the bytes of the stream, and these records.

Segments may be missing, doubled, out of order or cut; the capture may begin in the middle. Where bytes are
lost for good, reading goes on at the next segment that looks like the beginning of an RPC record.
"""

from __future__ import annotations

import struct

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


class Stream:
    """One direction."""

    def __init__(self) -> None:
        self.next: int | None = None
        """The sequence number of the next byte; None before the first segment."""
        self.is_synced = False
        """Whether the next byte is the first of a record, or within one whose beginning was seen."""
        self.is_whole = False
        """Whether everything since the opening of the connection was seen."""
        self.losses = 0
        self._waiting: dict[int, tuple[bytes, int]] = {}
        """Sequence number -> payload, and bytes cut off behind it."""
        self._waiting_bytes = 0
        self._assembler = RecordAssembler(MOST_RECORD)

    @property
    def held(self) -> int:
        """Bytes in memory."""
        return self._waiting_bytes + self._assembler.buffered

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

    def feed(self, sequence: int, payload: bytes, missing: int) -> list[bytes]:
        """The messages that a segment completes."""
        if not payload and not missing:
            return []
        if self.next is None:
            self.next = sequence
        found: list[bytes] = []
        if (sequence - self.next) & _ALL < _HALF and sequence != self.next:
            self._keep(sequence, payload, missing)
            if len(self._waiting) > _MOST_WAITING or self._waiting_bytes > _MOST_WAITING_BYTES:
                self._skip(found)
            return found
        self._take(sequence, payload, missing, found)
        self._catch_up(found)
        return found

    def finish(self) -> list[bytes]:
        """At the end of the capture: what waits for segments that never came."""
        found: list[bytes] = []
        while self._waiting:
            self._skip(found)
        return found

    def _keep(self, sequence: int, payload: bytes, missing: int) -> None:
        known = self._waiting.get(sequence)
        if known is None or len(known[0]) < len(payload):
            self._waiting_bytes += len(payload) - (len(known[0]) if known is not None else 0)
            self._waiting[sequence] = (payload, missing)

    def _take(self, sequence: int, payload: bytes, missing: int, found: list[bytes]) -> None:
        """A segment that begins at, or before, the next byte."""
        assert self.next is not None
        known = (self.next - sequence) & _ALL
        if known >= len(payload) + missing:
            return
        fresh = payload[known:]
        self.next = (sequence + len(payload) + missing) & _ALL
        if fresh:
            self._assemble(fresh, found)
        if missing:
            self._lose()

    def _catch_up(self, found: list[bytes]) -> None:
        while self._waiting:
            assert self.next is not None
            due = [at for at in self._waiting if (at - self.next) & _ALL >= _HALF or at == self.next]
            if not due:
                return
            for at in due:
                payload, missing = self._waiting.pop(at)
                self._waiting_bytes -= len(payload)
                self._take(at, payload, missing, found)

    def _skip(self, found: list[bytes]) -> None:
        """Give up what is missing before the first segment that waits."""
        assert self.next is not None
        origin = self.next
        first = min(self._waiting, key=lambda at: (at - origin) & _ALL)
        self.next = first
        self._lose()
        self._catch_up(found)

    def _lose(self) -> None:
        self.losses += 1
        self.is_synced = self.is_whole = False
        self._assembler = RecordAssembler(MOST_RECORD)

    def _assemble(self, data: bytes, found: list[bytes]) -> None:
        if not self.is_synced:
            if not looks_like_record(data):
                return
            self.is_synced = True
        try:
            found += [record.payload() for record in self._assembler.feed(data)]
            if self._assembler.broken is not None:
                self._lose()
        except BadReply:
            self._lose()
