# SPDX-License-Identifier: MIT
"""Times that move by themselves, and times that a call moves."""

from __future__ import annotations

import pytest

from nfsjudge import Nonconformance
from suites.steady import expect_steady


class _Object:
    def __init__(self, *times: int) -> None:
        """The times that are seen before an act, and after each one."""
        self._times, self.acts = times, 0

    def look(self) -> int:
        return self._times[min(self.acts, len(self._times) - 1)]

    def act(self) -> None:
        self.acts += 1


def test_a_time_that_stays_is_looked_at_once() -> None:
    first = _Object(1)
    expect_steady(first.look, first.act, "mtime")
    assert first.acts == 1


def test_a_time_that_arrives_late_moves_once() -> None:
    first = _Object(1, 2)
    expect_steady(first.look, first.act, "mtime")
    assert first.acts == 2


@pytest.mark.parametrize("known", [None, 1])
def test_a_time_that_each_call_moves_is_red(known: int | None) -> None:
    first = _Object(1, 2, 3)
    with pytest.raises(Nonconformance, match="mtime: expected 2, got 3"):
        expect_steady(first.look, first.act, "mtime", known=known)
