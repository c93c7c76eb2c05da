# SPDX-License-Identifier: MIT
"""How crowded a machine is, and the time limits that follow from it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nfstargets.machine import allowed, crowding, processors


@pytest.mark.parametrize(
    ("text", "each"),
    [
        ("40.00 3.00 2.00 2/300 4711\n", 40.0),
        ("2.00 3.00 2.00 40/300 4711\n", 40.0),  # the load has just begun
    ],
)
def test_what_wants_to_run_shares_the_processors(tmp_path: Path, text: str, each: float) -> None:
    load = tmp_path / "loadavg"
    load.write_text(text)
    assert crowding(load) == max(1.0, each / processors())


def test_an_idle_machine_is_not_crowded(tmp_path: Path) -> None:
    load = tmp_path / "loadavg"
    load.write_text("0.01 0.02 0.03 1/300 4711\n")
    assert crowding(load) == 1.0


@pytest.mark.parametrize("text", [None, "", "1.0 2.0", "a b c d e"])
def test_elsewhere_the_mean_of_a_minute_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    load = tmp_path / "loadavg"
    if text is not None:
        load.write_text(text)
    monkeypatch.setattr(os, "getloadavg", lambda: (3.0 * processors(), 0.0, 0.0))
    assert crowding(load) == 3.0


def test_a_system_that_says_nothing_counts_as_idle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> tuple[float, float, float]:
        raise OSError

    monkeypatch.setattr(os, "getloadavg", refuse)
    assert crowding(tmp_path / "absent") == 1.0


def test_limits_grow_with_the_crowd_up_to_ten_times() -> None:
    assert [allowed(15.0, lambda crowd=crowd: crowd) for crowd in (1.0, 4.0, 500.0)] == [15.0, 60.0, 150.0]  # type: ignore[misc]
