# SPDX-License-Identifier: MIT
"""Byte-range locks of NFSv4: what has a stateid, and when it changes. The ranges themselves are in `test_ranges`."""

from __future__ import annotations

import pytest

from nfsserver.state.held import Held
from nfsserver.state.locks import span
from nfsserver.state.opens import Open
from nfsserver.state.ranges import END, Range
from nfsserver.state.shares import Share
from nfsserver.state.stateids import StateError

OWNERS = ("a", "b", "c")
_MAX = END - 1


def opened() -> tuple[Held, dict[str, Open]]:
    held = Held(1)
    return held, {
        owner: held.opens.open("client", owner.encode(), "file", Share.BOTH, Share.NONE) for owner in OWNERS
    }


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
    assert not lock.ranges
    assert held.locks.find("client", b"a", "file") is lock  # the stateid stays
