# SPDX-License-Identifier: MIT
"""Results for tests: a script and a rate, as a run would make them."""

from __future__ import annotations

import dataclasses
import typing as t

from nfsjudge.verdict import Verdict
from workloads.histogram import Histogram
from workloads.result import (
    Client,
    DataChecks,
    Environment,
    Latency,
    LintFinding,
    Phase,
    Result,
    Second,
    Setup,
    Sizes,
    WrongData,
)
from workloads.sensitivity.queueing import Server
from workloads.sensitivity.study import CLIENT, SHARES, Measured, Setting, Study

SETUP = Setup(
    workload="write10",
    kind="script",
    parameters={"bytes": 10 << 20, "fileset": "one file"},
    policy="raw",
    version="3",
    transport="tcp",
    sizes=Sizes(read=8192, write=8192, directory=8192),
    stable="unstable",
    workers=1,
    connections=1,
    callers=1,
    window=7,
    arrivals=0.0,
    warmup_seconds=0.0,
    steady_seconds=0.0,
)
ENVIRONMENT = Environment(
    nfsproof="0.1",
    python="CPython 3.11.7",
    system="Linux 6.1 x86_64",
    processors=2,
    memory=24 << 30,
    load=0.5,
)
WRONG = WrongData(
    path="f/3",
    offset=4096,
    expected="00ff",
    seen="00fe",
    writer="worker 1 caller 2",
    reader="worker 2 caller 1",
)
SCRIPT = Result(
    setup=SETUP,
    seed=7,
    is_drawn=False,
    target="embedded",
    started="2026-01-31T12:00:00Z",
    environment=ENVIRONMENT,
    client=Client(cpu_seconds=0.4, cpu_share=0.5, null_rtt_us=91.5),
    phases=(
        Phase(
            name="write",
            seconds=0.75,
            operations=1280,
            rpcs=1281,
            calls={"CREATE": 1, "WRITE": 1280},
            sent=10_700_000,
            received=180_000,
            written=10 << 20,
        ),
        Phase(name="close", seconds=0.25, operations=1, rpcs=1, calls={"COMMIT": 1}, sent=120, received=160),
    ),
    latency=Latency(procedures={"WRITE": Histogram(100.0 + n % 400 for n in range(1280))}),
    troubles={"short writes continued": 2},
    checks=DataChecks(made=1280, bytes=10 << 20),
)


def rate(
    *, seed: int = 7, operations: t.Sequence[int] = (900, 1000, 1010, 990), slower: float = 1.0
) -> Result:
    """A result of `randread`; the first second is warm-up."""
    steady = sum(operations[1:])
    latencies = [slower * (80.0 + n * 37 % 300 + (5000.0 if n % 1000 == 0 else 0.0)) for n in range(steady)]
    setup = dataclasses.replace(
        SETUP,
        workload="randread",
        kind="rate",
        parameters={"bytes": 1 << 20, "io": 4096},
        callers=8,
        warmup_seconds=1.0,
        steady_seconds=float(len(operations) - 1),
    )
    return dataclasses.replace(
        SCRIPT,
        setup=setup,
        seed=seed,
        is_drawn=True,
        phases=(
            Phase(
                name="steady",
                seconds=float(len(operations) - 1) * slower,
                operations=steady,
                rpcs=steady,
                calls={"READ": steady},
                sent=steady * 120,
                received=steady * 4216,
                read=steady * 4096,
            ),
        ),
        series=tuple(
            Second(
                second=n,
                operations=count,
                read=count * 4096,
                written=0,
                p50_us=slower * 230.0,
                p99_us=slower * 377.0,
                is_steady=n > 0,
            )
            for n, count in enumerate(operations)
        ),
        latency=Latency(operations=Histogram(latencies), procedures={"READ": Histogram(latencies)}),
        troubles={},
    )


WRONG_DATA = dataclasses.replace(
    SCRIPT,
    checks=DataChecks(made=1280, bytes=10 << 20, failed=1, first=(WRONG,)),
    findings=(LintFinding(rule="wcc", verdict=Verdict.FAIL, text="size: expected 3, got 4", count=2),),
    verdict=Verdict.FAIL,
    reasons=("1 read returned wrong data",),
)
VOID = dataclasses.replace(
    SCRIPT, troubles={"disk full": 1}, verdict=Verdict.VOID, reasons=("the disk is full: NFS3ERR_NOSPC",)
)


def study(target: str = "embedded") -> Study:
    """A study of a server of the queueing model, with three knobs."""
    points = list[Measured]()
    for setting, server in (
        (Setting(), Server(service=900e-6, delay=1e-3)),
        (Setting("latency", 1000.0), Server(service=900e-6, delay=3e-3)),
        (Setting("latency", 4000.0), Server(service=900e-6, delay=9e-3)),
        (Setting("bandwidth", 2.5), Server(service=950e-6, delay=1.2e-3)),
    ):
        peak = 0.98 * server.saturation
        points.append(_measured(setting, 0.0, peak, 32 / peak))
        points += [
            _measured(setting, share, share * peak, server.response(share * peak)) for share in SHARES[:-1]
        ]
    points += [
        _measured(Setting(CLIENT, o), 0.0, 1 / (300e-6 + 2.4e-6 * o), 32 * (300e-6 + 2.4e-6 * o))
        for o in (400.0, 800.0, 1600.0)
    ]
    return Study(
        target=target, version="3", transport="tcp", seed=1, callers=32, workers=1, packet=3500, resend=0.0, queue="",
        repeats=1, seconds=10.0, bytes=10 << 20, shares=SHARES, environment=ENVIRONMENT, points=tuple(points),
    )  # fmt: skip


def _measured(setting: Setting, share: float, rate: float, response: float) -> Measured:
    """Response in seconds."""
    microseconds = 1e6 * response
    return Measured(
        knob=setting.knob, value=setting.value, share=share, repeat=0, offered=rate if share else 0.0, delivered=rate,
        response=microseconds, response_low=0.95 * microseconds, response_high=1.05 * microseconds,
        median=microseconds, lag_p99=0.0, in_flight=rate * response, operations=2000, messages=2.4,
    )  # fmt: skip
