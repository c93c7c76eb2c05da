# SPDX-License-Identifier: MIT
"""What files hold, and what a reader may see: every byte follows from (seed, file, version, offset).

A file is bytes of a pool, from a place that depends on the file and the version. Each block of 4096 bytes begins with
a *stamp*: file, version, writer and offset. So whoever reads wrong data can say whose they are, and data at a wrong
offset differ from the right ones even where the pool repeats.

`FileState` is the record of one file: which version is where, and which writes are under way. While a write and a read
overlap in time, the read may see the old bytes, the new ones, or some of each (RFC 1813 section 4.1 promises nothing
else); everything else is wrong.
"""

from __future__ import annotations

import hashlib
import random
import struct
import typing as t
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

from nfsclient.xdr import Buffer
from workloads.trouble import WrongData

BLOCK: t.Final = 4096
"""Bytes from one stamp to the next."""
_STAMP = struct.Struct(">8sQIIQ")
_MAGIC = b"nfsproof"
_POOL = 1 << 20
_SHOWN = 32
"""Bytes that a report shows of what was expected and seen."""
_NAMED: t.Final = 3
"""Writers that a report names."""
_NONE: t.Final = 0
"""The version of a hole: zeros."""
_MOST_SIZES: t.Final = 256
"""Changes of its size that a file remembers."""
MOST_WRITERS: t.Final = 1 << 32
LARGEST: t.Final = 1 << 62


@dataclass(frozen=True, slots=True)
class Stamp:
    """Whose data a block is."""

    file: int
    version: int
    writer: int
    offset: int

    def __str__(self) -> str:
        return f"file {self.file:016x}, version {self.version}, writer {self.writer}, offset {self.offset}"


def file_number(path: str) -> int:
    """The number of a file, the same for all workers: it follows from the path at which it was created."""
    return int.from_bytes(hashlib.blake2b(path.encode(), digest_size=8).digest())


