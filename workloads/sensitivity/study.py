# SPDX-License-Identifier: MIT
"""A study of one server: curves at several settings of the network, their points as JSON, and what follows from them.

    setting        latency, overhead or bandwidth of the proxy's link, or what a message costs the client or the
                   embedded server; "base" has none of them
    peak           a closed loop with many callers: the throughput that the server saturates at
    point          an open loop at a share of the peak of its setting; several repeats, all in random order

A point is *refused*, and used by no fit, if it says more about the sender than about the server: its sending lagged
(99 % of arrivals within more than a tenth of the median response), or Little's law does not hold for it. A point is
*overloaded*, shown and used by no fit, if less was done than arrived: its queue grew all the time, so its response says
how long it was measured.
"""

from __future__ import annotations

import json
import math
import os
import random
import typing as t
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from workloads import shape
from workloads.result import Environment
from workloads.sensitivity.curves import MIDDLE, Point, Signature, little, response_at, signature
from workloads.sensitivity.fits import LEAST_ARRIVALS, Line, OverheadLaw, batch_means, fit_line, fit_overhead
from workloads.shape import Most
from workloads.statistics import CONFIDENCE, Interval, student
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
_LEAST: t.Final = 0.1
"""Operations under way that say nothing: several standard errors of what as many arrivals as a point has found."""
_KEEPS_UP: t.Final = 0.97
"""Share of what arrives that must be done: the number that is under way at both ends differs by less."""
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
    arrivals: int = 0
    """Operations that arrived while it was measured, as `ended`; 0: a closed loop, or not known."""
    ended: int = 0
    null_rtt: float = 0.0
    """The round trip of a call that does nothing, through the link of the setting, before the load; 0: unknown."""
    refused: str = ""
    """Why no fit uses it; empty: it is used, if it is not overloaded."""

    @property
    def task(self) -> Task:
        """What it was measured for."""
        return Task(Setting(self.knob, self.value), self.share, self.repeat)

    @property
    def is_overloaded(self) -> bool:
        """Whether less was done than arrived: it has no steady state, and its response grows with its duration."""
        if self.arrivals:  # counted: `offered` is the mean of what is drawn
            return self.ended < _KEEPS_UP * self.arrivals
        return self.share > 1 and self.delivered < _KEEPS_UP * self.offered

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

    def shown(self, setting: Setting) -> list[Measured]:
        """Points of the open loop that are not refused, by load."""
        mine = [each for each in self.points if each.task.setting == setting and not each.refused]
        return sorted((each for each in mine if each.share), key=lambda each: each.offered)

    def used(self, setting: Setting) -> list[Measured]:
        """Those that fits use."""
        return [each for each in self.shown(setting) if not each.is_overloaded]

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
    least = _LEAST if offered else 1.0  # of a closed loop, callers are at the edges of a unit, too
    if abs(expected - in_flight) > max(least, _LITTLE * max(expected, in_flight)):
        most = max(expected, in_flight)
        law, seen = (f"{each:.1f}" if most >= 1 else f"{each:.2f}" for each in (expected, in_flight))
        return f"Little's law: {law} under way by throughput and response, {seen} seen"
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
    base: Interval | None
    """The response in µs at the lowest load; None: no such point is used."""
    saturation: Interval | None
    """Operations per second of its closed loops; None: there is none."""
    refused: int
    overloaded: int
    by_share: t.Mapping[float, Point]
    """The means of its repeats, by load."""

    @property
    def peak(self) -> float:
        """The mean of its closed loops; 0 if there is none."""
        return 0.0 if self.saturation is None else self.saturation.estimate

    @property
    def has_base(self) -> bool:
        """Whether a point at the lowest load is used: a base of higher loads would be none."""
        return self.base is not None


def rows(study: Study) -> list[Row]:
    """All settings, base first."""
    return [_row(study, setting) for setting in study.settings]


def _row(study: Study, setting: Setting) -> Row:
    used = study.used(setting)
    curve = tuple(each.point for each in used)
    refused = sum(bool(each.refused) for each in study.points if each.task.setting == setting)
    return Row(
        setting,
        curve,
        _signature(used),
        base_of(study, setting),
        peak_of(study, setting),
        refused,
        len(study.shown(setting)) - len(used),
        by_share(study, setting),
    )


