# SPDX-License-Identifier: MIT
"""The duplicate-request profiles of some runs, as the board shows them next to each other."""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

from nfsjudge.duplicates import WAYS
from reports.board.safe import visible_line
from reports.duplicates import LEGEND, SHORT, profile_of, sentences
from reports.run import Run


def duplicates_data(runs: Sequence[Run]) -> dict[str, t.Any] | None:
    """Ways, rows with a list of cells for each run, and sentences of each run; None if no run has a profile."""
    profiles = [profile_of(run) for run in runs]
    if not any(profile.cells or profile.bounds for profile in profiles):
        return None
    ways = [way for way in WAYS if any(way in profile.ways for profile in profiles)]
    names = sorted({row for profile in profiles for row in profile.rows})
    return {
        "ways": [[way, WAYS[way]] for way in ways],
        "legend": LEGEND,
        "rows": [
            [
                f"{version} {procedure}",
                [
                    [SHORT.get(profile.cells.get((version, procedure), {}).get(way, ""), "") for way in ways]
                    for profile in profiles
                ],
            ]
            for version, procedure in names
        ],
        "words": [[visible_line(text) for text in sentences(profile)] for profile in profiles],
    }
