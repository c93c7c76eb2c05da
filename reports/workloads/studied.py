# SPDX-License-Identifier: MIT
"""A study of a server in text: a row for each setting, and the laws of the paper with what was measured."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

from reports.workloads.wording import UNKNOWN, aligned, digits, duration
from workloads.sensitivity import study as studies
from workloads.sensitivity.study import Row, Study
from workloads.statistics import Interval

_MOST: t.Final = 8
"""Refused points that are printed with their reasons."""


def study_text(study: Study) -> str:
    """The table and the laws."""
    return "\n".join(_lines(study))


def _lines(study: Study) -> Iterator[str]:
    yield f"sfs-like on {study.target}, NFSv{study.version} over {study.transport}, {study.callers} callers at the peak"
    yield f"{study.bytes} bytes of files for each operation per second, a tenth of it touched"
    yield ""
    found = studies.rows(study)
    table = [
        ("setting", "peak, op/s", "base", "slope, µs per op/s", "r²", "points", "refused"),
        *map(_cells, found),
    ]
    yield from aligned(table)
    yield ""
    yield from _laws(study, found)
    refused = [each for each in study.points if each.refused]
    if refused:
        yield ""
        yield "refused, and used by no fit:"
        for each in refused[:_MOST]:
            what = "peak" if each.share == studies.PEAK else f"{each.share:.0%} of the peak"
            yield f"  {each.task.setting}, {what}: {each.refused}"
        if len(refused) > _MOST:
            yield f"  and {len(refused) - _MOST} more"


def _cells(row: Row) -> tuple[str, ...]:
    base = slope = r2 = UNKNOWN
    if row.signature is not None:
        base = duration(1000 * row.signature.base) if row.has_base else UNKNOWN
        if row.signature.slope is not None:
            slope, r2 = _interval(row.signature.slope.slope, 1000), f"{row.signature.slope.r2:.2f}"
    peak = digits(row.peak) if row.peak else UNKNOWN
    return str(row.setting), peak, base, slope, r2, str(len(row.curve)), str(row.refused)


def _laws(study: Study, found: list[Row]) -> Iterator[str]:
    """Sections 5.1 to 5.3 of the paper."""
    latency = studies.latency_law(study)
    if latency is not None:
        yield (
            f"base over L:     {_interval(latency.slope, 1)} µs for each µs, r² {latency.r2:.3f} "
            "(paper: model 2, measured 3)"
        )
    overhead = studies.overhead_law(study)
    if overhead is not None:
        yield (
            f"peak over o:     1 / ({_interval(overhead.service, 1e6)} µs + {_interval(overhead.messages, 1)} o), "
            f"r² {overhead.r2:.2f}"
        )
        yield "                 o is a serial delay of the proxy in each direction, which alone makes 1 / o."
        yield "                 That of the paper, of the server's processor, made 1 / (service + 2.4 o)"
    if any(row.setting.knob == "bandwidth" for row in found):
        steeper = studies.steeper_at(found)
        what = "at none of these" if steeper is None else f"from {steeper:g} MB/s down"
        yield f"slope over 1/G:  steeper {what} (paper: at 1.25 MB/s)"
    if latency is None and overhead is None and len(found) == 1:
        yield "No knob was turned: --latency, --overhead and --bandwidth do it."


def _interval(interval: Interval, factor: float) -> str:
    low, high = (f"{factor * each:.3g}" for each in (interval.low, interval.high))
    return f"{factor * interval.estimate:.3g} ({low} to {high})"
