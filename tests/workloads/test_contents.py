# SPDX-License-Identifier: MIT
"""What files hold: made in any pieces it is the same, other files and offsets differ, and a reader may see no more."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.contents import BLOCK, Contents, FileState, Pieces, check
from workloads.trouble import WrongData

CONTENTS = Contents(seed=7)
_OFFSETS = st.integers(0, 20_000)
_COUNTS = st.integers(0, 12_000)


@given(offset=_OFFSETS, first=_COUNTS, second=_COUNTS)
def test_pieces_are_the_same_as_the_whole(offset: int, first: int, second: int) -> None:
    whole = CONTENTS.make(1, 2, 3, offset, first + second)
    assert len(whole) == first + second
    assert whole == CONTENTS.make(1, 2, 3, offset, first) + CONTENTS.make(1, 2, 3, offset + first, second)


@given(offset=st.integers(0, 3 << 20), count=st.integers(1, 2 << 20))
def test_a_large_piece_has_the_bytes_of_its_blocks(offset: int, count: int) -> None:
    whole = CONTENTS.make(1, 1, 0, offset, count)
    at = (offset + count // 2) // BLOCK * BLOCK
    if at >= offset and at + BLOCK <= offset + count:
        assert whole[at - offset : at - offset + BLOCK] == CONTENTS.make(1, 1, 0, at, BLOCK)


def test_files_versions_writers_offsets_and_seeds_differ() -> None:
    base = CONTENTS.make(1, 1, 1, 0, BLOCK)
    others = [
        CONTENTS.make(2, 1, 1, 0, BLOCK),
        CONTENTS.make(1, 2, 1, 0, BLOCK),
        CONTENTS.make(1, 1, 2, 0, BLOCK),
        CONTENTS.make(1, 1, 1, 1 << 20, BLOCK),  # where the pool repeats
        Contents(seed=8).make(1, 1, 1, 0, BLOCK),
    ]
    assert all(other != base for other in others)
    assert CONTENTS.make(1, 0, 0, 5, 10) == bytes(10)


_WRITES = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30)), max_size=12)


@given(writes=_WRITES, cut=st.none() | st.integers(0, 80))
def test_pieces_are_what_a_table_of_bytes_would_be(writes: list[tuple[int, int]], cut: int | None) -> None:
    pieces, table = Pieces(), list[int]()
    for version, (begin, count) in enumerate(writes, 1):
        pieces.put(begin, begin + count, version, 0)
        table += [0] * (begin + count - len(table))
        table[begin : begin + count] = [version] * count
    if cut is not None:
        pieces.cut(cut)
        table = table[:cut] + [0] * (cut - len(table))
    assert pieces.size == len(table)
    found = pieces.between(0, len(table) + 10)
    assert [version for begin, end, version, _ in found for _ in range(begin, end)] == table
    assert pieces.between(3, 9) == _cut(found, 3, 9)


def _cut(found: Sequence[tuple[int, int, int, int]], begin: int, end: int) -> list[tuple[int, int, int, int]]:
    parts = [(max(b, begin), min(e, end), version, writer) for b, e, version, writer in found]
    return [part for part in parts if part[0] < part[1]]


def _written(state: FileState, offset: int, count: int, writer: int = 1) -> None:
    state.end_write(state.begin_write(offset, count, writer))


def _data(state: FileState, version: int, offset: int, count: int) -> bytearray:
    return CONTENTS.make(state.number, version, 1, offset, count)


def test_while_a_write_is_under_way_old_and_new_bytes_are_right() -> None:
    state = FileState("f")
    _written(state, 0, 100)
    old, new = _data(state, 1, 0, 100), _data(state, 2, 0, 100)
    piece = state.begin_write(0, 100, 1)
    reading = state.begin_read(0, 100)
    for seen in (old, new, old[:50] + new[50:]):
        check(CONTENTS, state, reading, seen, reader=2)
    with pytest.raises(WrongData, match="offset 50"):
        check(CONTENTS, state, reading, old[:50] + b"x" * 50, reader=2)
    state.end_write(piece)
    check(CONTENTS, state, reading, old, reader=2)  # it began before the write ended
    state.end_read(reading)
    late = state.begin_read(0, 100)
    check(CONTENTS, state, late, new, reader=2)
    with pytest.raises(WrongData):
        check(CONTENTS, state, late, old, reader=2)


def test_a_write_that_begins_during_a_read_may_be_seen() -> None:
    state = FileState("f")
    _written(state, 0, 100)
    reading = state.begin_read(0, 200)
    state.begin_write(50, 100, 1)
    old, new = _data(state, 1, 0, 100), _data(state, 2, 50, 100)
    check(CONTENTS, state, reading, old, reader=2)
    check(CONTENTS, state, reading, old[:50] + new, reader=2)
    with pytest.raises(WrongData, match="120 bytes"):
        check(CONTENTS, state, reading, old[:50] + new[:70], reader=2)


def test_what_is_wrong_says_whose_it_is() -> None:
    state, other = FileState("a"), FileState("b")
    _written(state, 0, 2 * BLOCK)
    reading = state.begin_read(0, 2 * BLOCK)
    seen = _data(state, 1, 0, BLOCK) + CONTENTS.make(other.number, 9, 4, BLOCK, BLOCK)
    with pytest.raises(WrongData) as caught:
        check(CONTENTS, state, reading, seen, reader=3)
    error = caught.value
    assert BLOCK <= error.offset < BLOCK + 32
    assert f"file {other.number:016x}, version 9, writer 4, offset {BLOCK}" in error.seen
    assert (error.writer, error.reader) == ("1 (version 1)", 3)


def test_an_error_crosses_to_another_process() -> None:
    import pickle

    error = WrongData("f", 3, "00", "01", writer="1", reader=2)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.offset, again.reader) == (str(error), 3, 2)
