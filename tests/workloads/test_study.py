# SPDX-License-Identifier: MIT
"""Studies of `nfsproof sensitivity`: their points, what is refused, the laws of the paper, and the file."""

from __future__ import annotations

import contextlib
import json
import math
import typing as t
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from reports.workloads.studied import study_text
from reports.workloads.study_charts import study_chart, study_panels
from tests.workloads.samples import ENVIRONMENT
from workloads.engine import Drain, Start, Until, Work
from workloads.sensitivity import study as studies
from workloads.sensitivity.curves import little
from workloads.sensitivity.queueing import Server
from workloads.sensitivity.study import PEAK, SHARES, Measured, Setting, Study
from workloads.tallying import Rate
from workloads.trouble import Refused

_SERVICE: t.Final = 900e-6
_SVG: t.Final = "{http://www.w3.org/2000/svg}"


def _point(setting: Setting, share: float, offered: float, delivered: float, response: float) -> Measured:
    """Response in seconds."""
    microseconds = response * 1e6
    return Measured(
        knob=setting.knob, value=setting.value, share=share, repeat=0, offered=offered, delivered=delivered,
        response=microseconds, response_low=microseconds, response_high=microseconds, median=microseconds,
        lag_p99=0, in_flight=little(delivered, 1000 * response), operations=2000, messages=2.4,
    )  # fmt: skip


def _study(*points: Measured) -> Study:
    return Study(
        target="embedded", version="2", transport="udp", seed=1, callers=32, workers=1, packet=0, resend=0, queue="",
        repeats=1, seconds=10.0, bytes=10 << 20, shares=SHARES, environment=ENVIRONMENT, points=points,
    )  # fmt: skip


def _curve(setting: Setting, server: Server, slower: float = 0.0) -> list[Measured]:
    """Points of a server; `slower`: seconds for each operation per second that the network adds."""
    peak = 0.999 * server.saturation
    found = [_point(setting, PEAK, 0.0, peak, 32 / peak)]
    for share in SHARES[:-1]:
        rate = share * peak
        found.append(_point(setting, share, rate, rate, server.response(rate) + slower * rate))
    found.append(_point(setting, SHARES[-1], SHARES[-1] * peak, 0.98 * peak, 2.0))
    return found


# ---------------------------------------------------------------- the laws of the paper, by shape


def test_latency_moves_the_base_and_nothing_else() -> None:
    """Section 4.3: 2 µs of response for each µs of latency."""
    study = _study(
        *(
            point
            for latency in (0.0, 500.0, 1000.0, 4000.0)
            for point in _curve(
                Setting("latency", latency) if latency else Setting(),
                Server(service=_SERVICE, delay=3.4e-3 + 2e-6 * latency),
            )
        )
    )
    law = studies.latency_law(study)
    assert law is not None
    assert law.slope.estimate == pytest.approx(2, abs=1e-6)
    assert law.r2 == pytest.approx(1)
    found = studies.rows(study)
    assert [str(row.setting) for row in found] == [
        "base",
        "latency 500 µs",
        "latency 1000 µs",
        "latency 4000 µs",
    ]
    assert len({round(row.peak, 6) for row in found}) == 1
    slopes = [row.signature.slope.slope.estimate for row in found if row.signature and row.signature.slope]
    assert slopes == pytest.approx([slopes[0]] * 4)
    assert "base over L:     2 (2 to 2) µs for each µs" in study_text(study)


def test_overhead_lowers_the_peak_by_the_number_of_messages() -> None:
    """Section 5.2: 1 / (service + 2.4 o), and no flat part."""
    study = _study(
        *(
            point
            for o in (0.0, 80.0, 160.0, 320.0)
            for point in _curve(
                Setting("overhead", o) if o else Setting(), Server(service=_SERVICE + 2.4e-6 * o, delay=1e-3)
            )
        )
    )
    law = studies.overhead_law(study)
    assert law is not None
    assert law.service.estimate == pytest.approx(_SERVICE / 0.999, rel=1e-3)
    assert law.messages.estimate == pytest.approx(2.4, rel=2e-3)
    peaks = [row.peak for row in studies.rows(study)]
    assert peaks == sorted(peaks, reverse=True)
    assert "µs + 2.4 (2.4 to 2.4) o), r² 1.00" in study_text(study)


