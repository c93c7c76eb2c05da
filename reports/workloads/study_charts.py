# SPDX-License-Identifier: MIT
"""The curves of a study as SVG: a panel for each knob, with error bars and the model as a line, and the peaks over o.

Settings differ in the shape of their marks and in dashes, not in colour, so that print in black and white is enough.
The picture is 400 px wide, and its letters are for that width.
"""

from __future__ import annotations

import functools
import math
import typing as t
from collections.abc import Callable, Sequence
from statistics import fmean
from xml.etree import ElementTree as ET

from reports.svg import add_line, add_text, add_title, attributes, drawing, written
from reports.workloads.wording import digits, digits_between, duration, duration_between
from workloads.sensitivity import study as studies
from workloads.sensitivity.fits import OverheadLaw
from workloads.sensitivity.queueing import Server
from workloads.sensitivity.study import Measured, Setting, Study

WIDE: t.Final = 400
_LEFT, _RIGHT = 52, 388
_HIGH: t.Final = 200
"""Pixels of the plane of a panel."""
_ABOVE, _BELOW, _ROW = 24, 34, 16
_SETTING: t.Final = 30
"""Pixels of a setting in the legend: its name, and below it base and peak."""
_DASHES: t.Final = ("", "6 3", "2 2", "8 3 2 3", "4 4", "12 3")
_MOST: t.Final = 6
"""Settings of a panel: more cannot be distinguished."""
_STEPS: t.Final = 60


Panel: t.TypeAlias = tuple[str, int, Callable[[ET.Element, int], None]]
"""(title, height, what draws it from a height on)."""


def study_chart(study: Study, model: Server | None = None) -> str:
    """All panels in one picture, below each other; empty if there is none."""
    panels = _panels(study, model)
    if not panels:
        return ""
    svg = drawing(sum(high for _, high, _ in panels), "Response time over throughput", _about(study), WIDE)
    top = 0
    for _, high, draw in panels:
        draw(svg, top)
        top += high
    return written(svg)


def study_panels(study: Study, model: Server | None = None) -> list[tuple[str, str]]:
    """(title, SVG) of each panel. `model` is drawn with base. Of a knob, the first settings are shown."""
    found = []
    for title, high, draw in _panels(study, model):
        svg = drawing(high, title, _about(study), WIDE)
        draw(svg, 0)
        found.append((title, written(svg)))
    return found


def _about(study: Study) -> str:
    return f"{study.target}, NFSv{study.version}: response time over delivered operations per second"


def _panels(study: Study, model: Server | None) -> list[Panel]:
    curves = [(knob, settings) for knob in studies.KNOBS[1:] if (settings := _settings(study, knob))]
    if not curves and study.shown(Setting()):
        curves = [("base", [Setting()])]
    found: list[Panel] = []
    for knob, settings in curves:
        left = _left(study, knob, settings)
        high = _ABOVE + _HIGH + _BELOW + _SETTING * len(settings) + _ROW * ((model is not None) + bool(left))
        draw = functools.partial(
            _panel,
            knob=knob,
            curves=[(each, study.shown(each), _about_setting(study, each)) for each in settings],
            model=model,
            left=left,
        )
        found.append((_caption(knob), high, draw))
    for knob in ("overhead", studies.CLIENT, studies.SERVER):
        peaks = [(each.value, study.peaks(each)) for each in study.settings if each.knob == knob]
        peaks = [(o, found) for o, found in peaks if found]
        if len(peaks) > 1:
            base = study.peaks(Setting())
            points = [(0.0, base), *peaks] if base else peaks
            law, workers = studies.overhead_law(study, knob), study.workers if knob == studies.CLIENT else 1
            draw = functools.partial(_peaks, knob=knob, points=points, law=law, workers=workers)
            found.append((f"peak over {knob}", _ABOVE + _HIGH + _BELOW + 2 * _ROW, draw))
    return found


def _about_setting(study: Study, setting: Setting) -> str:
    """Base and peak, with their intervals."""
    base, peak = studies.base_of(study, setting), studies.peak_of(study, setting)
    parts = [] if base is None else [f"base {duration_between(base)}"]
    parts += [] if peak is None else [f"peak {digits_between(peak)}"]
    return ", ".join(parts)


def _caption(knob: str) -> str:
    return "response time" if knob == "base" else f"response time by {knob}"


