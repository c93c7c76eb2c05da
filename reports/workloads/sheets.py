# SPDX-License-Identifier: MIT
"""Results as CSV: phases, calls, the series by second, and the curve of latencies."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from reports.plain import HIDING, escape
from workloads.result import Result

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would execute at the beginning of a cell."""


def sheets(result: Result) -> dict[str, str]:
    """The texts of CSV files by their names. Files without rows are left out. Times are in seconds or µs, as named."""
    found = {"phases.csv": _phases(result), "calls.csv": _calls(result)}
    if result.series:
        found["seconds.csv"] = _seconds(result)
    if result.latency.operations.count or result.latency.procedures:
        found["latency.csv"] = _latencies(result)
    return found


def _phases(result: Result) -> str:
    columns = ("phase", "seconds", "operations", "rpcs", "sent", "received", "read", "written")
    return _sheet(
        columns,
        (
            (
                each.name,
                each.seconds,
                each.operations,
                each.rpcs,
                each.sent,
                each.received,
                each.read,
                each.written,
            )
            for each in result.phases
        ),
    )


def _calls(result: Result) -> str:
    rows = ((phase.name, name, number) for phase in result.phases for name, number in phase.calls.items())
    return _sheet(("phase", "call", "count"), rows)


def _seconds(result: Result) -> str:
    columns = ("second", "steady", "operations", "read", "written", "p50_us", "p99_us")
    return _sheet(
        columns,
        (
            (
                each.second,
                int(each.is_steady),
                each.operations,
                each.read,
                each.written,
                each.p50_us,
                each.p99_us,
            )
            for each in result.series
        ),
    )


def _latencies(result: Result) -> str:
    named = {"operations": result.latency.operations, **result.latency.procedures}
    if result.latency.lag is not None:
        named["lag of sending"] = result.latency.lag
    rows = (
        (name, low, high, number)
        for name, histogram in named.items()
        for low, high, number in histogram.buckets()
    )
    return _sheet(("of", "from_us", "to_us", "count"), rows)


def _sheet(columns: Sequence[str], rows: Iterable[Sequence[str | float]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(each) if isinstance(each, str) else each for each in row] for row in rows)
    return text.getvalue()


def _cell(text: str) -> str:
    """A name as it is shown; with an apostrophe in front of what a spreadsheet would take for a formula."""
    text = HIDING.sub(escape, text)
    return f"'{text}" if text.startswith(_FORMULA) else text
