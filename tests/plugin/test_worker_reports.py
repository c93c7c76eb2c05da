# SPDX-License-Identifier: MIT
"""Reports of checks on their way from a worker to the controller."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.plugin import worker_reports
from fixtures.plugin.worker_reports import TOGETHER, clean_up_of, together, with_set_up

ADDED: t.Final = {"worker_id": "gw1", "item_index": 7}
"""As xdist does."""


class Config:
    """Of a worker."""

    def __init__(self, may_be_together: bool) -> None:
        self.workerinput = {TOGETHER: may_be_together}


def report(when: t.Literal["setup", "call", "teardown"], outcome: str = "passed", **more: t.Any) -> t.Any:
    made = pytest.TestReport(
        "suites/a.py::test_b",
        ("suites/a.py", 3, "test_b"),
        {"test_b": 1},
        t.cast("t.Any", outcome),
        None,
        when,
        duration=0.5,
    )
    vars(made).update({"nfs": {"verdict": "PASS"}, **more})
    return made


def chosen(*reports: t.Any, may_be_together: bool = True) -> list[pytest.TestReport]:
    return together(t.cast("t.Any", Config(may_be_together)), list(reports))


def carried(sent: pytest.TestReport) -> pytest.TestReport:
    data = worker_reports.pytest_report_to_serializable(sent)
    assert data is not None
    came = worker_reports.pytest_report_from_serializable(data | ADDED)
    assert came is not None
    return came


def test_three_reports_travel_as_one_and_are_three_again() -> None:
    reports = [report("setup"), report("call", "failed"), report("teardown", nfs_left=["dir"])]
    (sent,) = chosen(*reports)
    came = carried(sent)
    phases = [*with_set_up(came), clean_up_of(came)]
    assert [phase and phase.when for phase in phases] == ["setup", "call", "teardown"]
    for phase, before in zip(phases, reports, strict=True):
        expected = vars(before) | ADDED
        expected.pop("nfs_around", None)
        found = dict(vars(phase))
        found.pop("nfs_around", None)
        assert found == expected


@pytest.mark.parametrize(
    "reports",
    [
        [report("setup", "failed"), report("teardown")],
        [report("setup", sections=[("Captured stdout setup", "x")]), report("call"), report("teardown")],
        [report("setup"), report("call"), report("teardown", "failed")],
    ],
    ids=["no-call", "output", "failed-teardown"],
)
def test_what_others_want_to_hear_of_travels_alone(reports: list[t.Any]) -> None:
    assert chosen(*reports) == reports
    assert [with_set_up(carried(each))[0].when for each in reports] == [each.when for each in reports]


def test_with_other_listeners_in_the_controller_each_travels_alone() -> None:
    reports = [report("setup"), report("call"), report("teardown")]
    assert chosen(*reports, may_be_together=False) == reports
