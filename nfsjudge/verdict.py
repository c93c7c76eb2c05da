# SPDX-License-Identifier: MIT
"""Verdicts: what a check says of a target."""

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
    """A SHOULD was broken."""
    VOID = "VOID"
    """Could not be judged: the target is gone, or the suite is at fault. Never green."""
    FAIL = "FAIL"
    """A MUST or a STATED rule was broken."""

    @property
    def weight(self) -> int:
        """Position in the order above."""
        return list(Verdict).index(self)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The heaviest of several; PASS if there is none."""
    return max(verdicts, key=lambda verdict: verdict.weight, default=Verdict.PASS)
