# SPDX-License-Identifier: MIT
"""Byte-range locks by owner, with POSIX semantics: who has which bytes of which file. No protocol is in here.

A file is whatever the caller identifies it by, and so is an owner: NFSv4 has (client ID, lock-owner), a lock manager
for NFSv3 would have (host, process). All protocols of a server share one table, or they would not exclude each other.

A range is ``[start, end)`` with `end` up to `END`, the end of the file however long it is. What stays true:

- The ranges of an owner are in order, do not overlap, and two of a type that touch are one.
- Ranges of two owners that overlap are both for reading. Only `lock` adds ranges, and it compares before.
- An owner excludes others and never itself: its new range takes the place of what it has there. So the same call
  locks, upgrades and downgrades, and `unlock` in the middle of a range splits it.
- A refused call has changed nothing.
"""

from __future__ import annotations

import bisect
import typing as t
from collections import defaultdict
from collections.abc import Hashable

from nfsserver.bounds import MOST

END: t.Final = 1 << 64
"""The end of every file."""


class Range(t.NamedTuple):
    """A locked range."""

    start: int
    end: int
    is_write: bool

    @property
    def length(self) -> int:
        """As in a message: 2^64 - 1 is to the end of the file."""
        return END - 1 if self.end == END else self.end - self.start

    def overlaps(self, start: int, end: int) -> bool:
        return self.start < end and start < self.end


class Conflict(t.NamedTuple):
    """A range in the way, and whose it is."""

    owner: Hashable
    held: Range


class RangeConflict(Exception):
    """Another owner has a range in the way."""

    def __init__(self, conflict: Conflict) -> None:
        super().__init__(f"{conflict.held} of {conflict.owner}")
        self.conflict = conflict


class RangesFull(Exception):
    """A file has as many ranges, or owners of ranges, as it may have (`MOST.lock_ranges`, `MOST.lock_owners`)."""


class Ranges:
    """The locked ranges of all files."""

    def __init__(self) -> None:
        self._of_file: dict[Hashable, dict[Hashable, list[Range]]] = {}
        self._count: dict[Hashable, int] = defaultdict(int)
        """How many ranges each file has."""

    def of(self, file: Hashable, owner: Hashable) -> tuple[Range, ...]:
        """What an owner has locked of a file, by start."""
        return tuple(self._of_file.get(file, {}).get(owner, ()))

    def owners(self, file: Hashable) -> tuple[Hashable, ...]:
        """Who has locked something of a file, since when: the first who did comes first."""
        return tuple(self._of_file.get(file, ()))

    def conflict(
        self, file: Hashable, owner: Hashable, start: int, end: int, *, is_write: bool
    ) -> Conflict | None:
        """The first range of another owner that excludes this one. `owner` may be one that has nothing."""
        first: Conflict | None = None
        for other, ranges in self._of_file.get(file, {}).items():
            if other == owner:
                continue
            begin, after = overlapping(ranges, start, end)
            for held in ranges[begin:after]:
                if is_write or held.is_write:
                    if first is None or held < first.held:
                        first = Conflict(other, held)
                    break
        return first

    def lock(self, file: Hashable, owner: Hashable, start: int, end: int, *, is_write: bool) -> None:
        """Lock a range, whatever of it the owner has locked. Raises `RangeConflict`, `RangesFull`."""
        found = self.conflict(file, owner, start, end, is_write=is_write)
        if found is not None:
            raise RangeConflict(found)
        owners = self._of_file.get(file, {})
        if self._count.get(file, 0) >= MOST.lock_ranges or (
            owner not in owners and len(owners) >= MOST.lock_owners
        ):
            raise RangesFull
        ranges = self._of_file.setdefault(file, {}).setdefault(owner, [])
        self._set(file, ranges, *replaced(ranges, start, end, Range(start, end, is_write)))

    def unlock(self, file: Hashable, owner: Hashable, start: int, end: int) -> None:
        """Unlock a range, whether it was locked or not. Raises `RangesFull` if splitting makes too many ranges."""
        ranges = self._of_file.get(file, {}).get(owner)
        if ranges is None:
            return
        begin, after, left = replaced(ranges, start, end)
        if len(left) > after - begin and self._count[file] >= MOST.lock_ranges:
            raise RangesFull
        self._set(file, ranges, begin, after, left)
        if not ranges:
            self.release(file, owner)

    def release(self, file: Hashable, owner: Hashable) -> None:
        """Unlock all that an owner has of a file."""
        owners = self._of_file.get(file)
        if owners is None:
            return
        self._count[file] -= len(owners.pop(owner, ()))
        if not owners:
            self.forget(file)

    def forget(self, file: Hashable) -> None:
        """A file is gone: nobody has anything of it."""
        self._of_file.pop(file, None)
        self._count.pop(file, None)

    def _set(self, file: Hashable, ranges: list[Range], begin: int, after: int, new: list[Range]) -> None:
        """Replace some ranges of an owner by others."""
        ranges[begin:after] = new
        self._count[file] += len(new) - (after - begin)


def overlapping(ranges: list[Range], start: int, end: int) -> tuple[int, int]:
    """Which of an owner's ranges overlap ``[start, end)``: from an index up to another one. They are in order."""
    begin = bisect.bisect_right(ranges, start, key=lambda byte_range: byte_range.end)
    return begin, bisect.bisect_left(ranges, end, lo=begin, key=lambda byte_range: byte_range.start)


def replaced(
    ranges: list[Range], start: int, end: int, new: Range | None = None
) -> tuple[int, int, list[Range]]:
    """(index, index after, what comes in place of those between) where ``[start, end)`` is unlocked, or becomes `new`.

    What overlaps it is cut, or split; neighbours of one type that touch become one.
    """
    begin, after = overlapping(ranges, start, end)
    cut = ranges[begin:after]
    left = [cut[0]._replace(end=start)] if cut and cut[0].start < start else []
    right = [cut[-1]._replace(start=end)] if cut and cut[-1].end > end else []
    if new is None:
        return begin, after, left + right
    if not left and begin and ranges[begin - 1].end == start:
        begin -= 1
        left = [ranges[begin]]
    if not right and after < len(ranges) and ranges[after].start == end:
        right = [ranges[after]]
        after += 1
    return begin, after, merged([*left, new, *right])


def merged(ranges: list[Range]) -> list[Range]:
    """Ranges without overlaps, in order, in which neighbours of one type are one."""
    out: list[Range] = []
    for byte_range in ranges:
        if out and out[-1].end == byte_range.start and out[-1].is_write == byte_range.is_write:
            out[-1] = out[-1]._replace(end=byte_range.end)
        else:
            out.append(byte_range)
    return out
