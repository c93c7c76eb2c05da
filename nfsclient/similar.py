# SPDX-License-Identifier: MIT
"""Near matches of a name that does not exist, for messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_CUTOFF = 0.6
"""The least likeness of two names, from 0 to 1: that of `difflib`."""


def similar(word: str, known: Iterable[str], *, cutoff: float = _CUTOFF) -> list[str]:
    """At most three of the names in `known` that are nearly `word`, the nearest first. Case does not matter."""
    by_lower = {name.lower(): name for name in known}
    return [by_lower[near] for near in difflib.get_close_matches(word.lower(), sorted(by_lower), 3, cutoff)]


def similar_text(word: str, known: Iterable[str], otherwise: str = "", *, cutoff: float = _CUTOFF) -> str:
    """The end of a message: ``; similar: ...``, or ``; `` and `otherwise`; empty if there is neither."""
    near = similar(word, known, cutoff=cutoff)
    more = f"similar: {', '.join(near)}" if near else otherwise
    return f"; {more}" if more else ""
