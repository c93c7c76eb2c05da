# SPDX-License-Identifier: MIT
"""The board: checks by targets as one page that works from disk, with everything that was recorded of each check."""

from __future__ import annotations

from reports.board.charts import BadDrawing
from reports.board.page import render_board, render_html

__all__ = ["BadDrawing", "render_board", "render_html"]
