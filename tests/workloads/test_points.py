# SPDX-License-Identifier: MIT
"""Points of a study: what is counted of them, which of them fits use, and the intervals of base and peak."""

from __future__ import annotations

import math
import typing as t
from dataclasses import replace

import pytest

from nfsserver.queueing import Times
from reports.workloads.studied import study_text
from reports.workloads.study_charts import study_chart
from tests.workloads import samples
from tests.workloads.virtual import Bench
from workloads.papers import sensitivity as paper
from workloads.papers.filling import Cell
from workloads.papers.model import Kind
from workloads.papers.sensitivity import PAPER, Studied
from workloads.rates import mix
from workloads.sensitivity import study as studies
from workloads.sensitivity.queueing import Server
from workloads.sensitivity.study import PEAK, SHARES, Measured, Setting, Study
from workloads.statistics import Interval

_PROCESSOR: t.Final = Times(service=0.9e-3)


def test_messages_are_those_of_the_measured_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call and a reply: those of the 32 operations that are under way at the end are not counted."""
    monkeypatch.setitem(t.cast("dict[str, t.Any]", mix._UNITS), "create", mix._UNITS["getattr"])
    point = Bench(monkeypatch, _PROCESSOR, seconds=1).peak()
    assert point.operations > 500
    assert point.messages == 2


def _point(setting: Setting, share: float, response: float, peak: float = 1000.0, **more: t.Any) -> Measured:
    """Response in µs."""
    point = samples._measured(setting, share, (share or 1.0) * peak, response / 1e6)
    return replace(point, **more)


def _study(*points: Measured) -> Study:
    return replace(samples.study(), points=points)


# ---------------------------------------------------------------- overloaded points


def test_a_point_that_did_not_keep_up_is_shown_and_used_by_no_fit() -> None:
    base = Setting()
    points = [_point(base, PEAK, 32_000.0)]
    points += [_point(base, share, 2000.0, arrivals=2000, ended=1990) for share in SHARES[:-1]]
    over = _point(base, SHARES[-1], 200_000.0, arrivals=2000, ended=1900)
    study = _study(*points, over)
    assert over in study.shown(base)
    assert over not in study.used(base)
    assert max(point.throughput for point in studies.mean_curve(study, base)) == 950
    (row,) = studies.rows(study)
    assert (len(row.curve), row.overloaded, row.refused) == (len(SHARES) - 1, 1, 0)
    assert row.signature is not None
    assert row.signature.saturation == 950
    assert "overloaded: less was done than arrived" in study_text(study)
    assert study_chart(study).count('class="error"') == len(SHARES)


def test_the_middle_of_a_curve_is_known_without_its_overloaded_point() -> None:
    """10 to 80 % of the peak, although the highest load that is used is 95 % of it."""
    base = Setting()
    responses = {share: 1000.0 + 2000 * share if share <= 0.8 else 9e5 for share in SHARES[:-1]}
    study = _study(*(_point(base, share, response) for share, response in responses.items()))
    (row,) = studies.rows(study)
    assert row.signature is not None
    assert row.signature.slope is not None
    assert row.signature.slope.slope.low == pytest.approx(2e-3)  # ms for each operation per second
    assert row.signature.slope.r2 == pytest.approx(1)


@pytest.mark.parametrize(
    ("share", "offered", "arrivals", "ended", "is_overloaded"),
    [
        (1.1, 1100.0, 2000, 1939, True),
        (1.1, 1100.0, 2000, 1940, False),
        (0.05, 50.0, 1800, 1810, False),
        (0.05, 50.0, 0, 0, False),  # not counted: few arrivals may be some per cent off
        (1.1, 1040.0, 0, 0, True),
        (1.1, 1020.0, 0, 0, False),
    ],
)
def test_what_keeps_up(share: float, offered: float, arrivals: int, ended: int, is_overloaded: bool) -> None:
    point = _point(Setting(), share, 1000.0, arrivals=arrivals, ended=ended)
    assert (
        replace(point, offered=offered, delivered=1000.0 if share > 1 else 40.0).is_overloaded
        is is_overloaded
    )


def test_a_run_says_what_arrived_and_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor of 1,111 operations per second: at 1,400 a fifth of them is left."""
    bench = Bench(monkeypatch, _PROCESSOR, seconds=2)
    much, little = bench.point(1400.0), bench.point(500.0)
    assert much.is_overloaded
    assert not little.is_overloaded
    assert much.arrivals > 2600
    assert much.ended == pytest.approx(2222, rel=0.05)


# ---------------------------------------------------------------- base and peak


