# SPDX-License-Identifier: MIT
"""The view of workloads on a board: results of each workload side by side, whatever their texts are."""

from __future__ import annotations

import dataclasses
import typing as t
from collections.abc import Callable
from pathlib import Path

import pytest

from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from reports.board.results import views_of
from tests.board.records import ganesha, gone_nfs
from tests.needs import needs
from tests.workloads import samples
from workloads import result

if t.TYPE_CHECKING:
    from tests.board.browser import Visit

HOSTILE = "<img src=x onerror=alert(1)>\"'&\u202e" + "W" * 100
RATES = [samples.rate(), dataclasses.replace(samples.rate(slower=1.5), target="ganesha:vfs")]
SCRIPTS = [
    samples.SCRIPT,
    dataclasses.replace(samples.WRONG_DATA, target=HOSTILE, reasons=(HOSTILE,), warnings=(HOSTILE,)),
    dataclasses.replace(samples.VOID, target="a-name-that-does-not-end-" * 5),
]
LINK = "#view=workloads"


def test_results_of_a_workload_stand_side_by_side() -> None:
    rates, scripts = views_of([*SCRIPTS, *RATES])
    assert (rates.title, len(rates.names), len(rates.charts)) == ("randread", 2, 3)
    assert rates.comparison
    assert (scripts.title, len(scripts.names), scripts.comparison) == ("write10", 3, "")
    assert [verdict for _, verdict in scripts.verdicts] == ["PASS", "FAIL", "VOID"]


@needs("playwright", "chromium")
def test_a_board_has_the_view_only_with_results(visit: Callable[..., Visit]) -> None:
    with_results = visit([ganesha(), gone_nfs()], workloads=[*SCRIPTS, *RATES]).open()
    with_results.click("#views [data-view=workloads]")
    assert with_results.locator("#view-workloads h3").all_text_contents() == ["randread", "write10"]
    assert with_results.locator("#view-workloads").is_visible()
    without = visit([ganesha()]).open()
    assert without.locator("#views [data-view=workloads]").count() == 0


@needs("playwright", "chromium")
@pytest.mark.parametrize("options", [{"width": 400}, {"width": 1200}])
def test_nothing_is_wider_than_the_window(visit: Callable[..., Visit], options: dict[str, t.Any]) -> None:
    page = visit([ganesha(), gone_nfs()], workloads=[*SCRIPTS, *RATES], **options).open(LINK)
    assert page.locator("#view-workloads").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#view-workloads img").count() == 0


def test_the_report_takes_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, each in enumerate(SCRIPTS):
        (tmp_path / "results" / str(number)).mkdir(parents=True)
        result.write(each, tmp_path / "results" / str(number))
    words = ["run", "embedded", "nfs3/NULL", "--report", str(tmp_path / "run")]
    assert run_command_line(words) == Exit.OK
    page = tmp_path / "board.html"
    words = ["report", str(tmp_path / "run"), "--html", str(page), "--workloads", str(tmp_path / "results")]
    assert run_command_line(words) == Exit.OK
    text = page.read_text(encoding="utf-8")
    assert "write10" in text
    assert "<img" not in text
    assert "\u202e" not in text
    assert run_command_line(words[:2] + words[4:]) == Exit.USAGE
    assert "give --html, too" in capsys.readouterr().err
    assert run_command_line([*words, "--workloads", str(tmp_path / "nosuch")]) == Exit.USAGE
    assert "--workloads: " in capsys.readouterr().err
