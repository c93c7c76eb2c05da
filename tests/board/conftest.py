# SPDX-License-Identifier: MIT
"""A browser, and visits of pages in it."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reports.board import render_board
from reports.board.results import views_of
from reports.board.studies import views_of_studies
from reports.charts import charts_of
from reports.run import Run
from tests.board import browser as browsers
from tests.board.browser import Visit
from tests.board.records import ganesha, gone_nfs

if t.TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsers.started() as started:
        yield started


@pytest.fixture
def visit(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Visit]]:
    """Visits pages of runs; at the end none of them may have complained or asked for anything but itself."""
    visits: list[Visit] = []

    def go(runs: list[Run], **options: t.Any) -> Visit:
        file = tmp_path / f"board{len(visits)}.html"
        views: list[object] = [*views_of(options.pop("workloads", []))]
        views += views_of_studies(options.pop("studies", []))
        file.write_text(render_board(runs, charts=charts_of(runs), workloads=views), encoding="utf-8")
        visits.append(Visit(browser, file, **options))
        return visits[-1]

    yield go
    for visit in visits:
        visit.close()
        assert visit.complaints == []
        assert {url.partition("#")[0] for url in visit.requests} <= {visit.file.as_uri()}


@pytest.fixture
def page(visit: Callable[..., Visit]) -> Page:
    return visit([ganesha(), gone_nfs()]).open()
