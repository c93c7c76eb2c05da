# SPDX-License-Identifier: MIT
"""The board as one file of HTML: it loads no other file, and nothing from a network."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import quote

from reports.board.charts import drawing
from reports.board.data import build
from reports.board.noscript import noscript
from reports.board.safe import json_block, visible_line
from reports.charts import charts_of
from reports.run import Run

_ASSETS = Path(__file__).parent / "assets"
_SCRIPTS = (
    "data.js",
    "elements.js",
    "state.js",
    "matrix.js",
    "transcript.js",
    "details.js",
    "views.js",
    "causes.js",
    "history.js",
    "duplicates.js",
    "clients.js",
    "main.js",
)


def render_board(
    runs: Sequence[Run],
    *,
    charts: Sequence[tuple[str, str]] = (),
    at: Path | None = None,
    workloads: Sequence[object] = (),
) -> str:
    """The page of one or several runs.

    `charts`: titles and texts of SVG. `at`: where the page will be written, so that it can link the evidence of runs
    that were read from a folder; without it the page of one run is assumed to be next to its records, and one of
    several links none. `workloads`: views of results of workloads (`results.views_of`). Raises `BadDrawing`.
    """
    board = build(runs, _folders(runs, at))
    style, script = style_text(), _script()
    return _template().substitute(
        policy=_policy(style, script),
        style=style,
        script=script,
        title=escape(_title(runs)),
        index=json_block(board.index),
        portions="".join(
            f'<script type="application/json" id="portion-{name}">{json_block(portion)}</script>\n'
            for name, portion in board.portions.items()
        ),
        charts="".join(_figure(visible_line(title), drawing(svg)) for title, svg in charts),
        workloads=_workloads(workloads),
        noscript="".join(map(noscript, runs)),
    )


def render_html(run: Run) -> str:
    """The page of one run, in the folder of its records."""
    return render_board([run], charts=charts_of([run]))


def _figure(title: str, svg: str) -> str:
    """A chart that `drawing` has made again."""
    name = escape(title)
    return (
        f'<figure><figcaption>{name}</figcaption><div class="drawing" tabindex="0" role="region" '
        f'aria-label="{name}">{svg}</div></figure>\n'
    )


def _workloads(views: Sequence[object]) -> str:
    """The views of workloads, which most pages have not: only those with them take the time to load a template."""
    if not views:
        return ""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("workloads.html.j2").render(workloads=views)


def _folders(runs: Sequence[Run], at: Path | None) -> list[str | None]:
    """For each run the relative URL from the page to its records, empty or ending with a slash; None: not known."""
    if at is None:
        return ["" if len(runs) == 1 else None] * len(runs)
    return [_relative(run.folder, at.parent) if run.folder is not None else None for run in runs]


def _relative(folder: Path, page: Path) -> str:
    way = Path(os.path.relpath(folder.absolute(), page.absolute())).as_posix()
    return "" if way == "." else quote(way) + "/"


def _title(runs: Sequence[Run]) -> str:
    if len(runs) == 1:
        return visible_line(runs[0].target)
    targets = {run.label for run in runs}
    return f"{len(runs)} targets" if len(targets) == len(runs) else f"{len(runs)} runs"


@cache
def _template() -> Template:
    _licence, _, page = (_ASSETS / "board.html").read_text(encoding="utf-8").partition("\n")
    return Template(page)


@cache
def style_text() -> str:
    """The style of the board."""
    return (_ASSETS / "board.css").read_text(encoding="utf-8")


@cache
def _script() -> str:
    """All scripts as one function: they share names with each other and with nothing else."""
    parts = [(_ASSETS / name).read_text(encoding="utf-8") for name in _SCRIPTS]
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"


def _policy(style: str, script: str) -> str:
    """What the browser may do with the page: run and apply exactly these two texts, and load nothing."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{digest(script)}'",
            f"style-src '{digest(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def digest(text: str) -> str:
    """A text as a policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
