# SPDX-License-Identifier: MIT
"""Estimates with intervals from a handful of runs, without numpy and scipy.

The unit is the run. Seconds within a run are not independent, and the difference between two runs of the same server is
mostly that of the machine at two times, so nothing here calculates an interval from one run of each.

`student` is for a mean. `ratio_of_pairs` and `ratio_of_sets` compare by Hodges and Lehmann: the estimate is the median
of ratios (of all averages of two pairs; of all runs of one side with all of the other), and the interval comes from the
exact distribution of the rank sum (Wilcoxon; Mann and Whitney). They need no normal distribution, and a single wild
run moves them little. With few runs no interval of 95 % exists; then it is the widest that there is, and `confidence`
says which: 93.75 % for five pairs.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
FEWEST_PAIRS = 5
FEWEST_OF_A_SET = 3
"""Three of each give an interval of 90 %; fewer give none worth its name."""
MOST = 200
"""Runs of one side: the exact distributions grow with their product."""

_T_975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""Quantiles 0.975 of Student's t for 1 to 30 degrees of freedom."""
_NORMAL_975 = 1.959963985


@dataclass(frozen=True)
class Interval:
    """An estimate, and where the true value is in `confidence` of all cases."""

    estimate: float
    low: float
    high: float
    confidence: float
    """0.95, or what is reached with this number of runs."""

    def __str__(self) -> str:
        return f"{self.estimate:.3f} ({self.low:.3f} to {self.high:.3f}, {100 * self.confidence:.4g} %)"


def t_quantile(freedom: int) -> float:
    """The quantile 0.975 of Student's t, correct to three digits."""
    if freedom <= len(_T_975):
        return _T_975[freedom - 1]
    # The expansion in powers of 1/freedom (Cornish and Fisher): below 0.0001 off from 31 degrees on.
    z = _NORMAL_975
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / freedom + second / freedom**2


def student(values: Sequence[float]) -> Interval:
    """The mean with its 95 % interval by Student's t. ValueError for fewer than two values."""
    if len(values) < 2:
        raise ValueError(f"an interval of a mean needs two runs, got {len(values)}")
    mean = statistics.fmean(values)
    half = t_quantile(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return Interval(mean, mean - half, mean + half, CONFIDENCE)


def ratio_of_pairs(pairs: Sequence[tuple[float, float]]) -> Interval:
    """How many times the second of a pair is the first. ValueError for too few pairs, or values that are not above 0.

    The median of the Walsh averages of the logarithms, with the interval of the signed-rank test.
    """
    _require(len(pairs), FEWEST_PAIRS, "pairs")
    logs = [_log(after) - _log(before) for before, after in pairs]
    averages = sorted(
        (first + second) / 2 for first, second in itertools.combinations_with_replacement(logs, 2)
    )
    return _interval(averages, _signed_rank_counts(len(logs)))


def ratio_of_sets(before: Sequence[float], after: Sequence[float]) -> Interval:
    """How many times runs of one set are runs of another one. ValueError as for `ratio_of_pairs`.

    The median of the ratios of all runs with all runs, with the interval of the rank-sum test.
    """
    _require(min(len(before), len(after)), FEWEST_OF_A_SET, "runs of each side")
    _require(-max(len(before), len(after)), -MOST, "runs of each side")
    logs = [_log(value) for value in before]
    differences = sorted(_log(value) - other for value in after for other in logs)
    return _interval(differences, _rank_sum_counts(len(before), len(after)))


def _require(number: int, least: int, what: str) -> None:
    if number < least:
        limit = f"at least {least}" if least > 0 else f"at most {-least}"
        raise ValueError(f"expected {limit} {what}, got {abs(number)}")


def _log(value: float) -> float:
    if not value > 0 or math.isinf(value):
        raise ValueError(f"a ratio needs values above 0, got {value}")
    return math.log(value)


def _interval(in_order: Sequence[float], counts: Sequence[int]) -> Interval:
    """The interval from the differences in order; `counts[k]`: in how many cases the rank statistic is k."""
    total = sum(counts)
    left_out, below, confidence = 0, 0, 0.0
    for k in range((len(in_order) + 1) // 2):
        below += counts[k]
        reached = 1 - 2 * below / total
        if k and reached < CONFIDENCE:
            break
        left_out, confidence = k, reached
    low, high = in_order[left_out], in_order[len(in_order) - 1 - left_out]
    return Interval(math.exp(statistics.median(in_order)), math.exp(low), math.exp(high), confidence)


def _signed_rank_counts(number: int) -> list[int]:
    """In how many of the 2^n cases the sum of the positive ranks is k."""
    _require(-number, -MOST, "pairs")
    counts = [1] + [0] * (number * (number + 1) // 2)
    for rank in range(1, number + 1):
        for total in range(len(counts) - 1, rank - 1, -1):
            counts[total] += counts[total - rank]
    return counts


def _rank_sum_counts(first: int, second: int) -> list[int]:
    """In how many orders of two sets the statistic of Mann and Whitney is k: a Gaussian binomial coefficient."""
    counts = [1] + [0] * (first * second)
    for each in range(1, first + 1):
        for k in range(len(counts) - 1, second + each - 1, -1):  # times 1 - q^(second + each)
            counts[k] -= counts[k - second - each]
        for k in range(each, len(counts)):  # divided by 1 - q^each
            counts[k] += counts[k - each]
    return counts
