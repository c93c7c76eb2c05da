# SPDX-License-Identifier: MIT
"""A run as one page of HTML: nothing to load beside it, no scripts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from reports.run import MEANINGS, VERDICTS, Run

_TEMPLATES = Path(__file__).parent / "templates"
_IN_FULL = ("FAIL", "VOID", "NONSTRICT", "SKIP", "UNSUPPORTED")


def render_html(run: Run) -> str:
    """The page. What came from the target is escaped."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["anchor"] = anchor
    environment.filters["split_mark"] = split_mark
    template = environment.get_template("run.html.j2")
    return template.render(run=run, verdicts=VERDICTS, meanings=MEANINGS, in_full=_IN_FULL)


def anchor(check_id: str) -> str:
    """The fragment of a URL at which a check stands: ids are kept, blanks are not allowed there."""
    return "-".join(check_id.split())


def split_mark(lines: Sequence[str]) -> list[tuple[str, bool]]:
    """Lines of a transcript, and whether a line has the arrow that points at the deviating field."""
    return [(line, "<-- " in line) for line in lines]