def test_base_and_peak_of_repeats_have_the_intervals_of_students_t() -> None:
    """The repeat with the lowest throughput is one of three, and not the base."""
    base = Setting()
    points = [
        _point(base, SHARES[0], response, delivered=delivered, repeat=repeat)
        for repeat, (response, delivered) in enumerate([(6000.0, 49.0), (6300.0, 50.0), (6600.0, 51.0)])
    ]
    points += [_point(base, PEAK, 30_000.0, delivered=each) for each in (1000.0, 1100.0)]
    (row,) = studies.rows(_study(*points))
    assert row.base is not None
    assert row.base.estimate == pytest.approx(6300)
    assert row.base.high - 6300 == pytest.approx(4.303 * 300 / math.sqrt(3), abs=0.1)
    assert row.saturation is not None
    assert row.peak == 1050
    assert row.saturation.high == pytest.approx(1050 + 12.706 * 50, abs=0.1)
    text = study_text(_study(*points))
    assert "6.30 ms (5.55 to 7.05)" in text
    assert "1050 (415 to 1685)" in text
    picture = study_chart(_study(*points))
    assert ">base 6.30 ms (5.55 to 7.05), peak 1050 (415 to 1685)<" in picture


def test_a_single_base_and_peak_have_the_intervals_of_their_batches() -> None:
    """The product of peak and response is the number of callers."""
    base = Setting()
    points = (
        _point(base, SHARES[0], 6000.0, response_low=5900.0, response_high=6100.0),
        _point(base, PEAK, 32_000.0, response_low=30_000.0, response_high=34_000.0),
    )
    (row,) = studies.rows(_study(*points))
    assert row.base == Interval(6000.0, 5900.0, 6100.0, 0.95)
    assert row.saturation is not None
    assert 32 / row.saturation.low == pytest.approx(34e-3)
    assert 32 / row.saturation.high == pytest.approx(30e-3)
    assert "6.00 ms (5.90 to 6.10)" in study_text(_study(*points))
    without = _point(base, SHARES[0], 6000.0, response_low=6000.0, response_high=6000.0)
    assert "6.00 ms  " in study_text(_study(without))


def test_a_paper_has_no_base_of_a_higher_load() -> None:
    """Its point at the lowest load is refused."""
    plan = next(plan for plan in PAPER.studies() if plan.name == "server")
    points = [_point(Setting(), share, 1000.0 * number) for number, share in enumerate(SHARES[:-1], 1)]
    assert paper._base(Studied(plan, _study(*points))) == 1
    points[0] = replace(points[0], refused="its sending lagged")
    assert paper._base(Studied(plan, _study(*points))) is None


def test_a_peak_of_two_repeats_is_between_them() -> None:
    plan = next(plan for plan in PAPER.studies() if plan.name == "server")
    points = [_point(Setting(), PEAK, 32_000.0, delivered=each) for each in (1000.0, 1100.0)]
    assert Studied(plan, _study(*points)).peak == 1050


@pytest.mark.parametrize(
    ("theirs", "ours", "ratio"),
    [
        (8.0, 4.0, 0.5),
        (8.0, 0.0, 0.0),
        (-6.8, -0.16, None),
        (8.0, -1.0, None),
        (0.0, 1.0, None),
        (None, 1.0, None),
    ],
)
def test_numbers_of_different_signs_have_no_ratio(
    theirs: float | None, ours: float | None, ratio: float | None
) -> None:
    assert Cell(Kind.VALUE, theirs, ours).ratio == ratio


# ---------------------------------------------------------------- laws


def _late(response: dict[float, float], **more: t.Any) -> list[Measured]:
    """A base for each latency; 0: without any."""
    return [
        _point(
            Setting("latency", latency) if latency else Setting(),
            SHARES[0],
            each,
            response_low=each - 30,
            response_high=each + 30,
            **more,
        )
        for latency, each in response.items()
    ]


def test_base_is_compared_with_the_latency_that_the_links_had() -> None:
    """They add 4 % more than requested, and so does base: its law is 2 for each µs."""
    points = _late({latency: 1000 + 2.08 * latency for latency in (0.0, 150.0, 1000.0, 4000.0)})
    law = studies.latency_law(_study(*points))
    assert law is not None
    assert law.slope.estimate == pytest.approx(2.08)
    study = _study(*(replace(each, null_rtt=200 + 2.08 * each.value) for each in points))
    law = studies.latency_law(study)
    assert law is not None
    assert law.slope.estimate == pytest.approx(2)
    assert "L of the links:  requested 150, 1000, 4000 µs, measured 156, 1040, 4160 µs" in study_text(study)


