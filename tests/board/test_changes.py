# SPDX-License-Identifier: MIT
"""What counts as broken, fixed or lost between two runs."""

from __future__ import annotations

import pytest

from nfsjudge.verdict import VERDICTS
from reports.changes import MEANINGS, change, symptom
from tests.board.records import check


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("PASS", "FAIL", "broken"),
        ("NONSTRICT", "FAIL", "broken"),
        ("PASS", "NONSTRICT", "broken"),
        ("SKIP", "NONSTRICT", "red, not judged before"),
        ("VOID", "FAIL", "red, not judged before"),
        ("FAIL", "PASS", "fixed"),
        ("NONSTRICT", "PASS", "fixed"),
        ("FAIL", "SKIP", "no longer judged"),
        ("FAIL", "VOID", "no longer judged"),
        ("PASS", "UNSUPPORTED", "no longer judged"),
        ("FAIL", "NONSTRICT", "other verdict"),
        ("SKIP", "PASS", "other verdict"),
        (None, "PASS", "new"),
        ("FAIL", None, "gone"),
    ],
)
def test_change(before: str | None, after: str | None, found: str) -> None:
    assert change(before, after) == found
    assert found in MEANINGS


def test_a_check_that_is_red_no_more_is_fixed_only_if_it_passed() -> None:
    fixed = {(before, after) for before in VERDICTS for after in VERDICTS if change(before, after) == "fixed"}
    assert fixed == {("FAIL", "PASS"), ("NONSTRICT", "PASS")}


@pytest.mark.parametrize("verdict", VERDICTS)
def test_the_same_verdict_is_no_change(verdict: str) -> None:
    assert change(verdict, verdict) is None


def test_a_symptom_is_the_same_with_other_names_handles_and_times() -> None:
    failed = check(
        "a/b/c",
        "FAIL",
        observed="nfsproof-12ab34cd56ef: handle 0011223344556677 after 0.2 ms, fileid 10084348, mtime 1795345765.76",
    )
    two = check(
        "a/b/c",
        "FAIL",
        observed="nfsproof-99ab34cd56ee: handle ff11223344556677 after 13 ms, fileid 10084349, mtime 1795345801.0",
    )
    assert symptom(failed) == symptom(two)


def test_another_count_or_status_is_another_symptom() -> None:
    texts = ["count is 11", "count is 12", "NFS3ERR_IO", "NFS3ERR_STALE"]
    assert len({symptom(check("a/b/c", "FAIL", observed=text)) for text in texts}) == 4
