# SPDX-License-Identifier: MIT
"""The cache of Spritely NFS, without I/O: what it says of blocks is what a program and the server have of them."""

from __future__ import annotations

import math
import typing as t

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from nfsclient.files import Attributes
from nfsclient.highlevel.snfs.cache import Cache, CachedFile, Extent, Kept

FILE = b"file".ljust(32, b"\0")
OTHER = b"other".ljust(32, b"\0")
BLOCK = 16


def opened(cache: Cache, size: int = 0, version: int = 1, old: int = 1, *, writes: bool = True, enabled: bool = True,
           handle: bytes = FILE) -> tuple[Kept, CachedFile]:  # fmt: skip
    kept = cache.opened(
        handle, version, old, enabled=enabled, attributes=Attributes(size=size), writes=writes
    )
    return kept, cache.file(handle)


def with_data(data: bytes = b"0123456789", **more: t.Any) -> tuple[Cache, CachedFile]:
    cache = Cache(block=BLOCK, **more)
    _, file = opened(cache)
    cache.write(file, 0, data, 0.0)
    return cache, file


def write_all(cache: Cache, file: CachedFile) -> list[tuple[int, bytes]]:
    found = cache.extents(file)
    for extent in found:
        cache.written(extent)
    return [(extent.offset, extent.data) for extent in found]


# ---------------------------------------------------------------- versions (section 3.1)


def test_blocks_of_the_current_version_stay_at_an_open() -> None:
    cache, file = with_data()
    write_all(cache, file)
    cache.closed(FILE, writes=True)
    kept, file = opened(cache, 10, 1, 1, writes=False)
    assert kept is Kept.ALL
    assert cache.missing(file, 0, 10) == []


def test_blocks_of_the_version_before_an_open_for_writing_stay() -> None:
    cache, file = with_data()
    write_all(cache, file)
    cache.closed(FILE, writes=True)
    kept, file = opened(cache, 10, 2, 1)
    assert kept is Kept.ALL
    assert file.version == 2
    assert cache.missing(file, 0, 10) == []


def test_an_open_for_reading_raises_no_version_so_the_version_before_does_not_fit() -> None:
    """Another client has opened the file for writing since: section 3.1, read as docs/spritely.md says."""
    cache, file = with_data()
    write_all(cache, file)
    cache.closed(FILE, writes=True)
    kept, file = opened(cache, 10, 2, 1, writes=False)
    assert kept is Kept.DROPPED
    assert cache.missing(file, 0, 10) == [0]


def test_data_that_waits_and_does_not_fit_is_lost() -> None:
    cache, _ = with_data()
    cache.closed(FILE, writes=True)
    kept, file = opened(cache, 3, 5, 4)
    assert kept is Kept.LOST
    assert cache.extents(file) == []
    assert file.size == 3


def test_data_that_waits_is_written_first_if_caching_is_disabled() -> None:
    cache, _ = with_data()
    cache.closed(FILE, writes=True)
    kept, file = opened(cache, 0, 2, 1, enabled=False)
    assert kept is Kept.TO_WRITE
    assert not file.is_cached
    assert write_all(cache, file) == [(0, b"0123456789")]


def test_clean_blocks_go_if_caching_is_disabled() -> None:
    cache, file = with_data()
    write_all(cache, file)
    kept, file = opened(cache, 10, 2, 1, enabled=False)
    assert kept is Kept.DROPPED
    assert file.blocks == {}


# ---------------------------------------------------------------- attributes (section 4.2.3)


def test_attributes_are_kept_while_caching_is_enabled_and_have_the_size_of_this_client() -> None:
    _, file = with_data()
    assert file.attributes is not None
    assert file.attributes.size == 10


def test_attributes_are_never_kept_of_a_write_shared_file() -> None:
    cache = Cache(block=BLOCK)
    _, file = opened(cache, 10, enabled=False)
    assert file.attributes is None
    file.attributes = Attributes(size=10)
    assert file.attributes is None


def test_attributes_go_with_the_last_close() -> None:
    cache, file = with_data()
    opened(cache, 0, writes=False)
    cache.closed(FILE, writes=True)
    assert file.attributes is not None
    cache.closed(FILE, writes=False)
    assert file.attributes is None


# ---------------------------------------------------------------- delayed writes (section 4.2.5)


def test_data_waits_for_the_delay_and_no_longer() -> None:
    cache, file = with_data(delay=30.0)
    cache.write(file, BLOCK, b"later", 10.0)
    assert cache.wake == 30.0
    assert cache.due(29.9) == []
    (extent,) = cache.due(30.0)
    assert (extent.offset, extent.data) == (0, b"0123456789")
    cache.written(extent)
    cache.look_again()
    assert cache.wake == 40.0


def test_the_age_of_a_block_is_that_of_its_oldest_data() -> None:
    cache, file = with_data(delay=30.0)
    cache.write(file, 2, b"new", 20.0)
    assert len(cache.due(30.0)) == 1


