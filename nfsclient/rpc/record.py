# SPDX-License-Identifier: MIT
"""Record marking: how messages are framed on a byte stream (RFC 5531 section 11).

A record is one or more fragments; each has a 4-byte header with its length, whose top bit marks the last one.
"""

from __future__ import annotations

import struct
import typing as t
from collections.abc import Iterable, Sequence

from nfsclient.errors import BadReply
from nfsclient.xdr import Buffer

LAST_FRAGMENT = 0x8000_0000
_LENGTH = 0x7FFF_FFFF
_HEADER = struct.Struct(">I")

DEFAULT_MAX_RECORD = 64 << 20
"""Most bytes of one record that are taken in: above any READ or WRITE a server offers, well below memory."""
_MAX_EMPTY_FRAGMENTS = 1024
"""Empty fragments in one record before the peer is taken for hostile; they cost it 4 bytes each."""


class Record(t.NamedTuple):
    """A complete record: it stands in `buf` from `start` to `end`, uncopied where it arrived in one piece."""

    buf: Buffer
    start: int
    end: int

    def payload(self) -> bytes:
        """The record's bytes alone."""
        return bytes(self.buf[self.start : self.end])


class RecordAssembler:
    """Takes bytes as they arrive and gives complete records.

    Memory is bounded: the bytes that have arrived, up to `max_record`. Raises `BadReply` for a longer record;
    when complete records come before it they are given first, and `broken` says why nothing follows.
    """

    def __init__(self, max_record: int = DEFAULT_MAX_RECORD) -> None:
        self.max_record = max_record
        self.buffered = 0
        """Bytes that are held back for incomplete records."""
        self.broken: BadReply | None = None
        self._tail = bytearray()
        self._parts = bytearray()
        self._empty = 0

    @property
    def is_idle(self) -> bool:
        """Whether no record is half received."""
        return not self.buffered

    def feed(self, data: bytes) -> list[Record]:
        """The records that `data` completes."""
        if self.broken is not None:
            raise self.broken
        records: list[Record] = []
        try:
            self._take(data, records)
        except BadReply as error:
            self.broken = error
            if not records:
                raise
        self.buffered = len(self._tail) + len(self._parts) + 4 * self._empty
        return records

    def _take(self, data: bytes, records: list[Record]) -> None:
        if self._tail:
            self._tail += data
            if not self._fragment_complete():
                return
            data = bytes(self._tail)
            self._tail.clear()
        pos, size = 0, len(data)
        while size - pos >= 4:
            (mark,) = _HEADER.unpack_from(data, pos)
            length = mark & _LENGTH
            self._check(length)
            end = pos + 4 + length
            if end > size:
                break
            if mark & LAST_FRAGMENT:
                records.append(self._finish(data, pos + 4, end))
            else:
                self._keep(data[pos + 4 : end])
            pos = end
        if pos < size:
            self._tail += memoryview(data)[pos:]

    def _fragment_complete(self) -> bool:
        """Whether the tail holds a whole fragment; checked before anything is copied."""
        if len(self._tail) < 4:
            return False
        length = int(_HEADER.unpack_from(self._tail)[0]) & _LENGTH
        self._check(length)
        return len(self._tail) >= 4 + length

    def _check(self, length: int) -> None:
        if len(self._parts) + length > self.max_record:
            raise BadReply(
                f"a record of {len(self._parts) + length} bytes or more; {self.max_record} are taken at most",
                b"",
                "record mark",
            )

    def _keep(self, part: bytes) -> None:
        if part:
            self._parts += part
            return
        self._empty += 1
        if self._empty > _MAX_EMPTY_FRAGMENTS:
            raise BadReply(
                f"more than {_MAX_EMPTY_FRAGMENTS} empty fragments in one record", b"", "record mark"
            )

    def _finish(self, data: bytes, start: int, end: int) -> Record:
        self._empty = 0
        if not self._parts:
            return Record(data, start, end)
        joined = bytes(self._parts) + data[start:end]
        self._parts.clear()
        return Record(joined, 0, len(joined))


def size_of(buffers: Iterable[Buffer]) -> int:
    return sum(map(len, buffers))


def frame(buffers: Sequence[Buffer]) -> list[Buffer]:
    """The buffers of a message as one record of one fragment."""
    return [_HEADER.pack(LAST_FRAGMENT | size_of(buffers)), *buffers]


def fragment(data: bytes, sizes: Sequence[int]) -> bytes:
    """`data` as one record in fragments of the given sizes; what they leave over is the last fragment.

    A size of 0 makes an empty fragment. The last fragment is marked as such, and may be empty itself.
    """
    out: list[bytes] = []
    pos = 0
    for size in sizes:
        piece = data[pos : pos + size]
        out += [_HEADER.pack(len(piece)), piece]
        pos += len(piece)
    rest = data[pos:]
    if not rest and out and sizes:
        # The sizes used everything up: the last of them is the last fragment.
        out[-2] = _HEADER.pack(LAST_FRAGMENT | len(out[-1]))
        return b"".join(out)
    return b"".join([*out, _HEADER.pack(LAST_FRAGMENT | len(rest)), rest])
