# SPDX-License-Identifier: MIT
"""The bytes and sizes that a regular file may have after a crash.

The file is a list of ranges. Each has the bytes that READ returns now, and those that a crash may leave instead:

- `older`: uncommitted data has replaced them. Then zeros are allowed, too, and any mixture of all these, byte by byte.
- `before`: SETATTR of the size has cut them off, and SETATTR may be lost.

A range may lie beyond the size: there is what returns if a SETATTR is lost.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, replace

from nfsjudge.showing import show_data
from nfsjudge.survival.promises import Promise, Violation

_MOST_SHOWN = 3
"""Allowed values of a byte in a text."""


class Level(enum.IntEnum):
    """How stable written data is: the values of stable_how (RFC 1813 section 3.3.7)."""

    UNSTABLE = 0
    DATA_SYNC = 1
    FILE_SYNC = 2


_PROMISE_OF = {Level.DATA_SYNC: Promise.DATA_SYNC, Level.FILE_SYNC: Promise.FILE_SYNC}


@dataclass(frozen=True, slots=True)
class _Range:
    start: int
    now: bytes
    by: Promise
    """What keeps `now`; UNSTABLE: nothing does."""
    older: tuple[bytes, ...] = ()
    before: tuple[bytes, ...] = ()
    is_written: bool = False
    is_gap: bool = False
    """A WRITE beyond the end has left it: no clause says what is there."""

    @property
    def end(self) -> int:
        return self.start + len(self.now)

    def cut(self, at: int) -> tuple[_Range, _Range]:
        """Both parts of it."""
        first, rest = slice(None, at - self.start), slice(at - self.start, None)
        return self._part(first, self.start), self._part(rest, at)

    def _part(self, part: slice, start: int) -> _Range:
        return replace(
            self,
            start=start,
            now=self.now[part],
            older=tuple(each[part] for each in self.older),
            before=tuple(each[part] for each in self.before),
        )


@dataclass(slots=True)
class _Sizes:
    low: int = 0
    high: int = 0

    def reach(self, end: int, *, is_stable: bool) -> None:
        """Data is written up to `end`."""
        self.high = max(self.high, end)
        if is_stable:
            self.low = max(self.low, end)


class Content:
    """One regular file, from its creation on. `is_lossy`: SETATTR may be lost in a crash."""

    def __init__(self, *, is_lossy: bool) -> None:
        self._is_lossy = is_lossy
        self._ranges: list[_Range] = []
        self.size = 0
        """The size now."""
        self._sizes = _Sizes()
        """After a crash, if no SETATTR is lost."""
        self._size_by = Promise.NAMES
        """What keeps the smallest of these sizes."""
        self._earlier: list[_Sizes] = []
        """After a crash in which a SETATTR of the size is lost."""

    @property
    def now(self) -> bytes:
        """All bytes of the file, as READ returns them now."""
        return b"".join(each.now for each in self._ranges)[: self.size]

    # ------------------------------------------------------------ what is acknowledged

    def write(self, offset: int, data: bytes, level: Level) -> None:
        """WRITE of `data`, which the server has acknowledged with this `committed`."""
        if not data:
            return
        end, promise = offset + len(data), _PROMISE_OF.get(level, Promise.UNSTABLE)
        self._extend(end)
        if level is Level.FILE_SYNC:
            self._keep_sizes()
        self._change(self.size, offset, lambda each: replace(each, is_gap=True))

        def put(old: _Range) -> _Range:
            piece = data[old.start - offset : old.end - offset]
            if level is not Level.UNSTABLE:
                return _Range(old.start, piece, promise, is_written=True)
            return _Range(
                old.start,
                piece,
                promise,
                (*old.older, old.now),
                old.before,
                is_written=True,
                is_gap=old.is_gap,
            )

        self._change(offset, end, put)
        for sizes in (self._sizes, *self._earlier):
            sizes.reach(end, is_stable=level is not Level.UNSTABLE)
        if level is not Level.UNSTABLE and end >= self._sizes.low:
            self._size_by = promise
        self.size = max(self.size, end)

    def commit(self, offset: int = 0, count: int = 0) -> None:
        """COMMIT of a range, to the end if `count` is 0. No data was lost since the WRITEs, as the verifiers say."""
        end = offset + count if count else self.size
        self._split(offset)
        self._split(end)
        written = [each for each in self._ranges if offset <= each.start < end and each.is_written]
        if not written:
            return
        self._change(
            offset,
            end,
            lambda each: (
                _Range(each.start, each.now, Promise.COMMIT, is_written=True)
                if each.is_written and each.by is Promise.UNSTABLE
                else each
            ),
        )
        if written[-1].end > self._sizes.low:
            self._size_by = Promise.COMMIT
        for sizes in (self._sizes, *self._earlier):
            sizes.reach(written[-1].end, is_stable=True)

    def resize(self, size: int) -> None:
        """SETATTR of the size."""
        self._extend(size)

        def zeros(old: _Range) -> _Range:
            others = (*old.before, *old.older, old.now) if self._is_lossy and old.is_written else old.before
            zero = _Range(old.start, bytes(len(old.now)), Promise.SETATTR)
            return replace(zero, before=others, is_gap=old.is_gap) if self._is_lossy else zero

        self._change(min(size, self.size), self._end, zeros)
        if self._is_lossy:
            self._earlier.append(self._sizes)
        self._sizes, self._size_by, self.size = _Sizes(size, size), Promise.SETATTR, size

    def _keep_sizes(self) -> None:
        """FILE_SYNC commits all metadata of the file, a size that SETATTR has changed included."""
        if self._earlier:
            self._size_by = Promise.FILE_SYNC
            self._earlier.clear()
        self._ranges = [
            replace(each, before=(), by=Promise.FILE_SYNC)
            if each.before and each.by is Promise.SETATTR
            else replace(each, before=())
            for each in self._ranges
        ]

    # ------------------------------------------------------------ what is there

    def judge(self, seen: bytes) -> Violation | None:
        """The worst that is wrong with the whole content of the file after a crash."""
        weak: Violation | None = None
        size = len(seen)
        if not self._sizes.low <= size <= self._sizes.high:
            is_earlier = any(each.low <= size <= each.high for each in self._earlier)
            found = self._wrong_size(size, is_weak=is_earlier)
            if not is_earlier:
                return found
            weak = found
        for each in self._ranges:
            found_byte = self._judge_range(each, seen[each.start : min(each.end, size)])
            if found_byte is not None and not found_byte.is_weak:
                return found_byte
            weak = weak or found_byte
        return weak

    def _wrong_size(self, size: int, *, is_weak: bool) -> Violation:
        low, high = self._sizes.low, self._sizes.high
        promise = Promise.UNSTABLE if size > high > low and not is_weak else self._size_by
        expected = str(low) if low == high else f"from {low} to {high}"
        return Violation(
            Promise.SETATTR if is_weak else promise, "size", expected, str(size), is_weak, "size"
        )

    def _judge_range(self, known: _Range, seen: bytes) -> Violation | None:
        if known.is_gap or seen == known.now[: len(seen)]:
            return None
        allowed = (known.now, *known.older)
        zero_is_legal = known.by is Promise.UNSTABLE
        weak: Violation | None = None
        for at, byte in enumerate(seen):
            if any(byte == each[at] for each in allowed) or (zero_is_legal and byte == 0):
                continue
            is_weak = any(byte == each[at] for each in known.before)
            if weak is None or not is_weak:
                found = self._wrong_byte(known, seen, at, is_weak=is_weak)
                if not is_weak:
                    return found
                weak = found
        return weak

    def _wrong_byte(self, known: _Range, seen: bytes, at: int, *, is_weak: bool) -> Violation:
        end = at + 4
        values = dict.fromkeys(each[at:end] for each in (known.now, *known.older[::-1]))
        shown = [show_data(each) for each in [*values][:_MOST_SHOWN]]
        if known.by is Promise.UNSTABLE:
            shown.append("zeros")
        promise = Promise.SETATTR if is_weak else known.by
        place = f"data at offset {known.start + at}"
        return Violation(promise, place, " or ".join(shown), show_data(seen[at:end]), is_weak, "data")

    # ------------------------------------------------------------ ranges

    @property
    def _end(self) -> int:
        return self._ranges[-1].end if self._ranges else 0

    def _extend(self, end: int) -> None:
        """Let the ranges reach `end`, with zeros that nothing has written."""
        if end > self._end:
            self._ranges.append(_Range(self._end, bytes(end - self._end), Promise.SETATTR))

    def _split(self, at: int) -> None:
        for index, each in enumerate(self._ranges):
            if each.start < at < each.end:
                self._ranges[index : index + 1] = each.cut(at)
                return

    def _change(self, start: int, end: int, new: Callable[[_Range], _Range]) -> None:
        """Replace the ranges from `start` to `end`."""
        if start >= end:
            return
        self._split(start)
        self._split(end)
        self._ranges = [new(each) if start <= each.start < end else each for each in self._ranges]