def test_what_waits_is_cancelled_when_the_file_is_removed() -> None:
    cache, file = with_data()
    cache.removed(FILE)
    assert cache.extents(file) == []
    assert cache.cancelled == 10
    assert cache.dirty_files() == []


def test_what_waits_beyond_a_cut_is_cancelled() -> None:
    cache, file = with_data(bytes(40))
    cache.cut(file, 20)
    assert write_all(cache, file) == [(0, bytes(16)), (16, bytes(4))]
    assert cache.cancelled == 20


def test_data_written_while_its_block_is_on_its_way_is_written_again() -> None:
    cache, file = with_data()
    (extent,) = cache.extents(file)
    cache.write(file, 0, b"X", 1.0)
    cache.written(extent)
    assert write_all(cache, file) == [(0, b"X123456789")]


def test_data_that_cannot_be_written_is_reported_once_to_who_uses_the_file() -> None:
    cache, file = with_data()
    (extent,) = cache.extents(file)
    error = OSError("no space")
    cache.failed(extent, error)
    assert file.failure is error
    assert cache.extents(file) == []


# ---------------------------------------------------------------- callbacks and fetches (section 3.2)


def test_data_that_was_requested_before_an_invalidation_is_not_kept() -> None:
    cache = Cache(block=BLOCK)
    _, file = opened(cache, 10, writes=False)
    before = file.epoch
    cache.invalidate(file)
    cache.fetched(file, 0, b"0123456789", before)
    assert file.blocks == {}
    file.enabled = True  # another OPEN
    cache.fetched(file, 0, b"0123456789", before)
    assert file.blocks == {}


def test_data_that_was_requested_before_a_write_back_does_not_replace_what_was_written() -> None:
    """READ is answered, a callback writes back, and then the answer gets to the cache."""
    cache = Cache(block=BLOCK)
    _, file = opened(cache, 30)
    cache.write(file, 4, b"new", 0.0)
    assert write_all(cache, file) == [(4, b"new")]
    cache.fetched(file, 0, b"0123456789ABCDEF", file.epoch)
    assert cache.read(file, 0, 16) == b"0123new789ABCDEF"


def test_a_block_that_is_not_known_up_to_a_write_is_fetched_first() -> None:
    cache = Cache(block=BLOCK)
    _, file = opened(cache, 30)
    assert cache.needed(file, 4, 3) == []  # alone in its block
    cache.write(file, 4, b"abc", 0.0)
    assert cache.needed(file, 7, 2) == []  # joined to it
    assert cache.needed(file, 12, 2) == [0]
    cache.fetched(file, 0, b"0123456789ABCDEF", file.epoch)
    assert cache.needed(file, 12, 2) == []
    assert cache.read(file, 0, 16) == b"0123abc789ABCDEF"


def test_read_ahead_is_for_sequential_reads() -> None:
    cache = Cache(block=BLOCK)
    _, file = opened(cache, 100, writes=False)
    assert cache.missing(file, 0, 5, ahead=True) == [0, 1]
    assert cache.missing(file, 20, 5, ahead=True) == [1]
    assert cache.missing(file, 96, 50, ahead=True) == [6]


# ---------------------------------------------------------------- room


def test_clean_blocks_give_way_and_dirty_ones_are_to_be_written() -> None:
    cache = Cache(block=BLOCK, most=2 * BLOCK)
    _, file = opened(cache, 64, writes=True)
    for number in (0, 1):
        cache.fetched(file, number, bytes(BLOCK), file.epoch)
    cache.write(file, 2 * BLOCK, b"x" * BLOCK, 0.0)
    assert cache.excess() == []
    assert sorted(file.blocks) == [1, 2]  # the one that was used longest ago has gone
    cache.write(file, 3 * BLOCK, b"y" * BLOCK, 0.0)
    cache.read(file, BLOCK, 1)
    cache.write(file, 0, b"z" * BLOCK, 0.0)
    waiting = cache.excess()
    assert [extent.number for extent in waiting] == [2, 3]
    for extent in waiting:
        cache.written(extent)
    assert cache.excess() == []
    assert cache.memory == 2 * BLOCK


def test_nothing_is_known_of_a_file_that_is_closed_and_of_which_nothing_is_kept() -> None:
    cache = Cache(block=BLOCK)
    opened(cache, 10, writes=False)
    cache.closed(FILE, writes=False)
    assert cache.files == []


# ---------------------------------------------------------------- any program

_OFFSETS = st.integers(0, 5 * BLOCK)
_DATA = st.binary(min_size=1, max_size=2 * BLOCK + 3)


