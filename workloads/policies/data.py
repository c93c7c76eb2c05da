# SPDX-License-Identifier: MIT
"""Data of files between a program and the server: windows, delayed writes, kept data, commits, comparison.

    a range that was written      where it is               what ends it
    waiting (`delays_writes` only)    `Node.dirty`              as much as one WRITE, `flush`, a read of the file
    under way                     a task of `Node.pool`     its WRITE calls are answered, short ones continued
    not stable                    `Node.unstable`           COMMIT with the verifier of its WRITE
    stable                        nowhere                   -

What must stay true:

- The record of the file (`FileState`) has a write as under way from the call of the program on until all of its bytes
  are acknowledged: as long as a reader may see the old or the new bytes.
- A COMMIT whose verifier differs from that of a WRITE says that the server may have lost it: the bytes are written
  again. They need not be kept for that, because they can be made again.
- If a read is wrong while something of the file is not stable, a restart may have lost it: COMMIT tells, and then the
  read is made once more. Only what is wrong on stable storage, too, is wrong.
"""

from __future__ import annotations

import itertools
import typing as t
from abc import ABC, abstractmethod
from collections import Counter

from nfsclient.files import Attributes, Files, Stable, Written, result_of
from workloads.calls import OpenFile
from workloads.contents import Contents, FileState, Piece, check, wrong_size
from workloads.engine import Drain, Pool, Room, Start, Work
from workloads.ledger import Item, Ledger
from workloads.trouble import Stopped, Wrong

_MOST_KEPT: t.Final = 64 << 20
"""Bytes of kept data of one client."""
_MOST_ROUNDS: t.Final = 16
"""Rounds of WRITE and COMMIT in which all was lost, one after the other, after which a commit is given up."""
_MOST_EMPTY: t.Final = 8
"""Replies without any progress, one after the other, after which a read or write is given up."""


class Unstable(t.NamedTuple):
    """A range that the server may still lose."""

    piece: Piece
    verifier: bytes


class Node:
    """What a client knows of one object."""

    __slots__ = (
        "attributes", "delegation", "dirty", "fetched_at", "handle", "item", "key", "lifetime", "odd_end",
        "opens", "pages", "path", "pool", "unstable",
    )  # fmt: skip

    def __init__(self, path: str, handle: bytes, window: int) -> None:
        self.path = path
        self.handle = handle
        self.attributes: Attributes | None = None
        self.fetched_at = float("-inf")
        self.lifetime = 0.0
        self.key: t.Any = None
        """What shows that it has changed: the change attribute, or the time of the last change."""
        self.pages: dict[int, bytearray] = {}
        """Kept data by the number of its block."""
        self.dirty: list[Piece] = []
        """Ranges that wait to be written, each following the one before."""
        self.unstable: list[Unstable] = []
        self.pool = Pool(window)
        self.delegation: t.Any = None
        self.opens = 0
        self.odd_end: Wrong | None = None
        """A READ to the end of the file that said that the file goes on. What is wrong with its data is said first."""
        self.item: Item | None = None
        """What the run knows of the object; None: which one it is, is not sure."""


