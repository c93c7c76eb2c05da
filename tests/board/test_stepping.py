# SPDX-License-Identifier: MIT
"""The board in a real browser: the way to the first failure, the row of the open check, narrow windows."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from nfsjudge.records import EndRecord, RunRecord
from reports.run import Run, from_records
from tests.board.browser import Visit, needs_browser
from tests.board.records import check, ganesha, gone_nfs, many

if t.TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = needs_browser

SELECTED = "#rows [aria-selected=true]"


def shown(page: Page) -> str:
    return page.locator("#panel header .id").inner_text()


def run_of(**verdicts: str) -> Run:
    """A run with checks of these names, each in a separate group."""
    checks = [
        check(f"nfs3/{name}/x", verdict, observed="" if verdict == "PASS" else name)
        for name, verdict in verdicts.items()
    ]
    return from_records([RunRecord("it"), *checks, EndRecord(1)])[-1]


@pytest.mark.parametrize("key", ["n", "Enter"])
def test_a_key_on_a_fresh_page_opens_the_first_failure(visit: Callable[..., Visit], key: str) -> None:
    page = visit([run_of(A="PASS", B="NONSTRICT", C="FAIL", D="PASS", E="VOID")]).open()
    page.keyboard.press(key)
    assert shown(page) == "nfs3/C/x"
    assert page.evaluate("document.activeElement.id") == "panel-title"
    page.keyboard.press("n")
    assert shown(page) == "nfs3/E/x"
    page.keyboard.press("n")
    assert shown(page) == "nfs3/E/x"
    assert page.locator("#status").inner_text() == "No more below this check"
    page.keyboard.press("p")
    assert shown(page) == "nfs3/C/x"


def test_where_nothing_failed_n_opens_what_is_nonstrict_or_else_the_first(
    visit: Callable[..., Visit],
) -> None:
    for run, first in ((run_of(A="PASS", B="NONSTRICT"), "B"), (run_of(A="PASS", B="SKIP"), "A")):
        page = visit([run]).open()
        page.keyboard.press("n")
        assert shown(page) == f"nfs3/{first}/x"


def test_enter_in_the_search_opens_the_first_hit(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("nfs3/READ")
    page.keyboard.press("Enter")
    assert shown(page) == "nfs3/READ/all"
    page.keyboard.press("n")
    assert shown(page) == "nfs3/READ/short"  # a hit, although it did not fail


def test_enter_in_a_search_without_hits_opens_nothing(page: Page) -> None:
    page.fill("#q", "nothing has this")
    page.press("#q", "Enter")
    assert page.locator("#panel").is_hidden()


def test_one_target_chosen_its_failures_are_the_ones_that_n_opens(visit: Callable[..., Visit]) -> None:
    page = visit([run_of(A="FAIL", B="PASS"), run_of(A="PASS", B="FAIL")]).open("#target=1")
    page.keyboard.press("n")
    assert shown(page) == "nfs3/B/x"


def test_the_group_of_a_check_that_n_opens_is_opened(visit: Callable[..., Visit]) -> None:
    visited = visit(many(500, 2))
    page = visited.open()
    assert page.locator("#rows .row.check").count() == 0
    page.keyboard.press("n")
    assert page.locator(SELECTED).count() == 1
    fragment = page.evaluate("location.hash")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "row"
    again = visit(many(500, 2)).open(fragment)
    assert top_of(again) is not None


def top_of(page: Page) -> float | None:
    """How far below the top of the window the row of the open check is; None if it is not in the window."""
    found: float | None = page.evaluate(
        """() => {
          const one = document.querySelector("#rows [aria-selected=true]")?.getBoundingClientRect();
          const heads = document.getElementById("heads").getBoundingClientRect();
          return one && one.top >= heads.bottom - 1 && one.bottom <= innerHeight + 1 ? one.top : null;
        }"""
    )
    return found


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720), (1024, 768)])
def test_the_clicked_row_stays_where_it_was(visit: Callable[..., Visit], size: tuple[int, int]) -> None:
    width, height = size
    page = visit(many(500, 2), width=width, height=height).open("#open=*")
    page.evaluate("scrollTo(0, 700)")
    row = page.locator("#rows .row.check").nth(20)
    before = row.bounding_box()
    assert before is not None
    row.click()
    after = top_of(page)
    assert after is not None
    assert abs(after - row_top(page, before["y"])) < 2
    page.keyboard.press("n")
    assert top_of(page) is not None


def row_top(page: Page, before: float) -> float:
    """Where the row was, no lower than a whole row fits and no higher than below the heads."""
    low, high = page.evaluate("[document.getElementById('heads').offsetHeight + 4, innerHeight - 32 - 4]")
    return float(min(max(before, low), high))


def test_a_check_opened_by_its_url_is_in_view(visit: Callable[..., Visit]) -> None:
    page = visit(many(500, 1)).open("#open=*&check=" + "rpc/write_ranges/does_what_it_is_told_to_do[436]")
    assert shown(page).startswith("rpc/write_ranges/")
    assert top_of(page) is not None


def test_parameters_are_sorted_as_numbers(visit: Callable[..., Visit]) -> None:
    names = [f"nfs3/READDIR/small[{kind}-{size}]" for kind in ("b", "a") for size in (120, 0, 1, 88)]
    run = from_records([RunRecord("it"), *(check(name) for name in names), EndRecord(0)])[-1]
    page = visit([run]).open()
    found = page.locator("#rows .row.check .label").all_inner_texts()
    assert found == [f"small[{kind}-{size}]" for kind in "ab" for size in (0, 1, 88, 120)]


@pytest.mark.parametrize("targets", [1, 2, 4])
@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_shows_the_counts_whole(visit: Callable[..., Visit], targets: int, *, dark: bool) -> None:
    runs = [*many(900, targets - 1), ganesha()] if targets > 1 else [gone_nfs()]
    page = visit(runs, width=390, height=844, dark=dark).open()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#summary .scroll").evaluate("one => one.scrollWidth <= one.clientWidth")
    page.keyboard.press("n")
    assert page.locator("#panel").evaluate("one => one.scrollWidth <= one.clientWidth")
