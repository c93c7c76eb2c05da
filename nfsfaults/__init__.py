# SPDX-License-Identifier: MIT
"""Fault plans: which messages are disturbed and how, and what carries it out."""

from __future__ import annotations