def _peaks(
    svg: ET.Element,
    top: int,
    *,
    knob: str,
    points: Sequence[tuple[float, Sequence[float]]],
    law: OverheadLaw | None,
    workers: int,
) -> None:
    """Figure 8 of the paper: the saturation over o, with the law as a line."""
    widest = _rounded_up(max(o for o, _ in points))
    highest = _rounded_up(max(max(peaks) for _, peaks in points))

    def x(o: float) -> float:
        return round(_LEFT + o / widest * (_RIGHT - _LEFT), 1)

    def y(peak: float) -> float:
        return round(top + _ABOVE + _HIGH * (1 - peak / highest), 1)

    add_text(svg, _LEFT, top + 16, f"peak over {knob}", "caption")
    for part in range(5):
        at, to = x(widest * part / 4), y(highest * part / 4)
        add_line(svg, _LEFT, to, _RIGHT, to, "axis", opacity="0.25")
        add_line(svg, at, y(highest), at, y(0) + 4, "axis", opacity="0.25")
        add_text(svg, _LEFT - 6, to + 4, digits(highest * part / 4) if part else "0", "tick", anchor="end")
        label = f"{digits(widest)} µs" if part == 4 else f"{widest * part / 4:g}"
        add_text(svg, at, y(0) + 17, label, "tick", anchor="end" if part == 4 else "middle")
    group = ET.SubElement(svg, "g", {"class": "peaks"})
    add_title(group, f"{len(points)} peaks")
    for o, peaks in points:
        add_line(group, x(o), y(min(peaks)), x(o), y(max(peaks)), "error", opacity="0.8")
        _mark(group, 0, x(o), y(fmean(peaks)))
    below = top + _ABOVE + _HIGH + _BELOW
    _mark(group, 0, _LEFT + 13, below)
    add_text(group, _LEFT + 34, below + 4, "operations per second, lowest to highest", "name")
    if law is None:
        return
    group = ET.SubElement(svg, "g", {"class": "model"})
    add_title(group, "the law, fitted")
    values = [widest * step / _STEPS for step in range(_STEPS + 1)]
    times = [(o, law.service.estimate + law.messages.estimate * o / 1e6) for o in values]
    line = [(x(o), y(workers / each)) for o, each in times if each * highest >= workers]
    _line(group, line, "1 2", "3")
    _line(group, [(_LEFT, below + _ROW), (_LEFT + 26, below + _ROW)], "1 2", "3")
    text = f"1 / ({digits(1e6 * law.service.estimate)} µs + {law.messages.estimate:.3g} o)"
    add_text(group, _LEFT + 34, below + _ROW + 4, text, "name")


def _settings(study: Study, knob: str) -> list[Setting]:
    """Base and those of a knob; empty if the knob was not turned."""
    mine = [each for each in study.settings if each.knob == knob and study.shown(each)]
    base = [Setting()] if study.shown(Setting()) else []
    most = _MOST - len(base)
    if len(mine) > most:  # the smallest and the largest among them
        mine = [mine[round(at * (len(mine) - 1) / (most - 1))] for at in range(most)]
    return base + mine if mine else []


def _left(study: Study, knob: str, drawn: Sequence[Setting]) -> int:
    """How many settings of a knob are not drawn, although they have points."""
    return sum(each.knob == knob and each not in drawn for each in study.settings if study.shown(each))


def _panel(
    svg: ET.Element,
    top: int,
    *,
    knob: str,
    curves: Sequence[tuple[Setting, list[Measured], str]],
    model: Server | None,
    left: int,
) -> None:
    points = [point for _, curve, _ in curves for point in curve]
    most = _rounded_up(max(point.delivered for point in points))
    low = math.floor(math.log10(max(0.1, min(point.response_low or point.response for point in points))))
    high = max(low + 1, math.ceil(math.log10(max(point.response_high for point in points))))

    def x(rate: float) -> float:
        return round(_LEFT + rate / most * (_RIGHT - _LEFT), 1)

    def y(response: float) -> float:
        share = (math.log10(max(response, 10.0**low)) - low) / (high - low)
        return round(top + _ABOVE + _HIGH * (1 - share), 1)

    add_text(svg, _LEFT, top + 16, _caption(knob), "caption")
    _axes(svg, top, most, range(low, high + 1), x, y)
    below = top + _ABOVE + _HIGH + _BELOW
    for number, (setting, curve, about) in enumerate(curves):
        group = ET.SubElement(svg, "g", {"class": "curve"})
        add_title(group, f"{setting}: {len(curve)} points")
        _curve(group, number, curve, x, y)
        _sample(group, number, below + number * _SETTING, str(setting))
        add_text(group, _RIGHT, below + number * _SETTING + 18, about, "tick", anchor="end")
    if model is not None:
        group = ET.SubElement(svg, "g", {"class": "model"})
        add_title(group, "the queueing model, fitted to base")
        rates = [most * step / _STEPS for step in range(1, _STEPS) if most * step / _STEPS < model.saturation]
        line = [(x(rate), y(1e6 * model.response(rate))) for rate in rates]
        shown = [(at, to) for at, to in line if to >= top + _ABOVE]
        _line(group, shown, "1 2", "3")
        at = below + len(curves) * _SETTING
        _line(group, [(_LEFT, at), (_LEFT + 26, at)], "1 2", "3")
        add_text(group, _LEFT + 34, at + 4, "model of base", "name")
    if left:
        at = below + len(curves) * _SETTING + _ROW * (model is not None)
        add_text(
            svg,
            _LEFT,
            at + 4,
            f"{left} more settings are in the table" if left > 1 else "1 more setting is in the table",
            "name",
        )


