# SPDX-License-Identifier: MIT
"""The view of duplicates in a real browser."""

from __future__ import annotations

from collections.abc import Callable

from nfsjudge.duplicates import CACHED, EXECUTED, cell_key
from nfsjudge.records import EndRecord, RunRecord
from reports.run import Run, from_records
from tests.board.browser import Visit, needs_browser
from tests.board.records import check, ganesha

pytestmark = needs_browser


def _run(target: str, answer: str) -> Run:
    seen = check("faults/profile/late[x]", observations={cell_key(3, "REMOVE", "late-udp"): answer})
    return from_records([RunRecord(target), seen, EndRecord(0)])[-1]


def test_servers_are_compared(visit: Callable[..., Visit]) -> None:
    page = visit([_run("one", CACHED), _run("two", EXECUTED)]).open("#view=duplicates")
    rows = page.locator("#view-duplicates table.duplicates tbody tr")
    assert rows.nth(0).inner_text().split() == ["v3", "REMOVE", "1", "cache"]
    assert rows.nth(1).inner_text().split() == ["2", "again"]
    assert "1 is one; 2 is two" in page.locator("#view-duplicates").inner_text()
    assert page.locator("#view-duplicates .differs").count() == 2
    words = page.locator("#view-duplicates li").all_inner_texts()
    assert words[0].startswith("NFSv3: a REMOVE gets the reply of the first one when it is sent again later")


def test_without_a_profile_there_is_no_view(visit: Callable[..., Visit]) -> None:
    page = visit([ganesha()]).open()
    assert page.locator("#views", has_text="Duplicates").count() == 0