class DataPart(ABC):
    """Reading and writing on one client. `PolicyClient` is the rest."""

    files: Files
    ledger: Ledger
    contents: Contents
    writer: int
    rsize: int
    wsize: int
    window: int
    stable: Stable
    keeps_data: bool
    delays_writes: bool
    trusts_own_writes: bool
    troubles: Counter[str]

    def __init__(self) -> None:
        self._kept = 0

    @abstractmethod
    def files_for(self, file: OpenFile, *, writes: bool) -> Files:
        """The operations on data of an open file."""

    # ------------------------------------------------------------ writing

    def write(self, file: OpenFile, node: Node, offset: int, count: int) -> Work[int]:
        """A new version of a range. Returns when it is on its way, or, with a window of 1, there."""
        state = file.state
        piece = state.begin_write(offset, count, self.writer)
        if self.keeps_data:
            self._patch_blocks(node, offset, self._made(state, [piece], offset, count))
        if self.delays_writes:
            node.dirty.append(piece)
            if node.dirty[0].begin + self.wsize <= piece.end or not _is_joined(node.dirty):
                yield from self._send_dirty(file, node)
            return count
        yield from self._put(file, node, [piece])
        if self.window == 1:
            yield Drain(node.pool)
        return count

    def _send_dirty(self, file: OpenFile, node: Node) -> Work[None]:
        pieces, node.dirty = node.dirty, []
        run = list[Piece]()
        for piece in pieces:
            if run and (run[-1].end != piece.begin or piece.end - run[0].begin > self.wsize):
                yield from self._put(file, node, run)
                run = []
            run.append(piece)
        yield from self._put(file, node, run)

    def _put(self, file: OpenFile, node: Node, pieces: list[Piece]) -> Work[None]:
        """WRITE of joined pieces, as tasks of the pool of the file."""
        begin, end = pieces[0].begin, pieces[-1].end
        left = [-(-(end - begin) // self.wsize)]
        for at in range(begin, end, self.wsize):
            yield Room(node.pool)
            count = min(self.wsize, end - at)
            yield Start(self._write_part(file, node, pieces, at, count, left), node.pool)

    def _write_part(
        self, file: OpenFile, node: Node, pieces: list[Piece], at: int, count: int, left: list[int]
    ) -> Work[None]:
        """One WRITE of pieces that take `left[0]` more; the last one ends them."""
        yield from self._write_call(file, node, pieces, at, count)
        left[0] -= 1
        if not left[0]:
            for piece in pieces:
                file.state.end_write(piece)

    def _write_call(self, file: OpenFile, node: Node, pieces: list[Piece], at: int, count: int) -> Work[None]:
        """WRITE until the server has all bytes."""
        data = self._made(file.state, pieces, at, count)
        done = 0
        empty = 0
        while done < count:
            part = data if not done else memoryview(data)[done:]
            steps = self.files_for(file, writes=True).write(node.handle, at + done, part, self.stable)
            reply = yield next(steps)
            written: Written = result_of(steps, reply)
            self.own_write(node, reply)
            if written.count < len(part):
                self.troubles["short writes, continued"] += 1
            empty = 0 if written.count else empty + 1
            if empty >= _MOST_EMPTY:
                raise Stopped(
                    "no progress", f"{file.path}: WRITE at {at + done} wrote 0 bytes, {empty} times"
                )
            if written.committed is Stable.UNSTABLE and written.verifier is not None:
                for piece in _cut(pieces, at + done, at + done + written.count):
                    node.unstable.append(Unstable(piece, bytes(written.verifier)))
                    file.state.unstable[id(piece)] = piece
            done += written.count

    @abstractmethod
    def own_write(self, node: Node, reply: t.Any) -> None:
        """A WRITE has changed the file."""

    def _made(self, state: FileState, pieces: list[Piece], at: int, count: int) -> bytearray:
        parts = _cut(pieces, at, at + count)
        make, number = self.contents.make, state.number
        if len(parts) == 1:
            return make(number, parts[0].version, parts[0].writer, at, count)
        made = bytearray()
        for begin, end, version, writer in parts:
            made += make(number, version, writer, begin, end - begin)
        return made

    def flush(self, file: OpenFile, node: Node) -> Work[None]:
        """All that was written has been answered."""
        if node.dirty:
            yield from self._send_dirty(file, node)
        if node.pool.running or node.pool.errors:
            yield Drain(node.pool)

    def commit(self, file: OpenFile, node: Node) -> Work[int]:
        """All is on stable storage. What the server has lost is written again; how many ranges that were.

        A server whose verifier never stays the same is wrong (RFC 1813 section 3.3.7); one whose disk takes nothing, so
        that each COMMIT finds all lost, is not. Here they look the same, and the run ends VOID.
        """
        again = rounds = 0
        while node.unstable:
            if rounds == _MOST_ROUNDS:
                text = f"{file.path}: COMMIT had another verifier than the WRITEs before it, {rounds} times in a row"
                raise Stopped(
                    "no progress", f"{text}: they were lost each time, or the verifier never stays the same"
                )
            waiting, node.unstable = node.unstable, []
            steps = self.files_for(file, writes=True).commit(node.handle)
            reply = yield next(steps)
            verifier = result_of(steps, reply)
            self.own_write(node, reply)
            lost = [each for each in waiting if each.verifier != verifier]
            rounds = rounds + 1 if lost else 0
            for each in lost:
                self.troubles["ranges written again: another verifier"] += 1
                yield from self._write_call(file, node, [each.piece], each.piece.begin, _size(each.piece))
            for each in waiting:
                file.state.unstable.pop(id(each.piece), None)
            file.state.touch()
            again += len(lost)
        self._judge_doubts(file.state, lost=again > 0)
        return again

    @staticmethod
    def _judge_doubts(state: FileState, *, lost: bool) -> None:
        """Raise what was doubtful until now, if nothing was lost."""
        if lost:
            state.doubts.clear()
        elif state.doubts and not state.unstable:
            raise state.doubts.pop()

    # ------------------------------------------------------------ reading

    def read(self, file: OpenFile, node: Node, offset: int, count: int) -> Work[int]:
        """Read and compare a range; how many bytes there were. Raises `WrongData`."""
        yield from self.flush(file, node)
        try:
            return (yield from self._read(file, node, offset, count))
        except Wrong:
            if not node.unstable:
                raise
            lost = yield from self.commit(file, node)
            if not lost:
                raise
        self._drop_blocks(node, offset, count)
        return (yield from self._read(file, node, offset, count))

    def _read(self, file: OpenFile, node: Node, offset: int, count: int) -> Work[int]:
        reading = file.state.begin_read(offset, count)
        try:
            if self.keeps_data:
                data = yield from self._through_cache(file, node, offset, count)
            elif count <= self.rsize:
                data = yield from self._read_call(file, node, offset, count)
            else:
                data = yield from self._fetch(file, node, offset, count)
            check(self.contents, file.state, reading, data, self.writer)
            if node.odd_end is not None:
                raise node.odd_end
        finally:
            file.state.end_read(reading)
        return len(data)

    def _fetch(self, file: OpenFile, node: Node, offset: int, count: int) -> Work[bytes]:
        """READs of a range, as many at a time as the window allows."""
        parts: dict[int, bytes] = {}
        pool = Pool(self.window)

        def part(at: int, size: int) -> Work[None]:
            parts[at] = yield from self._read_call(file, node, at, size)

        for at in range(offset, offset + count, self.rsize):
            yield Room(pool)
            yield Start(part(at, min(self.rsize, offset + count - at)), pool)
        yield Drain(pool)
        return b"".join(parts[at] for at in sorted(parts))

    def _read_call(self, file: OpenFile, node: Node, offset: int, count: int) -> Work[bytes]:
        """READ until the range is there or the file ends."""
        got = b""
        empty = 0
        while True:
            wanted = count - len(got)
            steps = self.files_for(file, writes=False).read(node.handle, offset + len(got), wanted)
            reply = yield next(steps)
            data, eof, _ = result_of(steps, reply)
            got = bytes(data) if not got else got + bytes(data)
            self._check_end(node, file.state, offset + len(got), is_end=eof)
            if eof or len(got) >= count:
                return got
            self.troubles["short reads, continued"] += 1
            empty = 0 if len(data) else empty + 1
            if empty >= _MOST_EMPTY:
                raise self._ends_nowhere(file, offset + len(got), empty)

    def _ends_nowhere(self, file: OpenFile, at: int, times: int) -> Exception:
        """What it means that READ gave no bytes there, and no end either: data is missing, if there is some."""
        state, seen = file.state, f"READ at {at} gave nothing, {times} times"
        if at >= state.size or state.writings or any(each.sizes for each in state.readings):
            return Stopped("no progress", f"{file.path}: {seen}")
        return wrong_size(state, f"{seen}, and did not say that the file ends there", self.writer, at)

    def _check_end(self, node: Node, state: FileState, at: int, *, is_end: bool) -> None:
        """Raise `WrongData`, now or later, for an `eof` that is not right, where nobody has changed the file meanwhile.

        At the end of the file it is TRUE, before it FALSE (RFC 1813 section 3.3.6, RFC 5661 section 18.22.3). What was
        not stable may be lost, and a crash may undo a cut: then the file ends elsewhere.
        """
        if is_end == (at >= state.size) or state.writings or any(each.sizes for each in state.readings):
            return
        if is_end:
            raise wrong_size(state, f"READ says that the file ends at {at}", self.writer, at)
        if at == state.size and not (state.was_cut and self.ledger.losses):
            node.odd_end = wrong_size(state, f"READ says that the file goes on at {at}", self.writer, at)

    def _through_cache(self, file: OpenFile, node: Node, offset: int, count: int) -> Work[bytes]:
        size = self.rsize
        first, last = offset // size, (offset + count - 1) // size
        found = dict[int, bytearray]()
        for block in range(first, last + 1):
            page = node.pages.get(block)
            # A short one is whole only where the file ends.
            if page is not None and (len(page) == size or block * size + len(page) >= file.state.size):
                found[block] = page
        missing = [block for block in range(first, last + 1) if block not in found]
        if missing:
            begin = missing[0] * size
            wanted = (missing[-1] + 1) * size - begin
            fetch = self._read_call if wanted <= size else self._fetch
            data = yield from fetch(file, node, begin, wanted)
            for block in missing:
                found[block] = bytearray(data[block * size - begin : (block + 1) * size - begin])
                self._keep(node, block, found[block])
        joined = b"".join(found[block] for block in range(first, last + 1))
        return joined[offset - first * size : offset - first * size + count]

    def _keep(self, node: Node, block: int, data: bytearray) -> None:
        if self._kept + len(data) > _MOST_KEPT:
            self.drop_all_data()
        self._kept += len(data) - len(node.pages.get(block, b""))
        node.pages[block] = data

    def _patch_blocks(self, node: Node, offset: int, data: bytearray) -> None:
        """Keep what was written, where a block is known up to it; drop the block otherwise."""
        size, end = self.rsize, offset + len(data)
        for block in range(offset // size, (end - 1) // size + 1):
            begin = block * size
            at, stop = max(offset, begin) - begin, min(end, begin + size) - begin
            page = node.pages.get(block)
            if page is None and not at:
                page = bytearray()
                self._keep(node, block, page)
            if page is None or len(page) < at:
                self._kept -= len(node.pages.pop(block, b""))
                continue
            self._kept += max(0, stop - len(page))
            page[at:stop] = data[at + begin - offset : stop + begin - offset]

    def _drop_blocks(self, node: Node, offset: int, count: int) -> None:
        for block in range(offset // self.rsize, (offset + count - 1) // self.rsize + 1):
            self._kept -= len(node.pages.pop(block, b""))

    def drop_data(self, node: Node) -> None:
        """Nothing of a file is kept."""
        self._kept -= sum(map(len, node.pages.values()))
        node.pages.clear()

    def drop_all_data(self) -> None:
        """Nothing of any file is kept."""
        for node in self.nodes():
            node.pages.clear()
        self._kept = 0

    @abstractmethod
    def nodes(self) -> t.Iterable[Node]:
        """All that is known."""


def _is_joined(pieces: list[Piece]) -> bool:
    return all(piece.end == after.begin for piece, after in itertools.pairwise(pieces))


def _cut(pieces: list[Piece], begin: int, end: int) -> list[Piece]:
    """The parts of pieces in a range."""
    return [
        Piece(max(piece.begin, begin), min(piece.end, end), piece.version, piece.writer)
        for piece in pieces
        if piece.begin < end and begin < piece.end
    ]


def _size(piece: Piece) -> int:
    return piece.end - piece.begin
