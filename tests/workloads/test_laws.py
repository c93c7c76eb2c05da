# SPDX-License-Identifier: MIT
"""What the paper on sensitivity found, by shape, on the embedded server in virtual time (sections 5.1 to 5.4)."""

from __future__ import annotations

import dataclasses
import typing as t

import pytest

from nfsserver.queueing import Times
from tests.workloads.virtual import BYTES, Bench
from workloads.papers.sensitivity import PACKET
from workloads.sensitivity import study as studies
from workloads.sensitivity.queueing import SCSI, Server
from workloads.sensitivity.study import CLIENT, SERVER, Measured, Setting, Study

_LATENCIES: t.Final = (50.0, 150.0, 1000.0, 4000.0)
_PROCESSOR: t.Final = Times(service=0.9e-3)
_WAN: t.Final = Setting("latency", 40_000.0)


def _of(bench: Bench, points: list[Measured]) -> Study:
    shares = tuple(sorted({point.share for point in points if point.share}))
    return dataclasses.replace(bench.study, shares=shares, points=tuple(points))


def test_the_latency_that_is_requested_is_the_one_that_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A NULL call needs twice L, and nothing else in virtual time."""
    bench = Bench(monkeypatch, seconds=0.1)
    for latency in _LATENCIES:
        bench.point(200, Setting("latency", latency))
        assert bench.result is not None
        assert bench.result.client.null_rtt_us == pytest.approx(2 * latency, abs=0.01)


def test_base_rises_with_the_latency_and_is_never_flat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a queue: 2 µs for each µs, from the first one on. The paper measured 3, and nothing below 150 µs."""
    bench = Bench(monkeypatch)
    settings = [Setting(), *(Setting("latency", latency) for latency in _LATENCIES)]
    study = _of(bench, [bench.point(200, each) for each in settings])
    assert all(not point.refused for point in study.points)
    law = studies.latency_law(study)
    assert law is not None
    assert law.slope.estimate == pytest.approx(2, rel=0.02)  # a create is two calls
    assert law.r2 > 0.9999
    assert studies.flat_until(study) == 0


def test_latency_leaves_the_peak_as_long_as_there_are_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Section 5.1: with N callers, the peak is at most N / (response + 2 L)."""
    many, few = Bench(monkeypatch, _PROCESSOR), Bench(monkeypatch, _PROCESSOR, callers=8)
    late = Setting("latency", 4000.0)
    assert many.peak(late).delivered == pytest.approx(many.peak().delivered, rel=0.03)
    assert few.peak(late).delivered < 0.9 * few.peak().delivered


def test_the_peak_is_the_law_of_overhead_with_the_messages_that_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Section 5.2: 1 / (service + k o), where o is time of the processor of the server."""
    bench = Bench(monkeypatch, _PROCESSOR, version="2", transport="udp", packet=PACKET, seconds=4)
    points = [bench.peak()]
    for o in (160.0, 320.0, 640.0):
        times = dataclasses.replace(_PROCESSOR, overhead=o / 1e6, packet=PACKET)
        points.append(bench.peak(Setting(SERVER, o), times))
    study = _of(bench, points)
    law, messages = studies.overhead_law(study, SERVER), studies.messages_of(study, SERVER)
    assert law is not None
    assert messages is not None
    assert 2.1 < messages < 2.6  # the paper has 2.4
    assert law.messages.estimate == pytest.approx(messages, rel=0.05)
    assert law.service.estimate == pytest.approx(0.9e-3, rel=0.05)
    assert law.r2 > 0.99


