# SPDX-License-Identifier: MIT
"""Intervals: known values, exact distributions by enumeration, and coverage by simulation with a fixed seed."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads import statistics
from workloads.statistics import Interval, ratio_of_pairs, ratio_of_sets, student, t_quantile

ABOVE_0 = st.floats(1e-3, 1e3)


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 12.706), (4, 2.776), (30, 2.042), (31, 2.0395), (60, 2.0003), (1000, 1.9623)],
)
def test_quantiles_of_student_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert t_quantile(freedom) == pytest.approx(quantile, abs=1e-4)


def test_the_mean_of_three_runs_has_the_interval_of_the_textbook() -> None:
    made, half = student([9.0, 10.0, 11.0]), 4.303 / math.sqrt(3)
    assert (made.low, made.estimate, made.high) == pytest.approx((10 - half, 10, 10 + half))
    assert made.confidence == 0.95
    with pytest.raises(ValueError, match="needs two runs, got 1"):
        student([1.0])


@pytest.mark.parametrize("number", [1, 2, 5, 8])
def test_the_signed_rank_is_that_of_all_signs(number: int) -> None:
    sums = Counter(
        sum(rank for rank, sign in enumerate(signs, 1) if sign)
        for signs in itertools.product([False, True], repeat=number)
    )
    counts = statistics._signed_rank_counts(number)
    assert counts == [sums[k] for k in range(number * (number + 1) // 2 + 1)]


@pytest.mark.parametrize(("first", "second"), [(1, 1), (3, 3), (4, 2), (2, 5), (5, 5)])
def test_the_rank_sum_is_that_of_all_orders(first: int, second: int) -> None:
    sums = Counter(
        sum(place - index for index, place in enumerate(places))
        for places in itertools.combinations(range(first + second), first)
    )
    assert statistics._rank_sum_counts(first, second) == [sums[k] for k in range(first * second + 1)]
    assert sum(statistics._rank_sum_counts(first, second)) == math.comb(first + second, first)


@pytest.mark.parametrize(
    ("number", "confidence"), [(5, 0.9375), (6, 0.96875), (10, 0.951171875), (20, 0.95155907)]
)
def test_pairs_reach_the_confidence_that_is_stated(number: int, confidence: float) -> None:
    made = ratio_of_pairs([(1.0, 1.0 + n / 100) for n in range(number)])
    assert made.confidence == pytest.approx(confidence, abs=1e-6)


@pytest.mark.parametrize(
    ("number", "confidence"), [(3, 0.9), (4, 0.97142857), (5, 0.96825397), (10, 0.95674)]
)
def test_sets_reach_the_confidence_that_is_stated(number: int, confidence: float) -> None:
    made = ratio_of_sets([1.0 + n / 50 for n in range(number)], [1.0 + n / 70 for n in range(number)])
    assert made.confidence == pytest.approx(confidence, abs=1e-5)


def coverage(draw: Callable[[random.Random], Interval], truth: float, times: int = 2000) -> float:
    drawn = random.Random(20260131)
    intervals = (draw(drawn) for _ in range(times))
    return sum(each.low <= truth <= each.high for each in intervals) / times


def noise(drawn: random.Random, kind: str) -> float:
    """What a run differs from its server: a little, or seldom much."""
    wild = 3.0 if kind == "wild" and drawn.random() < 0.1 else 1.0
    return wild * drawn.lognormvariate(0, 0.1)


# With 2000 trials, three standard deviations of a share of 95 % are 1.5 %.


@pytest.mark.parametrize("kind", ["calm", "wild"])
@pytest.mark.parametrize("number", [5, 6, 10])
def test_the_interval_of_pairs_has_the_truth_as_often_as_it_says(kind: str, number: int) -> None:
    def draw(drawn: random.Random) -> Interval:
        pairs = []
        for _ in range(number):
            minute = drawn.uniform(0.5, 2.0)  # what both of a pair have in common
            pairs.append((minute * noise(drawn, kind), 1.2 * minute * noise(drawn, kind)))
        return ratio_of_pairs(pairs)

    stated = draw(random.Random(1)).confidence
    assert coverage(draw, 1.2) == pytest.approx(stated, abs=0.015)


@pytest.mark.parametrize("kind", ["calm", "wild"])
@pytest.mark.parametrize(("first", "second"), [(3, 3), (5, 5), (4, 9)])
def test_the_interval_of_sets_has_the_truth_as_often_as_it_says(kind: str, first: int, second: int) -> None:
    def draw(drawn: random.Random) -> Interval:
        before = [noise(drawn, kind) for _ in range(first)]
        return ratio_of_sets(before, [0.7 * noise(drawn, kind) for _ in range(second)])

    stated = draw(random.Random(1)).confidence
    assert coverage(draw, 0.7) == pytest.approx(stated, abs=0.02)


def test_the_interval_of_a_mean_has_the_truth_in_95_of_100_cases() -> None:
    assert coverage(lambda drawn: student([drawn.gauss(10, 2) for _ in range(5)]), 10.0) == pytest.approx(
        0.95, abs=0.015
    )


@given(st.lists(st.tuples(ABOVE_0, ABOVE_0), min_size=5, max_size=12))
def test_pairs_the_other_way_round_give_the_reciprocal(pairs: list[tuple[float, float]]) -> None:
    there, back = ratio_of_pairs(pairs), ratio_of_pairs([(after, before) for before, after in pairs])
    assert there.low <= there.estimate <= there.high
    assert (1 / back.high, 1 / back.estimate, 1 / back.low) == pytest.approx(
        (there.low, there.estimate, there.high)
    )


@given(st.lists(ABOVE_0, min_size=3, max_size=8), st.lists(ABOVE_0, min_size=3, max_size=8))
def test_sets_the_other_way_round_give_the_reciprocal(before: list[float], after: list[float]) -> None:
    there, back = ratio_of_sets(before, after), ratio_of_sets(after, before)
    assert there.low <= there.estimate <= there.high
    assert (1 / back.high, 1 / back.estimate, 1 / back.low) == pytest.approx(
        (there.low, there.estimate, there.high)
    )


def test_a_constant_factor_is_found_exactly() -> None:
    made = ratio_of_pairs([(value, value * 1.5) for value in (1.0, 2.0, 9.0, 4.0, 5.0)])
    assert (made.low, made.estimate, made.high) == pytest.approx((1.5, 1.5, 1.5))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ratio_of_pairs([(1.0, 1.0)] * 4), "expected at least 5 pairs, got 4"),
        (lambda: ratio_of_pairs([(1.0, 1.0)] * 201), "expected at most 200 pairs, got 201"),
        (lambda: ratio_of_sets([1.0] * 2, [1.0] * 9), "expected at least 3 runs of each side, got 2"),
        (lambda: ratio_of_sets([1.0] * 3, [1.0] * 201), "expected at most 200 runs of each side, got 201"),
        (lambda: ratio_of_pairs([(1.0, 0.0)] * 5), "needs values above 0, got 0.0"),
        (lambda: ratio_of_sets([math.nan] * 3, [1.0] * 3), "needs values above 0, got nan"),
    ],
)
def test_what_gives_no_interval_says_why(call: Callable[[], Interval], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()
