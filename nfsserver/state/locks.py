# SPDX-License-Identifier: MIT
"""Byte-range locks of NFSv4: lock-owners, and the stateids of what they have (RFC 5661 sections 9.1 to 9.5, 18.10).

Which bytes are whose is in `ranges`, which knows no stateids. Here a lock-owner of a client gets one `Lock` for each
file: a stateid that stays while ranges come and go, even if none is left, until its open is closed or it is freed.

    (none) --LOCK--> locked --LOCK, LOCKU: next seqid--> locked, or without a range --CLOSE, FREE_STATEID--> (none)

What must stay true:

- A `Lock` belongs to the open that its first LOCK named, and goes with it. Its owner has one for a file, through any
  open.
- A LOCK that is refused has made no stateid: the range is taken first, and given back if the table of stateids is
  full.
- The range is that of the table: `Lock.ranges` reads it there, nothing is kept twice.
- What is in the way may be of another protocol: then `Denied` names client ID 0 and no owner.
- A length of 2^64 - 1 means to the end of the file; 0, or a sum beyond that, is INVAL (section 18.10.3).
"""

from __future__ import annotations

import typing as t
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass

from nfsserver.bounds import MOST
from nfsserver.state.opens import Open
from nfsserver.state.ranges import END, Conflict, Range, RangeConflict, Ranges, RangesFull
from nfsserver.state.stateids import Kind, State, StateError, Stateids

_TO_END: t.Final = END - 1
"""The length that means "to the end of the file" (NFS4_UINT64_MAX)."""


@dataclass(eq=False)
class Lock(State):
    """The locks of a file by one lock-owner, which share a stateid."""

    kind: t.ClassVar[Kind] = "lock"
    owner: bytes
    open: Open
    """The open that they belong to."""
    table: Ranges

    @property
    def key(self) -> tuple[Hashable, bytes]:
        """The owner, as the table of ranges knows it."""
        return self.client, self.owner

    @property
    def ranges(self) -> tuple[Range, ...]:
        """What is locked, by start."""
        return self.table.of(self.file, self.key)


class Denied(StateError):
    """Another owner has a lock in the way; `client` 0 and no owner where it is none of NFSv4."""

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
    """The lock-owners of all clients, over the table of ranges that all protocols share."""

    def __init__(self, stateids: Stateids, ranges: Ranges) -> None:
        self._stateids = stateids
        self._ranges = ranges
        self._of_file: dict[Hashable, dict[tuple[Hashable, bytes], Lock]] = defaultdict(dict)

    def find(self, client: Hashable, owner: bytes, file: Hashable) -> Lock | None:
        """The locks of a file by an owner."""
        return self._of_file.get(file, {}).get((client, owner))

    def of_file(self, file: Hashable) -> tuple[Lock, ...]:
        """The locks of a file."""
        return tuple(self._of_file.get(file, {}).values())

    def conflict(
        self, file: Hashable, start: int, end: int, *, is_write: bool, client: Hashable, owner: bytes
    ) -> Denied | None:
        """The first lock of another owner that excludes this one, as a refusal."""
        found = self._ranges.conflict(file, (client, owner), start, end, is_write=is_write)
        return None if found is None else self._denied(file, found)

    def _denied(self, file: Hashable, conflict: Conflict) -> Denied:
        lock = next((lock for lock in self.of_file(file) if lock.key == conflict.owner), None)
        if lock is None:  # of another protocol: no client ID says whose it is
            return Denied(0, b"", conflict.held)
        return Denied(lock.client, lock.owner, conflict.held)

    def lock(self, opened: Open, owner: bytes, start: int, end: int, *, is_write: bool) -> Lock:
        """Lock a range for an owner, whatever of it that owner has locked. Raises `Denied`, DELAY."""
        lock = self.find(opened.client, owner, opened.file)
        if lock is None and len(self.of_file(opened.file)) >= MOST.lock_owners:
            raise StateError("DELAY")
        new = Lock(opened.client, opened.file, owner, opened, self._ranges) if lock is None else lock
        try:
            self._ranges.lock(opened.file, new.key, start, end, is_write=is_write)
        except RangeConflict as found:
            raise self._denied(opened.file, found.conflict) from None
        except RangesFull:
            raise StateError("DELAY") from None
        if lock is not None:
            lock.changed()
            return lock
        try:
            self._stateids.add(new)
        except StateError:
            self._ranges.release(opened.file, new.key)
            raise
        self._of_file[opened.file][new.client, owner] = new
        return new

    def unlock(self, lock: Lock, start: int, end: int) -> None:
        """Unlock a range, whether it was locked or not. Raises DELAY if splitting makes too many ranges."""
        try:
            self._ranges.unlock(lock.file, lock.key, start, end)
        except RangesFull:
            raise StateError("DELAY") from None
        lock.changed()

    def of_open(self, opened: Open) -> list[Lock]:
        """The locks that belong to an open."""
        return [lock for lock in self._of_file.get(opened.file, {}).values() if lock.open is opened]

    def free(self, lock: Lock) -> None:
        """Release all ranges of an owner, and its stateid."""
        locks = self._of_file.get(lock.file)
        if locks is not None:
            if locks.pop(lock.key, None) is not None:
                self._ranges.release(lock.file, lock.key)
            if not locks:
                del self._of_file[lock.file]
        self._stateids.remove(lock)
