# SPDX-License-Identifier: MIT
"""Charts of a run as SVG: latency by procedure, verdicts by section. Text only: no scripts, no styles, nothing loaded.

Drawn here rather than by a library: pygal puts scripts and styles into its SVG, matplotlib draws letters as
paths, which no screen reader reads and no page colours. Lines and letters have the colour of the text around them, so
that the same SVG stands in a light and a dark page; elements have classes (``FAIL``, ``p99``, ``axis``) for styles.
"""

from __future__ import annotations

import math
import re
import typing as t
from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from nfsjudge.records import ProcedureStatistics
from nfsjudge.verdict import VERDICTS
from reports.coverage.sections import CoveredDocument, cover_sections
from reports.coverage.tables import read_tables
from reports.plain import shortened
from reports.run import Run, distinct_labels
from reports.svg import EDGE, add_line, add_text, add_title, attributes, drawing, written

_COLOURS: t.Final = {
    "FAIL": "#d1453b",
    "VOID": "#9b5fc0",
    "NONSTRICT": "#c08a1e",
    "SKIP": "#6f8ba6",
    "UNSUPPORTED": "#2f94a8",
    "PASS": "#2f9150",
}
"""Legible on white and on black; the verdict is next to the bar in words as well."""
_PERCENTILES: t.Final = ("p50", "p90", "p99")
_LEFT = 240
"""Where the bars begin: names stand before it."""
_RIGHT = 480
"""Where they end: numbers follow, at most those of six verdicts."""
_TO = 740
"""Where the axis of the latencies ends: three times follow."""
_TICK = 56
"""Labels of an axis are at least this far apart."""
_TOP = 34
"""Room for an axis."""
_ROW = 20
_NARROWEST = 2.0
"""One FAIL among hundreds is to be seen."""
_MOST_ROWS = 60
_NAME_LENGTH = 34
_PROCEDURE = re.compile(r"(?:Procedure|Operation) [0-9]+: (\w+) - .*")
"""Of such titles the name is enough."""
_SHORTEST, _LONGEST = 1e-5, 1e5
"""Seconds that fit on the axis: what a record says beyond is drawn at its ends. No call over a socket is shorter."""


