# SPDX-License-Identifier: MIT
"""Byte-range locks against a slow model: one entry for each byte."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsserver.state.held import Held
from nfsserver.state.locks import END, Denied, Range, span
from nfsserver.state.opens import Open, Share
from nfsserver.state.stateids import StateError

BYTES = 12
"""Of the model; its last byte stands for all that follow."""
OWNERS = ("a", "b", "c")
_MAX = END - 1


def lengths() -> st.SearchStrategy[tuple[int, int]]:
    """(offset, length), sometimes to the end of the file."""
    some = st.tuples(st.integers(0, BYTES - 2), st.integers(1, BYTES)).map(
        lambda each: (each[0], min(each[1], BYTES - 1 - each[0]))
    )
    return st.one_of(some, st.integers(0, BYTES - 1).map(lambda offset: (offset, _MAX)))


STEPS = st.lists(
    st.tuples(st.sampled_from(["read", "write", "unlock"]), st.sampled_from(OWNERS), lengths()), max_size=25
)


def opened() -> tuple[Held, dict[str, Open]]:
    held = Held(1)
    return held, {
        owner: held.opens.open("client", owner.encode(), "file", Share.BOTH, Share.NONE) for owner in OWNERS
    }


def cells(start: int, end: int) -> range:
    return range(start, BYTES if end == END else end)


@given(STEPS)
def test_locks_are_those_of_the_model(  # noqa: C901  (the model in one piece)
    steps: list[tuple[str, str, tuple[int, int]]],
) -> None:
    held, opens = opened()
    model: dict[str, list[str]] = {owner: [""] * BYTES for owner in OWNERS}
    for deed, owner, (offset, length) in steps:
        start, end = span(offset, length)
        if deed == "unlock":
            lock = held.locks.find("client", owner.encode(), "file")
            if lock is not None:
                held.locks.unlock(lock, start, end)
            for cell in cells(start, end):
                model[owner][cell] = ""
            continue
        others = [model[other][cell] for other in OWNERS if other != owner for cell in cells(start, end)]
        excluded = any(one and "write" in {one, deed} for one in others)
        try:
            held.locks.lock(opens[owner], owner.encode(), start, end, is_write=deed == "write")
        except Denied as denied:
            is_denied, there = True, model[denied.owner.decode()]
            held_bytes, is_own = cells(denied.held.start, denied.held.end), denied.owner == owner.encode()
        else:
            is_denied, there, held_bytes, is_own = False, [], range(0), False
        assert is_denied == excluded
        if is_denied:
            assert not is_own
            assert any(there[cell] for cell in held_bytes)
            continue
        for cell in cells(start, end):
            model[owner][cell] = deed
    for owner in OWNERS:
        lock = held.locks.find("client", owner.encode(), "file")
        ranges = [] if lock is None else lock.ranges
        seen = [""] * BYTES
        for one in ranges:
            for cell in cells(one.start, one.end):
                assert not seen[cell]
                seen[cell] = "write" if one.is_write else "read"
        assert seen == model[owner]
        for before, after in itertools.pairwise(ranges):
            assert before.end < after.start or before.is_write != after.is_write  # neighbours are merged


@pytest.mark.parametrize(
    ("offset", "length"), [(0, 0), (5, 0), (1, _MAX - 0 - 0), (_MAX, 1), (2, _MAX - 1), (_MAX, _MAX)]
)
def test_ranges_end_at_the_greatest_offset(offset: int, length: int) -> None:
    fits = length == _MAX or (length > 0 and offset + length <= _MAX)
    if fits:
        start, end = span(offset, length)
        assert Range(start, end, False).length == length
    else:
        with pytest.raises(StateError, match="INVAL"):
            span(offset, length)


def test_each_change_of_the_locks_is_a_new_seqid_of_one_stateid() -> None:
    held, opens = opened()
    lock = held.locks.lock(opens["a"], b"a", 0, 10, is_write=True)
    first = lock.stateid
    held.locks.unlock(lock, 2, 4)
    again = held.locks.lock(opens["a"], b"a", 20, 30, is_write=False)
    assert again is lock
    assert [lock.stateid.seqid, lock.stateid.other] == [first.seqid + 2, first.other]


def test_the_ranges_of_a_file_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nfsserver.bounds.MOST.lock_ranges", 3)
    held, opens = opened()
    for start in (0, 10, 20):
        lock = held.locks.lock(opens["a"], b"a", start, start + 5, is_write=True)
    with pytest.raises(StateError, match="DELAY"):
        held.locks.lock(opens["a"], b"a", 30, 31, is_write=True)
    with pytest.raises(StateError, match="DELAY"):
        held.locks.unlock(lock, 1, 2)
    held.locks.unlock(lock, 0, END)
    assert lock.ranges == []
