# SPDX-License-Identifier: MIT
"""Disturb: one fault plan, several executors. Empty so far; the import rules already know the room."""

from __future__ import annotations