def test_each_kind_of_overhead_has_its_law_and_its_messages() -> None:
    """The client has one processor for each worker; base belongs to the law of the server."""
    service, peak = 1e-3, 900.0
    points = [_point(Setting(), PEAK, 0.0, peak, 1e-3)]
    for o in (1000.0, 2000.0, 4000.0):
        points.append(_point(Setting(studies.CLIENT, o), PEAK, 0.0, 2 / (service + 2.4e-6 * o), 1e-3))
        points.append(_point(Setting(studies.SERVER, o), PEAK, 0.0, 1 / (1 / peak + 3e-6 * o), 1e-3))
    study = replace(_study(*points), workers=2)
    client, server = (studies.overhead_law(study, knob) for knob in (studies.CLIENT, studies.SERVER))
    assert client is not None
    assert server is not None
    assert client.messages.estimate == pytest.approx(2.4)
    assert client.service.estimate == pytest.approx(service)
    assert server.messages.estimate == pytest.approx(3)
    assert server.service.estimate == pytest.approx(1 / peak)
    assert studies.messages_of(study, studies.CLIENT) == pytest.approx(2.4)
    text = study_text(study)
    assert text.count("2.4 messages for each operation: the k that this should be") == 2
    assert "32 callers at the peak in each of 2 workers" in text
    titles = [title for title, _ in study_panels(study)]
    assert titles == ["peak over client overhead", "peak over server overhead"]


def test_an_overhead_of_the_client_has_peaks_alone() -> None:
    """An arrival that finds the processor busy is sent late: that is what a lag is."""
    found = studies.tasks(Setting(studies.CLIENT, 80.0), SHARES, 2, seed=1)
    assert [task.share for task in found] == [PEAK, PEAK]


def test_a_base_that_does_not_rise_is_flat() -> None:
    """Section 5.1: up to 150 µs in the paper."""
    found = list[Measured]()
    for latency, response in ((0.0, 1000.0), (50.0, 1010.0), (150.0, 1020.0), (500.0, 2500.0)):
        point = _point(
            Setting("latency", latency) if latency else Setting(), SHARES[0], 50.0, 50.0, response / 1e6
        )
        found.append(replace(point, response_low=response - 30, response_high=response + 30))
    assert studies.flat_until(_study(*found)) == 150
    assert "base is flat:    up to 150 µs" in study_text(_study(*found))
    assert studies.flat_until(_study(found[0], found[3])) == 0
    assert studies.flat_until(_study(found[0])) is None


def test_an_overhead_that_is_not_the_limit_is_left_out() -> None:
    """The proxy is next to the server: the peak is the lower one of both."""
    study = _study(
        *(
            _point(
                Setting("overhead", o) if o else Setting(),
                PEAK,
                0.0,
                min(3300.0, 1e6 / o if o else 3300.0),
                1e-3,
            )
            for o in (0.0, 100.0, 300.0, 600.0, 1200.0, 2400.0)
        )
    )
    law = studies.overhead_law(study)
    assert law is not None
    assert law.messages.estimate == pytest.approx(1)
    assert law.service.estimate == pytest.approx(0, abs=1e-9)


def test_bandwidth_does_not_matter_until_it_does() -> None:
    """Section 5.3."""
    server = Server(service=_SERVICE, delay=1e-3)
    points = _curve(Setting(), server) + _curve(Setting("bandwidth", 26.0), server)
    assert studies.steeper_at(studies.rows(_study(*points))) is None
    assert "steeper at none of these" in study_text(_study(*points))
    points += _curve(Setting("bandwidth", 1.25), server, slower=50e-6)
    assert studies.steeper_at(studies.rows(_study(*points))) == 1.25
    assert "steeper from 1.25 MB/s down" in study_text(_study(*points))


def test_too_few_settings_say_nothing() -> None:
    study = _study(*_curve(Setting(), Server(service=_SERVICE)))
    assert studies.latency_law(study) is None
    assert studies.overhead_law(study) is None
    assert "No knob was turned" in study_text(study)
    assert studies.rows(_study()) == []


