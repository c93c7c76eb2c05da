# SPDX-License-Identifier: MIT
"""Fits by least squares, with 95 % intervals, without numpy and scipy.

Responses of one run are not independent: who waits makes the next one wait. So they are counted in batches in the order
of time, whose means are nearly independent if a batch is much longer than a queue lasts; `batch_means` takes Student's
t of these, of longer ones if they are not.
"""

from __future__ import annotations

import itertools
import math
import statistics
import typing as t
from collections.abc import Sequence
from dataclasses import dataclass

from workloads.statistics import CONFIDENCE, Interval, student, t_quantile

FEWEST_BATCHES: t.Final = 5
FEWEST_OF_A_BATCH: t.Final = 10
_DEPENDENT: t.Final = 0.3
"""Correlation of neighbours above which batches are too short."""
LEAST_ARRIVALS: t.Final = 1800
"""Of a point: with fewer, near the saturation the mean says little."""


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line through points."""

    slope: Interval
    intercept: Interval
    r2: float
    """The share of the variance that it explains."""

    def at(self, x: float) -> float:
        """Its value."""
        return self.intercept.estimate + self.slope.estimate * x


def fit_line(points: Sequence[tuple[float, float]]) -> Line:
    """Least squares. ValueError for fewer than three points, or if all have the same x."""
    count = len(points)
    if count < 3:
        raise ValueError(f"a line with intervals needs three points, got {count}")
    mean_x = statistics.fmean(x for x, _ in points)
    mean_y = statistics.fmean(y for _, y in points)
    xx = math.fsum((x - mean_x) ** 2 for x, _ in points)
    if not xx > 0:
        raise ValueError("a line needs two different x")
    xy = math.fsum((x - mean_x) * (y - mean_y) for x, y in points)
    yy = math.fsum((y - mean_y) ** 2 for _, y in points)
    slope = xy / xx
    rest = math.fsum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in points)
    variance = rest / (count - 2)
    factor = t_quantile(count - 2)
    half = factor * math.sqrt(variance / xx)
    half_of_intercept = factor * math.sqrt(variance * (1 / count + mean_x**2 / xx))
    return Line(
        _around(slope, half),
        _around(mean_y - slope * mean_x, half_of_intercept),
        1 - rest / yy if yy > 0 else 1.0,
    )


def _around(estimate: float, half: float) -> Interval:
    return Interval(estimate, estimate - half, estimate + half, CONFIDENCE)


def batch_means(batches: Sequence[tuple[int, float]]) -> Interval:
    """The mean of all values, with its interval from the means of batches: (number, sum) of each, in the order of time.

    Neighbours are joined until each batch has enough values, and while their means depend on each other, as near the
    saturation, where a queue lasts for long. ValueError if there are too few batches.
    """
    count = sum(number for number, _ in batches)
    joined = list(batches)
    while len(joined) >= FEWEST_BATCHES and min(number for number, _ in joined) < FEWEST_OF_A_BATCH:
        joined = [_together(joined[at : at + 2]) for at in range(0, len(joined), 2)]
    if len(joined) < FEWEST_BATCHES:
        raise ValueError(
            f"expected {FEWEST_BATCHES} batches of {FEWEST_OF_A_BATCH} values at least, got {count} values"
        )
    while (
        len(joined) >= 2 * FEWEST_BATCHES
        and _dependence([total / number for number, total in joined]) > _DEPENDENT
    ):
        joined = [_together(joined[at : at + 2]) for at in range(0, len(joined), 2)]
    means = student([total / number for number, total in joined])
    mean = math.fsum(total for _, total in batches) / count
    half = means.high - means.estimate
    return _around(mean, half)


def _dependence(values: Sequence[float]) -> float:
    """The correlation of neighbours."""
    mean = statistics.fmean(values)
    whole = math.fsum((value - mean) ** 2 for value in values)
    pairs = math.fsum((value - mean) * (after - mean) for value, after in itertools.pairwise(values))
    return pairs / whole if whole > 0 else 0.0


def _together(batches: Sequence[tuple[int, float]]) -> tuple[int, float]:
    return sum(number for number, _ in batches), math.fsum(total for _, total in batches)


@dataclass(frozen=True, slots=True)
class OverheadLaw:
    """saturation = 1 / (service + messages * o): what the processor spends on each operation (section 4.3)."""

    service: Interval
    """Of an operation without o, in the unit of o."""
    messages: Interval
    """How often an operation pays o."""
    r2: float
    """Of the saturations, not of their reciprocals."""

    def saturation(self, o: float) -> float:
        """Operations per unit of time."""
        return 1 / (self.service.estimate + self.messages.estimate * o)


def fit_overhead(points: Sequence[tuple[float, float]]) -> OverheadLaw:
    """From (o, saturation): the reciprocals are on a line. ValueError as `fit_line`, and for no saturation above 0."""
    if any(not saturation > 0 for _, saturation in points):
        raise ValueError("a saturation is above 0")
    line = fit_line([(o, 1 / saturation) for o, saturation in points])
    mean = statistics.fmean(saturation for _, saturation in points)
    total = math.fsum((saturation - mean) ** 2 for _, saturation in points)
    rest = math.fsum((saturation - 1 / line.at(o)) ** 2 for o, saturation in points)
    return OverheadLaw(line.intercept, line.slope, 1 - rest / total if total > 0 else 1.0)
