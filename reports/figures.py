# SPDX-License-Identifier: MIT
"""What checks have measured where no clause sets a limit, such as how long a delegation has put a call off.

The key of a figure is ``what: of which call``.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence

from nfsjudge.records import CheckRecord


def figures_of(checks: Iterable[CheckRecord]) -> dict[str, list[float]]:
    """What was measured, in order -> the seconds in each check that has measured it, the shortest first."""
    found: dict[str, list[float]] = {}
    for check in checks:
        for key, seconds in check.figures.items():
            found.setdefault(key, []).append(seconds)
    return {key: sorted(found[key]) for key in sorted(found)}


def _text(seconds: Sequence[float]) -> str:
    if len(seconds) == 1:
        return f"{seconds[0]:.3f} s"
    middle, least, most = statistics.median(seconds), seconds[0], seconds[-1]
    return f"{middle:.3f} s (median of {len(seconds)} checks, {least:.3f} to {most:.3f} s)"


def lines_of(checks: Iterable[CheckRecord]) -> Iterator[str]:
    """A line for each figure: ``served after DELEGRETURN: OPEN: 0.012 s (median of 4 checks, 0.004 to 0.310 s)``."""
    for key, seconds in figures_of(checks).items():
        yield f"{key}: {_text(seconds)}"


def summary_of(checks: Iterable[CheckRecord]) -> Iterator[str]:
    """A line for each thing that was measured, over all calls, and which call took longest."""
    kinds: dict[str, dict[str, list[float]]] = {}
    for key, seconds in figures_of(checks).items():
        kind, _, call = key.partition(": ")
        kinds.setdefault(kind, {})[call] = seconds
    for kind, calls in kinds.items():
        longest = max(calls, key=lambda call: calls[call][-1])
        every = sorted(value for seconds in calls.values() for value in seconds)
        yield f"{kind}: {_text(every)}" + (f", longest {longest}" if longest and len(every) > 1 else "")
