# SPDX-License-Identifier: MIT
"""The part of a transcript that is shown where the whole does not fit: what deviates is in it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.excerpt import excerpt


def exchange(number: int, fields: int, marked: int = -1) -> list[str]:
    lines = [f"  field {n}{'    <-- expected 4' if n == marked else ''}" for n in range(fields)]
    return [f"#{number} GETATTR xid 0x{number:08x} -> NFS3_OK (0.1 ms)", *lines]


LONG = [line for n in range(1, 40) for line in exchange(n, 60, marked=41 if n == 20 else -1)]


@pytest.mark.parametrize("room", [1500, 60_000])
def test_what_deviates_is_there_and_the_other_exchanges_are_a_line_each(room: int) -> None:
    shown = excerpt(LONG, room)
    assert len(shown) <= room
    assert "  field 41    <-- expected 4\n  field 42" in shown
    assert "#20 GETATTR" in shown
    assert "#19 GETATTR" in shown
    assert "field 10\n" not in shown
    assert ("#1 GETATTR" in shown) == (room == 60_000)
    assert shown.startswith("...") == (room != 60_000)


def test_where_nothing_is_marked_the_last_exchange_is_shown() -> None:
    shown = excerpt([*exchange(1, 50), *exchange(2, 3)], 3000)
    assert shown == "\n".join([exchange(1, 0)[0], *exchange(2, 3)])


@pytest.mark.parametrize("lines", [[], ["a"], ["", ""], ["#1 x"], ["a <-- b"]])
def test_whatever_is_no_transcript(lines: list[str]) -> None:
    assert [line[:100] for line in excerpt(lines, 3000).split("\n")] == [line[:100] for line in lines or [""]]


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["#1 A", "#2 B", " c", " d <-- e", "f" * 300]), max_size=80), st.integers(0, 900)
)
def test_never_longer_than_the_room(lines: list[str], room: int) -> None:
    assert len(excerpt(lines, room)) <= max(room, 3)


def test_thousands_of_exchanges_take_no_long_time() -> None:
    began = time.process_time()
    excerpt([line for n in range(20_000) for line in exchange(n, 5, marked=2)], 3000)
    assert time.process_time() - began < 10
