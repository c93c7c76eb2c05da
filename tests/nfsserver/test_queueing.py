# SPDX-License-Identifier: MIT
"""The embedded server with the times of a queueing server: in given time by theory, and over all transports."""

from __future__ import annotations

import random

import pytest

from nfsjudge.verdict import Verdict
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from nfsserver.queueing import BadTimes, Line, Times, queue
from nfstargets.embedded import EmbeddedTarget
from tests.workloads.rig import run_whole
from workloads.running import Here
from workloads.sensitivity.fits import fit_overhead
from workloads.sensitivity.queueing import response_of

_ARRIVALS = 60_000


def _mean(times: Times, rate: float) -> float:
    """The mean response to Poisson arrivals, in seconds."""
    draw, line, now, total = random.Random(2), Line(times), 0.0, 0.0
    for _ in range(_ARRIVALS):
        now += draw.expovariate(rate)
        total += line.arrive(now) - now
    return total / _ARRIVALS


def _throughput(times: Times, callers: int = 32) -> float:
    """What a closed loop of callers gets, each with the next call when the last one has ended."""
    line, ends = Line(times), [0.0] * callers
    for _ in range(_ARRIVALS):
        ends.sort()
        ends[0] = line.arrive(ends[0])
    return _ARRIVALS / max(ends)


@pytest.mark.parametrize("busy", [0.2, 0.5, 0.8])
def test_a_processor_alone_is_mm1(busy: float) -> None:
    service = 900e-6
    assert _mean(Times(service=service), busy / service) == pytest.approx(service / (1 - busy), rel=0.06)


@pytest.mark.parametrize(("disks", "rate"), [(1, 40.0), (4, 250.0), (8, 500.0)])
def test_disks_are_mmm(disks: int, rate: float) -> None:
    expected = response_of(disks, 12e-3, rate)
    assert _mean(Times(disk=12e-3, disks=disks, hits=0.0), rate) == pytest.approx(expected, rel=0.06)


def test_hits_need_no_disk() -> None:
    times = Times(service=500e-6, disk=12e-3, disks=8, hits=0.75, delay=2e-3)
    expected = response_of(1, 500e-6, 400) + 0.25 * response_of(8, 12e-3, 100) + 2e-3
    assert _mean(times, 400) == pytest.approx(expected, rel=0.05)


def test_a_delay_adds_to_the_base_and_leaves_the_peak() -> None:
    """As latency does in the paper: no flat part, and the same saturation."""
    plain, slower = Times(service=1e-3), Times(service=1e-3, delay=8e-3)
    assert _mean(slower, 100) - _mean(plain, 100) == pytest.approx(8e-3, rel=1e-6)
    assert _throughput(slower) == pytest.approx(_throughput(plain), rel=0.02)


def test_the_peak_follows_the_law_of_overhead() -> None:
    """Section 5.2: 1 / (service + k o), here with the k that is put in."""
    points = [(o, _throughput(Times(service=900e-6 + 2.4 * o))) for o in (0.0, 80e-6, 160e-6, 320e-6, 640e-6)]
    law = fit_overhead(points)
    assert law.service.estimate == pytest.approx(900e-6, rel=0.03)
    assert law.messages.estimate == pytest.approx(2.4, rel=0.03)
    assert law.r2 > 0.99


def test_an_overhead_is_paid_for_each_message() -> None:
    """1 / (service + k o): here a call of one packet and a reply of four."""
    times = Times(service=900e-6, overhead=100e-6, packet=3500)
    assert [times.packets(size) for size in (0, 100, 3500, 3501, 8300)] == [1, 1, 1, 2, 3]
    line, now = Line(times), 0.0
    for _ in range(_ARRIVALS):
        now = line.arrive(now)
        line.replied(now, 4)
    assert now / _ARRIVALS == pytest.approx(900e-6 + 5 * 100e-6, rel=0.02)


def test_hits_follow_from_the_memory_and_what_is_touched() -> None:
    times = Times(memory=128, touched=0.1)
    assert times.hits_of(0) == 1
    assert times.hits_of(1280 << 20) == pytest.approx(1)
    assert times.hits_of(5120 << 20) == pytest.approx(0.25)
    assert Times(hits=0.7).hits_of(1 << 40) == 0.7


def test_few_callers_cannot_fill_a_server_with_a_long_delay() -> None:
    """Section 5.1: the peak falls where there are too few callers."""
    assert _throughput(Times(service=1e-3, delay=40e-3), callers=8) < 0.25 * _throughput(Times(service=1e-3))


@pytest.mark.parametrize(("version", "transport"), [("2", "udp"), ("3", "tcp"), ("3", "udp"), ("4.1", "tcp")])
def test_a_workload_is_right_on_a_server_with_a_queue(version: str, transport: str) -> None:
    def during(_carrier: Here, target: EmbeddedTarget) -> None:
        assert target.loop is not None
        times = Times(service=0.2e-3, disk=1e-3, disks=2, hits=0.5)
        queue(target.running(), target.loop, times)

    outcome, _ = run_whole(
        "write10", version=version, transport=transport, during=during, window=4, rsize=8192, wsize=8192
    )
    assert (outcome.result.verdict, outcome.result.reasons) == (Verdict.PASS, ())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("service=x", "service: expected a number, got 'x'"),
        (
            "servce=1",
            "expected one of delay, disk, disks, hits, memory, overhead, packet, seed, service, touched, got",
        ),
        ("service=-1", "service: expected 0 to 60000 ms, got -1"),
        ("service=nan", "service: expected 0 to 60000 ms"),
        ("disks=0", "disks: expected 1 to 1000, got 0"),
        ("hits=2", "hits: expected 0 to 1, got 2"),
        ("overhead=-1", "overhead: expected 0 to 60000 ms, got -1"),
        ("packet=10", "packet: expected 64 to 1048576 bytes, or 0, got 10"),
        ("memory=nan", "memory: expected 0 to 1048576 MiB"),
        ("touched=0", "touched: expected more than 0, up to 1, got 0"),
    ],
)
def test_times_that_make_no_sense_are_refused(
    text: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(BadTimes, match=why.replace("(", r"\(")):
        Times.of_text(text)
    assert run_command_line(["serve", "--queue", text]) == Exit.USAGE
    assert why in capsys.readouterr().err


def test_times_are_read_in_ms() -> None:
    expected = Times(
        service=2e-3, disk=12e-3, disks=4, hits=0.5, delay=1e-3, overhead=8e-5, packet=3500, seed=3
    )
    text = "service=2,disk=12,disks=4,hits=0.5,delay=1,overhead=0.08,packet=3500,seed=3"
    assert Times.of_text(text) == expected
    assert Times.of_text("") == Times()
