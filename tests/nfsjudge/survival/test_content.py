# SPDX-License-Identifier: MIT
"""What a file may hold after a crash, compared with a slow enumeration of all states, and by examples."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfsjudge.survival import Content, Level, Promise

LONGEST = 4
BYTES = range(4)
ALL_CONTENTS = [bytes(each) for size in range(LONGEST + 1) for each in itertools.product(BYTES, repeat=size)]
State = tuple[bytes, bool]
"""A content on stable storage, and whether a SETATTR is lost in it."""


class Oracle:
    """Every content that may be on stable storage, one by one."""

    def __init__(self) -> None:
        self.now = b""
        self.states: set[State] = {(b"", False)}
        self._written: set[int] = set()

    def write(self, offset: int, data: bytes, level: Level) -> None:
        end = offset + len(data)
        self.now = _put(self.now, offset, data)
        self._written |= {*range(offset, end)}
        if level is Level.UNSTABLE:
            self.states = {(each, lost) for old, lost in self.states for each in _partly(old, offset, data)}
        else:
            kept = [(old, lost) for old, lost in self.states if not (lost and level is Level.FILE_SYNC)]
            self.states = {(_put(old, offset, data), lost) for old, lost in kept}

    def commit(self, offset: int, count: int) -> None:
        end = offset + count if count else len(self.now)
        places = [at for at in sorted(self._written) if offset <= at < end]
        for at in places:
            self.states = {(_put(old, at, self.now[at : at + 1]), lost) for old, lost in self.states}

    def resize(self, size: int) -> None:
        self.now = _sized(self.now, size)
        self._written = {at for at in self._written if at < size}
        self.states = {(old, True) for old, _ in self.states} | {
            (_sized(old, size), lost) for old, lost in self.states
        }


def _put(old: bytes, offset: int, data: bytes) -> bytes:
    whole = old.ljust(offset, b"\0")
    return whole[:offset] + data + whole[offset + len(data) :]


def _sized(old: bytes, size: int) -> bytes:
    return old[:size].ljust(size, b"\0")


def _partly(old: bytes, offset: int, data: bytes) -> set[bytes]:
    """Any part of the data, zeros, and any size up to its end."""
    found = set()
    for size in range(len(old), max(len(old), offset + len(data)) + 1):
        before = _sized(old, size)
        places = range(offset, min(size, offset + len(data)))
        for chosen in itertools.product((0, 1, 2), repeat=len(places)):
            after = bytearray(before)
            for at, choice in zip(places, chosen, strict=True):
                after[at] = (before[at], data[at - offset], 0)[choice]
            found.add(bytes(after))
    return found


WRITE = st.tuples(
    st.just("write"), st.integers(0, 3), st.integers(1, 2), st.sampled_from([1, 2, 3]), st.sampled_from(Level)
)
COMMIT = st.tuples(st.just("commit"), st.integers(0, 2), st.integers(0, 3))
RESIZE = st.tuples(st.just("resize"), st.integers(0, LONGEST))


def play(steps: list[tuple[object, ...]]) -> tuple[Content, Oracle]:
    """Both after the same calls. WRITE leaves no gap: no clause says what is in one."""
    content, oracle = Content(is_lossy=True), Oracle()
    for step in steps:
        match step:
            case ("write", int(wanted), int(size), int(byte), Level() as level):
                offset = min(wanted, content.size, LONGEST - size)
                for each in (content, oracle):
                    each.write(offset, bytes([byte]) * size, level)
            case ("commit", int(offset), int(count)):
                for each in (content, oracle):
                    each.commit(offset, count)
            case ("resize", int(size)):
                for each in (content, oracle):
                    each.resize(size)
    assert content.now == oracle.now
    return content, oracle


@settings(max_examples=80, deadline=None)
@given(st.lists(WRITE | COMMIT, max_size=5))
def test_without_setattr_exactly_the_possible_contents_are_right(steps: list[tuple[object, ...]]) -> None:
    content, oracle = play(steps)
    possible = {state for state, _ in oracle.states}
    right = {each for each in ALL_CONTENTS if content.judge(each) is None}
    assert right == possible


@settings(max_examples=150, deadline=None)
@given(st.lists(WRITE | COMMIT | RESIZE, max_size=6))
def test_no_possible_content_is_wrong(steps: list[tuple[object, ...]]) -> None:
    content, oracle = play(steps)
    for state, is_setattr_lost in oracle.states:
        found = content.judge(state)
        assert found is None or (found.is_weak and is_setattr_lost), (state, found)


@settings(max_examples=150, deadline=None)
@given(st.lists(WRITE | COMMIT | RESIZE, max_size=6), st.sampled_from(ALL_CONTENTS))
def test_a_content_with_which_only_a_setattr_is_lost_is_at_most_weak(
    steps: list[tuple[object, ...]], seen: bytes
) -> None:
    content, _ = play(steps)
    found = content.judge(seen)
    if found is not None and found.is_weak:
        assert found.promise is Promise.SETATTR


# ---------------------------------------------------------------- examples


def file_of(*writes: tuple[int, bytes, Level], is_lossy: bool = True) -> Content:
    content = Content(is_lossy=is_lossy)
    for offset, data, level in writes:
        content.write(offset, data, level)
    return content


@pytest.mark.parametrize(
    ("seen", "promise"),
    [
        (b"AAAABBBB", None),
        (b"AAAA", Promise.DATA_SYNC),
        (b"AAAABBBBB", Promise.DATA_SYNC),
        (b"xAAABBBB", Promise.FILE_SYNC),
        (b"AAAABBxB", Promise.DATA_SYNC),
    ],
)
def test_the_promise_that_is_broken(seen: bytes, promise: Promise | None) -> None:
    content = file_of((0, b"AAAA", Level.FILE_SYNC), (4, b"BBBB", Level.DATA_SYNC))
    found = content.judge(seen)
    assert (found and found.promise) == promise


def test_bytes_that_nobody_wrote_in_an_unstable_range() -> None:
    content = file_of((0, b"AAAA", Level.FILE_SYNC), (1, b"bb", Level.UNSTABLE))
    assert all(content.judge(seen) is None for seen in (b"AAAA", b"AbbA", b"AbAA", b"A\0bA"))
    found = content.judge(b"AxbA")
    assert found is not None
    assert (found.promise, found.what) == (Promise.UNSTABLE, "data at offset 1")
    assert found.expected == "6262 'bb' or 4141 'AA' or zeros"


def test_a_stable_write_ends_the_freedom_of_its_range_only() -> None:
    content = file_of((0, b"aaaa", Level.UNSTABLE), (1, b"BB", Level.FILE_SYNC))
    assert content.judge(b"\0BB") is None
    assert content.judge(b"aBBa") is None
    assert content.judge(b"aaaa") is not None
    assert content.judge(b"") is not None


def test_committed_data_must_be_there() -> None:
    content = file_of((0, b"aa", Level.UNSTABLE), (4, b"bb", Level.UNSTABLE))
    content.commit(4, 2)
    found = content.judge(b"aa")
    assert found is not None
    assert found.promise is Promise.COMMIT
    assert content.judge(b"\0\0??bb") is None  # no clause says what is between


def test_a_truncation_is_lost_alone_or_not_at_all() -> None:
    content = file_of((0, b"AAAA", Level.FILE_SYNC))
    content.resize(1)
    found = content.judge(b"AAAA")
    assert found is not None
    assert found.is_weak
    content.write(0, b"B", Level.FILE_SYNC)  # commits all metadata of the file
    found = content.judge(b"BAAA")
    assert found is not None
    assert (found.promise, found.is_weak) == (Promise.FILE_SYNC, False)


def test_data_that_was_cut_off_does_not_return() -> None:
    content = file_of((0, b"AAAA", Level.FILE_SYNC), is_lossy=False)
    content.resize(1)
    content.resize(4)
    assert content.judge(b"A\0\0\0") is None
    found = content.judge(b"AAAA")
    assert found is not None
    assert not found.is_weak
