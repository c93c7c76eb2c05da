# SPDX-License-Identifier: MIT
"""A curve in text: its signature, and the server that the queueing model infers from it."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator, Sequence

from nfsjudge.wording import count
from reports.workloads.wording import aligned, digits, duration
from workloads.sensitivity.curves import Point, before_the_hook, signature
from workloads.sensitivity.inferring import Inferred
from workloads.sensitivity.queueing import ENDLESS
from workloads.statistics import Interval

DESCRIBES: t.Final = 0.3
"""The largest error of a point with which the model describes a curve: that of the paper's own servers."""
_LABEL: t.Final = 12


def signature_text(points: Sequence[Point]) -> str:
    """Base, slope and saturation, in lines."""
    found = signature(points)
    used = before_the_hook(points)
    first = f"{count(len(used), 'point')} up to {digits(found.saturation)} operations/s"
    if len(used) < len(points):
        first += f", and {len(points) - len(used)} beyond the saturation, which no fit uses"
    slope = "too few points between 10 and 80 % of the saturation"
    if found.slope is not None:
        line = found.slope
        slope = (
            f"{1000 * line.slope.estimate:.1f} µs for each operation/s "
            f"({1000 * line.slope.low:.1f} to {1000 * line.slope.high:.1f}), r² {line.r2:.2f}"
        )
    rows = (
        ("base", f"{duration(1000 * found.base)} at {digits(found.base_at)} operations/s"),
        ("slope", slope),
        ("saturation", f"{digits(found.saturation)} operations/s at least"),
    )
    return "\n".join([first, *(_row(*row) for row in rows)])


def model_text(found: Inferred) -> str:
    """The server that the model infers, and its error at each point."""
    lines = ["", "inferred by the queueing model, with 95 % intervals"]
    lines += [_row(*row) for row in _server(found)]
    rows = [("operations/s", "measured", "model", "error")]
    for point, error in zip(found.points, found.errors, strict=True):
        modelled = point.response * (1 + error)
        rows.append((digits(point.throughput), _ms(point.response), _ms(modelled), f"{100 * error:+.1f} %"))
    lines += ["", *aligned(rows)]
    worst = max(map(abs, found.errors))
    lines.append(f"largest error: {100 * worst:.1f} %")
    if worst > DESCRIBES:
        lines.append("The model does not describe this curve: what it infers says nothing.")
    return "\n".join(lines)


def _server(found: Inferred) -> Iterator[tuple[str, str]]:
    server, known = found.server, found.intervals
    low, high = found.points[0].throughput, max(found.points).throughput
    processor, disks = server.limits
    yield (
        "processor",
        f"{_time(known['service'])} for each operation: {digits(processor)} operations/s at most",
    )
    cached = known["cached"]
    if cached is None:
        yield "cache", "not determined"
    else:
        text = f"{digits(cached.estimate)} ({digits(cached.low)} to {digits(cached.high)})"
        yield "cache", f"has all that is touched up to {text} operations/s"
        first, last = f"{server.hit_rate(low):.0%}", f"{server.hit_rate(high):.0%}"
        yield "hit rate", f"{first} at {digits(low)} operations/s, {last} at {digits(high)}"
    yield (
        "disks",
        f"{_disks(found)}, {_time(known['disk']) if 'disk' in known else duration(1e6 * server.disk)} each",
    )
    yield "fixed delay", _time(known["delay"])
    limit = min(processor, disks)
    yield "limit", f"{found.bottleneck}, {digits(limit)} operations/s"
    if None in known.values() and "disk" in known:
        yield "", "What is not determined may be with --disk-ms."


def _disks(found: Inferred) -> str:
    least, most = min(each for each in (*found.disks, 1 << 30) if each != ENDLESS), max(found.disks)
    if ENDLESS in found.disks:
        return "not seen to limit anything" if least > most else f"{least} at least"
    return str(least) if least == most else f"{least} to {most}"


def _time(interval: Interval | None) -> str:
    if interval is None:
        return "not determined"
    estimate, low, high = (duration(1e6 * each) for each in (interval.estimate, interval.low, interval.high))
    return f"{estimate} ({low} to {high})"


def _ms(value: float) -> str:
    return duration(1000 * value)


def _row(label: str, text: str) -> str:
    return f"  {label:<{_LABEL}}{text}"
