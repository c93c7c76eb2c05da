# SPDX-License-Identifier: MIT
"""The view of clients under faults in a real browser."""

from __future__ import annotations

from collections.abc import Callable

from nfsjudge.clients import KEY, RIGHT, WRONG
from nfsjudge.records import CheckRecord, EndRecord, RunRecord
from reports.run import Run, from_records
from tests.board.browser import Visit, needs_browser
from tests.board.records import ganesha

pytestmark = needs_browser


def _record(plan: str, work: str, version: str, verdict: str, outcome: str) -> CheckRecord:
    seen = {KEY: outcome} if outcome else {}
    check_id = f"clients/server/{plan}[{work}-{version}]"
    return CheckRecord(check_id, verdict, observations=seen, title="a title")


def _run() -> Run:
    return from_records(
        [
            RunRecord("client:<b>x</b>", "the client <i>x</i>"),
            _record("none", "write", "3", "PASS", RIGHT),
            _record("crash", "write", "3", "FAIL", WRONG),
            _record("crash", "read", "3", "VOID", ""),
            _record("crash", "read", "4.1", "UNSUPPORTED", ""),
            EndRecord(1),
        ]
    )[-1]


def test_each_client_has_a_table(visit: Callable[..., Visit]) -> None:
    page = visit([_run()]).open("")
    assert page.locator("#view-clients h3").all_inner_texts() == ["the client <i>x</i>"]
    rows = page.locator("#view-clients table.clients tbody tr")
    assert rows.nth(0).inner_text().split() == ["none", "3", "right"]
    assert rows.nth(1).inner_text().split() == ["crash", "3", "WRONG", "?"]
    page.locator("#view-clients button", has_text="WRONG").click()
    assert "clients/server/crash[write-3]" in page.locator("#panel").inner_text()


def test_a_client_among_servers_has_no_checks_of_theirs(visit: Callable[..., Visit]) -> None:
    page = visit([ganesha(), _run()]).open("")
    assert page.locator("#view-clients").is_hidden()  # somebody must look at the server, too
    page.locator("#views", has_text="Clients").get_by_text("Clients").click()
    assert page.locator("#view-clients h3").all_inner_texts() == ["the client <i>x</i>"]
    page.locator("#views").get_by_text("Checks", exact=True).click()
    row = page.locator(".row.check", has_text="crash[write-3]")
    assert row.locator(".word").all_inner_texts() == ["n/a", "FAIL"]
    row = page.locator(".row.check", has_text="short")
    assert row.locator(".word").all_inner_texts() == ["NONSTRICT", "n/a"]
    page.locator("#differ").check()
    assert page.locator(".row.check").count() == 0  # no check is of both
    page.locator("#differ").uncheck()
    page.locator("#views").get_by_text("Compare", exact=True).click()
    assert "A server and a client have no check in common." in page.locator("#view-compare").inner_text()


def test_without_clients_there_is_no_view(visit: Callable[..., Visit]) -> None:
    page = visit([ganesha()]).open()
    assert page.locator("#views", has_text="Clients").count() == 0
