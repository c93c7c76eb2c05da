# SPDX-License-Identifier: MIT
"""Byte-range locks with POSIX semantics (RFC 5661 sections 9.1 to 9.5, 18.10 to 18.12).

A range is ``[start, end)`` with `end` up to 2^64, which is the end of the file however long it is. Locks of one owner
replace each other: they split, merge, upgrade and downgrade.
"""

from __future__ import annotations

import typing as t
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field

from nfsserver.state.opens import Open
from nfsserver.state.stateids import Kind, State, StateError, Stateids

END: t.Final = 1 << 64
"""The end of every file."""
_TO_END: t.Final = END - 1
"""The length that means "to the end of the file" (NFS4_UINT64_MAX)."""
MOST_RANGES: t.Final = 10_000
"""Ranges of one file; a lock that needs more is asked to come back later."""


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
        found: list[tuple[Range, Lock]] = []
        for key, lock in self._of_file.get(file, {}).items():
            if key == (client, owner):
                continue
            found += [
                (held, lock)
                for held in lock.ranges
                if held.overlaps(start, end) and (is_write or held.is_write)
            ]
        if not found:
            return None
        held, lock = min(found, key=lambda each: each[0])
        return Denied(lock.client, lock.owner, held)

    def lock(self, one: Open, owner: bytes, start: int, end: int, *, is_write: bool) -> Lock:
        """Lock a range for an owner, whatever of it that owner has locked. Raises `Denied`, DELAY."""
        denied = self.conflict(one.file, start, end, is_write=is_write, client=one.client, owner=owner)
        if denied is not None:
            raise denied
        if self._count(one.file) >= MOST_RANGES:
            raise StateError("DELAY")
        lock = self.find(one.client, owner, one.file)
        if lock is None:
            lock = Lock(one.client, one.file, owner, one)
            self._stateids.add(lock)
            self._of_file[one.file][one.client, owner] = lock
        else:
            lock.changed()
        lock.ranges = merged([*without(lock.ranges, start, end), Range(start, end, is_write)])
        return lock

    def _count(self, file: Hashable) -> int:
        return sum(len(lock.ranges) for lock in self._of_file.get(file, {}).values())

    def unlock(self, lock: Lock, start: int, end: int) -> None:
        """Unlock a range, whether it was locked or not. Raises DELAY if splitting makes too many ranges."""
        ranges = without(lock.ranges, start, end)
        if len(ranges) > len(lock.ranges) and self._count(lock.file) >= MOST_RANGES:
            raise StateError("DELAY")
        lock.ranges = ranges
        lock.changed()

    def of_open(self, one: Open) -> list[Lock]:
        """The locks that belong to an open."""
        return [lock for lock in self._of_file.get(one.file, {}).values() if lock.open is one]

    def free(self, lock: Lock) -> None:
        """Release all ranges of an owner, and its stateid."""
        locks = self._of_file.get(lock.file)
        if locks is not None:
            locks.pop((lock.client, lock.owner), None)
            if not locks:
                del self._of_file[lock.file]
        self._stateids.remove(lock)


def without(ranges: list[Range], start: int, end: int) -> list[Range]:
    """Ranges after a part is unlocked: what overlaps it is cut, or split."""
    left: list[Range] = []
    for one in ranges:
        if not one.overlaps(start, end):
            left.append(one)
            continue
        if one.start < start:
            left.append(one._replace(end=start))
        if one.end > end:
            left.append(one._replace(start=end))
    return left


def merged(ranges: list[Range]) -> list[Range]:
    """Ranges without overlaps by start, in which neighbours of one type are one."""
    out: list[Range] = []
    for one in sorted(ranges):
        if out and out[-1].end == one.start and out[-1].is_write == one.is_write:
            out[-1] = out[-1]._replace(end=one.end)
        else:
            out.append(one)
    return out