def base_of(study: Study, setting: Setting) -> Interval | None:
    """The response at the lowest load, in µs; None if no such point is used."""
    found = lowest(study, setting)
    return _mean(
        [each.response for each in found], [(each.response_low, each.response_high) for each in found]
    )


def peak_of(study: Study, setting: Setting) -> Interval | None:
    """Operations per second of the closed loops of a setting; None if there is none that is not refused.

    The interval of one of them is that of its response: with the same number of callers, their product is constant.
    """
    found = [
        each
        for each in study.points
        if each.task.setting == setting and each.share == PEAK and not each.refused
    ]
    ends = [
        (
            each.delivered * each.response / each.response_high,
            each.delivered * each.response / each.response_low,
        )
        if each.response_low > 0
        else (each.delivered, each.delivered)
        for each in found
    ]
    return _mean([each.delivered for each in found], ends)


def _mean(values: Sequence[float], ends: Sequence[tuple[float, float]]) -> Interval | None:
    """By Student's t of repeats; the interval of a single one, which its batches have."""
    if not values:
        return None
    if len(values) == 1:
        return Interval(values[0], *ends[0], CONFIDENCE)
    found = student(values)
    return replace(found, low=max(0.0, found.low))


def _signature(used: Sequence[Measured]) -> Signature | None:
    """That of a setting. The middle of its curve is known by shares of the peak: its highest load may be left out."""
    if not used:
        return None
    middle = [each.point for each in used if MIDDLE[0] <= each.share <= MIDDLE[1]]
    line = fit_line(middle) if len({point.throughput for point in middle}) > 2 else None
    return replace(signature([each.point for each in used]), slope=line)


def mean_curve(study: Study, setting: Setting) -> list[Point]:
    """A point for each load: the means of its repeats."""
    return list(by_share(study, setting).values())


def by_share(study: Study, setting: Setting) -> dict[float, Point]:
    """The same by the share of the peak, in their order."""
    found: dict[float, list[Point]] = {}
    for each in study.used(setting):
        found.setdefault(each.share, []).append(each.point)
    return {
        share: Point(fmean(point.throughput for point in points), fmean(point.response for point in points))
        for share, points in sorted(found.items())
    }


def lowest(study: Study, setting: Setting) -> list[Measured]:
    """The points of a setting at the lowest load."""
    least = min(study.shares, default=PEAK)
    return [each for each in study.used(setting) if each.share == least]


def null_rtt(study: Study, setting: Setting) -> float:
    """µs of a NULL call at a setting, the least of its points, since all else is added to it; 0: not known."""
    known = [each.null_rtt for each in study.points if each.task.setting == setting and each.null_rtt]
    return min(known, default=0.0)


def measured_latency(study: Study, setting: Setting) -> float | None:
    """What a setting adds to a message, by half of what it adds to a NULL call, in µs; None if that is not known."""
    base, late = null_rtt(study, Setting()), null_rtt(study, setting)
    return (late - base) / 2 if base and late else None


def _latency(study: Study, setting: Setting) -> float:
    """As measured; if that is not known, as requested."""
    measured = measured_latency(study, setting)
    return setting.value if measured is None else measured


def latency_law(study: Study) -> Line | None:
    """Base response over the latency that was measured, both in µs; None for fewer than three settings."""
    points = [
        (_latency(study, setting), each.response)
        for setting in study.settings
        if setting.knob in {"base", "latency"}
        for each in lowest(study, setting)
    ]
    return fit_line(points) if len({x for x, _ in points}) > 2 else None


def flat_until(study: Study) -> float | None:
    """The latency in µs up to which base is not seen to rise, although twice that latency would be seen.

    None: that is not known.
    """
    flat: float | None = None
    for setting in study.settings:
        rise = _rise(study, setting) if setting.knob == "latency" else None
        if rise is None:
            continue
        if rise.low > 0:
            return flat or 0.0
        if 2 * _latency(study, setting) > rise.high - rise.estimate:
            flat = setting.value
    return flat


def unseen_rise(study: Study) -> float | None:
    """How much base may rise with latency without being seen, in µs; None: that is not known."""
    rises = [_rise(study, each) for each in study.settings if each.knob == "latency"]
    return max((each.high - each.estimate for each in rises if each is not None), default=None)


