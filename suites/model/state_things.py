# SPDX-License-Identifier: MIT
"""A model of one file: who has it open with which share reservations, who has locked which bytes, what is in it.

It holds what the text decides (RFC 5661 sections 9.1 to 9.7), and leaves open what a server may choose. An open-owner
is a lock-owner as well here: its locks belong to its open, and end with it.
"""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from dataclasses import dataclass, field

READ: t.Final = 1
WRITE: t.Final = 2
SIZE: t.Final = 64
"""Bytes of the file. Locks may be beyond its end."""
END: t.Final = (1 << 64) - 1
"""As the length of a lock: through the end of the file, however long it is. As an offset: after the last byte."""

NFS3_CLIENT: t.Final = 3


class Owner(t.NamedTuple):
    """One of the owners of one of the clients."""

    client: int
    """1 or 2; 3 is the client of NFSv3."""
    number: int

    def __str__(self) -> str:
        if self.client == NFS3_CLIENT:
            return "a client of NFSv3"
        return f"owner {'ABC'[self.number]} of client {self.client}"


class Range(t.NamedTuple):
    """Bytes from `start` up to `end`, which is not one of them, that are locked."""

    start: int
    end: int
    is_write: bool

    def overlaps(self, start: int, end: int) -> bool:
        """Whether they have a byte in common."""
        return self.start < end and start < self.end


def end_of(offset: int, length: int) -> int:
    """The first byte after a range as LOCK has it."""
    return END if length == END else offset + length


@dataclass(slots=True)
class Opening:
    """The open of one owner."""

    parts: list[tuple[int, int]]
    """Access and deny of each OPEN that is in effect (section 18.18.3)."""
    locks: list[Range] = field(default_factory=list)

    @property
    def access(self) -> int:
        """The union of all OPENs."""
        return _union(access for access, _ in self.parts)

    @property
    def deny(self) -> int:
        """The union of all OPENs."""
        return _union(deny for _, deny in self.parts)

    def lock(self, start: int, end: int, *, is_write: bool) -> None:
        """These bytes have this lock now, whatever they had (section 9.3)."""
        self.unlock(start, end)
        self.locks.append(Range(start, end, is_write))

    def unlock(self, start: int, end: int) -> None:
        """No byte of these is locked any more."""
        left = []
        for each in self.locks:
            if not each.overlaps(start, end):
                left.append(each)
                continue
            if each.start < start:
                left.append(each._replace(end=start))
            if end < each.end:
                left.append(each._replace(start=end))
        self.locks = left


def _union(bits: Iterator[int]) -> int:
    found = 0
    for each in bits:
        found |= each
    return found


class File:
    """The file of a program."""

    def __init__(self) -> None:
        self.opens: dict[Owner, Opening] = {}
        self.data = bytearray(SIZE)

    def write(self, offset: int, data: bytes) -> None:
        """What WRITE has done: a gap before the data is zeros."""
        if data:
            self.data += bytes(max(0, offset - len(self.data)))
            self.data[offset : offset + len(data)] = data

    def others(self, owner: Owner) -> Iterator[Opening]:
        """The opens of all others."""
        return (opening for each, opening in self.opens.items() if each != owner)

    def is_denied(self, owner: Owner, access: int, deny: int) -> bool:
        """Whether the share reservations of others are in the way of an OPEN (section 9.7)."""
        return any(access & each.deny or deny & each.access for each in self.others(owner))

    def may_deny_itself(self, owner: Owner, deny: int) -> bool:
        """Whether own opens may be in the way of an OPEN of the same owner.

        They count (section 9.7). Some servers leave them out, and some compare what the owner would have in all.
        """
        own = self.opens.get(owner)
        return own is not None and bool(own.deny | deny)

    def has_conflict(self, owner: Owner, start: int, end: int, *, is_write: bool) -> bool:
        """Whether locks of others are in the way of a lock."""
        return any(
            lock.overlaps(start, end) and (is_write or lock.is_write)
            for each in self.others(owner)
            for lock in each.locks
        )

    def is_locked(self, byte: int, *, is_write: bool) -> bool:
        """Whether a byte is locked by anybody: by WRITE_LT, or by any lock."""
        locks = (lock for each in self.opens.values() for lock in each.locks)
        return any(lock.overlaps(byte, byte + 1) and (lock.is_write or not is_write) for lock in locks)
