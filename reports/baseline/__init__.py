# SPDX-License-Identifier: MIT
"""Baselines: the known failures of a server, and their comparison with its runs."""

from __future__ import annotations

from reports.baseline.gate import Difference, Kind, baseline_lines, compare_with_baseline
from reports.baseline.model import CATEGORIES, BadBaseline, Baseline, Entry, load_baseline, parse_baseline
from reports.baseline.shipped import find_baseline, fitting_baseline, known_elsewhere, shipped, shipped_names

__all__ = [
    "CATEGORIES",
    "BadBaseline",
    "Baseline",
    "Difference",
    "Entry",
    "Kind",
    "baseline_lines",
    "compare_with_baseline",
    "find_baseline",
    "fitting_baseline",
    "known_elsewhere",
    "load_baseline",
    "parse_baseline",
    "shipped",
    "shipped_names",
]
