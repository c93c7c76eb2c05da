# SPDX-License-Identifier: MIT
"""Coverage: which sections of the RFCs, and which pairs of operation and error, have a check."""

from __future__ import annotations

from reports.coverage.rendering import Pages, render_coverage, suite_pages

__all__ = ["Pages", "render_coverage", "suite_pages"]
