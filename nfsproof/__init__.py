# SPDX-License-Identifier: MIT
"""The command line: run, selftest, serve, doctor, report."""

from __future__ import annotations

__version__ = "0.1.0"
