# SPDX-License-Identifier: MIT
"""A study of one server: curves at several settings of the network, their points as JSON, and what follows from them.

    setting        latency, overhead or bandwidth of the proxy's link, or what a message costs the client or the
                   embedded server; "base" has none of them
    peak           a closed loop with many callers: the throughput that the server saturates at
    point          an open loop at a share of the peak of its setting; several repeats, all in random order

A point is *refused*, and used by no fit, if it says more about the sender than about the server: its sending lagged
(99 % of arrivals within more than a tenth of the median response), or Little's law does not hold for it.
"""

from __future__ import annotations

import json
import math
import os
import random
import typing as t
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from workloads import shape
from workloads.result import Environment
from workloads.sensitivity.curves import Point, Signature, little, signature
from workloads.sensitivity.fits import LEAST_ARRIVALS, Line, OverheadLaw, batch_means, fit_line, fit_overhead
from workloads.shape import Most
from workloads.statistics import Interval
from workloads.trouble import Refused

SCHEMA: t.Final = 2
FILE: t.Final = "sensitivity.json"
CLIENT: t.Final = "client overhead"
"""Time of the processor of a client for each message."""
SERVER: t.Final = "server overhead"
"""The same of the embedded server with a queue (`nfsproof serve --queue`)."""
KNOBS: t.Final = ("base", "latency", "overhead", "bandwidth", CLIENT, SERVER)
SHARES: t.Final = (0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.7, 0.8, 0.95, 1.1)
"""Of the peak."""
PEAK: t.Final = 0.0
"""The share of a point that is a closed loop."""
_MOST_LAG: t.Final = 0.1
_LITTLE: t.Final = 0.2
_LIMITS: t.Final = 0.9
"""Share of the peak of base below which an overhead is seen to be the limit."""


@dataclass(frozen=True, slots=True, order=True)
class Setting:
    """One value of one knob."""

    knob: str = "base"
    value: float = 0.0
    """µs for latency, each of one direction, and overheads; MB/s for bandwidth."""

    def __str__(self) -> str:
        return self.knob if self.knob == "base" else f"{self.knob} {self.value:g} {self.unit}"

    @property
    def unit(self) -> str:
        """Of the value."""
        return "MB/s" if self.knob == "bandwidth" else "µs"


