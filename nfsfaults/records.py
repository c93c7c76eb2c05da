# SPDX-License-Identifier: MIT
"""A stream of records, divided into what passes as it comes and what is kept until it is whole.

The first bytes of a record tell which message it is. If nobody wants it, its bytes pass on at once, however long it is
and in whatever fragments (cut-through). Memory is bounded: a record that is kept has at most `MOST_KEPT` bytes.
"""

from __future__ import annotations

import struct
import typing as t
from collections.abc import Callable, Iterator

from nfsclient.rpc.record import LAST_FRAGMENT

MOST_KEPT: t.Final = 64 << 20
_MOST_FRAGMENTS: t.Final = 65_536
_MARK = struct.Struct(">I")
_LENGTH: t.Final = 0x7FFF_FFFF
DECIDING: t.Final = 24
"""Bytes of a message that tell what it is: up to the procedure number of a call."""


class TooLong(ValueError):
    """A record that is longer than what may be kept."""


class Whole(t.NamedTuple):
    """A complete message, without record marks."""

    data: bytes
    sizes: tuple[int, ...]
    """The sizes of its fragments."""


Decide: t.TypeAlias = Callable[[bytes], bool]
"""Whether a message that begins with these bytes passes."""


class RecordDivider:
    """One direction of a connection."""

    def __init__(self, decide: Decide) -> None:
        self._decide = decide
        self._head = bytearray()
        """The beginning of a record of which nothing is known yet, with its marks."""
        self._passing = 0
        """Bytes of the current fragment that still pass."""
        self._passes = False
        self._is_last = True
        self._kept = bytearray()
        self._sizes: list[int] = []
        self._missing = 0
        """Bytes of the current fragment that are still to be kept."""

    @property
    def waiting(self) -> int:
        """Bytes that are kept here."""
        return len(self._head) + len(self._kept)

    @property
    def pending(self) -> bytes:
        """What came of a record that never became whole: to pass it on when the stream ends."""
        if not self._kept and not self._sizes:
            return bytes(self._head)
        parts: list[bytes] = []
        position = 0
        for index, size in enumerate(self._sizes):
            is_last = index == len(self._sizes) - 1 and self._is_last
            parts += [
                _MARK.pack(size | (LAST_FRAGMENT if is_last else 0)),
                bytes(self._kept[position : position + size]),
            ]
            position += size
        return b"".join([*parts, bytes(self._head)])

    def feed(self, data: bytes) -> Iterator[bytes | Whole]:
        """What the bytes give: bytes to pass, and messages. Raises `TooLong`."""
        view = memoryview(data)
        while view:
            if self._passing:
                piece, view = view[: self._passing], view[self._passing :]
                self._passing -= len(piece)
                yield bytes(piece) if len(piece) < len(data) else data
            elif self._missing:
                piece, view = view[: self._missing], view[self._missing :]
                self._kept += piece
                self._missing -= len(piece)
                yield from self._finished()
            else:
                view = view[self._take_head(view) :]
                yield from self._begun()

    def _take_head(self, view: memoryview) -> int:
        """Add what the head of a fragment needs; how many bytes that were."""
        want = 4
        if len(self._head) >= 4:
            want += min(DECIDING, self._mark & _LENGTH)
        taken = min(max(want - len(self._head), 0), len(view))
        self._head += view[:taken]
        return taken

    @property
    def _mark(self) -> int:
        return int(_MARK.unpack_from(self._head)[0])

    def _begun(self) -> Iterator[bytes | Whole]:
        """Go on once the head of a fragment is there."""
        if len(self._head) < 4:
            return
        length = self._mark & _LENGTH
        is_first = not (self._passes or self._sizes)
        if is_first and len(self._head) < 4 + min(DECIDING, length):
            return
        head = bytes(self._head)
        self._head.clear()
        self._is_last = bool(_MARK.unpack_from(head)[0] & LAST_FRAGMENT)
        if is_first:
            # A first fragment that is too short to tell is kept with the rest of its record.
            self._passes = length >= DECIDING and self._decide(head[4:])
        if self._passes:
            self._passing = length - (len(head) - 4)
            self._passes = not self._is_last
            yield head
            return
        if len(self._kept) + length > MOST_KEPT or len(self._sizes) >= _MOST_FRAGMENTS:
            raise TooLong(
                f"a record of {len(self._kept) + length} bytes or more; {MOST_KEPT} are kept at most"
            )
        self._sizes.append(length)
        self._kept += head[4:]
        self._missing = length - (len(head) - 4)
        yield from self._finished()

    def _finished(self) -> Iterator[Whole]:
        if self._missing or not self._is_last:
            return
        whole = Whole(bytes(self._kept), tuple(self._sizes))
        self._kept.clear()
        self._sizes.clear()
        yield whole
