# SPDX-License-Identifier: MIT
"""Fits of curves with known answers, the queueing model, and what is inferred from a curve."""

from __future__ import annotations

import dataclasses
import math
import random
import typing as t
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from tests.needs import needs
from tests.workloads import samples
from workloads.sensitivity import inferring
from workloads.sensitivity import study as studies
from workloads.sensitivity.curves import Point, before_the_hook, little, read_curve, signature
from workloads.sensitivity.fits import batch_means, fit_line, fit_overhead
from workloads.sensitivity.inferring import MissingFit, infer
from workloads.sensitivity.queueing import ENDLESS, RAID, SCSI, Server, erlang_c, errors, response_of
from workloads.trouble import Refused

_SHARES: t.Final = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)


def _curve(server: Server, noise: float = 0.0, seed: int = 1) -> list[Point]:
    draw = random.Random(seed)
    exact = server.curve([share * server.saturation for share in _SHARES])
    return [Point(rate, response * (1 + draw.gauss(0, noise))) for rate, response in exact]


# ---------------------------------------------------------------- lines


@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=30))
def test_a_line_through_exact_points_is_that_line(slope: float, intercept: float, xs: list[float]) -> None:
    if max(xs) - min(xs) < 1:
        return
    line = fit_line([(x, slope * x + intercept) for x in xs])
    scale = 1 + abs(slope) * 1e3 + abs(intercept)
    assert line.slope.estimate == pytest.approx(slope, abs=1e-9 * scale)
    assert line.intercept.estimate == pytest.approx(intercept, abs=1e-6 * scale)


def test_a_line_of_a_textbook_has_its_intervals() -> None:
    """Anscombe's first set: 3.0 and 0.5, standard errors 1.1247 and 0.1179, r² 0.67."""
    xs = (10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5)
    ys = (8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68)
    line = fit_line(list(zip(xs, ys, strict=True)))
    assert line.intercept.estimate == pytest.approx(3.0001, abs=1e-4)
    assert line.slope.estimate == pytest.approx(0.5001, abs=1e-4)
    assert line.slope.high - line.slope.estimate == pytest.approx(2.262 * 0.1179, abs=1e-4)
    assert line.intercept.high - line.intercept.estimate == pytest.approx(2.262 * 1.1247, abs=1e-3)
    assert line.r2 == pytest.approx(0.6665, abs=1e-4)


def test_intervals_of_slopes_contain_the_truth_as_often_as_they_say() -> None:
    draw = random.Random(5)
    hits = 0
    for _ in range(400):
        line = fit_line([(float(x), 3 * x + 7 + draw.gauss(0, 2)) for x in range(8)])
        hits += line.slope.low <= 3 <= line.slope.high
    assert 0.92 <= hits / 400 <= 0.98