@dataclass(frozen=True, slots=True)
class Task:
    """A point that is to be measured."""

    setting: Setting
    share: float
    repeat: int


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A point. Times are in µs, loads in operations per second."""

    knob: str
    value: float
    share: float
    repeat: int
    offered: float
    """0: closed loop."""
    delivered: float
    response: float
    response_low: float
    """The 95 % interval, from the means of batches; equal to `response` if there is too little."""
    response_high: float
    median: float
    lag_p99: float
    in_flight: float
    """Operations under way: those that arrivals met; of a closed loop, the callers."""
    operations: int
    messages: float
    """Sent and received for each operation."""
    null_rtt: float = 0.0
    """The round trip of a call that does nothing, through the link of the setting, before the load; 0: unknown."""
    refused: str = ""
    """Why no fit uses it; empty: it is used."""

    @property
    def task(self) -> Task:
        """What it was measured for."""
        return Task(Setting(self.knob, self.value), self.share, self.repeat)

    @property
    def point(self) -> Point:
        """As a point of a curve, in ms."""
        return Point(self.delivered, self.response / 1000)


@dataclass(frozen=True, kw_only=True)
class Study:
    """All points of a study, and what they were measured with."""

    schema: int = SCHEMA
    target: str
    version: str
    transport: str
    seed: int
    callers: int
    """Of each worker."""
    workers: int
    packet: int
    """Bytes of a message; 0: a call or a reply is one, whatever its size."""
    resend: float
    """Over UDP, seconds until a call is sent again for the first time, with a window that halves then; 0: as usual."""
    queue: str
    """Times of the embedded server; empty: none."""
    where: str = ""
    """A mark that another server does not have, without its address; empty: unknown."""
    knobs: tuple[str, ...] = ()
    """Of the embedded server."""
    carrier: str = "here"
    """Where the workers are: "here", "processes", "hosts", "cluster"."""
    repeats: int
    seconds: float
    """Of a point at least."""
    bytes: int
    """Of files for each operation per second."""
    shares: tuple[float, ...]
    environment: Environment
    points: t.Annotated[tuple[Measured, ...], Most(100_000)] = ()

    def __post_init__(self) -> None:
        if self.schema != SCHEMA:
            raise ValueError(f"expected schema {SCHEMA}, got {self.schema}")
        for each in self.points:
            if each.knob not in KNOBS:
                raise ValueError(f"knob: expected one of {', '.join(KNOBS)}, got {each.knob!r}")

    @property
    def settings(self) -> list[Setting]:
        """Those that have points: base first."""
        found = {each.task.setting for each in self.points}
        return sorted(found, key=lambda each: (KNOBS.index(each.knob), each.value))

    def used(self, setting: Setting) -> list[Measured]:
        """Points of the open loop that fits use, by load."""
        mine = [each for each in self.points if each.task.setting == setting and not each.refused]
        return sorted((each for each in mine if each.share), key=lambda each: each.offered)

    def peaks(self, setting: Setting) -> list[float]:
        """Of the closed loops."""
        return [
            each.delivered
            for each in self.points
            if each.task.setting == setting and each.share == PEAK and not each.refused
        ]


def chosen(number: int) -> tuple[float, ...]:
    """This number of `SHARES`, the first and the last among them; none: the peaks alone."""
    if number < 2:
        return SHARES[:number]
    last = len(SHARES) - 1
    return tuple(SHARES[round(at * last / (number - 1))] for at in range(number))


def tasks(setting: Setting, shares: Sequence[float], repeats: int, seed: int) -> list[Task]:
    """The peaks of a setting, then its points in random order, the same for the same seed.

    An overhead of the client has peaks alone: arrivals that find its processor busy are sent late, and a point whose
    sending lagged is refused.
    """
    if setting.knob == CLIENT:
        shares = ()
    points = [Task(setting, share, repeat) for share in shares for repeat in range(repeats)]
    random.Random(f"{seed} {setting}").shuffle(points)
    return [Task(setting, PEAK, repeat) for repeat in range(repeats)] + points


def seconds_of(rate: float, least: float) -> float:
    """How long a point has to last, so that enough arrives."""
    return max(least, 1.05 * LEAST_ARRIVALS / rate)


def why_refused(
    *, offered: float, delivered: float, response: float, median: float, lag_p99: float, in_flight: float
) -> str:
    """Why a point says more about the sender than about the server; empty if it does not. Times are in µs."""
    if offered and lag_p99 > _MOST_LAG * median:
        return f"its sending lagged: 99 % within {lag_p99:.0f} µs, and half of all took {median:.0f} µs"
    expected = little(delivered, response / 1000)
    if abs(expected - in_flight) > max(1.0, _LITTLE * max(expected, in_flight)):
        return f"Little's law: {expected:.1f} under way by throughput and response, {in_flight:.1f} seen"
    return ""


def interval_of(batches: Sequence[tuple[int, float]], mean: float) -> tuple[float, float]:
    """The ends of the 95 % interval of a mean, from (number, sum) of batches; the mean, if there is too little."""
    try:
        found = batch_means(batches)
    except ValueError:
        return mean, mean
    return max(0.0, found.low), found.high


# ---------------------------------------------------------------- what follows


@dataclass(frozen=True, slots=True)
class Row:
    """A setting: its signature, and how much of it was refused."""

    setting: Setting
    curve: tuple[Point, ...]
    signature: Signature | None
    peak: float
    """The median of its closed loops; 0 if there is none."""
    refused: int
    has_base: bool
    """Whether a point at the lowest load is used: a base of higher loads would be none."""


def rows(study: Study) -> list[Row]:
    """All settings, base first."""
    return [_row(study, setting) for setting in study.settings]


def _row(study: Study, setting: Setting) -> Row:
    curve = tuple(each.point for each in study.used(setting))
    peaks = sorted(study.peaks(setting))
    refused = sum(bool(each.refused) for each in study.points if each.task.setting == setting)
    has_base = bool(_lowest(study, setting))
    peak = peaks[len(peaks) // 2] if peaks else 0.0
    return Row(setting, curve, signature(curve) if curve else None, peak, refused, has_base)


def mean_curve(study: Study, setting: Setting) -> list[Point]:
    """A point for each load: the means of its repeats."""
    by_share: dict[float, list[Point]] = {}
    for each in study.used(setting):
        by_share.setdefault(each.share, []).append(each.point)
    return [
        Point(fmean(point.throughput for point in points), fmean(point.response for point in points))
        for _, points in sorted(by_share.items())
    ]


def _lowest(study: Study, setting: Setting) -> list[Measured]:
    """The points of a setting at the lowest load."""
    least = min(study.shares, default=PEAK)
    return [each for each in study.used(setting) if each.share == least]


def latency_law(study: Study) -> Line | None:
    """Base response over latency, both in µs; None for fewer than three settings."""
    points = [
        (setting.value, each.response)
        for setting in study.settings
        if setting.knob in {"base", "latency"}
        for each in _lowest(study, setting)
    ]
    return fit_line(points) if len({x for x, _ in points}) > 2 else None


def flat_until(study: Study) -> float | None:
    """The latency in µs up to which no base is seen to be above that without any; None: that is not known."""
    base = _lowest(study, Setting())
    latencies = [each for each in study.settings if each.knob == "latency" and _lowest(study, each)]
    if not base or not latencies:
        return None
    limit, flat = fmean(each.response_high for each in base), 0.0
    for setting in latencies:
        if fmean(each.response_low for each in _lowest(study, setting)) > limit:
            break
        flat = setting.value
    return flat


def overhead_law(study: Study, knob: str = "overhead") -> OverheadLaw | None:
    """Peak over overhead, where it is the limit: times in seconds; None for fewer than three settings.

    What the proxy delays, and what a client is busy with, is next to the server, not in its processor: while a message
    waits, the server works on others. So the peak is the lower one of both, and a small overhead does not show. An
    overhead of the server is in its processor: there is no such part, and base belongs to the law. That of the client
    is of one worker, because each has a processor.
    """
    limit = math.inf if knob == SERVER else _LIMITS * max(study.peaks(Setting()), default=0.0)
    workers = study.workers if knob == CLIENT else 1
    points = [
        (setting.value / 1e6, peak / workers)
        for setting in study.settings
        if setting.knob == knob or (setting == Setting() and knob == SERVER)
        for peak in study.peaks(setting)
        if 0 < peak < limit
    ]
    return fit_overhead(points) if len({x for x, _ in points}) > 2 else None


def messages_of(study: Study, knob: str) -> float | None:
    """How many messages an operation has at the peaks of a knob: the k that its law should have; None: no peak."""
    seen = [
        each.messages
        for each in study.points
        if each.knob == knob and each.share == PEAK and not each.refused
    ]
    return fmean(seen) if seen else None


def steeper_at(found: Sequence[Row]) -> float | None:
    """The highest bandwidth in MB/s at which the slope is seen to be above that of base; None: at none."""
    base = next((row.signature.slope for row in found if row.setting.knob == "base" and row.signature), None)
    if base is None:
        return None
    steeper = [
        row.setting.value
        for row in found
        if row.setting.knob == "bandwidth" and row.signature and _is_above(row.signature.slope, base.slope)
    ]
    return max(steeper, default=None)


def _is_above(line: Line | None, other: Interval) -> bool:
    return line is not None and line.slope.low > other.high


# ---------------------------------------------------------------- the file


def read(path: Path) -> Study:
    """A study that was written before. Raises `Refused`."""
    try:
        plain = shape.read_json(path, most=16 << 20)
        return shape.from_plain(Study, plain, name=path.name)
    except OSError as error:
        raise Refused(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise Refused(f"{path} is no study of this version: {error}") from error


def read_all(path: Path) -> list[Study]:
    """The studies at a path: a file, the folder of a study, or a folder of such folders. Raises `Refused`, OSError."""
    if path.name == FILE or (path / FILE).is_file():
        return [read(path if path.name == FILE else path / FILE)]
    if not path.is_dir():
        return []
    return [read(each / FILE) for each in sorted(path.iterdir()) if (each / FILE).is_file()]


def json_schema() -> dict[str, t.Any]:
    """The JSON schema of ``sensitivity.json``."""
    schema = shape.schema_of(Study, title=f"A study of nfsproof sensitivity, schema {SCHEMA}")
    schema["properties"]["schema"] = {"const": SCHEMA}
    return schema


def write(study: Study, path: Path) -> None:
    """All of it or nothing. Raises OSError."""
    new = path.with_name(f".{path.name}-{os.getpid()}")
    new.write_text(json.dumps(shape.to_plain(study), indent=1) + "\n", encoding="utf-8")
    new.replace(path)


def sheet(study: Study) -> Iterator[str]:
    """Lines of CSV, which `sensitivity --from` reads if they are of one setting."""
    yield "throughput,response_ms,low_ms,high_ms,knob,value,share,repeat,messages,refused"
    for each in study.points:
        cells = (
            f"{each.delivered:.3f}", f"{each.response / 1000:.6f}", f"{each.response_low / 1000:.6f}",
            f"{each.response_high / 1000:.6f}", each.knob, f"{each.value:g}", f"{each.share:g}", str(each.repeat),
            f"{each.messages:.3f}", "yes" if each.refused else "",
        )  # fmt: skip
        yield ",".join(cells)
