# SPDX-License-Identifier: MIT
"""What a client of Spritely NFS keeps of files, without I/O: what is to be read, what is to be written, what goes.

Section numbers are those of the paper (Srinivasan and Mogul, Spritely NFS, 1989). The cache says what calls are needed;
`caching` makes them and reports what came of them.

    a block          what it has                              what ends it
    clean            bytes as the server has them             its place is needed, another version, a callback that
                                                              invalidates
    dirty            bytes that the server does not have      the answer to its WRITE makes it clean; it is cancelled
                                                              with the last name of the file, or when it is cut off

    a file           what is kept                             why
    open, enabled    blocks, attributes                       the server calls back before anybody else may change it
    open, disabled   nothing                                  it is write-shared (section 2.2)
    closed           blocks, with their version               an OPEN says whether they are still true (section 3.1)

What must stay true:

- A block is valid in one range [begin, end), which contains all that is dirty in it. Bytes of it beyond that range are
  read from the server, and then what is valid here wins: it may have been written back since they were requested.
- `epoch` of a file grows whenever its blocks are invalidated: data that was requested before is not kept afterwards.
- A WRITE that is under way carries the stamp of its block: if a program has written into the block since, it stays
  dirty.
- While caching is enabled, `size` is that of this client: data that waits may have made the file longer than the server
  knows.
- Blocks take at most `most` bytes, but for those that are dirty: `excess` says which are to be written before more
  comes.
"""

from __future__ import annotations

import dataclasses
import enum
import itertools
import math
import typing as t
from collections import OrderedDict

from nfsclient.files import Attributes
from nfsclient.xdr import Buffer

BLOCK: t.Final = 4096
"""Bytes of a block, as of the file systems that the paper measured (section 5.2)."""
MOST: t.Final = 16 << 20
"""Bytes of all blocks: the cache of the paper's clients (section 5.2)."""
DELAY: t.Final = 30.0
"""Seconds that written data waits in the client (section 4.2.5)."""

LARGEST: t.Final = 0xFFFF_FFFE
"""Where data ends at the latest: offsets and sizes have 32 bits, and a size of all ones means none (RFC 1094 section
2.3.6)."""


class Kept(enum.Enum):
    """What an OPEN made of the blocks that were kept."""

    ALL = "they are true"
    DROPPED = "another client has changed the file: they are gone"
    TO_WRITE = "they are true, and to be written back before anything else: caching is disabled"
    LOST = "data that waited is lost: the server has given the file to others without it"


@dataclasses.dataclass(frozen=True, slots=True)
class Extent:
    """Data of one block that is to be written."""

    handle: bytes
    number: int
    offset: int
    """In the file."""
    data: bytes
    stamp: int


_stamps: t.Final = itertools.count(1)
"""Of all blocks: one that was dropped and is there again has other stamps."""


class _Block:
    __slots__ = ("begin", "data", "dirty_begin", "dirty_end", "end", "since", "stamp")

    def __init__(self, size: int) -> None:
        self.data = bytearray(size)
        self.begin = self.end = 0
        self.dirty_begin = self.dirty_end = 0
        self.since = 0.0
        """When its oldest data that waits was written."""
        self.stamp = next(_stamps)

    @property
    def is_dirty(self) -> bool:
        return self.dirty_begin < self.dirty_end

    def touches(self, begin: int, end: int) -> bool:
        """Whether a range can join the valid one without a gap."""
        return begin <= self.end and end >= self.begin

    def put(self, begin: int, data: Buffer, now: float) -> None:
        """A program writes; the range touches the valid one."""
        end = begin + len(data)
        self.data[begin:end] = data
        if self.begin == self.end:
            self.begin, self.end = begin, end
        self.begin, self.end = min(self.begin, begin), max(self.end, end)
        if self.is_dirty:
            self.dirty_begin, self.dirty_end = min(self.dirty_begin, begin), max(self.dirty_end, end)
        else:
            self.dirty_begin, self.dirty_end, self.since = begin, end, now
        self.stamp = next(_stamps)

    def fill(self, data: Buffer, limit: int) -> None:
        """Data of the server has come, for bytes from 0 on; up to `limit` there are zeros where it has none."""
        fresh = bytearray(len(self.data))
        fresh[: min(len(data), limit)] = memoryview(data)[:limit]
        fresh[self.begin : self.end] = self.data[self.begin : self.end]
        self.data = fresh
        self.begin, self.end = 0, max(limit, self.end)

    def cut(self, end: int) -> None:
        """Nothing of it is left from `end` on."""
        self.data[end:] = bytes(len(self.data) - end)
        self.end = min(self.end, end)
        self.begin = min(self.begin, self.end)
        self.dirty_end = min(self.dirty_end, end)
        self.stamp = next(_stamps)
        if not self.is_dirty:
            self.dirty_begin = self.dirty_end = 0

    def clean(self) -> None:
        self.dirty_begin = self.dirty_end = 0


