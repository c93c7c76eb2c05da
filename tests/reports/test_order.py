# SPDX-License-Identifier: MIT
"""Numbers in names are sorted as numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reports.order import natural


def test_numbers_count_as_numbers() -> None:
    ids = ["a[120]", "a[0]", "a[88]", "a[1]", "a", "a[1-9]", "a[1-10]", "B", "a[01]"]
    assert sorted(ids, key=natural) == [
        *("B", "a", "a[0]", "a[1-9]", "a[1-10]", "a[01]", "a[1]", "a[88]", "a[120]")
    ]


def test_a_number_of_any_length_is_compared() -> None:
    assert natural("x" + "9" * 5000) < natural("x1" + "0" * 5000)


@given(st.lists(st.text("a0019-[²٣", max_size=8), unique=True))
def test_every_text_has_its_place(texts: list[str]) -> None:
    assert len({natural(text) for text in texts}) == len(texts)
    assert len(sorted(texts, key=natural)) == len(texts)
