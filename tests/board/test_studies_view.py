# SPDX-License-Identifier: MIT
"""The view of studies on a board: a panel for each knob, side by side or below each other, and numbers to download."""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest

from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from reports.board.studies import view_of_study
from tests.board.records import ganesha
from tests.needs import needs
from tests.workloads import samples
from workloads import result
from workloads.sensitivity import study as studies

if t.TYPE_CHECKING:
    from tests.board.browser import Visit

LINK = "#view=workloads"
PANELS = ["response time by latency", "response time by bandwidth", "peak over client overhead"]


def test_a_study_has_its_panels_its_laws_and_its_numbers() -> None:
    study = samples.study()
    view = view_of_study(study)
    assert [title for title, _ in view.panels] == PANELS
    assert "base over L:" in view.text
    assert unquote(view.csv.partition(",")[2]).splitlines() == list(studies.sheet(study))
    assert unquote(view.svg.partition(",")[2]).startswith("<svg")


@needs("scipy")
def test_the_model_of_base_stands_with_its_errors() -> None:
    text = view_of_study(samples.study()).text
    assert "inferred by the queueing model" in text
    assert "largest error:" in text


@needs("playwright", "chromium")
@pytest.mark.parametrize(("width", "columns"), [(400, 1), (1400, 3)])
def test_panels_stand_side_by_side_where_there_is_room(
    visit: Callable[..., Visit], width: int, columns: int
) -> None:
    page = visit([ganesha()], studies=[samples.study()], width=width).open(LINK)
    assert page.locator("#view-workloads").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    boxes = [each.bounding_box() for each in page.locator(".multiples .panel").all()]
    assert len(boxes) == len(PANELS)
    assert len({box["x"] for box in boxes if box is not None}) == columns
    drawn = page.locator(".multiples svg").first.bounding_box()
    assert drawn is not None
    assert drawn["width"] > 300
    links = page.locator(".downloads a")
    assert links.evaluate_all("links => links.map(each => each.download)") == ["curves.svg", "curves.csv"]


def test_the_report_takes_studies_and_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = tmp_path / "all" / "study"
    study.mkdir(parents=True)
    studies.write(samples.study(), study / studies.FILE)
    words = ["run", "embedded", "nfs3/NULL", "--report", str(tmp_path / "run")]
    assert run_command_line(words) == Exit.OK
    page = tmp_path / "board.html"
    words = ["report", str(tmp_path / "run"), "--html", str(page), "--workloads"]
    for path in (study, study / studies.FILE, tmp_path / "all"):
        assert run_command_line([*words, str(path)]) == Exit.OK
        assert "peak over client overhead" in page.read_text(encoding="utf-8")
    (tmp_path / "all" / "write10").mkdir()
    result.write(samples.SCRIPT, tmp_path / "all" / "write10")
    assert run_command_line([*words, str(tmp_path / "all")]) == Exit.OK
    text = page.read_text(encoding="utf-8")
    assert "sensitivity of embedded" in text
    assert "write10" in text
    (study / studies.FILE).write_text("[", encoding="utf-8")
    assert run_command_line([*words, str(study)]) == Exit.USAGE
    assert "--workloads: " in capsys.readouterr().err
