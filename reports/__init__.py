# SPDX-License-Identifier: MIT
"""Reports of runs, made from their records alone, at the end of a run or later and elsewhere."""

from __future__ import annotations

from reports.board import render_board, render_html
from reports.reading import load, load_all
from reports.run import Run
from reports.text import render_text

__all__ = ["Run", "load", "load_all", "render_board", "render_html", "render_text"]
