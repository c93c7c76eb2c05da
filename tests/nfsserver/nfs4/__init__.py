# SPDX-License-Identifier: MIT
"""Tests of the reference server."""

from __future__ import annotations
