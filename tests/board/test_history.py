# SPDX-License-Identifier: MIT
"""The board in a real browser: one target over its runs."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsjudge.records import EndRecord, FindingRecord, RunRecord
from reports.run import Run, from_records
from tests.board.browser import Visit, needs_browser
from tests.board.records import WRITE, check, ganesha, gone_nfs

if t.TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = needs_browser

VERDICTS = {"P": "PASS", "F": "FAIL", "N": "NONSTRICT", "V": "VOID", "S": "SKIP", "U": "UNSUPPORTED"}
CHECKS = {
    "always": "FFFF",
    "came": "PPFF",
    "went": "FPPP",
    "twice": "FPNP",
    "silent": "FFFS",
    "never": "PSUP",
    "gone": "VV-P",
}


def runs(*, label: str = "mine", rule: str = "PFFP", lint: str = "fail") -> list[Run]:
    """Four runs of a target; `CHECKS` has the verdicts that each check had in them, "-" if it was not run."""
    made = []
    for number in range(4):
        records = [
            check(f"nfs3/A/{name}", VERDICTS[letters[number]])
            for name, letters in CHECKS.items()
            if letters[number] != "-"
        ]
        rules = (
            [FindingRecord("lint/x", "nfs3/A/always", "FAIL", WRITE, ["10"], "11")]
            if rule[number] == "F"
            else []
        )
        about = RunRecord(
            "nfs://h/e", label=label, started=f"2026-11-{17 + number}T10:00:00+00:00", lint=lint
        )
        made += from_records([about, *records, *rules, EndRecord(1)])
    return made


def listed(page: Page, title: str) -> dict[str, str]:
    """The failures of a list, by name, with what is said about them."""
    part = page.locator("#view-history .changed", has=page.get_by_role("heading", name=title))
    return {
        item.locator(".choose").inner_text().removeprefix("nfs3/A/"): item.locator(".short").last.inner_text()
        for item in part.locator("li").all()
    }


def test_it_tells_what_came_and_went_and_when(visit: Callable[..., Visit]) -> None:
    page = visit(runs()).open("#view=history&by=check")
    assert listed(page, "There now") == {
        "came": "came in run 3, 2026-11-19",
        "always": "there since the first run",
        "silent": "there since the first run; not judged in the last run",
    }
    assert listed(page, "Gone") == {
        "gone": "there since the first run, went in run 4, 2026-11-20",
        "twice": "there since the first run, went in run 2, 2026-11-18; "
        "came in run 3, 2026-11-19, went in run 4, 2026-11-20",
        "lint/x": "came in run 2, 2026-11-18, went in run 4, 2026-11-20",
        "went": "there since the first run, went in run 2, 2026-11-18",
    }
    assert page.locator("#status").inner_text() == "7 failures in 4 runs of mine"


def test_the_order_is_that_of_the_times_and_not_of_the_arguments(visit: Callable[..., Visit]) -> None:
    page = visit([runs()[number] for number in (3, 0, 2, 1)]).open("#view=history&by=check")
    assert listed(page, "There now")["came"] == "came in run 3, 2026-11-19"
    rows = page.locator("#view-history .runs tbody tr").all_inner_texts()
    assert [row.split()[:9] for row in rows] == [
        ["1", "2026-11-17", "10:00", "UTC", "4", "1", "0"],
        ["2", "2026-11-18", "10:00", "UTC", "3", "1", "0", "1", "2"],
        ["3", "2026-11-19", "10:00", "UTC", "4", "0", "1", "2", "0"],
        ["4", "2026-11-20", "10:00", "UTC", "2", "0", "0", "0", "3"],
    ]


def test_a_number_shows_what_came_or_went_then(visit: Callable[..., Visit]) -> None:
    page = visit(runs()).open("#view=history&by=check")
    page.get_by_role("button", name="2 went in run 2, 2026-11-18: show them").click()
    assert set(listed(page, "Went in run 2, 2026-11-18 (2)")) == {"went", "twice"}
    page.get_by_role("button", name="Show all").click()
    assert page.locator("#view-history .changed").count() == 2


def test_a_failure_opens_in_the_last_run_that_has_it(visit: Callable[..., Visit]) -> None:
    page = visit(runs()).open("#view=history&by=check")
    page.get_by_role("button", name="nfs3/A/twice").click()
    assert page.locator("#panel .targets tr.chosen").inner_text().startswith("mine, 2026-11-19 10:00")
    page.fill("#q", "always")
    assert list(listed(page, "There now")) == ["always"]


def test_a_rule_that_a_run_did_not_look_for_is_not_gone(visit: Callable[..., Visit]) -> None:
    page = visit([*runs(rule="PFFF")[:3], runs(rule="PPPP", lint="off")[3]]).open("#view=history&by=check")
    assert listed(page, "There now")["lint/x"] == "came in run 2, 2026-11-18; not judged in the last run"


def test_runs_of_different_targets_have_no_history(visit: Callable[..., Visit]) -> None:
    page = visit([ganesha(), gone_nfs()]).open("#view=history&by=check")
    assert page.locator("#views [data-view=history]").count() == 0
    assert page.locator("#view-checks").is_visible()


def test_of_several_targets_one_is_chosen(visit: Callable[..., Visit]) -> None:
    page = visit([*runs(), ganesha(), *runs(label="other")[2:]], width=390, dark=True).open(
        "#view=history&by=check"
    )
    page.select_option("#series", "other")
    assert page.locator("#status").inner_text().endswith("in 2 runs of other")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
