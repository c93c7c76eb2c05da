# SPDX-License-Identifier: MIT
"""Words that messages and reports share."""

from __future__ import annotations


def count(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: ``1 check``, ``2 checks``; `plural` if it does not end in s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