def _rise(study: Study, setting: Setting) -> Interval | None:
    """How much the base of a setting is above that without any, in µs."""
    base, late = base_of(study, Setting()), base_of(study, setting)
    if base is None or late is None:
        return None
    half = math.hypot(base.high - base.estimate, late.high - late.estimate)
    rise = late.estimate - base.estimate
    return Interval(rise, rise - half, rise + half, CONFIDENCE)


def overhead_law(study: Study, knob: str = "overhead") -> OverheadLaw | None:
    """Peak over overhead, where it is the limit: times in seconds; None for fewer than three settings.

    What the proxy delays, and what a client is busy with, is next to the server, not in its processor: while a message
    waits, the server works on others. So the peak is the lower one of both, and a small overhead does not show. An
    overhead of the server is in its processor: there is no such part, and base belongs to the law. That of the client
    is of one worker, because each has a processor.
    """
    workers = study.workers if knob == CLIENT else 1
    points = [(o / 1e6, peak / workers) for o, peak in _limited(study, knob)]
    return fit_overhead(points) if len({x for x, _ in points}) > 2 else None


def limited_by(study: Study, knob: str) -> tuple[int, int]:
    """(settings of an overhead of which the law can say something, all of them)."""
    every = {setting for setting in study.settings if _has_law(setting, knob)}
    return len({o for o, _ in _limited(study, knob)}), len(every)


def _limited(study: Study, knob: str) -> list[tuple[float, float]]:
    """(o in µs, operations per second) of the peaks of which an overhead is the limit."""
    peaks = study.peaks(Setting())
    limit = math.inf if knob == SERVER else _LIMITS * fmean(peaks) if peaks else 0.0
    return [
        (setting.value, peak)
        for setting in study.settings
        if _has_law(setting, knob)
        for peak in study.peaks(setting)
        if 0 < peak < limit
    ]


def _has_law(setting: Setting, knob: str) -> bool:
    return setting.knob == knob or (setting == Setting() and knob == SERVER)


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
    base = next((row.by_share for row in found if row.setting == Setting()), {})
    steeper = [
        row.setting.value for row in found if row.setting.knob == "bandwidth" and _rises(row.by_share, base)
    ]
    return max(steeper, default=None)


def can_be_steeper(found: Sequence[Row]) -> bool:
    """Whether any bandwidth has enough loads for `steeper_at`."""
    base = next((row.by_share for row in found if row.setting == Setting()), {})
    return any(row.setting.knob == "bandwidth" and len(_differences(row.by_share, base)) > 2 for row in found)


def _rises(late: t.Mapping[float, Point], base: t.Mapping[float, Point]) -> bool:
    """Whether responses differ from those of base by more, the higher the load is.

    Both curves bend in the same way, which is no noise: the differences at the same load do not.
    """
    points = _differences(late, base)
    return len({x for x, _ in points}) > 2 and fit_line(points).slope.low > 0


def _differences(late: t.Mapping[float, Point], base: t.Mapping[float, Point]) -> list[tuple[float, float]]:
    """(operations per second, ms that a setting takes longer there than base does)."""
    curve = sorted(base.values())
    if len({point.throughput for point in curve}) < 2:
        return []
    return [
        (point.throughput, point.response - response_at(curve, point.throughput))
        for share, point in late.items()
        if share <= MIDDLE[1]
    ]


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
    """Lines of CSV, which `sensitivity --from` reads if they are of one setting.

    Points are in the order of their loads. What no fit uses is a comment: peaks, and what is refused or overloaded.
    """
    yield "throughput,response_ms,low_ms,high_ms,knob,value,share,repeat,messages,left_out"
    in_order = sorted(
        study.points,
        key=lambda each: (KNOBS.index(each.knob), each.value, each.offered, each.delivered, each.repeat),
    )
    for each in in_order:
        why = (
            "refused"
            if each.refused
            else "peak"
            if not each.share
            else "overloaded"
            if each.is_overloaded
            else ""
        )
        cells = (
            f"{each.delivered:.3f}", f"{each.response / 1000:.6f}", f"{each.response_low / 1000:.6f}",
            f"{each.response_high / 1000:.6f}", each.knob, f"{each.value:g}", f"{each.share:g}", str(each.repeat),
            f"{each.messages:.3f}", why,
        )  # fmt: skip
        yield f"{'# ' if why else ''}{','.join(cells)}"
