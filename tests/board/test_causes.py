# SPDX-License-Identifier: MIT
"""Causes on the board: what several targets share, and the view with which a red run opens."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from nfsjudge.deviation import Deviation, OutcomeRecord
from nfsjudge.records import EndRecord, FindingRecord, RequirementRecord, RunRecord
from reports.board.causes import is_red, shared_causes
from reports.causes import Cause
from reports.run import Run, from_records
from tests.board.browser import Visit, needs_browser
from tests.board.records import ADVICE, WRITE, check, ganesha, gone_nfs, hostile

if t.TYPE_CHECKING:
    from playwright.sync_api import Page

LOOKUP = RequirementRecord("RFC 1813", "3.3.3", "DESCRIPTION", "STATED", "LOOKUP finds what is there")


def cause(key: str, *signatures: str, verdict: str = "FAIL", checks: int = 1) -> Cause:
    ids = [f"nfs3/A/{key}[{number}]" for number in range(checks)]
    return Cause(
        key, verdict, "RFC 1813 3.3.7", "MUST", "gist", key, ids[0], ids, signatures=[*signatures] or [key]
    )


def together(*of_runs: list[Cause]) -> list[dict[int, str]]:
    return [{run: cause.key for run, cause in shared.of.items()} for shared in shared_causes(of_runs)]


def test_causes_that_show_the_same_are_one() -> None:
    assert together([cause("a"), cause("b")], [cause("b"), cause("c")]) == [
        {0: "b", 1: "b"},
        {0: "a"},
        {1: "c"},
    ]


def test_one_common_symptom_is_enough_and_most_of_them_decide() -> None:
    assert together([cause("a", "x", "y")], [cause("b", "z", "y")]) == [{0: "a", 1: "b"}]
    assert together([cause("a", "x", "y"), cause("c", "z", "y", "v")], [cause("b", "v", "y")]) == [
        {0: "c", 1: "b"},
        {0: "a"},
    ]
    assert together([cause("a", "x")], [cause("b", "x", verdict="NONSTRICT")]) == [{0: "a"}, {1: "b"}]


def test_two_causes_of_one_run_stay_two() -> None:
    found = together([cause("a", "x", "y", "z")], [cause("b", "y"), cause("c", "z"), cause("a", "x")])
    assert found == [{0: "a", 1: "a"}, {1: "b"}, {1: "c"}]


def test_what_is_worst_comes_first_and_then_what_is_shared() -> None:
    mild, big = cause("mild", verdict="NONSTRICT", checks=9), cause("big", checks=5)
    assert together([mild, cause("both"), big], [mild, cause("both")]) == [
        {0: "both", 1: "both"},
        {0: "big"},
        {0: "mild", 1: "mild"},
    ]


def run_of(label: str, *records: t.Any, code: int = 1) -> Run:
    return from_records([RunRecord(label), *records, EndRecord(code)])[-1]


def failing(name: str, clause: RequirementRecord = WRITE, verdict: str = "FAIL") -> t.Any:
    record = check(f"nfs3/{name}", verdict, clause, expected=["at most 10"], observed=f"count is {len(name)}")
    record.outcome = OutcomeRecord(str(Deviation.FIELD), seen="number", field="count")
    return record


def one_run() -> Run:
    return run_of(
        "it",
        *(failing(f"WRITE/count[{size}]") for size in (100, 9, 88)),
        failing("LOOKUP/there", LOOKUP),
        check("nfs3/ACCESS/fine"),
        FindingRecord("lint/nfs3/advice", "nfs3/ACCESS/fine", "NONSTRICT", ADVICE, ["5"], "4"),
    )


@pytest.mark.parametrize(
    ("code", "red"), [(0, False), (1, True), (10, True), (11, True), (2, True), (5, False)]
)
def test_the_exit_status_says_whether_a_run_is_red(code: int, *, red: bool) -> None:
    assert is_red(run_of("it", failing("WRITE/x"), code=code)) is red


def test_a_run_without_an_end_is_red_if_something_failed() -> None:
    assert is_red(from_records([RunRecord("it"), failing("WRITE/x")])[-1])
    assert not is_red(from_records([RunRecord("it"), check("nfs3/WRITE/x")])[-1])


def texts(page: Page) -> list[str]:
    return page.locator("#view-causes .what > .choose").all_inner_texts()


@needs_browser
def test_a_red_run_opens_on_its_causes(visit: Callable[..., Visit]) -> None:
    page = visit([one_run()]).open("")
    assert page.locator("#view-causes").is_visible()
    assert page.locator("#views [aria-current]").inner_text() == "Causes"
    assert page.locator("#status").inner_text() == "3 causes"
    assert "4 FAIL from 3 causes" in page.locator("#view-causes").inner_text()
    assert len(texts(page)) == 3
    page.click("#views [data-view=checks]")
    page.reload()
    assert page.locator("#view-checks").is_visible()


@needs_browser
def test_a_run_that_its_baseline_makes_green_opens_on_the_checks(visit: Callable[..., Visit]) -> None:
    page = visit([run_of("it", failing("WRITE/x"), code=0)]).open("")
    assert page.locator("#view-checks").is_visible()
    page.click("#views [data-view=causes]")
    assert len(texts(page)) == 1
    page.reload()
    assert page.locator("#view-causes").is_visible()


@needs_browser
def test_a_cause_opens_its_first_check_and_lists_the_others(visit: Callable[..., Visit]) -> None:
    page = visit([one_run()]).open("")
    first = page.locator("#view-causes .cause").first
    first.locator(".what > .choose").click()
    assert page.locator("#panel header .id").inner_text().startswith("nfs3/WRITE/count[")
    first.locator("summary").click()
    first.locator(".members .choose").last.wait_for()
    assert first.locator(".members .choose").all_inner_texts() == [
        f"nfs3/WRITE/count[{size}]" for size in (9, 88, 100)
    ]
    first.get_by_role("button", name="Show them among the checks").click()
    assert page.locator("#status").inner_text() == "3 of 5 checks"
    page.get_by_role("button", name="3 checks with this cause").click()
    assert page.locator("#status").inner_text() == "3 of 5 checks"


@needs_browser
@pytest.mark.parametrize("key", ["n", "Enter"])
def test_keys_go_from_cause_to_cause(visit: Callable[..., Visit], key: str) -> None:
    page = visit([one_run()]).open("")
    page.keyboard.press(key)
    assert page.locator("#panel header .id").inner_text().startswith("nfs3/WRITE/count[")
    page.keyboard.press("n")
    assert page.locator("#panel header .id").inner_text() == "nfs3/LOOKUP/there"
    page.keyboard.press("n")
    assert page.locator("#panel header .id").inner_text() == "nfs3/ACCESS/fine"  # the lint saw it there
    page.keyboard.press("p")
    assert page.locator("#panel header .id").inner_text() == "nfs3/LOOKUP/there"


@needs_browser
def test_filters_leave_the_causes_of_what_they_leave(visit: Callable[..., Visit]) -> None:
    page = visit([one_run()]).open("")
    page.fill("#q", "LOOKUP finds")
    assert page.locator("#status").inner_text() == "1 of 3 causes"
    page.fill("#q", "")
    page.click("#verdicts [data-value=FAIL]")
    assert page.locator("#status").inner_text() == "2 of 3 causes"
    assert page.locator("#verdicts .chip:visible").count() == 3
    page.fill("#q", "nothing has this")
    assert "No cause matches" in page.locator("#view-causes").inner_text()


@needs_browser
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_several_targets_show_which_causes_they_share(
    visit: Callable[..., Visit], width: int, *, dark: bool
) -> None:
    other = run_of("other", failing("WRITE/count[7]"), failing("LOOKUP/else", ADVICE))
    page = visit([one_run(), other], width=width, dark=dark).open("")
    heads = page.locator("#view-causes .causes > h3").evaluate_all(
        "all => all.map(one => one.firstChild.data)"
    )
    assert heads == ["wrong value (3)", "advice not followed (1)"]
    shared = page.locator("#view-causes .cause").first
    assert shared.locator(".strip").inner_text().split() == ["3", "1"]
    shared.get_by_role("button", name="other: FAIL, 1 check").click()
    assert page.locator("#panel header .id").inner_text() == "nfs3/WRITE/count[7]"
    assert "also on it" in page.locator("#panel .run").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@needs_browser
def test_causes_stand_in_groups_by_the_harm_that_they_do(visit: Callable[..., Visit]) -> None:
    def clause(harm: str, level: str = "MUST") -> RequirementRecord:
        return RequirementRecord(
            "RFC 1813", "3.3.7", "DESCRIPTION", level, f"a clause of {harm}{level}", harm
        )

    run = run_of(
        "it",
        failing("LINK/form", LOOKUP),
        failing("WRITE/advice", clause("data", "SHOULD"), "NONSTRICT"),
        check("nfs3/READ/advice", "NONSTRICT", clause("", "SHOULD"), expected=["eof"], observed="no eof"),
        failing("RMDIR/file", clause("object")),
    )
    page = visit([run]).open("")
    heads = page.locator("#view-causes .causes > h3").evaluate_all(
        "all => all.map(one => one.firstChild.data)"
    )
    assert heads == [
        "data lost or wrong (1)",
        "wrong object changed (1)",
        "wrong value (1)",
        "advice not followed (1)",
    ]


@needs_browser
def test_the_first_screen_holds_causes_however_many_notes_there_are(visit: Callable[..., Visit]) -> None:
    def noted(day: int) -> Run:
        differences = [f"new: nfs3/A/{number}" for number in range(30)]
        about = RunRecord("nfs://host/export", started=f"2026-11-{day}T10:00:00Z")
        end = EndRecord(11, baseline="b.toml", differences=differences, note="the target died")
        return from_records([about, failing("WRITE/count[7]"), end])[-1]

    page = visit([noted(day) for day in (17, 18, 19)], width=1280, height=900).open("")
    assert page.locator("#notes > *").all_inner_texts() == [
        "3 notes in 3 runs: incomplete, damaged or not judged",
        "90 differences from a baseline in 3 runs",
    ]
    box = page.locator("#view-causes .cause").first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 900
    assert page.locator("#tagline").inner_text() == "1 check · nfs://host/export, 2026-11-17 to 2026-11-19"
    page.locator("#notes summary").last.click()
    assert "2026-11-18 10:00: new: nfs3/A/19" in page.locator("#notes").inner_text()
    assert "10 more" in page.locator("#notes").inner_text()


@needs_browser
def test_the_history_is_one_of_causes(visit: Callable[..., Visit]) -> None:
    def at(day: int, *records: t.Any) -> Run:
        return from_records([RunRecord("it", started=f"2026-11-{day}T10:00:00Z"), *records, EndRecord(1)])[-1]

    fine = [check("nfs3/WRITE/count[9]"), check("nfs3/LOOKUP/there", requirement=LOOKUP)]
    red = [failing("WRITE/count[9]"), failing("LOOKUP/there", LOOKUP)]
    runs = [at(17, *red), at(18, fine[0], red[1]), at(19, fine[0], fine[1]), at(20, red[0])]
    page = visit(runs).open("#view=history")
    shown = [
        " ".join(text.split()) for text in page.locator("#view-history .differences li").all_inner_texts()
    ]
    assert "went in run 2, 2026-11-18; came in run 4, 2026-11-20" in shown[0]
    assert "went in run 3, 2026-11-19" in shown[1]
    assert page.locator("#status").inner_text() == "2 causes in 4 runs of it"
    page.get_by_role("button", name="checks", exact=True).click()
    assert page.locator("#status").inner_text() == "2 failures in 4 runs of it"


@needs_browser
def test_a_cause_is_not_gone_where_one_of_its_checks_was_not_judged(visit: Callable[..., Visit]) -> None:
    first = run_of("it", failing("WRITE/a[1]"), failing("WRITE/a[2]"))
    second = run_of("it", check("nfs3/WRITE/a[1]"), check("nfs3/WRITE/a[2]", "SKIP"))
    page = visit([first, second]).open("#view=history")
    assert "not judged in the last run" in page.locator("#view-history .differences").inner_text()


@needs_browser
def test_hostile_causes_are_text(visit: Callable[..., Visit]) -> None:
    page = visit([hostile(), ganesha(), gone_nfs()]).open("")
    page.locator("#view-causes details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    page.locator("#view-causes .members .choose").last.wait_for()
    assert page.evaluate("window.hurt") is None
    assert page.locator("#view-causes :is(img, script, svg)").count() == 0
