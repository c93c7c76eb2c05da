# SPDX-License-Identifier: MIT
"""Reports of runs, made from their records alone, at the end of a run or later and elsewhere."""

from __future__ import annotations

import importlib
import typing as t

if t.TYPE_CHECKING:
    from reports.board import render_board, render_html
    from reports.reading import load, load_all
    from reports.run import Run
    from reports.text import render_text

__all__ = ["Run", "load", "load_all", "render_board", "render_html", "render_text"]

_FROM: t.Final = {
    "Run": "reports.run",
    "load": "reports.reading",
    "load_all": "reports.reading",
    "render_board": "reports.board",
    "render_html": "reports.board",
    "render_text": "reports.text",
}
"""The module of each name: imported when somebody asks for the name, since most commands make no page."""

if not t.TYPE_CHECKING:  # type checkers see the imports above, and no name that is not there

    def __getattr__(name: str) -> object:
        if name not in _FROM:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(importlib.import_module(_FROM[name]), name)
        return found
