# SPDX-License-Identifier: MIT
"""The table of byte-range locks against a slow model: an array with one entry for each byte and owner.

No protocol is in the table, so owners here are numbers, text and tuples.
"""

from __future__ import annotations

import itertools
import typing as t
from collections.abc import Hashable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsserver.state.held import Held
from nfsserver.state.locks import Denied
from nfsserver.state.ranges import END, Range, RangeConflict, Ranges, RangesFull
from nfsserver.state.shares import Share

BYTES = 12
"""Of the model; its last byte stands for all that follow."""
OWNERS: t.Final[tuple[Hashable, ...]] = (7, "host", ("host", 7))
FILES: t.Final = ("file", 1)


def spans() -> st.SearchStrategy[tuple[int, int]]:
    """(start, end), sometimes to the end of the file."""
    some = st.tuples(st.integers(0, BYTES - 2), st.integers(1, BYTES)).map(
        lambda each: (each[0], min(each[0] + each[1], BYTES - 1))
    )
    return st.one_of(some, st.integers(0, BYTES - 1).map(lambda start: (start, END)))


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["read", "write", "unlock", "release"]),
        st.sampled_from(FILES),
        st.sampled_from(OWNERS),
        spans(),
    ),
    max_size=30,
)
Model: t.TypeAlias = dict[tuple[Hashable, Hashable], list[str]]


def cells(start: int, end: int) -> range:
    return range(start, BYTES if end == END else end)


def excludes(model: Model, deed: str, file: Hashable, owner: Hashable, where: tuple[int, int]) -> bool:
    """Whether another owner has a byte there that this lock may not have, too."""
    others = [model[file, other][cell] for other in OWNERS if other != owner for cell in cells(*where)]
    return any(right and "write" in {right, deed} for right in others)


def expect_model(table: Ranges, model: Model, file: Hashable, owner: Hashable) -> None:
    """The ranges of an owner are the bytes of the model, in order, merged, without overlaps."""
    ranges, seen = table.of(file, owner), [""] * BYTES
    for byte_range in ranges:
        for cell in cells(byte_range.start, byte_range.end):
            assert not seen[cell]
            seen[cell] = "write" if byte_range.is_write else "read"
    assert seen == model[file, owner]
    for before, after in itertools.pairwise(ranges):
        assert before.end < after.start or (before.end == after.start and before.is_write != after.is_write)
    assert (owner in table.owners(file)) == bool(ranges)


@given(STEPS)
def test_ranges_are_those_of_the_model(
    steps: list[tuple[str, Hashable, Hashable, tuple[int, int]]],
) -> None:
    table = Ranges()
    model: Model = {(file, owner): [""] * BYTES for file in FILES for owner in OWNERS}
    for deed, file, owner, (start, end) in steps:
        mine = model[file, owner]
        if deed == "release":
            table.release(file, owner)
            mine[:] = [""] * BYTES
        elif deed == "unlock":
            table.unlock(file, owner, start, end)
            for cell in cells(start, end):
                mine[cell] = ""
        elif excludes(model, deed, file, owner, (start, end)):
            with pytest.raises(RangeConflict) as refused:
                table.lock(file, owner, start, end, is_write=deed == "write")
            other, held = refused.value.conflict
            assert other != owner
            assert held in table.of(file, other)
            assert held.overlaps(start, end)
            assert held.is_write or deed == "write"
        else:
            table.lock(file, owner, start, end, is_write=deed == "write")
            for cell in cells(start, end):
                mine[cell] = deed
        for each in model:
            expect_model(table, model, *each)


@given(STEPS)
def test_a_table_with_room_for_three_ranges_has_never_more(
    steps: list[tuple[str, Hashable, Hashable, tuple[int, int]]],
) -> None:
    table = Ranges()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nfsserver.bounds.MOST.lock_ranges", 3)
        for deed, file, owner, (start, end) in steps:
            before = {each: table.of(file, each) for each in OWNERS}
            try:
                if deed == "unlock":
                    table.unlock(file, owner, start, end)
                elif deed == "release":
                    table.release(file, owner)
                else:
                    table.lock(file, owner, start, end, is_write=deed == "write")
            except (RangeConflict, RangesFull):
                assert before == {each: table.of(file, each) for each in OWNERS}
            # A range of the other type in the middle of one makes two more.
            assert sum(len(table.of(file, each)) for each in OWNERS) <= 3 + 1


def test_ranges_split_merge_upgrade_and_downgrade() -> None:
    table = Ranges()
    table.lock("file", 1, 0, 10, is_write=False)
    table.lock("file", 1, 4, 6, is_write=True)
    assert table.of("file", 1) == (Range(0, 4, False), Range(4, 6, True), Range(6, 10, False))
    table.lock("file", 1, 4, 6, is_write=False)
    assert table.of("file", 1) == (Range(0, 10, False),)
    table.unlock("file", 1, 3, 5)
    assert table.of("file", 1) == (Range(0, 3, False), Range(5, 10, False))
    table.lock("file", 1, 10, END, is_write=False)
    assert table.of("file", 1)[-1].length == END - 1
    table.forget("file")
    assert not table.owners("file")


def test_owners_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nfsserver.bounds.MOST.lock_owners", 2)
    table = Ranges()
    for owner in (1, 2):
        table.lock("file", owner, 0, 1, is_write=False)
    with pytest.raises(RangesFull):
        table.lock("file", 3, 0, 1, is_write=False)
    table.lock("file", 2, 5, 6, is_write=True)
    table.unlock("file", 1, 0, END)
    table.lock("file", 3, 0, 1, is_write=False)


def test_nfsv4_and_another_protocol_exclude_each_other() -> None:
    held = Held(1)
    manager = ("host", 4711)
    held.ranges.lock("file", manager, 0, 10, is_write=True)
    state = held.opens.open("client", b"opener", "file", Share.BOTH, Share.NONE)
    with pytest.raises(Denied) as denied:
        held.locks.lock(state, b"locker", 5, 6, is_write=False)
    assert (denied.value.client, denied.value.owner, denied.value.held) == (0, b"", Range(0, 10, True))
    held.locks.lock(state, b"locker", 10, 20, is_write=True)
    with pytest.raises(RangeConflict) as refused:
        held.ranges.lock("file", manager, 15, 16, is_write=False)
    assert refused.value.conflict.owner == ("client", b"locker")
    held.release("client")
    held.ranges.lock("file", manager, 15, 16, is_write=False)
    assert held.ranges.owners("file") == (manager,)
