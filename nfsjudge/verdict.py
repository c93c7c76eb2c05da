# SPDX-License-Identifier: MIT
"""Verdicts: the result of a check."""

from __future__ import annotations

import enum
from collections.abc import Iterable


class Verdict(enum.StrEnum):
    """One for each check, in the order of weight: of several phases the heaviest counts."""

    PASS = "PASS"  # noqa: S105  (no password)
    UNSUPPORTED = "UNSUPPORTED"
    """Optional, and refused correctly."""
    SKIP = "SKIP"
    """A precondition is missing; the reason is given."""
    NONSTRICT = "NONSTRICT"
    """A SHOULD was broken, without the harm that it may declare."""
    VOID = "VOID"
    """Not judged: the target went away and nobody knows why, or the suite is wrong. Never green."""
    FAIL = "FAIL"
    """A MUST or a STATED rule was broken, or harm was done."""

    @property
    def weight(self) -> int:
        """Position in the order above."""
        return list(Verdict).index(self)


VERDICTS = tuple(str(verdict) for verdict in reversed(Verdict))
"""The order of every table and list for people: what deserves a look first, first."""


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The heaviest of several; PASS if there is none."""
    return max(verdicts, key=lambda verdict: verdict.weight, default=Verdict.PASS)