class OneClient(RuleBasedStateMachine):
    """One client and a server that does what it is requested to: what a program reads is what it has written."""

    @initialize(data=_DATA, most=st.integers(1, 6))
    def begin(self, data: bytes, most: int) -> None:
        self.cache = Cache(block=BLOCK, most=most * BLOCK, delay=30.0)
        self.server = bytearray(data)
        self.program = bytearray(data)
        self.version = 1
        self.now = 0.0
        self.opens: list[bool] = []
        self.under_way: list[Extent] = []
        self.requested: tuple[int, bytes, int] | None = None
        """The block, data and epoch of a READ whose reply has not come."""
        self.open(writes=True)

    @property
    def file(self) -> CachedFile:
        return self.cache.file(FILE)

    @rule(writes=st.booleans())
    def open(self, writes: bool) -> None:
        old, self.version = self.version, self.version + writes
        kept, _ = opened(self.cache, len(self.server), self.version, old, writes=writes)
        assert kept is Kept.ALL
        self.opens.append(writes)

    @rule()
    def close(self) -> None:
        if self.opens:
            self.cache.closed(FILE, writes=self.opens.pop())

    def _fetch(self, numbers: t.Iterable[int]) -> None:
        for number in numbers:
            data = self.server[number * BLOCK : (number + 1) * BLOCK]
            self.cache.fetched(self.file, number, bytes(data), self.file.epoch)

    @rule(number=st.integers(0, 5))
    def request(self, number: int) -> None:
        """READ is answered, and its reply is on its way."""
        if self.opens and number * BLOCK < self.file.size:
            data = bytes(self.server[number * BLOCK : (number + 1) * BLOCK])
            self.requested = number, data, self.file.epoch

    @rule()
    def take_data(self) -> None:
        if self.requested is not None:
            self.cache.fetched(self.file, *self.requested)
            self.requested = None
            self._make_room()

    @rule(offset=_OFFSETS, count=st.integers(1, 3 * BLOCK), ahead=st.booleans())
    def read(self, offset: int, count: int, ahead: bool) -> None:
        if not self.opens:
            return
        self._fetch(self.cache.missing(self.file, offset, count, ahead=ahead))
        assert self.cache.read(self.file, offset, count) == self.program[offset : offset + count]
        self._make_room()

    @rule(offset=_OFFSETS, data=_DATA)
    def write(self, offset: int, data: bytes) -> None:
        if True not in self.opens:
            return
        self._fetch(self.cache.needed(self.file, offset, len(data)))
        assert self.cache.needed(self.file, offset, len(data)) == []
        self.cache.write(self.file, offset, data, self.now)
        self.program.extend(bytes(max(0, offset - len(self.program))))
        self.program[offset : offset + len(data)] = data
        self._make_room()

    @rule(size=_OFFSETS)
    def cut(self, size: int) -> None:
        if True not in self.opens:
            return
        self.take_data()  # a program that cuts does not wait for data
        for contents in (self.server, self.program):
            del contents[size:]
            contents.extend(bytes(size - len(contents)))
        self.cache.cut(self.file, size)

    def _put(self, extent: Extent) -> None:
        self.server.extend(bytes(max(0, extent.offset - len(self.server))))
        self.server[extent.offset : extent.offset + len(extent.data)] = extent.data

    def _make_room(self) -> None:
        for extent in self.cache.excess():
            self._put(extent)
            self.cache.written(extent)
        assert self.cache.excess() == []

    @rule()
    def send(self) -> None:
        """WRITEs go out, and reach the server; their replies come later."""
        for extent in self.cache.extents(self.file):
            self._put(extent)
            self.under_way.append(extent)

    @rule()
    def take_replies(self) -> None:
        while self.under_way:
            self.cache.written(self.under_way.pop())

    @rule(seconds=st.integers(1, 40))
    def wait(self, seconds: int) -> None:
        self.now += seconds
        if self.now >= self.cache.wake:
            for extent in self.cache.due(self.now):
                self._put(extent)
                self.cache.written(extent)
            self.cache.look_again()
        assert self.cache.due(self.now) == []

    @rule()
    def give_back(self) -> None:
        """A callback: all is written, and nothing is kept; the next OPEN is another one."""
        for extent in self.cache.extents(self.file):
            self._put(extent)
        self.cache.invalidate(self.file)
        for writes in self.opens:
            self.cache.closed(FILE, writes=writes)
        self.opens.clear()
        self.under_way.clear()
        assert self.server == self.program

    @invariant()
    def bounded(self) -> None:
        if hasattr(self, "cache"):
            clean = [block for block in self.file.blocks.values() if not block.is_dirty]
            assert len(clean) * BLOCK <= self.cache.most
            assert self.cache.wake < math.inf or not self.file.is_dirty
            for block in self.file.blocks.values():
                assert 0 <= block.begin <= block.end <= BLOCK
                assert not block.is_dirty or block.begin <= block.dirty_begin < block.dirty_end <= block.end

    @invariant()
    def nothing_is_lost(self) -> None:
        """What the server has, with what waits, is what the program has written."""
        if hasattr(self, "cache"):
            there = bytearray(self.server)
            for extent in self.cache.extents(self.file):
                there.extend(bytes(max(0, extent.offset - len(there))))
                there[extent.offset : extent.offset + len(extent.data)] = extent.data
            assert there == self.program[: len(there)]
            assert not any(self.program[len(there) :])


TestOneClient = OneClient.TestCase
TestOneClient.settings = settings(
    max_examples=100, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