def _axes(
    svg: ET.Element,
    top: int,
    most: float,
    powers: range,
    x: Callable[[float], float],
    y: Callable[[float], float],
) -> None:
    for power in powers:
        at = y(10.0**power)
        add_line(svg, _LEFT, at, _RIGHT, at, "axis", opacity="0.25")
        add_text(svg, _LEFT - 6, at + 4, duration(10.0**power), "tick", anchor="end")
    bottom = top + _ABOVE + _HIGH
    for part in range(5):
        at = x(most * part / 4)
        add_line(svg, at, top + _ABOVE, at, bottom + 4, "axis", opacity="0.25")
        label = f"{digits(most * part / 4)} op/s" if part == 4 else f"{most * part / 4:g}"
        add_text(svg, at, bottom + 17, label, "tick", anchor="end" if part == 4 else "middle")


def _curve(
    group: ET.Element,
    number: int,
    curve: Sequence[Measured],
    x: Callable[[float], float],
    y: Callable[[float], float],
) -> None:
    _line(group, [(x(point.delivered), y(point.response)) for point in curve], _DASHES[number], "1.2")
    for point in curve:
        at = x(point.delivered)
        add_line(group, at, y(point.response_low), at, y(point.response_high), "error", opacity="0.8")
        _mark(group, number, at, y(point.response))


def _sample(group: ET.Element, number: int, y: float, name: str) -> None:
    """A row of the legend."""
    _line(group, [(_LEFT, y), (_LEFT + 26, y)], _DASHES[number], "1.2")
    _mark(group, number, _LEFT + 13, y)
    add_text(group, _LEFT + 34, y + 4, name, "name")


def _line(group: ET.Element, points: Sequence[tuple[float, float]], dashes: str, width: str) -> None:
    ink = {"fill": "none", "stroke": "currentColor", "stroke-width": width, "stroke-opacity": "0.8"}
    if dashes:
        ink["stroke-dasharray"] = dashes
    text = " ".join(f"{x:g},{y:g}" for x, y in points)
    ET.SubElement(group, "polyline", {"points": text, **ink})


def _mark(group: ET.Element, number: int, x: float, y: float) -> None:
    """A circle, square, triangle or diamond, filled; the same, empty, from the fifth setting on."""
    shape = number % 4
    ink = {"stroke": "currentColor", "fill": "currentColor" if number < 4 else "none"}
    if shape == 0:
        ET.SubElement(group, "circle", attributes({"cx": x, "cy": y, "r": 3}) | ink)
        return
    corners = {
        1: ((-3, -3), (3, -3), (3, 3), (-3, 3)),
        2: ((0, -4), (4, 3), (-4, 3)),
        3: ((0, -4.5), (4.5, 0), (0, 4.5), (-4.5, 0)),
    }[shape]
    text = " ".join(f"{x + dx:g},{y + dy:g}" for dx, dy in corners)
    ET.SubElement(group, "polygon", {"points": text, **ink})


def _rounded_up(value: float) -> float:
    """To a number whose quarters are short."""
    power = 10.0 ** math.floor(math.log10(value)) if value > 0 else 1.0
    return next(
        factor * power
        for factor in (1.0, 1.2, 1.6, 2.0, 2.4, 3.2, 4.0, 6.0, 8.0, 10.0)
        if factor * power >= value * 0.999999
    )
