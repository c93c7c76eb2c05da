# SPDX-License-Identifier: MIT
"""Pictures of results as SVG: latency by percentile, operations by second, calls by procedure.

Several results are lines in one picture. Lines differ in colour and in dashes, and each has its name in the legend.
"""

from __future__ import annotations

import math
import typing as t
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from reports.plain import shortened
from reports.svg import WIDTH, add_line, add_text, add_title, attributes, drawing, written
from reports.workloads.wording import digits, duration
from workloads.histogram import Histogram
from workloads.result import Result

Named: t.TypeAlias = Sequence[tuple[str, Result]]

MOST = 8
"""Lines of a picture: more cannot be distinguished by colour and dashes."""
_COLOURS: t.Final = (
    "#2f7fd1", "#d1453b", "#2f9150", "#9b5fc0", "#c08a1e", "#2f94a8", "#c2558f", "#7a7f87",
)  # fmt: skip
"""Legible on white and on black."""
_DASHES: t.Final = ("", "7 3", "2 3", "9 3 2 3", "4 2", "12 4", "2 2 6 2", "1 4")
_LEFT, _RIGHT = 76, 690
_TOP, _BOTTOM = 16, 276
_LEGEND = _RIGHT + 18
_NAME_LENGTH = 27
_NINES: t.Final = (0.0, 50.0, 90.0, 99.0, 99.9, 99.99)
"""Marks of the axis of percentiles: each is as far from the next as it leaves out fewer."""
_MOST_POINTS = 600
_ROW = 17
_BARS_LEFT, _BARS_RIGHT = 190, 700
_MOST_BARS = 120


def pictures(named: Named) -> list[tuple[str, str]]:
    """(title, SVG) of all that can be drawn of results with their names; what has no numbers is left out.

    ValueError for more than `MOST` results.
    """
    if len(named) > MOST:
        raise ValueError(f"expected at most {MOST} results in a picture, got {len(named)}")
    found = [
        ("Latency by percentile", latency_curve(named)),
        ("Operations by second", seconds_chart(named)),
        ("Calls by procedure", calls_chart(named)),
    ]
    return [(title, svg) for title, svg in found if svg]


# ---------------------------------------------------------------- lines


@dataclass(frozen=True)
class _Line:
    name: str
    points: Sequence[tuple[float, float]]
    about: str
    """What the pointer shows."""


class _Plane:
    """The frame of a picture with two axes."""

    def __init__(
        self, title: str, description: str, x: Callable[[float], float], y: Callable[[float], float]
    ) -> None:
        self.svg = drawing(_BOTTOM + 40, title, description)
        self._x, self._y = x, y

    def x(self, value: float) -> float:
        return round(_LEFT + self._x(value) * (_RIGHT - _LEFT), 1)

    def y(self, value: float) -> float:
        return round(_BOTTOM - self._y(value) * (_BOTTOM - _TOP), 1)

    def across(self, value: float, label: str) -> None:
        """A mark of the vertical axis."""
        add_line(self.svg, _LEFT, self.y(value), _RIGHT, self.y(value), "axis", opacity="0.2")
        add_text(self.svg, _LEFT - 8, self.y(value) + 4, label, "tick", anchor="end")

    def down(self, value: float, label: str) -> None:
        """A mark of the horizontal axis."""
        add_line(self.svg, self.x(value), _TOP, self.x(value), _BOTTOM + 4, "axis", opacity="0.2")
        add_text(self.svg, self.x(value), _BOTTOM + 18, label, "tick", anchor="middle")

    def captions(self, below: str) -> None:
        add_text(self.svg, (_LEFT + _RIGHT) / 2, _BOTTOM + 36, below, "caption", anchor="middle")

    def lines(self, lines: Sequence[_Line]) -> None:
        """Draws lines with their legend."""
        for number, line in enumerate(lines):
            ink = _ink(number)
            group = ET.SubElement(self.svg, "g", {"class": "line"})
            add_title(group, f"{line.name}: {line.about}")
            points = " ".join(f"{self.x(x):g},{self.y(y):g}" for x, y in line.points)
            ET.SubElement(group, "polyline", {"points": points, "fill": "none", **ink})
            y = _TOP + 10 + number * 20
            sample = {"x1": _LEGEND, "x2": _LEGEND + 26, "y1": y, "y2": y}
            ET.SubElement(group, "line", attributes(sample) | ink)
            add_text(group, _LEGEND + 32, y + 4, shortened(line.name, _NAME_LENGTH), "name")


