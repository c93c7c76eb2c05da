# SPDX-License-Identifier: MIT
"""Tests of the reference server: what no check of the suites proves. Run a check on it for the rest."""

from __future__ import annotations
