# SPDX-License-Identifier: MIT
"""The benchmarks' own logic: their tables agree, and a ratio is judged as it says. Nothing here is timed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import figures, goals, report, suite
from benchmarks.plan import OPERATIONS, OURS
from benchmarks.rounds import Result, Row
from benchmarks.worker import Measurement
from benchmarks.workers.common import Order

BY_ID = {operation.id: operation for operation in OPERATIONS}


@pytest.mark.parametrize("aim", goals.AIMS, ids=lambda aim: f"{aim.operation}-{aim.against}")
def test_aims_name_what_is_measured(aim: goals.Aim) -> None:
    labels = [contender.label for contender in BY_ID[aim.operation].contenders]
    assert aim.against in labels
    assert aim.gate is not None or aim.goal is not None
    assert aim.gate is None or aim.goal is None or aim.gate <= aim.goal


def test_aims_are_unique() -> None:
    pairs = [(aim.operation, aim.against) for aim in goals.AIMS]
    assert len(pairs) == len(set(pairs))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_every_operation_has_us_first_and_no_label_twice(operation: object) -> None:
    labels = [contender.label for contender in operation.contenders]  # type: ignore[attr-defined]
    assert labels[0] == OURS
    assert len(labels) == len(set(labels))


def row(ratio: float) -> Row:
    made = Row("peer", "op/s", ratios=[ratio / 2, ratio, ratio * 2], aim=goals.Aim("x", "peer", 1.0, 2.0))
    made.add(Measurement(seconds=2.0, cpu=1.0, operations=100, bytes=0))
    return made


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [(1.0, "holds"), (0.99, "within tolerance"), (0.86, "within tolerance"), (0.84, "FAILS")],
)
def test_a_gate_has_a_tolerance(ratio: float, verdict: str) -> None:
    assert row(ratio).verdict == verdict


def test_rates_and_processor_time_are_per_operation() -> None:
    assert row(1.0).rate == 50.0
    assert row(1.0).cpu == 10_000.0


def test_table_and_json_have_every_client_and_every_reason() -> None:
    result = Result(BY_ID["codec-page"], [row(0.5)], {"other": "not installed"})
    shown = report.table([result])
    assert "FAILS" in shown
    assert "other: not installed" in shown
    assert report.failures([result]) == 1
    assert "peer: 0.50, gate 1.00 FAILS" in report.summary([result])
    (operation,) = json.loads(json.dumps(report.as_json([result], {}, {}, {})))["operations"]
    assert operation["clients"][0]["gate_verdict"] == "FAILS"
    assert operation["left_out"] == {"other": "not installed"}


def test_orders_survive_the_line() -> None:
    assert Order.parse("read server 8 1048576 0.5\n") == Order("read", "server", 8, 1048576, 0.5)


def test_the_cost_of_the_suite_is_the_same_after_writing_and_reading(tmp_path: Path) -> None:
    cost = suite.Cost(4000, 12_000.0, {"server": 0.75, "lint": 0.25})
    file = tmp_path / "cost.json"
    file.write_text(cost.to_text(), encoding="utf-8")
    assert suite.Cost.read(file) == cost
    assert json.loads(cost.to_text())["loops_a_check"] == 3.0


def test_a_cost_is_shown_next_to_the_written_one_and_how_much_it_grew() -> None:
    text = suite.next_to(suite.Cost(200, 600.0, {"client": 1.0}), suite.Cost(100, 200.0, {"lint": 1.0}))
    rows = [line.split() for line in text.splitlines()]
    assert ["loops", "600", "200", "3.00"] in rows
    assert ["loops", "a", "check", "3.000", "2.000", "1.50"] in rows
    assert ["client", "100.0%", "0.0%"] in rows
    assert ["lint", "0.0%", "100.0%"] in rows


def test_the_written_cost_is_of_a_whole_run() -> None:
    written = suite.Cost.read()
    assert written.checks > 4000
    assert sum(written.shares.values()) == pytest.approx(1, abs=0.02)


def test_the_loop_always_does_the_same() -> None:
    assert suite.loop() == suite.loop() == 217_952


def a_run(ratio: float, commit: str = "abc") -> figures.Run:
    ours = {"client": OURS, "ratio": None, "gate": None, "goal": None, "cpu_us_per_operation": 10 * ratio}
    peer = {"client": "peer", "ratio": ratio, "gate": 1.0, "goal": 2.0, "cpu_us_per_operation": 1.0}
    other = {"client": "other", "ratio": 3.0, "gate": None, "goal": None, "cpu_us_per_operation": 1.0}
    return {
        "machine": {"processor": "Some CPU", "processors": 2, "kernel": "6.1", "python": "3.11"},
        "taken": {"date": "2026-11-26", "commit": commit, "load": 0.1},
        "settings": {"rounds": 7, "server": "ganesha"},
        "operations": [{"id": "getattr", "clients": [ours, peer, other]}],
    }


def test_figures_name_their_runs_and_have_every_ratio_with_an_aim() -> None:
    made = figures.section([a_run(1.5), a_run(0.9, "def")])
    for expected in (
        "2 runs of 7 rounds",
        "2026-11-26",
        "abc and def",
        "2 processors (Some CPU)",
        "load 0.1 ",
    ):
        assert expected in made
    assert "| getattr | peer | 0.90 to 1.50 | 1.00: missed | 2.00: not reached | 9.0 to 15.0 |\n" in made
    assert "other" not in made


def test_figures_are_put_between_their_marks() -> None:
    text = figures.README.read_text()
    once = figures.put_in(text, "first")
    assert figures.put_in(once, "second") == figures.put_in(text, "second")
    assert once.startswith(text[:200])
    assert once.endswith(text[-200:])
    with pytest.raises(ValueError, match="expected"):
        figures.put_in("nothing", "first")


def test_a_run_says_when_and_of_what_it_was_made() -> None:
    taken = report.taken_now()
    assert set(taken) == {"date", "commit", "load"}
    assert taken["commit"]