class Contents:
    """Makes the bytes of files for one seed. Reads nothing and remembers nothing."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        pool = random.Random(seed).randbytes(_POOL)
        self._twice = memoryview(pool + pool)

    def make(self, file: int, version: int, writer: int, offset: int, count: int) -> bytearray:
        """`count` bytes from `offset` on; zeros for version 0."""
        if version == _NONE:
            return bytearray(count)
        start = (file * 0x9E3779B1 + version * 0x85EBCA6B + offset) % _POOL
        made = bytearray(self._twice[start : start + min(count, _POOL)])
        while len(made) < count:
            at = (start + len(made)) % _POOL
            made += self._twice[at : at + min(count - len(made), _POOL)]
        first = -(-offset // BLOCK) * BLOCK
        pack = _STAMP.pack_into
        for at in range(first, offset + count - _STAMP.size + 1, BLOCK):
            pack(made, at - offset, _MAGIC, file, version, writer, at)
        self._pack_cut(made, file, version, writer, offset, count)
        return made

    @staticmethod
    def _pack_cut(made: bytearray, file: int, version: int, writer: int, offset: int, count: int) -> None:
        """Stamps of which only a part is in the range, at its beginning and its end."""
        for at in {offset // BLOCK * BLOCK, (offset + count - 1) // BLOCK * BLOCK}:
            begin, end = max(at, offset), min(at + _STAMP.size, offset + count)
            is_cut = at < offset or at + _STAMP.size > offset + count
            if is_cut and begin < end:
                stamp = _STAMP.pack(_MAGIC, file, version, writer, at)
                made[begin - offset : end - offset] = stamp[begin - at : end - at]

    @staticmethod
    def stamp_near(data: Buffer, offset: int, position: int) -> Stamp | None:
        """The stamp of the block that has `position`, if all of it is in `data`, which begins at `offset`."""
        at = position // BLOCK * BLOCK - offset
        if at < 0 or at + _STAMP.size > len(data):
            return None
        magic, file, version, writer, place = _STAMP.unpack_from(data, at)
        return Stamp(file, version, writer, place) if magic == _MAGIC else None


class Piece(t.NamedTuple):
    """A range of a file with the version that it has."""

    begin: int
    end: int
    version: int
    writer: int


class Pieces:
    """Which version each byte of a file has: pieces in order, without gaps, from 0 to the size."""

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._what: list[tuple[int, int]] = []

    @property
    def size(self) -> int:
        return self._ends[-1] if self._ends else 0

    def put(self, begin: int, end: int, version: int, writer: int) -> None:
        """These bytes have this version now. A gap before them is a hole."""
        if begin >= end:
            return
        if begin > self.size:
            self._ends.append(begin)
            self._what.append((_NONE, 0))
        first, last = bisect_right(self._ends, begin), bisect_left(self._ends, end)
        ends, what = list[int](), list[tuple[int, int]]()
        before = self._ends[first - 1] if first else 0
        if first < len(self._ends) and before < begin:
            ends.append(begin)
            what.append(self._what[first])
        ends.append(end)
        what.append((version, writer))
        rest = last
        if last < len(self._ends) and self._ends[last] == end:
            rest = last + 1
        self._ends[first:rest] = ends
        self._what[first:rest] = what

    def cut(self, size: int) -> None:
        """Nothing is left from `size` on; a larger size makes a hole."""
        if size > self.size:
            self._ends.append(size)
            self._what.append((_NONE, 0))
            return
        first = bisect_left(self._ends, size)
        del self._ends[first + 1 :], self._what[first + 1 :]
        if size == 0:
            self._ends.clear()
            self._what.clear()
        elif self._ends:
            self._ends[-1] = size

    def between(self, begin: int, end: int) -> list[Piece]:
        """The pieces of a range, cut to it; nothing beyond the size."""
        found, at = list[Piece](), bisect_right(self._ends, begin)
        while at < len(self._ends) and begin < end:
            stop = min(end, self._ends[at])
            found.append(Piece(begin, stop, *self._what[at]))
            begin, at = stop, at + 1
        return found


@dataclass(slots=True, eq=False)
class Reading:
    """A read that is under way: what it may see besides what is there at its end."""

    offset: int
    count: int
    others: list[Piece] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    """Sizes that the file had or gets meanwhile."""


class Ticks:
    """Numbers what happens, so that what was before is known: a call that began, or a change."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = 0

    def next(self) -> int:
        """The number of what happens now."""
        self.now += 1
        return self.now