@pytest.mark.parametrize("points", [[(1.0, 1.0), (2.0, 2.0)], [(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]])
def test_too_little_for_a_line_is_a_mistake(points: list[tuple[float, float]]) -> None:
    with pytest.raises(ValueError, match="a line"):
        fit_line(points)


@given(st.floats(100, 5000), st.floats(0.5, 5), st.integers(3, 12))
def test_the_law_of_overhead_is_found(service: float, messages: float, count: int) -> None:
    """Saturation in operations per µs over o in µs."""
    points = [(80.0 * n, 1 / (service + messages * 80 * n)) for n in range(count)]
    law = fit_overhead(points)
    assert law.service.estimate == pytest.approx(service, rel=1e-6)
    assert law.messages.estimate == pytest.approx(messages, rel=1e-6)
    assert law.r2 == pytest.approx(1, abs=1e-9)
    assert law.saturation(160) == pytest.approx(1 / (service + 160 * messages), rel=1e-6)


# ---------------------------------------------------------------- batches


def test_batch_means_of_dependent_values_are_honest() -> None:
    """The interval of single values would be some four times too narrow here."""
    hits = 0
    for seed in range(200):
        draw, value, values = random.Random(seed), 0.0, []
        for _ in range(4000):
            value = 0.9 * value + draw.gauss(0, 1)
            values.append(10 + value)
        interval = batch_means(_batches(values))
        hits += interval.low <= 10 <= interval.high
    assert hits / 200 >= 0.9


def test_batches_use_every_value_and_refuse_too_few() -> None:
    assert batch_means(_batches([1.0] * 1999 + [2001.0])).estimate == pytest.approx(2)
    with pytest.raises(ValueError, match="expected 5 batches of 10 values at least, got 49 values"):
        batch_means(_batches([1.0] * 49))
    with pytest.raises(ValueError, match="got 0 values"):
        batch_means([(0, 0.0)] * 20)


def test_small_batches_are_joined() -> None:
    """20 batches of 6 become ten of 12."""
    values = [float(n) for n in range(120)]
    assert batch_means(_batches(values)) == batch_means(_batches(values, 10))


def test_batches_that_depend_on_each_other_are_joined() -> None:
    """Four alike follow each other: neighbours correlate by a half, and those of ten batches do not."""
    batches = [(100, 100.0 * (1 + at // 4 % 2)) for at in range(20)]
    joined = [(200, 200.0 * (1 + at // 2 % 2)) for at in range(10)]
    found = batch_means(batches)
    assert found == batch_means(joined)
    assert found.high - found.low > 1.3 * (2 * 2.093 * 0.513 / math.sqrt(20))


def _batches(values: list[float], number: int = 20) -> list[tuple[int, float]]:
    size = -(-len(values) // number)
    parts = [values[at * size : (at + 1) * size] for at in range(number)]
    return [(len(part), sum(part)) for part in parts]


# ---------------------------------------------------------------- the model


@pytest.mark.parametrize(
    ("servers", "load", "waits"), [(1, 0.5, 0.5), (2, 1.0, 1 / 3), (3, 2.0, 4 / 9), (10, 8.0, 0.4092)]
)
def test_erlang_c_has_the_values_of_tables(servers: int, load: float, waits: float) -> None:
    assert erlang_c(servers, load) == pytest.approx(waits, abs=1e-4)


@given(st.integers(1, 200), st.floats(0.0, 0.999))
def test_erlang_c_is_a_probability_that_grows_with_the_load(servers: int, share: float) -> None:
    load = servers * share
    assert 0 <= erlang_c(servers, load) <= erlang_c(servers, min(load * 1.01, servers)) <= 1
    assert erlang_c(servers + 1, load) <= erlang_c(servers, load)


@given(st.floats(1e-5, 1e-1), st.floats(0.01, 0.99))
def test_one_server_is_mm1(service: float, busy: float) -> None:
    assert response_of(1, service, busy / service) == pytest.approx(service / (1 - busy), rel=1e-9)


def test_the_model_of_the_paper_has_its_numbers() -> None:
    """Table 1 and section 4.1: base 8.6 ms at 200 and 4.3 ms at 500 operations/s, and r² of the RAID's line."""
    assert 1000 * SCSI.response(200) == pytest.approx(8.6, rel=0.03)
    assert 1000 * RAID.response(500) == pytest.approx(4.3, rel=0.03)
    assert SCSI.saturation == pytest.approx(1111, rel=0.01)
    assert RAID.saturation == pytest.approx(1538, rel=0.01)
    line = fit_line(RAID.curve(range(500, 1401, 50)))
    assert line.r2 == pytest.approx(0.98, abs=0.02)


def test_fixed_times_wait_half_as_long() -> None:
    """Pollaczek and Khinchine: M/D/1 at half of its load has 0.75 of the response of M/M/1."""
    assert Server(service=1e-3, variation=0.0).response(500) == pytest.approx(1.5e-3)
    assert Server(service=1e-3).response(500) == pytest.approx(2e-3)
    assert Server(service=1e-3, variation=0.0).response(1001) == math.inf


@given(st.floats(1, 400))
def test_latency_adds_to_the_delay_and_to_nothing_else(added: float) -> None:
    """Section 4.3: two messages, so twice L."""
    slower = Server(service=900e-6, disk=12e-3, disks=24, cached=128, delay=3.4e-3 + 2e-6 * added)
    for rate in (100, 500, 1000):
        assert slower.response(rate) - SCSI.response(rate) == pytest.approx(2e-6 * added, rel=1e-6)
    assert slower.saturation == SCSI.saturation


def test_a_point_beyond_what_is_served_never_ends() -> None:
    assert SCSI.response(1112) == math.inf
    limits = Server(service=1e-5, disk=0.01, disks=2, cached=50).limits
    assert limits[0] == pytest.approx(100_000)
    assert limits[1] == 250
    assert Server(service=1e-3).response(500) == pytest.approx(2e-3)
    assert list(errors(SCSI, SCSI.curve([200, 300]))) == pytest.approx([0, 0])


# ---------------------------------------------------------------- curves


def test_the_signature_of_a_curve() -> None:
    points = [Point(100, 5), Point(200, 6), Point(300, 7), Point(400, 8), Point(500, 20), Point(480, 40)]
    found = signature(points)
    assert (found.base, found.base_at, found.saturation) == (5, 100, 500)
    assert found.slope is not None
    assert found.slope.slope.estimate == pytest.approx(0.01)
    assert before_the_hook(points) == points[:5]
    assert signature(points[:2]).slope is None


def test_littles_law() -> None:
    assert little(2000, 4) == 8


def _file(folder: Path, text: str) -> Path:
    path = folder / "curve.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_with_names_comments_and_more_columns_is_read(tmp_path: Path) -> None:
    rows = "".join(f"{rate},{rate / 100},more\n" for rate in range(100, 700, 100))
    path = _file(tmp_path, f"# a comment\nthroughput,response\n# a comment\n\n{rows}")
    assert read_curve(path) == [Point(rate, rate / 100) for rate in range(100, 700, 100)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "100,5\n200,x\n",
            r"line 2: expected operations per second from 0.001 to 1e\+09 and ms from 1e-06 to .*, got '200,x'",
        ),
        ("50,-1\n100,5\n", "line 1: expected"),
        ("1e10,5\n", "line 1: expected"),
        ("1e-323,5\n", "line 1: expected"),
        ("100,1e-323\n", "line 1: expected"),
        ("rate,ms\nthroughput,response\n", "line 2: expected"),
        ("".join(f"{number},5\n" for number in range(1, 502)), "line 501: expected 500 points at most"),
        ("100,5\n200,-1\n", "line 2: expected"),
        ("100,5\n200,nan\n", "line 2: expected"),
        ("100,5\n200\n", "line 2: expected"),
        ("100,5\n200,6\n", "expected 6 points at least, got 2"),
        ("", "expected 6 points at least, got 0"),
    ],
)
def test_what_is_no_curve_is_refused_with_its_line(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=why):
        read_curve(_file(tmp_path, text))
    with pytest.raises(Refused, match="cannot read"):
        read_curve(tmp_path / "none.csv")


def test_our_curves_are_read_if_they_are_of_one_setting(tmp_path: Path) -> None:
    """Their points are in the order of loads, and what no fit uses is a comment."""
    study = samples.study()
    base = [each for each in study.points if each.knob == "base"]
    drawn = random.Random(3).sample(base, len(base))
    slow = dataclasses.replace(base[1], response=1e9, refused="its sending lagged")
    over = dataclasses.replace(base[-1], share=1.1, delivered=2000.0, arrivals=9000, ended=2000)
    alone = dataclasses.replace(study, points=(over, *drawn, slow))
    text = "\n".join(studies.sheet(alone))
    points = read_curve(_file(tmp_path, text))
    assert len(points) == len(base) - 1  # but for the peak
    assert [point.throughput for point in points] == sorted(point.throughput for point in points)
    assert sum(line.startswith("# ") for line in text.splitlines()) == 3
    assert {line.rpartition(",")[2] for line in text.splitlines()[1:]} == {
        "",
        "peak",
        "refused",
        "overloaded",
    }
    with pytest.raises(Refused, match="expected points of one setting, got 'latency 1000' after 'base 0'"):
        read_curve(_file(tmp_path, "\n".join(studies.sheet(study))))


# ---------------------------------------------------------------- inferring

_DISKS_LIMIT: t.Final = Server(service=100e-6, disk=12e-3, disks=6, cached=100, delay=1e-3)


@needs("scipy")
@pytest.mark.parametrize("server", [SCSI, RAID, _DISKS_LIMIT], ids=["scsi", "raid", "disks"])
@pytest.mark.parametrize("disk", [12e-3, None])
def test_a_round_trip_infers_the_server(server: Server, disk: float | None) -> None:
    found = infer(_curve(server), disk=disk)
    assert found.server.service == pytest.approx(server.service, rel=0.01)
    assert found.server.cached == pytest.approx(server.cached, rel=0.01)
    assert found.server.delay == pytest.approx(server.delay, rel=0.02)
    assert found.server.disk == pytest.approx(server.disk, rel=0.01)
    assert server.disks in found.disks or ENDLESS in found.disks
    assert max(map(abs, found.errors)) < 0.001
    assert found.bottleneck == ("disks" if server is _DISKS_LIMIT else "processor")
    assert (found.left_out, "disk" in found.intervals) == (0, disk is None)


@needs("scipy")
def test_intervals_of_a_noisy_curve_have_the_truth_in_them() -> None:
    found = infer(_curve(SCSI, noise=0.02), disk=12e-3)
    for name in ("service", "cached", "delay"):
        interval = found.intervals[name]
        assert interval is not None
        assert interval.low <= getattr(SCSI, name) <= interval.high
    assert SCSI.disks in found.disks


@needs("scipy")
def test_what_a_curve_does_not_say_is_not_determined() -> None:
    """All points miss the cache: a slower disk and a shorter delay look the same."""
    hidden = Server(service=900e-6, disk=12e-3, cached=1, delay=3.4e-3)
    found = infer(_curve(hidden, noise=0.02))
    assert None in found.intervals.values()


def test_without_scipy_the_signature_is_printed_and_the_extra_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MissingFit, match=r"nfsproof\[fit\]"):
        infer(_curve(SCSI), package="nfsproof_no_such_package")
    monkeypatch.setattr(inferring, "PACKAGE", "nfsproof_no_such_package")
    path = _file(tmp_path, "".join(f"{rate},{response}\n" for rate, response in _curve(SCSI)))
    assert run_command_line(["sensitivity", "--from", str(path)]) == Exit.USAGE
    output = capsys.readouterr()
    assert "saturation  1089 operations/s" in output.out
    assert "pip install 'nfsproof[fit]'" in output.err


@needs("scipy")
def test_the_command_prints_what_it_infers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _file(tmp_path, "".join(f"{rate},{response}\n" for rate, response in [*_curve(SCSI), (900, 90)]))
    assert run_command_line(["sensitivity", "--from", str(path), "--disk-ms", "12"]) == Exit.OK
    output = capsys.readouterr().out
    assert "13 points up to 1089 operations/s, and 1 beyond the saturation, which no fit uses" in output
    assert "processor   900 µs" in output
    assert "limit       processor, 1111 operations/s" in output
    assert "largest error: 0.0 %" in output


@pytest.mark.parametrize("milliseconds", ["0", "-1", "nan", "inf"])
def test_a_disk_without_time_is_refused(
    milliseconds: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["sensitivity", "--from", str(tmp_path), "--disk-ms", milliseconds]
    assert run_command_line(words) == Exit.USAGE
    assert "expected a number above 0" in capsys.readouterr().err


@needs("scipy")
@pytest.mark.parametrize("scale", [1e-3, 1e-2, 1e6, 5e6])
def test_any_unit_of_throughput_and_response_is_fitted(scale: float) -> None:
    """Such as bytes per second: the time of an operation may be 1e-10 s."""
    curve = [
        Point(rate * scale, response / scale)
        for rate, response in SCSI.curve([100, 300, 500, 700, 900, 1000])
    ]
    assert infer(curve, disk=12e-3 / scale).server.service == pytest.approx(900e-6 / scale, rel=0.02)


@needs("scipy")
def test_a_curve_of_equal_throughputs_is_refused_with_their_number() -> None:
    with pytest.raises(Refused, match=r"expected 6 different throughputs .*, got 3: 7 points"):
        infer([Point(rate, 5.0) for rate in (100, 200, 300) for _ in range(3)])


@pytest.mark.parametrize("disk", [1e-300, 1e307])
def test_a_disk_of_no_use_is_refused(disk: float) -> None:
    with pytest.raises(Refused, match="expected a time of a disk from"):
        infer(_curve(SCSI), disk=disk)


@needs("scipy")
def test_what_cannot_be_fitted_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(*_words: t.Any) -> None:
        raise ValueError("each lower bound must be less")

    monkeypatch.setattr(inferring, "_fit", fit)
    with pytest.raises(Refused, match="the model cannot be fitted to this curve: each lower"):
        infer(_curve(SCSI))


@needs("scipy")
@settings(max_examples=2, deadline=None)
@given(st.floats(50e-6, 2e-3), st.floats(0.1, 0.6), st.floats(1e-3, 20e-3), st.floats(1e-4, 10e-3))
def test_any_server_with_disks_enough_is_inferred(
    service: float, share: float, disk: float, delay: float
) -> None:
    server = Server(service=service, disk=disk, cached=share / service, delay=delay)
    found = infer(_curve(server), disk=disk)
    assert found.server.service == pytest.approx(service, rel=0.02)
    assert found.server.saturation == pytest.approx(server.saturation, rel=0.02)
