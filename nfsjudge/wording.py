# SPDX-License-Identifier: MIT
"""Words that messages and reports share."""

from __future__ import annotations

from collections.abc import Sequence


def count(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: ``1 check``, ``2 checks``; `plural` if it does not end in s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def listing(words: Sequence[str]) -> str:
    """``A``, ``A and B``, ``A, B and C``; empty without words."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