class CachedFile:
    """What is known of one file."""

    __slots__ = (
        "_attributes", "ahead", "blocks", "enabled", "epoch", "failed_in", "failure", "handle", "incarnation", "known",
        "path", "readers", "size", "version", "writers",
    )  # fmt: skip

    def __init__(self, handle: bytes) -> None:
        self.handle = handle
        self.path = b""
        """For errors."""
        self.version: int | None = None
        """Of its blocks: `cacheVersion`."""
        self.enabled = False
        """Whether the server permits caching, while it is open."""
        self.readers = self.writers = 0
        """OPENs of this client that are not closed."""
        self.size = 0
        self.known = 0
        """Bytes that the server is known to have: READ cannot end before them."""
        self.blocks: dict[int, _Block] = {}
        self.epoch = 0
        self.incarnation = 0
        """Grows when the server has given the file to others: what was opened before is void."""
        self.ahead = 0
        """The offset after the latest read: one that begins there is sequential."""
        self.failure: Exception | None = None
        """Why data that waited could not be written: for the next call of a program that is about the file."""
        self.failed_in = 0
        """The incarnation in which that was."""
        self._attributes: Attributes | None = None

    def fail(self, error: Exception) -> None:
        """Data is lost. The first error counts."""
        if self.failure is None:
            self.failure, self.failed_in = error, self.incarnation

    @property
    def is_open(self) -> bool:
        """Whether this client has it open."""
        return self.readers + self.writers > 0

    @property
    def is_cached(self) -> bool:
        """Whether reads and writes go to the cache."""
        return self.is_open and self.enabled

    @property
    def is_dirty(self) -> bool:
        """Whether data waits to be written."""
        return any(block.is_dirty for block in self.blocks.values())

    @property
    def attributes(self) -> Attributes | None:
        """Those of the server with the size of this client; None where they are not kept (section 4.2.3)."""
        if not self.is_cached or self._attributes is None:
            return None
        return with_size(self._attributes, self.size)

    @attributes.setter
    def attributes(self, attributes: Attributes | None) -> None:
        self._attributes = attributes


