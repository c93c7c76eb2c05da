# SPDX-License-Identifier: MIT
"""What a file may hold after WRITEs that were acknowledged, lost or doubled, and COMMITs and crashes between them.

Pure: no calls are made here. A check reports what it sends and what is answered, in that order. Each byte must come
from one of the WRITEs that may have been executed last there:

    a WRITE that was answered       executed at least once between the time it was sent and the answer
    one that was not, or a copy     executed at any time after it was sent, or never

Nothing else says when a server executes what it has got. The file has its full size from the beginning, so only
bytes matter: a WRITE may be executed in part.
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

_EVER: t.Final = 1 << 62
"""Later than all that is reported."""


@dataclass(slots=True, eq=False)
class Sent:
    """A WRITE that was sent. Times are numbers of events."""

    offset: int
    data: bytes
    sent: int
    answered: int | None = None
    count: int = 0
    """Bytes that the answer acknowledges."""
    is_stable: bool = False
    has_copies: bool = False
    is_cut: bool = False
    is_lossy: bool = False
    """A crash may have undone it."""

    @property
    def last(self) -> int:
        """When it may have been executed for the last time."""
        return _EVER if self.answered is None or self.has_copies else self.answered

    def covers(self, at: int) -> bool:
        """Whether it has data for a byte."""
        return not self.is_cut and self.offset <= at < self.offset + len(self.data)

    def has_changed(self, at: int) -> bool:
        """Whether it was certainly executed for a byte, and is still in effect."""
        return self.answered is not None and not self.is_lossy and at < self.offset + self.count


class Wrong(t.NamedTuple):
    """The first byte that nothing explains."""

    offset: int
    possible: frozenset[int]
    seen: int


class Possible:
    """A file, and what was done to it."""

    def __init__(self, content: bytes) -> None:
        """`content` is stable from the beginning. No WRITE goes beyond its end."""
        self.content = content
        self._writes: list[Sent] = []
        self._now = 0

    def _tick(self) -> int:
        self._now += 1
        return self._now

    def send(self, offset: int, data: bytes) -> Sent:
        """A WRITE goes out."""
        write = Sent(offset, data, self._tick())
        self._writes.append(write)
        return write

    def answer(self, write: Sent, count: int, *, is_stable: bool = False) -> None:
        """It is answered with success, for the first time; `is_stable`: its data is on stable storage."""
        write.answered, write.count, write.is_stable = self._tick(), count, is_stable

    def copy(self, write: Sent) -> None:
        """A copy of it is under way, which may arrive at any time, or never."""
        write.has_copies = True

    def cut(self, write: Sent) -> None:
        """Only a part of its message was sent, so it is no call."""
        write.is_cut = True

    def commit(self) -> int:
        """COMMIT of the whole file goes out for the first time; the number is for `committed`."""
        return self._tick()

    def committed(self, number: int) -> None:
        """This COMMIT is answered with success, and with the verifier of the WRITEs."""
        for write in self._writes:
            if write.answered is not None and write.answered < number:
                write.is_stable = True

    def crash(self) -> None:
        """The server dies and comes back: any part of what is not stable may be lost."""
        self._tick()
        for write in self._writes:
            write.is_lossy = write.is_lossy or not write.is_stable

    def at(self, offset: int) -> frozenset[int]:
        """The values that a byte may have."""
        covering = [write for write in self._writes if write.covers(offset)]
        changes = [write for write in covering if write.has_changed(offset)]
        found = {
            write.data[offset - write.offset]
            for write in covering
            if not any(later.sent > write.last for later in changes if later is not write)
        }
        if not changes:
            found.add(self.content[offset])
        if any(write.is_lossy for write in covering):
            found.add(0)
        return frozenset(found)

    def judge(self, seen: bytes) -> Wrong | None:
        """The first byte of the file that none of its WRITEs explains. `seen` has the size of the file."""
        for offset, value in enumerate(seen):
            possible = self.at(offset)
            if value not in possible:
                return Wrong(offset, possible, value)
        return None
