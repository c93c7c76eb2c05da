# SPDX-License-Identifier: MIT
"""Fits by least squares, with 95 % intervals, without numpy and scipy.

Responses of one run are not independent: who waits makes the next one wait. So `batch_means` divides them into
batches in the order of time, whose means are nearly independent if a batch is much longer than a queue lasts, and takes
Student's t of these.
"""

from __future__ import annotations

import math
import statistics
import typing as t
from collections.abc import Sequence
from dataclasses import dataclass

from workloads.statistics import CONFIDENCE, Interval, student, t_quantile

BATCHES: t.Final = 20
FEWEST_OF_A_BATCH: t.Final = 10
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


def batch_means(values: Sequence[float], batches: int = BATCHES) -> Interval:
    """The mean of values in the order of time, with its interval from the means of batches.

    Values that do not fill the last batch count for the mean of it. ValueError if a batch has too few.
    """
    if len(values) < batches * FEWEST_OF_A_BATCH:
        raise ValueError(f"expected {batches * FEWEST_OF_A_BATCH} values at least, got {len(values)}")
    edges = [len(values) * number // batches for number in range(batches + 1)]
    return student([statistics.fmean(values[edges[at] : edges[at + 1]]) for at in range(batches)])


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