def test_the_overhead_of_a_client_makes_the_same_law_of_its_processor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In virtual time the client needs nothing else: 1 / (k o)."""
    bench = Bench(monkeypatch, packet=PACKET, seconds=2)
    points = [bench.peak(Setting(CLIENT, o)) for o in (200.0, 400.0, 800.0)]
    study = _of(bench, [dataclasses.replace(points[0], knob="base", value=0.0, delivered=1e9), *points])
    law, messages = studies.overhead_law(study, CLIENT), studies.messages_of(study, CLIENT)
    assert law is not None
    assert messages is not None
    assert law.messages.estimate == pytest.approx(messages, rel=0.02)
    assert law.service.estimate == pytest.approx(0, abs=3e-5)


def test_a_serial_delay_of_the_proxy_is_next_to_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The peak is the lower one of both, and its law is 1 / o: what a processor is not busy with is no overhead."""
    bench = Bench(monkeypatch, _PROCESSOR)
    peaks = {o: bench.peak(Setting("overhead", o)).delivered for o in (200.0, 2000.0, 4000.0)}
    assert peaks[200.0] == pytest.approx(1 / 0.9e-3, rel=0.05)
    assert peaks[2000.0] == pytest.approx(500, rel=0.03)
    assert peaks[4000.0] == pytest.approx(250, rel=0.03)


def test_bandwidth_does_not_matter_until_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Section 5.3: nothing at 26 MB/s; the slope rises where the bytes of the load come near to it."""
    bench = Bench(monkeypatch, _PROCESSOR, version="2", transport="udp")
    response = {
        (rate, bandwidth): bench.point(
            rate, Setting("bandwidth", bandwidth) if bandwidth else Setting()
        ).response
        for rate in (200.0, 700.0)
        for bandwidth in (0.0, 26.0, 1.25)
    }
    assert response[200.0, 26.0] == pytest.approx(response[200.0, 0.0], rel=0.1)
    assert response[700.0, 26.0] == pytest.approx(response[700.0, 0.0], rel=0.1)
    rises = {each: response[700.0, each] - response[200.0, each] for each in (0.0, 26.0, 1.25)}
    assert rises[26.0] == pytest.approx(rises[0.0], rel=0.2)
    assert rises[1.25] > 1.5 * rises[0.0]


def test_tcp_keeps_half_of_its_peak_where_udp_with_early_timers_keeps_hardly_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Section 5.4. 45 callers allow half of the peak at 40 ms; a client of UDP that halves its window has one call."""
    share = {}
    for version, transport, resend in (("3", "tcp", 0.0), ("2", "udp", 0.06), ("2", "udp", 0.0)):
        bench = Bench(
            monkeypatch, _PROCESSOR, version=version, transport=transport, callers=45, resend=resend
        )
        share[transport, resend] = bench.peak(_WAN).delivered / bench.peak().delivered
    assert share["tcp", 0.0] == pytest.approx(0.5, abs=0.03)
    assert share["udp", 0.06] < 0.1
    assert share["udp", 0.0] == pytest.approx(share["tcp", 0.0], abs=0.03)


def test_the_cache_hits_as_often_as_the_memory_is_of_what_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Section 4.1: the curve is that of the model, whose hit rate falls as the load grows."""
    memory = 128 * BYTES * 0.1 / (1 << 20)
    times = Times(service=SCSI.service, disk=SCSI.disk, disks=SCSI.disks, memory=memory, delay=SCSI.delay)
    bench = Bench(monkeypatch, times, bytes_of_files=BYTES)
    model = Server(service=SCSI.service, disk=SCSI.disk, disks=SCSI.disks, cached=128, delay=SCSI.delay)
    for rate, seconds in ((100.0, 15.0), (300.0, 10.0)):
        bench.seconds = seconds
        assert bench.point(rate).response / 1e6 == pytest.approx(model.response(rate), rel=0.1), rate


def test_points_of_a_queue_have_intervals_that_contain_its_theory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batch means: of M/M/1 at 60 %, the mean of 2.25 ms is in the interval, and Little's law holds."""
    point = Bench(monkeypatch, _PROCESSOR, seconds=10).point(0.6 / 0.9e-3)
    assert not point.refused
    assert point.response_low < 2250 < point.response_high
    assert point.response_high - point.response_low < 0.4 * point.response
    assert point.in_flight == pytest.approx(1.5, rel=0.2)
