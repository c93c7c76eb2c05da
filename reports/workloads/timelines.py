# SPDX-License-Identifier: MIT
"""A run over time as SVG: processor time of the server, all calls, READs and WRITEs, one above the other.

As figures 1 and 2 of the paper on Spritely NFS. Without colours, and as wide as a column: letters are legible at 400
pixels.
"""

from __future__ import annotations

import math
import typing as t
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from reports.svg import add_line, add_text, add_title, attributes, drawing, written

if t.TYPE_CHECKING:
    from workloads.timeline import Span, Timeline

WIDTH: t.Final = 400
_LEFT, _RIGHT = 44, 390
_TOP: t.Final = 26
_HEIGHT: t.Final = 62
_GAP: t.Final = 24
_SPANS: t.Final = 60
_PANELS: t.Final = 4
_LETTER: t.Final = 7.5


def timeline_picture(title: str, timeline: Timeline, *, tops: Sequence[float] = ()) -> str:
    """The picture; empty without samples. `tops`: what the axes go up to, so that pictures can be compared."""
    spans = timeline.spans(_SPANS)
    if not spans:
        return ""
    panels = _panels(spans)
    highest = tops or axes(timeline)
    bottom = _TOP + len(panels) * (_HEIGHT + _GAP)
    calls = timeline.samples[-1].calls
    below = ", ".join(name for name, _ in panels)
    about = f"{title}: {timeline.seconds:.1f} s, {calls} calls; from top to bottom {below}"
    svg = drawing(bottom + 24, title, about, width=WIDTH)
    for number, (name, values) in enumerate(panels):
        _panel(svg, _TOP + number * (_HEIGHT + _GAP), name, values, highest[number], spans)
    _times(svg, bottom, timeline)
    return written(svg)


def axes(timeline: Timeline) -> list[float]:
    """What the axes of the four graphs go up to."""
    return [_rounded_up(max([*values, 1e-9])) for _, values in _panels(timeline.spans(_SPANS))]


def _panels(spans: Sequence[Span]) -> list[tuple[str, list[float]]]:
    return [
        ("server processor, ms/s", [1000 * each.processor for each in spans]),
        ("calls/s", [each.calls for each in spans]),
        ("READ/s", [each.reads for each in spans]),
        ("WRITE/s", [each.writes for each in spans]),
    ]


def _panel(
    svg: ET.Element, top: float, name: str, values: Sequence[float], highest: float, spans: Sequence[Span]
) -> None:
    """One graph: steps, filled lightly."""
    floor, seconds = top + _HEIGHT, spans[-1].end
    group = ET.SubElement(svg, "g", {"class": "graph"})
    add_title(group, f"{name}: up to {max(values):.3g}")
    add_text(group, _LEFT, top - 6, name, "name")
    add_line(group, _LEFT, floor, _RIGHT, floor, "axis", opacity="0.8")
    for part, label in ((0.5, highest / 2), (1.0, highest)):
        y = floor - part * _HEIGHT
        add_line(group, _LEFT, y, _RIGHT, y, "axis", opacity="0.2")
        add_text(group, _LEFT - 5, y + 4, f"{label:g}", "tick", anchor="end")
    points = []
    for span, value in zip(spans, values, strict=True):
        y = round(floor - min(value / highest, 1.0) * _HEIGHT, 1)
        points += [(_x(span.begin, seconds), y), (_x(span.end, seconds), y)]
    line = " ".join(f"{x:g},{y:g}" for x, y in points)
    area = f"{_LEFT},{floor:g} {line} {_RIGHT},{floor:g}"
    ET.SubElement(group, "polygon", {"points": area, "fill": "currentColor", "fill-opacity": "0.15"})
    ink = {"fill": "none", "stroke": "currentColor", "stroke-width": "1.4", "stroke-linejoin": "round"}
    ET.SubElement(group, "polyline", {"points": line, **ink})


def _x(second: float, seconds: float) -> float:
    return round(_LEFT + second / seconds * (_RIGHT - _LEFT), 1)


def _times(svg: ET.Element, bottom: float, timeline: Timeline) -> None:
    """Seconds, and where phases begin."""
    seconds = timeline.seconds
    step = _rounded_up(seconds / 6)
    for number in range(int(seconds / step) + 1):
        add_text(svg, _x(number * step, seconds), bottom - 6, f"{number * step:g}", "tick", anchor="middle")
    add_text(
        svg,
        (_LEFT + _RIGHT) / 2,
        bottom + 10,
        "seconds on the clock of the client",
        "caption",
        anchor="middle",
    )
    ends = [at for _, at in timeline.phases[1:]] + [seconds]
    taken: list[tuple[float, float]] = []
    for (name, at), end in sorted(
        zip(timeline.phases, ends, strict=True), key=lambda each: each[0][1] - each[1]
    ):
        left = _x(at, seconds)
        right = left + _LETTER * len(name)
        if right <= WIDTH and all(right < begin or left > stop for begin, stop in taken):
            taken.append((left, right))
            add_text(svg, left, bottom + 26, name, "phase")
        for number in range(_PANELS):
            top = _TOP + number * (_HEIGHT + _GAP)
            dashes = {"stroke-dasharray": "2 3", "stroke": "currentColor", "stroke-opacity": "0.8"}
            place = {"class": "phase", "x1": left, "x2": left, "y1": top, "y2": top + _HEIGHT}
            mark = ET.SubElement(svg, "line", attributes(place) | dashes)
            add_title(mark, f"{name}: {at:.1f} to {end:.1f} s")


def _rounded_up(value: float) -> float:
    """To 1, 2, 4, 5 or 10 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(max(value, 1e-9)))
    return next(factor * power for factor in (1.0, 2.0, 4.0, 5.0, 10.0) if factor * power >= value * 0.999999)
