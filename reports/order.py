# SPDX-License-Identifier: MIT
"""The order in which people read names that have numbers in them."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"([0-9]+)")


def natural(text: str) -> tuple[tuple[str | tuple[int, str], ...], str]:
    """A key for sorting: numbers within the text count as numbers, so that `x[9]` comes before `x[10]`.

    Numbers of any length are compared without making an integer of them: the text may be a stranger's.
    """
    parts = _NUMBER.split(text)
    return tuple(_digits(part) if number % 2 else part for number, part in enumerate(parts)), text


def _digits(part: str) -> tuple[int, str]:
    significant = part.lstrip("0")
    return len(significant), significant