def charts_of(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """(title, SVG) of all that can be drawn of runs; those without numbers are left out.

    Of several runs the latencies alone, each with its target: their verdicts are better compared in a table.
    """
    if len(runs) != 1:
        named = zip(runs, distinct_labels(runs), strict=True)
        found = [(f"Latency by procedure: {label}", latency_chart(run)) for run, label in named]
        return [(title, svg) for title, svg in found if svg]
    documents = cover_sections(runs, read_tables()).documents
    found = [
        ("Latency by procedure", latency_chart(runs[0])),
        *(
            (f"Verdicts by section of {document.document.name}", _sections_chart(document))
            for document in documents
        ),
    ]
    return [(title, svg) for title, svg in found if svg]


# ---------------------------------------------------------------- latency


def latency_chart(run: Run) -> str:
    """p50, p90 and p99 of each procedure on a logarithmic axis; empty where the run has no latencies.

    When there are too many procedures, those that were called most are shown.
    """
    measured = [
        procedure
        for procedure in (run.statistics.procedures if run.statistics else [])
        if _percentiles(procedure)
    ]
    if not measured:
        return ""
    most = sorted(measured, key=lambda procedure: -procedure.calls)[:_MOST_ROWS]
    rows = sorted(most, key=lambda procedure: (procedure.protocol, procedure.procedure))
    values = [value for row in rows for value in _percentiles(row).values()]
    low = math.floor(math.log10(min(values)))
    high = max(math.ceil(math.log10(max(values))), low + 1)

    def place(seconds: float) -> float:
        return round(_LEFT + (math.log10(seconds) - low) / (high - low) * (_TO - _LEFT), 1)

    left_out = f"; {len(measured) - len(rows)} more are not shown" if len(rows) < len(measured) else ""
    svg = drawing(
        _TOP + len(rows) * _ROW,
        "Latency by procedure",
        f"Time from call to reply of {len(rows)} procedures, logarithmic: a dot at the 50th percentile, a bar to the "
        f"90th, a ring at the 99th{left_out}.",
    )
    bottom = _TOP + len(rows) * _ROW
    add_text(svg, _TO + 34, _TOP - 12, " / ".join(_PERCENTILES), "tick")
    step = math.ceil(_TICK * (high - low) / (_TO - _LEFT))
    for power in range(low, high + 1):
        x = place(10.0**power)
        add_line(svg, x, _TOP - 6, x, bottom, "axis", opacity="0.2")
        if (power - low) % step == 0:
            add_text(svg, x, _TOP - 12, _seconds(10.0**power), "tick", anchor="middle")
    for number, row in enumerate(rows):
        _latency_row(svg, _TOP + number * _ROW + _ROW // 2, row, place)
    return written(svg)


def _percentiles(procedure: ProcedureStatistics) -> dict[str, float]:
    """Those that can be drawn, in the order of time whatever the record says."""
    values = [procedure.latency.get(name) for name in _PERCENTILES]
    usable = [
        min(max(float(value), _SHORTEST), _LONGEST)
        for value in values
        if isinstance(value, int | float) and math.isfinite(value) and value >= 0
    ]
    return dict(zip(_PERCENTILES, sorted(usable), strict=True)) if len(usable) == len(_PERCENTILES) else {}


def _latency_row(
    svg: ET.Element, y: int, procedure: ProcedureStatistics, place: t.Callable[[float], float]
) -> None:
    found = _percentiles(procedure)
    texts = {name: _seconds(value) for name, value in found.items()}
    name = f"{procedure.protocol} {procedure.procedure}"
    row = ET.SubElement(svg, "g", {"class": "row"})
    add_title(
        row,
        f"{name}: "
        + ", ".join(f"{key} {text}" for key, text in texts.items())
        + f", {procedure.calls} calls",
    )
    add_text(row, _LEFT - 10, y + 4, shortened(name, _NAME_LENGTH), "name", anchor="end")
    first, middle, last = (place(found[key]) for key in _PERCENTILES)
    add_line(row, first, y, last, y, "p99", opacity="0.5")
    add_line(row, first, y, middle, y, "p90", width="5", opacity="0.6")
    ET.SubElement(
        row, "circle", attributes({"class": "p50", "cx": first, "cy": y, "r": 4, "fill": "currentColor"})
    )
    ring = {"class": "p99", "cx": last, "cy": y, "r": 3.5, "fill": "none", "stroke": "currentColor"}
    ET.SubElement(row, "circle", attributes(ring))
    add_text(row, _TO + 34, y + 4, " / ".join(texts.values()), "number")


def _seconds(seconds: float) -> str:
    """``12 µs``, ``3.4 ms``, ``2 s``: two digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size * 0.9999:
            return f"{_two_digits(seconds / size)} {unit}"
    return f"{_two_digits(seconds / 1e-9)} ns"


def _two_digits(value: float) -> str:
    return f"{value:.0f}" if value >= 9.95 else f"{value:.2g}"


# ---------------------------------------------------------------- verdicts


def verdicts_chart(run: Run, rfc: str) -> str:
    """The verdicts of the checks in each section of an RFC as stacked bars; empty where it has none."""
    documents = cover_sections([run], read_tables()).documents
    return next((_sections_chart(document) for document in documents if document.document.name == rfc), "")


def _sections_chart(document: CoveredDocument) -> str:
    counted = [(section.section, section.counts(0)) for section in document.sections]
    rows = [(section, counts) for section, counts in counted if counts]
    if not rows:
        return ""
    widest = max(counts.total() for _, counts in rows)
    total: Counter[str] = sum((counts for _, counts in rows), Counter())
    svg = drawing(
        EDGE + len(rows) * _ROW,
        f"Verdicts by section of {document.document.name}",
        f"{len(rows)} sections; verdicts in all: {_words(total)}. A check is counted in each section that it proves.",
    )
    for number, (section, counts) in enumerate(rows):
        y = EDGE + number * _ROW
        name = f"{section.number} " + _PROCEDURE.sub(r"\1", section.title)
        row = ET.SubElement(svg, "g", {"class": "row"})
        add_title(row, f"{document.document.name} section {name}: {_words(counts)}")
        add_text(row, _LEFT - 10, y + 14, shortened(name, _NAME_LENGTH), "name", anchor="end")
        x = float(_LEFT)
        for verdict in _known(counts):
            width = max(counts[verdict] / widest * (_RIGHT - _LEFT), _NARROWEST)
            shape = {
                "class": verdict,
                "x": round(x, 1),
                "y": y + 3,
                "width": round(width, 1),
                "height": _ROW - 6,
            }
            ET.SubElement(row, "rect", attributes(shape | {"fill": _COLOURS[verdict]}))
            x += width
        add_text(row, x + 8, y + 14, _words(counts), "number")
    return written(svg)


def _known(counts: Counter[str]) -> list[str]:
    """The verdicts that there are, what deserves a look first, first; others than ours are not drawn."""
    return [verdict for verdict in VERDICTS if counts[verdict]]


def _words(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in _known(counts)) or "none"
