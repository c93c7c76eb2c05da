# SPDX-License-Identifier: MIT
"""Where a file ends: READ and the attribute `size` must agree before data is given to the caller.

A server can send bytes beyond the end of a file for ever, or call the middle of a file its end. A file can also grow
or shrink while it is read. Both look the same in one reply, so the size decides:

- data up to the size that the server stated last is believed, and costs nothing;
- data beyond it is believed when GETATTR states a size that covers it: the file has grown;
- an end of file before it is believed when GETATTR states no larger size: the file has shrunk;
- otherwise the range is read again, because the file may have changed between READ and GETATTR. If they disagree
  `_TRIES` times, it is a `ServerViolation`.

A server whose attributes are older than its data, because a file was changed without the protocol, raises that too:
a copy that is too short, and nobody knows it, is worse.

So a loop that reads until nothing comes ends where the file ends. It goes on only as long as the server states
that the file grows, as with any file system; `read_to_end`, which collects the data, has `_MOST_ROUNDS` in addition.
RFC 1813 section 3.3.6 and RFC 5661 section 18.22 define eof by the size.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.errors import NoProgress, ServerViolation

_TRIES: t.Final = 3
_MOST_ROUNDS: t.Final = 64
"""How often a file may have grown again when its end is reached: each round reads what came during the one before."""
_MOST_AT_ONCE: t.Final = 256 << 20
_MOST_READS: t.Final = 1024
"""Bytes and READs of one round: no memory is planned for what a size only claims."""

Result = t.TypeVar("Result")


class Extent:
    """The size of one file as the server stated it last; `ask` gets it by GETATTR, `path` is for errors."""

    def __init__(self, ask: Callable[[], int], path: str, known: int = 0) -> None:
        self._ask = ask
        self._path = path
        self.known = known
        """Bytes. 0 if nothing is known: then the first data is compared with GETATTR."""

    def read(
        self, offset: int, count: int, run: Callable[[int, int], tuple[int, bool, Result]]
    ) -> tuple[int, bool, list[Result]]:
        """`count` bytes at `offset`: (where the data ends, whether that is the end of the file, the data in pieces).

        `run(offset, count)` reads a part: (where it ends, whether the server stated eof, the data). It may end at the
        known size. Raises `ServerViolation`, `NoProgress`, and what `run` and GETATTR raise.
        """
        pieces: list[Result] = []
        at, stop = offset, offset + count
        for _ in range(_MOST_ROUNDS):
            end, eof, data = self._agreed(at, stop - at, run)
            pieces.append(data)
            if eof or end >= stop:
                return end, eof, pieces
            at = end
        raise NoProgress(f"READ of {self._path} at {at}: little data and no end of file")

    def _agreed(
        self, offset: int, count: int, run: Callable[[int, int], tuple[int, bool, Result]]
    ) -> tuple[int, bool, Result]:
        size = end = 0
        for _ in range(_TRIES):
            end, eof, data = run(offset, count)
            beyond = end > max(offset, self.known)
            early = eof and end < min(offset + count, self.known)
            if not beyond and not early:
                return end, eof, data
            size = self.known = self._ask()
            if size >= end if beyond else size <= max(end, offset):
                return end, eof, data
        what = "sent data up to" if end > size else "stated the end of the file at"
        raise ServerViolation(
            f"READ of {self._path}: the server {what} byte {end}, but GETATTR says that the file has {size} bytes; "
            "if the file was changed on the server itself, try again when it has noticed"
        )

    def read_to_end(self, offset: int, least: int, read: Callable[[int, int], tuple[bytes, bool]]) -> bytes:
        """All bytes from `offset` on; `read(offset, count)` reads a range. One READ is at least `least` bytes.

        Raises `NoProgress` if the file grows as fast as it is read.
        """
        parts: list[bytes] = []
        rounds, target = 0, self.known
        while True:
            wanted = max(self.known - offset, least)
            part, eof = read(offset, min(wanted, _MOST_AT_ONCE, least * _MOST_READS))
            parts.append(part)
            offset += len(part)
            if eof:
                return parts[0] if len(parts) == 1 else b"".join(parts)
            if offset >= target:
                if offset >= self.known:
                    self.known = self._ask()
                rounds, target = rounds + 1, self.known
                self.require_an_end(rounds, offset)

    def require_an_end(self, rounds: int, offset: int) -> None:
        """Raise `NoProgress` if the end of the file has moved on too often."""
        if rounds > _MOST_ROUNDS:
            raise NoProgress(
                f"READ of {self._path}: the file grows as fast as it is read; at byte {offset} its end is not reached"
            )
