# SPDX-License-Identifier: MIT
"""Baselines: the known failures of a server, and their comparison with its runs."""

from __future__ import annotations

from reports.baseline.gate import Difference, Kind, gate_lines, hold_against
from reports.baseline.model import CATEGORIES, BadBaseline, Baseline, Entry, load_baseline, parse_baseline
from reports.baseline.shipped import find_baseline, fitting_baseline, known_elsewhere, shipped, shipped_names

__all__ = [
    "CATEGORIES",
    "BadBaseline",
    "Baseline",
    "Difference",
    "Entry",
    "Kind",
    "find_baseline",
    "fitting_baseline",
    "gate_lines",
    "hold_against",
    "known_elsewhere",
    "load_baseline",
    "parse_baseline",
    "shipped",
    "shipped_names",
]