class FileState:
    """One file: its number, its data, what is being written and read.

    The size that a reply may say is between two numbers, while writes or a cut are under way. `sizes_since` gives them
    for the whole time from the call to the reply.
    """

    __slots__ = (
        "_cut_to", "_sizes", "_ticks", "doubts", "name", "number", "pieces", "quiet_since", "readings", "unstable",
        "version", "was_cut", "writings",
    )  # fmt: skip

    def __init__(self, name: str, number: int | None = None, ticks: Ticks | None = None) -> None:
        self.name = name
        self._ticks = Ticks() if ticks is None else ticks
        self.number = file_number(name) if number is None else number
        self.pieces = Pieces()
        self.version = 0
        """The highest that was ever written."""
        self.writings: list[Piece] = []
        self.readings: list[Reading] = []
        self.unstable: dict[int, Piece] = {}
        """What the server may still lose, of all clients of this worker."""
        self.doubts: list[WrongData] = []
        """Sizes that are too small, unless what was not stable has been lost: COMMIT tells."""
        self.was_cut = False
        """Whether it was ever cut: NFSv3 does not promise that this survives a crash."""
        self._cut_to: int | None = None
        self.quiet_since = self._ticks.next()
        """The tick of the last thing that may change its time of modification."""
        self._sizes: list[tuple[int, int, int]] = [(self._ticks.next(), 0, 0)]
        """(tick, least, most) from each change on."""

    @property
    def size(self) -> int:
        return self.pieces.size

    # ------------------------------------------------------------ times

    def touch(self) -> None:
        """What happens now may change the time of the last modification."""
        self.quiet_since = self._ticks.next()

    def is_quiet(self, since: int) -> bool:
        """Whether nothing was written or cut from this tick on, and all data was stable."""
        is_busy = self.writings or self.unstable or self._cut_to is not None
        return not is_busy and self.quiet_since <= since

    # ------------------------------------------------------------ sizes

    def _note_size(self) -> None:
        """What the server may say of the size from now on."""
        size = self.pieces.size
        least = size if self._cut_to is None else min(size, self._cut_to)
        most = max(size, max((piece.end for piece in self.writings), default=0), self._cut_to or 0)
        if self._sizes[-1][1:] != (least, most):
            self._sizes.append((self._ticks.next(), least, most))
            if len(self._sizes) > _MOST_SIZES:
                del self._sizes[: _MOST_SIZES // 2]

    def sizes_since(self, tick: int) -> tuple[int, int] | None:
        """(least, most) that a reply may say to a call that began then; None if that is not known any more.

        What began before the file was made looks at the file from then on.
        """
        _, least, most = self._sizes[-1]
        for begun, low, high in reversed(self._sizes):
            least, most = min(least, low), max(most, high)
            if begun <= tick:
                return least, most
        return None if len(self._sizes) > _MOST_SIZES // 2 else (least, most)

    # ------------------------------------------------------------ writing

    def begin_write(self, offset: int, count: int, writer: int) -> Piece:
        """A write of a new version begins: whoever reads may see it from now on."""
        self.version += 1
        piece = Piece(offset, offset + count, self.version, writer)
        self.touch()
        self.writings.append(piece)
        for reading in self.readings:
            reading.others.append(piece)
            reading.sizes.append(max(self.size, piece.end))
        self._note_size()
        return piece

    def end_write(self, piece: Piece) -> None:
        """The write is over. Only what was there before may still be seen, by reads that have begun."""
        self.touch()
        self.writings.remove(piece)
        if self.readings:
            old = self.pieces.between(piece.begin, piece.end)
            for reading in self.readings:
                reading.others += old
                reading.sizes.append(self.size)
        self.pieces.put(*piece)
        self._note_size()

    def begin_cut(self, size: int = 0) -> None:
        """The file is being cut, while nobody reads or writes it."""
        self._cut_to, self.was_cut = size, True
        self.touch()
        self._note_size()

    def end_cut(self) -> None:
        """It was cut, or not: `truncate` says that it was."""
        self._cut_to = None
        self.touch()
        self._note_size()

    def truncate(self, size: int = 0) -> None:
        """The file was cut."""
        self.pieces.cut(size)
        self.end_cut()

    def assume(self, size: int, version: int = 1, writer: int = 0) -> None:
        """Somebody else has written all of it: the setup of a run, on another worker."""
        self.version = max(self.version, version)
        self.pieces.cut(0)
        self.pieces.put(0, size, version, writer)
        self.settle()

    def settle(self) -> None:
        """Somebody else has changed it, in a time of which nothing is known; now it is quiet."""
        self._sizes = [(0, self.pieces.size, self.pieces.size)]
        self.touch()

    def may_be_lost(self, offset: int, *, restarted: bool, to_the_end: bool = False) -> bool:
        """Whether the server need not have kept what was written there, because it was not stable.

        `to_the_end`: there or anywhere after it, which is what a size of `offset` depends on.

        `restarted`: a connection has ended, so there may have been a crash. It may undo a cut (RFC 1813 section 1.6
        does not list SETATTR).
        """
        is_unstable = any(
            offset < piece.end and (to_the_end or piece.begin <= offset) for piece in self.unstable.values()
        )
        return is_unstable or (restarted and self.was_cut)

    # ------------------------------------------------------------ reading

    def begin_read(self, offset: int, count: int) -> Reading:
        reading = Reading(offset, count, list(self.writings))
        reading.sizes += [max(self.size, piece.end) for piece in self.writings]
        self.readings.append(reading)
        return reading

    def end_read(self, reading: Reading) -> None:
        self.readings.remove(reading)


def expected_length(state: FileState, reading: Reading) -> set[int]:
    """How many bytes a read of `reading` may give when it has ended."""
    sizes = {state.size, *reading.sizes}
    return {max(0, min(size - reading.offset, reading.count)) for size in sizes}


def check(contents: Contents, state: FileState, reading: Reading, data: Buffer, reader: int) -> None:
    """Compare what a read gave with what may be there. Raises `WrongData`."""
    offset, seen = reading.offset, len(data)
    lengths = expected_length(state, reading)
    if seen not in lengths:
        wanted = " or ".join(str(length) for length in sorted(lengths))
        wrong = WrongData(
            state.name,
            offset + seen,
            f"{wanted} bytes of a read of {reading.count} at {offset}",
            f"{seen} bytes",
            writer=_writers(state, offset, offset + reading.count),
            reader=reader,
        )
        wrong.is_about_size = True
        raise wrong
    expected = expect(contents, state, offset, seen)
    if data == expected:
        return
    at = _first_wrong(contents, state, reading, data, expected)
    if at is None:
        return
    stamp = Contents.stamp_near(data, offset, offset + at)
    whose = "" if stamp is None else f": {stamp}"
    raise WrongData(
        state.name,
        offset + at,
        bytes(expected[at : at + _SHOWN]).hex(" "),
        bytes(memoryview(data)[at : at + _SHOWN]).hex(" ") + whose,
        writer=_writers(state, offset + at, offset + at + 1),
        reader=reader,
    )


def wrong_size(
    state: FileState, seen: str, reader: int, at: int, least: int | None = None, most: int | None = None
) -> WrongData:
    """The error for a size that the file does not have; `at` is where it begins to matter."""
    is_range = least is not None and least != most
    expected = f"a size of {least} to {most} bytes" if is_range else f"a size of {state.size} bytes"
    wrong = WrongData(state.name, at, expected, seen, writer=_writers(state, 0, state.size), reader=reader)
    wrong.is_about_size = True
    return wrong


def expect(contents: Contents, state: FileState, offset: int, count: int) -> bytearray:
    """What the range holds by what is known now."""
    pieces = state.pieces.between(offset, offset + count)
    if len(pieces) == 1:
        return contents.make(state.number, pieces[0].version, pieces[0].writer, offset, count)
    made = bytearray()
    for begin, end, version, writer in pieces:
        made += contents.make(state.number, version, writer, begin, end - begin)
    return made + bytes(count - len(made))


def _first_wrong(
    contents: Contents, state: FileState, reading: Reading, data: Buffer, expected: bytearray
) -> int | None:
    """The first byte that is of none of the versions that may be seen; None if there is none."""
    allowed = [expected]
    for begin, end, version, writer in reading.others:
        first, last = max(begin, reading.offset), min(end, reading.offset + len(data))
        if first < last:
            other = bytearray(expected)
            other[first - reading.offset : last - reading.offset] = contents.make(
                state.number, version, writer, first, last - first
            )
            allowed.append(other)
    if reading.sizes:
        allowed.append(bytearray(len(data)))  # a file that grows may have a hole meanwhile
    for at, byte in enumerate(memoryview(data)):
        if all(byte != other[at] for other in allowed):
            return at
    return None


def _writers(state: FileState, begin: int, end: int) -> str:
    found = dict.fromkeys(
        f"{piece.writer} (version {piece.version})" for piece in state.pieces.between(begin, end)
    )
    names = list(found)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more or "nobody"