class Cache:
    """Blocks and attributes of all files of a client."""

    def __init__(self, *, block: int = BLOCK, most: int = MOST, delay: float = DELAY) -> None:
        self.block = block
        self.most = most
        self.delay = delay
        """Infinite: nothing is written for its age."""
        self.wake = math.inf
        """When `due` is to be looked at next; nothing is due before."""
        self.cancelled = 0
        """Bytes that were never written, because their file was removed or cut."""
        self._files: dict[bytes, CachedFile] = {}
        self._used: OrderedDict[tuple[bytes, int], _Block] = OrderedDict()
        """All blocks, the one that was used longest ago first."""

    @property
    def memory(self) -> int:
        """Bytes that all blocks take."""
        return len(self._used) * self.block

    @property
    def files(self) -> list[CachedFile]:
        """All that are known."""
        return list(self._files.values())

    def get(self, handle: bytes) -> CachedFile | None:
        """A file, if anything is known of it."""
        return self._files.get(handle)

    def file(self, handle: bytes) -> CachedFile:
        """A file."""
        found = self._files.get(handle)
        if found is None:
            found = self._files[handle] = CachedFile(handle)
        return found

    # ------------------------------------------------------------ opens

    def opened(
        self, handle: bytes, version: int, old: int, *, enabled: bool, attributes: Attributes, writes: bool
    ) -> Kept:
        """OPEN has been answered (section 3.1); what is to be done.

        `old` is the version before this OPEN: one for writing has raised it, and blocks of the version before are still
        true. An OPEN for reading raises nothing, so only `version` fits.
        """
        file = self.file(handle)
        fits = file.version == version or (writes and file.version == old)
        was_dirty = file.is_dirty
        if writes:
            file.writers += 1
        else:
            file.readers += 1
        outcome = Kept.ALL
        if file.blocks and not fits:
            self.invalidate(file)
            outcome = Kept.LOST if was_dirty else Kept.DROPPED
        elif not enabled and file.blocks:
            outcome = Kept.TO_WRITE if was_dirty else Kept.DROPPED
            if not was_dirty:
                self.invalidate(file)
        file.version, file.enabled = version, enabled
        if not (enabled and file.is_dirty):
            file.size = attributes.size or 0
        file.known = attributes.size or 0
        file.attributes = attributes
        return outcome

    def closed(self, handle: bytes, *, writes: bool) -> None:
        """CLOSE is being sent. The blocks stay, the attributes do not: nobody calls back about a closed file."""
        file = self.file(handle)
        if writes:
            file.writers = max(0, file.writers - 1)
        else:
            file.readers = max(0, file.readers - 1)
        if not file.is_open:
            file.enabled = False
            file.attributes = None
            self.forget_empty(file)

    def forget_empty(self, file: CachedFile) -> None:
        """Files of which nothing is kept are not known any more: a client that reads a whole tree forgets it again."""
        if not file.is_open and not file.blocks and file.failure is None:
            self._files.pop(file.handle, None)

    def forget_attributes(self) -> None:
        """Names have changed, and with them perhaps how many a file has."""
        for file in self._files.values():
            file.attributes = None

    # ------------------------------------------------------------ reading

    def missing(self, file: CachedFile, offset: int, count: int, *, ahead: bool = False) -> list[int]:
        """The blocks that a read needs and that are not here; with `ahead` the one after them, if it is sequential."""
        end = min(offset + count, file.size)
        if offset >= end:
            return []
        first, last = offset // self.block, (end - 1) // self.block
        wanted = [
            number
            for number in range(first, last + 1)
            if not self._has(
                file, number, max(offset, number * self.block), min(end, (number + 1) * self.block)
            )
        ]
        following = last + 1
        if (
            ahead
            and wanted
            and wanted[-1] == last
            and offset == file.ahead
            and following * self.block < file.size
            and following not in file.blocks
        ):
            wanted.append(following)
        return wanted

    def _has(self, file: CachedFile, number: int, begin: int, end: int) -> bool:
        block = file.blocks.get(number)
        at = number * self.block
        return block is not None and block.begin <= begin - at and end - at <= block.end

    def fetched(self, file: CachedFile, number: int, data: Buffer, epoch: int) -> None:
        """A block has come, whole or up to the end of the file as the server knows it; requested in `epoch`."""
        if epoch != file.epoch or not file.is_cached:
            return
        limit = min(self.block, min(file.size, LARGEST) - number * self.block)
        if limit <= 0:
            return
        self._block(file, number).fill(data, limit)

    def read(self, file: CachedFile, offset: int, count: int) -> bytes:
        """Data of which nothing is missing; shorter at the end of the file."""
        end = min(offset + count, file.size)
        if offset >= end:
            return b""
        file.ahead = end
        first, last = offset // self.block, (end - 1) // self.block
        parts = []
        for number in range(first, last + 1):
            block, at = self._block(file, number), number * self.block
            parts.append(bytes(block.data[max(0, offset - at) : min(self.block, end - at)]))
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _block(self, file: CachedFile, number: int) -> _Block:
        """A block, which is used now; a new one if there is none."""
        block = file.blocks.get(number)
        if block is None:
            block = file.blocks[number] = self._used[file.handle, number] = _Block(self.block)
        else:
            self._used.move_to_end((file.handle, number))
        return block

    # ------------------------------------------------------------ writing

    def needed(self, file: CachedFile, offset: int, count: int) -> list[int]:
        """The blocks to be fetched before a range is written: what is known of them does not touch it."""
        if not count:
            return []
        first, last = offset // self.block, (offset + count - 1) // self.block
        found = []
        for number in dict.fromkeys((first, last)):
            block, at = file.blocks.get(number), number * self.block
            begin, end = max(0, offset - at), min(self.block, offset + count - at)
            valid_end = self._end_with_gap(file, number, offset)
            if block is not None and not (begin <= valid_end and end >= block.begin):
                found.append(number)
        return found

    def _end_with_gap(self, file: CachedFile, number: int, offset: int) -> int:
        """Where the valid part of a block ends, once a write at `offset` has made zeros of what is before it."""
        block = file.blocks.get(number)
        if block is None:
            return 0
        at = number * self.block
        is_at_end = offset > file.size and at + block.end == file.size
        return min(self.block, offset - at) if is_at_end else block.end

    def write(self, file: CachedFile, offset: int, data: Buffer, now: float) -> None:
        """A program writes; nothing that `needed` names is missing."""
        view = memoryview(data).cast("B")
        if not len(view):
            return
        old_size = file.size
        if offset > old_size:
            self._extend(file, offset)
        end = offset + len(view)
        file.size = max(file.size, end)
        for number in range(offset // self.block, (end - 1) // self.block + 1):
            at = number * self.block
            begin, stop = max(0, offset - at), min(self.block, end - at)
            is_new = number not in file.blocks
            block = self._block(file, number)
            if is_new and at >= old_size:
                block.end = begin  # zeros: the server has nothing of it
            block.put(begin, view[at + begin - offset : at + stop - offset], now)
        self.wake = min(self.wake, now + self.delay)

    def _extend(self, file: CachedFile, size: int) -> None:
        """The file becomes longer by zeros: the block in which it ended has some of them."""
        number = file.size // self.block
        block, at = file.blocks.get(number), number * self.block
        if block is not None and at + block.end == file.size:
            block.end = min(self.block, size - at)
        file.size = size

    def cut(self, file: CachedFile, size: int) -> None:
        """SETATTR has given the file a size: what waits beyond it is cancelled."""
        for number in [number for number in file.blocks if number * self.block >= size]:
            self._cancel(file, number)
        number = size // self.block
        block = file.blocks.get(number)
        if block is not None and size < file.size:
            before = block.dirty_end - block.dirty_begin
            block.cut(size - number * self.block)
            self.cancelled += before - (block.dirty_end - block.dirty_begin)
        if size > file.size:
            self._extend(file, size)
        file.size = size

    def removed(self, handle: bytes) -> None:
        """The last name of a file is removed: what waits is cancelled (section 4.2.5)."""
        file = self._files.get(handle)
        if file is None:
            return
        for number in list(file.blocks):
            self._cancel(file, number)
        file.epoch += 1
        file.version = None
        self.forget_empty(file)

    def _cancel(self, file: CachedFile, number: int) -> None:
        block = file.blocks[number]
        self.cancelled += block.dirty_end - block.dirty_begin
        self._drop(file, number)

    def _drop(self, file: CachedFile, number: int) -> None:
        del file.blocks[number], self._used[file.handle, number]

    # ------------------------------------------------------------ write-back

    def extents(self, file: CachedFile) -> list[Extent]:
        """All that waits of a file, in the order of offsets."""
        return [
            self._extent(file, number, block)
            for number, block in sorted(file.blocks.items())
            if block.is_dirty
        ]

    def _extent(self, file: CachedFile, number: int, block: _Block) -> Extent:
        data = bytes(block.data[block.dirty_begin : block.dirty_end])
        return Extent(file.handle, number, number * self.block + block.dirty_begin, data, block.stamp)

    def dirty_files(self) -> list[CachedFile]:
        """Those of which data waits."""
        return [file for file in self._files.values() if file.is_dirty]

    def due(self, now: float) -> list[Extent]:
        """What has waited for `delay` seconds."""
        return [
            self._extent(self._files[handle], number, block)
            for (handle, number), block in self._used.items()
            if block.is_dirty and now - block.since >= self.delay
        ]

    def look_again(self) -> None:
        """Note when something will have waited for as long."""
        waiting = (block.since for block in self._used.values() if block.is_dirty)
        self.wake = min(waiting, default=math.inf) + self.delay

    def written(self, extent: Extent) -> None:
        """A WRITE has been answered."""
        file = self._files.get(extent.handle)
        block = None if file is None else file.blocks.get(extent.number)
        if file is not None and block is not None and block.stamp == extent.stamp:
            file.known = max(file.known, extent.offset + len(extent.data))
            block.clean()

    def waits(self, extent: Extent) -> bool:
        """Whether this data still waits: not if it was written in another way, changed or cancelled since."""
        file = self._files.get(extent.handle)
        block = None if file is None else file.blocks.get(extent.number)
        return block is not None and block.is_dirty and block.stamp == extent.stamp

    def failed(self, extent: Extent, error: Exception) -> None:
        """A WRITE was refused: the data is lost, and who uses the file next gets to know it."""
        file = self._files.get(extent.handle)
        if file is None:
            return
        file.fail(error)
        if extent.number in file.blocks:
            self._drop(file, extent.number)

    def excess(self) -> list[Extent]:
        """Make room: clean blocks go, the ones used longest ago first. What is to be written before there is enough."""
        over = len(self._used) - max(1, self.most // self.block)
        if over <= 0:
            return []
        waiting: list[Extent] = []
        for (handle, number), block in list(self._used.items()):
            if over <= 0:
                break
            over -= 1
            file = self._files[handle]
            if block.is_dirty:
                waiting.append(self._extent(file, number, block))
            else:
                self._drop(file, number)
                self.forget_empty(file)
        return waiting

    # ------------------------------------------------------------ what the server wants

    def keep_dirty(self, file: CachedFile) -> None:
        """Only what waits is kept: the server may have a newer version of the rest."""
        for number, block in list(file.blocks.items()):
            if block.is_dirty:
                block.begin, block.end = block.dirty_begin, block.dirty_end
            else:
                self._drop(file, number)
        file.epoch += 1

    def invalidate(self, file: CachedFile) -> None:
        """Nothing of it is kept, and nothing that was requested before will be; caching is disabled (section 3.2)."""
        for number in list(file.blocks):
            self._drop(file, number)
        file.epoch += 1
        file.enabled = False
        file.attributes = None
        self.forget_empty(file)


def with_size(attributes: Attributes, size: int) -> Attributes:
    """The same attributes with another size."""
    return attributes if attributes.size == size else dataclasses.replace(attributes, size=size)