def _ink(number: int) -> dict[str, str]:
    return {
        "stroke": _COLOURS[number % MOST],
        "stroke-width": "2",
        "stroke-linejoin": "round",
        **({"stroke-dasharray": _DASHES[number % MOST]} if _DASHES[number % MOST] else {}),
    }


# ---------------------------------------------------------------- latency


def latency_curve(named: Named) -> str:
    """Latency on a logarithmic axis, by percentile; empty if no result has latencies.

    Of one result without latencies of operations, which a script is, the lines are its calls.
    """
    curves = [(name, result.latency.operations) for name, result in named]
    if len(named) == 1 and not curves[0][1].count:
        procedures = sorted(named[0][1].latency.procedures.items(), key=lambda pair: -pair[1].count)
        curves = procedures[:MOST]
    curves = [(name, histogram) for name, histogram in curves if histogram.count]
    if not curves:
        return ""
    lines = [_Line(name, _curve(histogram), _percentiles(histogram)) for name, histogram in curves]
    values = [value for line in lines for _, value in line.points]
    low = math.floor(math.log10(min(values)))
    high = max(math.ceil(math.log10(max(values))), low + 1)
    furthest = max(x for line in lines for x, _ in line.points)
    marks = [percent for percent in _NINES if _nines(percent) <= furthest + 1e-9]
    plane = _Plane(
        "Latency by percentile",
        "; ".join(f"{line.name}: {line.about}" for line in lines),
        lambda nines: nines / max(furthest, 1.0),
        lambda value: (math.log10(value) - low) / (high - low),
    )
    for power in range(low, high + 1):
        plane.across(10.0**power, duration(10.0**power))
    for percent in marks:
        plane.down(_nines(percent), f"{percent:g} %")
    plane.captions("percentile of latencies; the right end is the highest")
    plane.lines(lines)
    return written(plane.svg)


def _nines(percent: float) -> float:
    """0 for 0 %, 1 for 90 %, 2 for 99 %: the further right, the rarer."""
    return -math.log10(1 - percent / 100)


def _curve(histogram: Histogram) -> list[tuple[float, float]]:
    """A step for each bucket; the last value stands where only it is left."""
    points: list[tuple[float, float]] = []
    below, end = 0, math.log10(histogram.count) if histogram.count > 1 else 1.0
    for low, high, number in histogram.buckets():
        middle = max((low + high) / 2, 0.05)
        points.append((-math.log10(1 - below / histogram.count), middle))
        below += number
        if below < histogram.count:
            points.append((-math.log10(1 - below / histogram.count), middle))
    points.append((max(end, points[-1][0]), max(histogram.highest, 0.05)))
    return _thinned(points)


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """At most `_MOST_POINTS` and the last one."""
    step = math.ceil(len(points) / _MOST_POINTS)
    return points[:-1:step] + points[-1:]


def _percentiles(histogram: Histogram) -> str:
    shown = ", ".join(f"p{percent} {duration(value)}" for percent, value in histogram.percentiles().items())
    return f"{histogram.count} calls, {shown}, highest {duration(histogram.highest)}"


# ---------------------------------------------------------------- seconds


