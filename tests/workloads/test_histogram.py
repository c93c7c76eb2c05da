# SPDX-License-Identifier: MIT
"""Histograms: nothing is lost, merging is exact, percentiles are within the stated error."""

from __future__ import annotations

import copy
import itertools
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads import histogram
from workloads.histogram import ABSOLUTE_ERROR, LONGEST, RELATIVE_ERROR, Histogram

LATENCIES = st.one_of(
    st.floats(0, 100),
    st.floats(0, 1e5),
    st.floats(0, LONGEST),
    st.sampled_from([0.0, 12.7, 12.8, 25.5, 25.6, LONGEST]),
)
LISTS = st.lists(LATENCIES, max_size=60)


@given(st.integers(0, 1 << 40))
def test_every_value_is_in_the_bucket_that_says_so(ticks: int) -> None:
    bucket = histogram.bucket_of(ticks)
    assert histogram.lowest_of(bucket) <= ticks < histogram.lowest_of(bucket + 1)


def test_buckets_have_no_gap_and_the_stated_width() -> None:
    lowest = [histogram.lowest_of(bucket) for bucket in range(5000)]
    assert lowest[:257] == list(range(257))
    assert all(histogram.bucket_of(value) == bucket for bucket, value in enumerate(lowest))
    widths = [(after - value) / value for value, after in itertools.pairwise(lowest) if value >= 256]
    assert max(widths) == 2 * RELATIVE_ERROR == 1 / 128


@given(LISTS)
def test_count_sum_and_ends_are_exact(values: list[float]) -> None:
    made = Histogram(values)
    ticks = [round(value * histogram.TICKS) for value in values]
    assert made.count == len(values) == sum(count for _, _, count in made.buckets())
    assert made.lowest == min(ticks, default=0) / histogram.TICKS
    assert made.highest == max(ticks, default=0) / histogram.TICKS
    assert made.mean == (sum(ticks) / histogram.TICKS / len(ticks) if ticks else 0)


@given(st.lists(LISTS, max_size=5))
def test_merging_gives_the_histogram_of_all_values(lists: list[list[float]]) -> None:
    merged = Histogram()
    for values in lists:
        merged.merge(Histogram(values))
    assert merged == Histogram(itertools.chain.from_iterable(lists))


@given(LISTS, LISTS, LISTS)
def test_merging_is_associative_and_commutative(a: list[float], b: list[float], c: list[float]) -> None:
    left, bc, right, backwards = Histogram(a), Histogram(b), Histogram(a), Histogram(c)
    left.merge(Histogram(b))
    left.merge(Histogram(c))
    bc.merge(Histogram(c))
    right.merge(bc)
    backwards.merge(Histogram(b))
    backwards.merge(Histogram(a))
    assert left == right == backwards


@given(LISTS.filter(bool), st.one_of(st.sampled_from(histogram.PERCENTILES), st.integers(0, 100).map(float)))
def test_a_percentile_is_within_the_stated_error(values: list[float], percent: float) -> None:
    in_order = sorted(values)
    # Whole numbers: 99.9 of 1000 values is the 999th.
    rank = max(1, math.ceil(round(percent * 100) * len(in_order) / 10_000))
    true = in_order[rank - 1]
    seen = Histogram(values).percentile(percent)
    assert abs(seen - true) <= true * RELATIVE_ERROR + ABSOLUTE_ERROR * (1 + RELATIVE_ERROR) + 1e-9 * true


def test_percentiles_of_a_thousand_values_are_the_ranks_that_people_expect() -> None:
    made = Histogram(float(value) / 10 for value in range(1, 201))
    assert made.percentile(50) == 10.0
    assert made.percentile(99) == 19.8
    assert made.percentile(100) == made.highest == 20.0
    assert made.percentile(0) == made.lowest == 0.1
    thousand = Histogram([5.0] * 999 + [9.0])
    assert thousand.percentile(99.9) == 5.0
    assert thousand.percentile(99.99) == 9.0


@given(LISTS)
def test_json_keeps_all_of_it(values: list[float]) -> None:
    made = Histogram(values)
    assert Histogram.from_plain(json.loads(json.dumps(made.to_plain()))) == made


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf, LONGEST * 1.01])
def test_what_is_no_latency_is_refused(value: float) -> None:
    made = Histogram([1.0])
    with pytest.raises(ValueError, match="a latency is from 0"):
        made.add(value)
    assert made == Histogram([1.0])


def test_what_has_no_percentile_says_so() -> None:
    with pytest.raises(ValueError, match="no latency"):
        Histogram().percentile(50)
    with pytest.raises(ValueError, match="from 0 to 100"):
        Histogram([1.0]).percentile(100.1)
    assert Histogram().percentiles() == {}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("count", 4),
        ("count", -3),
        ("sum_ticks", 1),
        ("sum_ticks", 10**200),
        ("sum_ticks", "3"),
        ("lowest_us", 2.0),
        ("highest_us", 1e300),
        ("percentiles_us", {"50": 1.0}),
        ("buckets", []),
        ("buckets", [[10, 3]]),
        ("buckets", [[10, 1], [20, 1], [257, 1]]),
        ("buckets", [[10, 1], [20, 1], [30, True]]),
        ("buckets", [[10, 1], [20, 1], [30, 1.0]]),
        ("buckets", [[-10, 3]]),
        ("buckets", [[1, 2, 3]]),
        ("buckets", [[1, 1]] * 100_000),
        ("buckets", None),
    ],
)
def test_a_histogram_that_no_program_writes_is_refused(field: str, value: object) -> None:
    plain = copy.deepcopy(Histogram([1.0, 2.0, 3.0]).to_plain())
    assert Histogram.from_plain(plain).count == 3
    plain[field] = value
    with pytest.raises(ValueError, match=r"\w"):
        Histogram.from_plain(plain)


@pytest.mark.parametrize("plain", [None, [], "x", {}, 3])
def test_what_is_no_histogram_is_refused(plain: object) -> None:
    with pytest.raises(ValueError, match="not a histogram"):
        Histogram.from_plain(plain)
