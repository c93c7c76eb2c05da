# SPDX-License-Identifier: MIT
"""The benchmarks' own logic: their tables agree, and a ratio is judged as it says. Nothing here is timed."""

from __future__ import annotations

import json

import pytest

from benchmarks import goals, report
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
    (operation,) = json.loads(json.dumps(report.as_json([result], {}, {})))["operations"]
    assert operation["clients"][0]["gate_verdict"] == "FAILS"
    assert operation["left_out"] == {"other": "not installed"}


def test_orders_survive_the_line() -> None:
    assert Order.parse("read server 8 1048576 0.5\n") == Order("read", "server", 8, 1048576, 0.5)
