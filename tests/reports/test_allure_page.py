# SPDX-License-Identifier: MIT
"""The page that Allure's own command line makes of our results, in a real browser.

It fetches Allure from the npm registry, so it is tried only where `NFSPROOF_NPX` is set to something, as `.ci/run`
does where Node.js is new enough.
"""

from __future__ import annotations

import os
import re
import subprocess
import typing as t
from collections.abc import Iterator

import pytest

from nfsjudge.records import AnyRecord, CheckRecord, EndRecord, RequirementRecord, RunRecord
from nfsproof import allure_page
from reports.allure import CATEGORIES, write_allure
from reports.run import from_records
from tests.board import browser
from tests.board.browser import Visit
from tests.needs import needs
from tests.waiting import AT_MOST

if t.TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [
    pytest.mark.skipif(not os.environ.get("NFSPROOF_NPX"), reason="NFSPROOF_NPX is not set"),
    needs("playwright", "chromium", "node"),
]

# The page tells Google that it was opened; Allure has no switch for it.
_ANALYTICS = re.compile(rb'<script async src="https://www\.googletagmanager\.com/[^"<>]*"></script>')
SCRIPT = "<img src=x onerror=alert(1)><script>alert(2)</script>"
CLAUSE = RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", "STATED", "no more is written than was sent")
SEEN = {"FAIL": "5", "NONSTRICT": SCRIPT, "UNSUPPORTED": "NOTSUPP", "VOID": "it died", "PASS": ""}
_LOADS: t.Final = 10
KEPT = [f"nfs3/write/{verdict.lower()}_is_shown" for verdict in SEEN]


def records() -> Iterator[AnyRecord]:
    yield RunRecord("embedded", started="2026-11-21T10:00:00+00:00", environment={"kernel": SCRIPT})
    for id_, (verdict, seen) in zip(KEPT, SEEN.items(), strict=True):
        yield CheckRecord(id_, verdict, CLAUSE, ["4"], seen, transcript=["#1 WRITE", f"  data: {SCRIPT}"])
    yield EndRecord(0)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Visit, Page]]:
    """The page of one run with a check of each verdict, hostile words in each place that a server fills."""
    folder = tmp_path_factory.mktemp("allure")
    write_allure(from_records(list(records())), folder / "results")
    done = subprocess.run(
        allure_page.prepare(folder),
        env=os.environ | {"ALLURE_NO_ANALYTICS": "1", "NO_COLOR": "1", "npm_config_ignore_scripts": "true"},
        capture_output=True,
        text=True,
        timeout=AT_MOST,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shown = folder / "page" / "index.html"
    shown.write_bytes(_ANALYTICS.sub(b"", shown.read_bytes(), count=1))
    with browser.started() as chromium:
        visit = Visit(chromium, folder / "page" / "index.html")
        visit.page.goto(visit.file.as_uri())
        show_the_tree(visit.page)
        yield visit, visit.page
        visit.close()


def show_the_tree(page: Page) -> None:
    """Load the page until it has its tree. It is Allure's: seldom, its first load shows nothing for ever."""
    from playwright.sync_api import TimeoutError as TooLate

    for _ in range(_LOADS):
        try:
            page.locator("[data-testid=tree-leaf]").first.wait_for(timeout=1000 * AT_MOST / _LOADS)
        except TooLate:
            page.reload()
        else:
            return


def opened(visit: Visit, id_: str) -> Page:
    """The page of one check, from the front page."""
    page = visit.page
    page.goto(visit.file.as_uri())
    page.reload()
    show_the_tree(page)
    page.locator("[data-testid=tree-leaf]", has_text=id_.rsplit("/", 1)[1].replace("_", " ")).first.click()
    return page


def test_node_can_run_allure() -> None:
    version = subprocess.run(
        ["node", "--version"], capture_output=True, text=True, timeout=AT_MOST, check=True
    )
    assert int(version.stdout.removeprefix("v").split(".")[0]) >= 20


def test_every_check_is_a_leaf(page: tuple[Visit, Page]) -> None:
    leaves = page[1].locator("[data-testid=tree-leaf]")
    leaves.first.wait_for()
    shown = "\n".join(leaves.all_inner_texts())
    assert all(f"{verdict.lower()} is shown" in shown for verdict in SEEN), shown


def test_a_failure_shows_what_was_seen_and_its_transcript(page: tuple[Visit, Page]) -> None:
    opened(page[0], KEPT[0])
    page[1].get_by_text("FAIL: expected 4, got 5").first.wait_for()
    page[1].get_by_text("transcript").first.click()
    page[1].get_by_text("#1 WRITE").first.wait_for()


def test_nothing_that_a_server_said_is_run_and_nothing_is_fetched(page: tuple[Visit, Page]) -> None:
    visit, _ = page
    shown = opened(visit, KEPT[1])
    # The description is in a separate frame.
    shown.frame_locator("iframe").first.get_by_text(SCRIPT).first.wait_for()
    assert not [complaint for complaint in visit.complaints if complaint.startswith("dialog")]
    assert not [url for url in visit.requests if not url.startswith(("file:", "blob:", "data:", "about:"))]


def test_what_is_no_pass_has_the_category_of_its_verdict(page: tuple[Visit, Page]) -> None:
    visit, shown = page
    shown.goto(visit.file.as_uri())
    shown.reload()
    shown.get_by_text("Categories").first.click()
    for verdict in SEEN:
        if verdict in CATEGORIES:
            shown.get_by_text(CATEGORIES[verdict]).first.wait_for()