# ---------------------------------------------------------------- points


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({}, ""),
        ({"lag_p99": 99.0}, ""),
        ({"lag_p99": 101.0}, "its sending lagged: 99 % within 101 µs, and half of all took 1000 µs"),
        ({"lag_p99": 500.0, "offered": 0.0}, ""),  # a closed loop has no intended starts
        ({"in_flight": 23.0}, ""),
        ({"in_flight": 30.0}, "Little's law: 20.0 under way by throughput and response, 30.0 seen"),
        ({"in_flight": 10.0}, "Little's law: 20.0"),
        ({"delivered": 1600.0, "in_flight": 4.1, "offered": 0.0}, ""),  # of few callers, one is at its edge
        ({"delivered": 10.0, "in_flight": 0.11}, ""),  # a tenth more or less says nothing
        (
            {"delivered": 10.0, "in_flight": 0.9},
            "Little's law: 0.02 under way by throughput and response, 0.90 seen",
        ),
    ],
)
def test_a_point_about_the_sender_is_refused(more: dict[str, float], why: str) -> None:
    facts = {
        "offered": 10_000.0, "delivered": 10_000.0, "response": 2000.0, "median": 1000.0, "lag_p99": 0.0,
        "in_flight": 20.0, **more,
    }  # fmt: skip
    found = studies.why_refused(**facts)
    assert found.startswith(why)
    assert bool(found) == bool(why)


def test_refused_points_are_shown_and_used_by_no_fit() -> None:
    good = _curve(Setting(), Server(service=_SERVICE))
    bad = Measured(**{**_fields(good[1]), "response": 1.0, "refused": "its sending lagged"})
    study = _study(*good[:1], bad, *good[2:])
    assert min(point.throughput for point in studies.rows(study)[0].curve) == pytest.approx(good[2].delivered)
    assert studies.rows(study)[0].refused == 1
    assert "base, 5% of the peak: its sending lagged" in study_text(study)
    assert len(studies.mean_curve(study, Setting())) == len(SHARES) - 2  # and the last is overloaded
    assert not studies.rows(study)[0].has_base  # the point at the lowest load is refused
    assert study_text(study).splitlines()[4].split()[2] == "-"
    assert studies.rows(_study(*good))[0].has_base


def _fields(point: Measured) -> dict[str, t.Any]:
    return {name: getattr(point, name) for name in point.__dataclass_fields__}


def test_points_are_measured_in_random_order_after_their_peaks() -> None:
    found = studies.tasks(Setting(), SHARES, 3, seed=1)
    assert [task.share for task in found[:3]] == [PEAK] * 3
    assert {(task.share, task.repeat) for task in found[3:]} == {
        (share, n) for share in SHARES for n in range(3)
    }
    shares = [task.share for task in found[3:]]
    assert shares != sorted(shares)
    assert studies.tasks(Setting(), SHARES, 3, seed=1) == found != studies.tasks(Setting(), SHARES, 3, seed=2)


def test_fewer_loads_keep_both_ends() -> None:
    for number in range(3, 11):
        chosen = studies.chosen(number)
        assert (len(set(chosen)), chosen[0], chosen[-1]) == (number, SHARES[0], SHARES[-1])
    assert (studies.chosen(0), studies.chosen(1)) == ((), SHARES[:1])


def test_a_point_lasts_until_enough_has_arrived() -> None:
    assert studies.seconds_of(1000, 10) == 10
    assert studies.seconds_of(18, 10) == pytest.approx(105)


def test_an_interval_of_a_mean_needs_some_batches() -> None:
    assert studies.interval_of([(10, 10.0)] * 4, 1.0) == (1.0, 1.0)
    low, high = studies.interval_of([(10, 10.0), (10, 20.0), (10, 30.0), (10, 40.0), (10, 50.0)], 3.0)
    assert low < 3 < high
    assert high - 3 == pytest.approx(2.776 * math.sqrt(2.5 / 5), abs=1e-3)


