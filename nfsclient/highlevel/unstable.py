# SPDX-License-Identifier: MIT
"""Data that a server has accepted and may still lose: kept until it is committed (RFC 1813 3.3.21, RFC 5661 18.3)."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """Data that the server has, but may lose as long as its verifier may change."""

    offset: int
    data: memoryview
    verf: bytes

    @property
    def end(self) -> int:
        """The first byte after it."""
        return self.offset + len(self.data)


class UnstableData:
    """Unstable data of one file by offset, without overlaps: what a later WRITE covered is the server's business."""

    def __init__(self) -> None:
        self._pieces: list[Piece] = []

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        return sum(len(piece.data) for piece in self._pieces)

    def committed(self, verf: bytes) -> list[Piece]:
        """COMMIT gave this verifier: data written under another is lost, and still kept here."""
        self._pieces = [piece for piece in self._pieces if piece.verf != verf]
        return list(self._pieces)

    def note(self, offset: int, data: memoryview, verf: bytes | None) -> None:
        """Note what a WRITE has done; `verf` None: it is stable. What it covered is no longer to be written again."""
        new = Piece(offset, data, verf or b"")
        first = bisect_right(self._pieces, new.offset, key=lambda each: each.offset)
        if first and self._pieces[first - 1].end > new.offset:
            first -= 1
        last = first
        kept: list[Piece] = []
        while last < len(self._pieces) and self._pieces[last].offset < new.end:
            old = self._pieces[last]
            if old.offset < new.offset:
                kept.append(Piece(old.offset, old.data[: new.offset - old.offset], old.verf))
            if old.end > new.end:
                kept.append(Piece(new.end, old.data[new.end - old.offset :], old.verf))
            last += 1
        if verf is not None and data:
            kept.append(new)
            kept.sort(key=lambda each: each.offset)
        self._pieces[first:last] = kept
