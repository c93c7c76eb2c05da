# SPDX-License-Identifier: MIT
"""Byte-range locks with POSIX semantics (RFC 5661 sections 9.1 to 9.5, 18.10 to 18.12).

A range is ``[start, end)`` with `end` up to 2^64, which is the end of the file however long it is. Locks of one owner
replace each other: they split, merge, upgrade and downgrade.
"""

from __future__ import annotations

import bisect
import typing as t
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field

from nfsserver.bounds import MOST
from nfsserver.state.opens import Open
from nfsserver.state.stateids import Kind, State, StateError, Stateids

END: t.Final = 1 << 64
"""The end of every file."""
_TO_END: t.Final = END - 1
"""The length that means "to the end of the file" (NFS4_UINT64_MAX)."""


class Range(t.NamedTuple):
    """A locked range."""

    start: int
    end: int
    is_write: bool

    @property
    def length(self) -> int:
        """As in a message."""
        return _TO_END if self.end == END else self.end - self.start

    def overlaps(self, start: int, end: int) -> bool:
        return self.start < end and start < self.end


@dataclass(eq=False)
class Lock(State):
    """The locks of a file by one lock-owner, which share a stateid."""

    kind: t.ClassVar[Kind] = "lock"
    owner: bytes
    open: Open
    """The open that they belong to."""
    ranges: list[Range] = field(default_factory=list)
    """By start, without overlaps, and no two of a type that touch."""


class Denied(StateError):
    """Another owner has a lock in the way."""

    def __init__(self, client: Hashable, owner: bytes, held: Range) -> None:
        super().__init__("DENIED")
        self.client = client
        self.owner = owner
        self.held = held


def span(offset: int, length: int) -> tuple[int, int]:
    """(start, end) of the arguments of a lock operation. Raises INVAL (section 18.10.3)."""
    if length == 0:
        raise StateError("INVAL")
    if length == _TO_END:
        return offset, END
    if offset + length > _TO_END:
        raise StateError("INVAL")
    return offset, offset + length


class Locks:
    """The byte-range locks of all clients."""

    def __init__(self, stateids: Stateids) -> None:
        self._stateids = stateids
        self._of_file: dict[Hashable, dict[tuple[Hashable, bytes], Lock]] = defaultdict(dict)
        self._ranges: dict[Hashable, int] = defaultdict(int)
        """How many ranges each file has."""

    def find(self, client: Hashable, owner: bytes, file: Hashable) -> Lock | None:
        """The locks of a file by an owner."""
        return self._of_file.get(file, {}).get((client, owner))

    def of_file(self, file: Hashable) -> tuple[Lock, ...]:
        """The locks of a file."""
        return tuple(self._of_file.get(file, {}).values())

    def conflict(
        self, file: Hashable, start: int, end: int, *, is_write: bool, client: Hashable, owner: bytes | None
    ) -> Denied | None:
        """The first lock of another owner that excludes this one, as a refusal."""
        first: tuple[Range, Lock] | None = None
        for key, lock in self._of_file.get(file, {}).items():
            if key == (client, owner):
                continue
            begin, after = overlapping(lock.ranges, start, end)
            for held in lock.ranges[begin:after]:
                if is_write or held.is_write:
                    if first is None or held < first[0]:
                        first = held, lock
                    break
        return None if first is None else Denied(first[1].client, first[1].owner, first[0])

    def lock(self, one: Open, owner: bytes, start: int, end: int, *, is_write: bool) -> Lock:
        """Lock a range for an owner, whatever of it that owner has locked. Raises `Denied`, DELAY."""
        denied = self.conflict(one.file, start, end, is_write=is_write, client=one.client, owner=owner)
        if denied is not None:
            raise denied
        lock = self.find(one.client, owner, one.file)
        if self._ranges[one.file] >= MOST.lock_ranges or (
            lock is None and len(self._of_file[one.file]) >= MOST.lock_owners
        ):
            raise StateError("DELAY")
        if lock is None:
            lock = Lock(one.client, one.file, owner, one)
            self._stateids.add(lock)
            self._of_file[one.file][one.client, owner] = lock
        else:
            lock.changed()
        self._set(lock, *replaced(lock.ranges, start, end, Range(start, end, is_write)))
        return lock

    def _set(self, lock: Lock, begin: int, after: int, new: list[Range]) -> None:
        """Replace some ranges by others."""
        lock.ranges[begin:after] = new
        self._ranges[lock.file] += len(new) - (after - begin)

    def unlock(self, lock: Lock, start: int, end: int) -> None:
        """Unlock a range, whether it was locked or not. Raises DELAY if splitting makes too many ranges."""
        begin, after, left = replaced(lock.ranges, start, end)
        if len(left) > after - begin and self._ranges[lock.file] >= MOST.lock_ranges:
            raise StateError("DELAY")
        self._set(lock, begin, after, left)
        lock.changed()

    def of_open(self, one: Open) -> list[Lock]:
        """The locks that belong to an open."""
        return [lock for lock in self._of_file.get(one.file, {}).values() if lock.open is one]

    def free(self, lock: Lock) -> None:
        """Release all ranges of an owner, and its stateid."""
        locks = self._of_file.get(lock.file)
        if locks is not None:
            if locks.pop((lock.client, lock.owner), None) is not None:
                self._ranges[lock.file] -= len(lock.ranges)
            if not locks:
                del self._of_file[lock.file]
                self._ranges.pop(lock.file, None)
        self._stateids.remove(lock)


def overlapping(ranges: list[Range], start: int, end: int) -> tuple[int, int]:
    """Which of an owner's ranges overlap ``[start, end)``: from an index up to another one. They are in order."""
    begin = bisect.bisect_right(ranges, start, key=lambda one: one.end)
    return begin, bisect.bisect_left(ranges, end, lo=begin, key=lambda one: one.start)


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
    for one in ranges:
        if out and out[-1].end == one.start and out[-1].is_write == one.is_write:
            out[-1] = out[-1]._replace(end=one.end)
        else:
            out.append(one)
    return out