def test_a_rise_that_cannot_be_seen_is_no_flat_part() -> None:
    """Intervals of 30 µs each: the difference has one of 42, and 2 L of 20 µs are within it."""
    study = _study(*_late({0.0: 1000.0, 20.0: 1040.0, 4000.0: 9000.0}))
    assert studies.unseen_rise(study) == pytest.approx(42.4, abs=0.1)
    assert studies.flat_until(study) == 0
    assert "no such part (paper: up to 150 µs); a rise of less than 42.4 µs is not seen" in study_text(study)
    assert studies.flat_until(_study(*_late({0.0: 1000.0, 20.0: 1040.0}))) is None
    assert studies.flat_until(_study(*_late({0.0: 1000.0, 150.0: 1040.0, 4000.0: 9000.0}))) == 150


def test_a_rise_above_the_interval_of_the_difference_is_seen() -> None:
    """50 µs, where the intervals of both touch."""
    study = _study(*_late({0.0: 1000.0, 25.0: 1050.0}))
    assert studies.flat_until(study) == 0


def test_the_bend_of_a_curve_is_no_noise_of_its_slope() -> None:
    """The slopes have intervals of tens of per cent, because both curves bend; their difference is a line."""
    server = Server(service=900e-6, delay=3e-3)
    slower = Setting("bandwidth", 2.5)
    points = [
        _point(setting, share, 1e6 * server.response(1000 * share) + extra * 1000 * share)
        for setting, extra in ((Setting(), 0.0), (slower, 2.0))
        for share in SHARES[:-1]
    ]
    base, late = studies.rows(_study(*points))
    assert base.signature is not None
    assert base.signature.slope is not None
    assert late.signature is not None
    assert late.signature.slope is not None
    assert late.signature.slope.slope.low < base.signature.slope.slope.high
    assert studies.steeper_at([base, late]) == 2.5


def test_peaks_that_differ_by_chance_make_no_curve_steeper() -> None:
    """Loads are shares of the peak, so responses at the same share differ where the curves are the same."""
    points = [
        _point(setting, share, 1000 + 15 * share * peak, peak=peak)
        for setting, peak in ((Setting(), 1000.0), (Setting("bandwidth", 2.5), 1030.0))
        for share in SHARES[:-1]
    ]
    found = studies.rows(_study(*points))
    assert studies.can_be_steeper(found)
    assert studies.steeper_at(found) is None


def test_a_slope_that_cannot_be_seen_is_not_known() -> None:
    """With two loads there is no line and its interval."""
    points = [
        _point(setting, share, 1000.0)
        for setting in (Setting(), Setting("bandwidth", 1.25))
        for share in (0.05, 0.45)
    ]
    assert "slope over 1/G:  not known: three loads" in study_text(_study(*points))


def test_an_overhead_that_is_no_limit_says_so() -> None:
    """Small ones: of three, one lowers the peak below 90 % of that of base."""
    knob = studies.CLIENT
    points = [_point(Setting(), PEAK, 32_000.0, delivered=3000.0)]
    points += [
        _point(Setting(knob, o), PEAK, 32_000.0, delivered=min(3000.0, 1e6 / (2 * o)))
        for o in (80.0, 160.0, 320.0)
    ]
    text = study_text(_study(*points))
    assert (
        "peak over o:     no law: 1 of 3 settings have a peak below 90 % of that of base, and three are"
        in text
    )
    assert "o is time of the client's processor" in text
    points = [_point(Setting(studies.SERVER, o), PEAK, 32_000.0) for o in (80.0, 160.0)]
    assert "no law: 2 of 2 settings have a peak, and three are needed" in study_text(_study(*points))
    assert "no law" not in study_text(_study(*_late({0.0: 1000.0})))


def test_long_times_are_printed_without_exponents() -> None:
    """1,111 µs of a service."""
    points = [
        _point(Setting(studies.SERVER, o) if o else Setting(), PEAK, 1.0, delivered=1e6 / (1111 + 2.4 * o))
        for o in (0.0, 80.0, 160.0)
    ]
    assert "1 / (1111 (1111 to 1111) µs + 2.4 (2.4 to 2.4) o)" in study_text(_study(*points))


def test_a_base_of_few_loads_has_no_model_and_says_so() -> None:
    points = [_point(Setting(), share, 1000.0) for share in SHARES[:4]]
    assert "no model:        base has 4 loads that fits use, and 6 are needed" in study_text(_study(*points))
    assert "no model" not in study_text(samples.study())


# ---------------------------------------------------------------- the picture


def test_a_panel_of_many_settings_has_both_ends_and_says_how_many_are_left() -> None:
    settings = [Setting("latency", 100.0 * number) for number in range(1, 13)]
    points = [
        _point(each, share, 1000.0 + each.value) for each in (Setting(), *settings) for share in SHARES[:3]
    ]
    picture = study_chart(_study(*points))
    assert picture.count('class="curve"') == 6
    assert ">latency 100 µs<" in picture
    assert ">latency 1200 µs<" in picture
    assert ">7 more settings are in the table<" in picture
    assert "more setting" not in study_chart(samples.study())