class _Busy:
    """Carries calls out that never end."""

    def perform(self, _call: t.Any) -> Work[None]:
        yield Until(math.inf)


def test_arrivals_count_what_they_meet() -> None:
    """Nothing ends, one arrival a second, of which two are in the warm-up: 2 + 3 + ... are met."""
    now = [0.0]
    rate = Rate(lambda: now[0], 0.0, 2.5, 8.0)
    program = rate.open(_Busy(), lambda _number: iter(()), lambda: 1.0)  # type: ignore[arg-type, return-value]
    wanted = next(program)
    with contextlib.suppress(StopIteration):
        while not isinstance(wanted, Drain):
            if isinstance(wanted, Until):
                now[0] = wanted.at
            if isinstance(wanted, Start):
                assert wanted.pool is not None
                wanted.pool.running += 1
                wanted.steps.close()
            wanted = program.send(None)
    assert (rate.tally.arrivals, rate.tally.met) == (8, sum(range(2, 10)))


# ---------------------------------------------------------------- the picture


def test_a_picture_has_a_panel_for_each_knob_and_tells_settings_apart_without_colour() -> None:
    server = Server(service=_SERVICE, delay=1e-3)
    settings = [Setting(), Setting("latency", 500.0), Setting("latency", 4000.0), Setting("bandwidth", 2.5)]
    study = _study(*(point for setting in settings for point in _curve(setting, server)))
    svg = ET.fromstring(study_chart(study, server))
    names = [each.text for each in svg.iter(f"{_SVG}text") if each.get("class") in {"name", "caption"}]
    assert names == [
        *("response time by latency", "base", "latency 500 µs", "latency 4000 µs", "model of base"),
        *("response time by bandwidth", "base", "bandwidth 2.5 MB/s", "model of base"),
    ]
    assert svg.get("width") == "400"
    curves = [group for group in svg.iter(f"{_SVG}g") if group.get("class") == "curve"]
    assert len(curves) == 5
    looks = set()
    for group in curves[:3]:
        line = group.find(f"{_SVG}polyline")
        assert line is not None
        marks = [each.tag for each in group if each.tag in {f"{_SVG}circle", f"{_SVG}polygon"}]
        assert len(marks) == len(SHARES) + 1
        assert len([each for each in group.iter(f"{_SVG}line") if each.get("class") == "error"]) == len(
            SHARES
        )
        looks.add((line.get("stroke-dasharray"), line.get("stroke")))
    assert len(looks) == 3
    assert {stroke for _, stroke in looks} == {"currentColor"}
    places = [
        tuple(map(float, place.split(",")))
        for line in svg.iter(f"{_SVG}polyline")
        for place in line.attrib["points"].split()
    ]
    assert all(0 <= x <= 400 and 0 <= y <= float(svg.attrib["height"]) for x, y in places)


def test_a_picture_of_base_alone_and_of_nothing() -> None:
    study = _study(*_curve(Setting(), Server(service=_SERVICE)))
    assert "response time<" in study_chart(study)
    assert study_chart(_study()) == ""


# ---------------------------------------------------------------- the file


def test_a_study_is_read_as_it_was_written(tmp_path: Path) -> None:
    study = _study(*_curve(Setting(), Server(service=_SERVICE)))
    path = tmp_path / studies.FILE
    studies.write(study, path)
    assert studies.read(path) == study
    lines = list(studies.sheet(study))
    assert len(lines) == 1 + len(study.points)
    assert lines[0].startswith("throughput,response_ms,")
    assert [each.name for each in tmp_path.iterdir()] == [studies.FILE]


@pytest.mark.parametrize(
    ("change", "why"),
    [({"schema": 9}, "schema"), ({"points": 3}, "points"), ({"more": 1}, "more"), (None, "is no study")],
)
def test_another_file_is_refused(change: dict[str, t.Any] | None, why: str, tmp_path: Path) -> None:
    path = tmp_path / studies.FILE
    studies.write(_study(), path)
    if change is None:
        path.write_text("[", encoding="utf-8")
    else:
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}), encoding="utf-8")
    with pytest.raises(Refused, match=why):
        studies.read(path)