def seconds_chart(named: Named) -> str:
    """Operations in each second of a rate, its warm-up included; empty if no result has a series."""
    chosen = [(name, result) for name, result in named if len(result.series) > 1]
    if not chosen:
        return ""
    lines = [
        _Line(
            name,
            _thinned([(float(each.second), float(each.operations)) for each in result.series]),
            _steady(result),
        )
        for name, result in chosen
    ]
    last = max(x for line in lines for x, _ in line.points)
    top = _rounded_up(max([1.0, *(y for line in lines for _, y in line.points)]))
    plane = _Plane(
        "Operations by second",
        "; ".join(f"{line.name}: {line.about}" for line in lines),
        lambda second: second / max(last, 1.0),
        lambda value: value / top,
    )
    warmup = max(
        (each.second + 1 for _, result in chosen for each in result.series if not each.is_steady), default=0
    )
    if warmup:
        width = plane.x(min(float(warmup), last)) - _LEFT
        shade = {"class": "warm-up", "x": _LEFT, "y": _TOP, "width": width, "height": _BOTTOM - _TOP}
        box = ET.SubElement(plane.svg, "rect", attributes(shade | {"opacity": 0.08}))
        add_title(box, "warm-up: not counted")
    for part in range(5):
        plane.across(top * part / 4, f"{top * part / 4:g}")
    step = _rounded_up(max(last / 8, 1.0))
    for number in range(int(last / step) + 1):
        plane.down(number * step, f"{number * step:g}")
    plane.captions("seconds; grey: warm-up" if warmup else "seconds")
    plane.lines(lines)
    return written(plane.svg)


def _steady(result: Result) -> str:
    return f"{digits(result.rate)} operations/s in the steady state"


def _rounded_up(value: float) -> float:
    """To 1, 2, 5 or 10 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= value * 0.999999)


# ---------------------------------------------------------------- calls


def calls_chart(named: Named) -> str:
    """A bar for each procedure and result; empty if there were no calls."""
    totals: dict[str, int] = {}
    for _, result in named:
        for procedure, number in result.calls.items():
            totals[procedure] = totals.get(procedure, 0) + number
    most = max((number for _, result in named for number in result.calls.values()), default=0)
    if not most:
        return ""
    procedures = sorted(totals, key=lambda each: (-totals[each], each))[: _MOST_BARS // len(named)]
    top = _TOP + (20 * len(named) if len(named) > 1 else 0)
    gap = 6 if len(named) > 1 else 0
    bottom = top + len(procedures) * (len(named) * _ROW + gap)
    svg = drawing(
        bottom,
        "Calls by procedure",
        "; ".join(f"{name}: {result.rpcs} calls on the wire" for name, result in named),
    )
    for number, (name, result) in enumerate(named if len(named) > 1 else ()):
        _bar(svg, _BARS_LEFT, _TOP + number * 20 - 8, 26.0, number, name)
        add_text(
            svg,
            _BARS_LEFT + 34,
            _TOP + number * 20 + 2,
            f"{shortened(name, 60)}: {result.rpcs} calls",
            "name",
        )
    for row, procedure in enumerate(procedures):
        y = top + row * (len(named) * _ROW + gap)
        add_text(
            svg,
            _BARS_LEFT - 10,
            y + len(named) * _ROW / 2 + 4,
            shortened(procedure, 26),
            "name",
            anchor="end",
        )
        for number, (name, result) in enumerate(named):
            count = result.calls.get(procedure, 0)
            width = count / most * (_BARS_RIGHT - _BARS_LEFT)
            _bar(
                svg,
                _BARS_LEFT,
                y + number * _ROW + 2,
                max(width, 1.0 if count else 0.0),
                number,
                f"{name}: {procedure} {count}",
            )
            add_text(svg, _BARS_LEFT + width + 8, y + number * _ROW + 13, str(count), "number")
    return written(svg)


def _bar(svg: ET.Element, x: float, y: float, width: float, number: int, about: str) -> None:
    shape = {
        "x": x,
        "y": y,
        "width": round(min(width, WIDTH), 1),
        "height": _ROW - 4,
        "fill": _COLOURS[number % MOST],
    }
    add_title(ET.SubElement(svg, "rect", attributes(shape)), about)
