# SPDX-License-Identifier: MIT
"""Which times an NFSv2 server may store in place of the one that SETATTR asked for: it cannot say how it rounds."""

from __future__ import annotations

import pytest

from suites.nfs2.test_setattr import _is_rounded_down

ASKED = 1_000_000_000
"""01:46:40 of a day in UTC."""
MIDNIGHT = ASKED - ASKED % 86_400


@pytest.mark.parametrize(
    "seen",
    [
        ASKED,
        ASKED - ASKED % 3600,
        MIDNIGHT,
        MIDNIGHT - 3600,  # Berlin in winter
        MIDNIGHT - 20_700,  # Kathmandu
        MIDNIGHT - 64_800,  # Chicago in winter: the day before
    ],
)
def test_a_time_may_be_rounded_down_to_a_day_of_any_zone(seen: int) -> None:
    assert _is_rounded_down(seen, ASKED)


@pytest.mark.parametrize(
    "seen", [ASKED + 1, ASKED - 1, ASKED - 7, ASKED + 86_400, ASKED - 86_400, MIDNIGHT - 86_400]
)
def test_another_time_is_not_rounded(seen: int) -> None:
    assert not _is_rounded_down(seen, ASKED)
