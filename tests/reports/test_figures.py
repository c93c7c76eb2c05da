# SPDX-License-Identifier: MIT
"""Figures of checks, from records to lines."""

from __future__ import annotations

from nfsjudge.outcome import measure, running
from nfsjudge.records import CheckRecord, RunRecord, failure_text
from reports.figures import lines_of, summary_of
from reports.junit import render_junit
from reports.markdown import render_markdown
from reports.run import from_records

_CHECKS = [
    CheckRecord("nfs4/a/a", "PASS", figures={"put off: OPEN": 0.5, "late: OPEN": 1.0}),
    CheckRecord("nfs4/a/b", "FAIL", figures={"put off: OPEN": 0.25}),
    CheckRecord("nfs4/a/c", "PASS", figures={"put off: LINK": 2.0}),
]


def test_each_figure_has_a_line() -> None:
    assert [*lines_of(_CHECKS)] == [
        "late: OPEN: 1.000 s",
        "put off: LINK: 2.000 s",
        "put off: OPEN: 0.375 s (median of 2 checks, 0.250 to 0.500 s)",
    ]


def test_the_summary_has_a_line_for_each_kind() -> None:
    assert [*summary_of(_CHECKS)] == [
        "late: 1.000 s",
        "put off: 0.500 s (median of 3 checks, 0.250 to 2.000 s), longest LINK",
    ]


def test_reports_show_them() -> None:
    [run] = from_records([RunRecord(target="here"), *_CHECKS])
    assert "put off: LINK: 2.000 s" in render_markdown([run])
    assert "figure.put off: LINK" in str(render_junit([run]))
    assert "  measured:   put off: OPEN: 0.250 s" in failure_text(_CHECKS[1]).splitlines()


def test_a_check_measures() -> None:
    with running(None) as state:
        measure("put off: OPEN", 0.1234567)
    assert state.figures == {"put off: OPEN": 0.123457}
