# SPDX-License-Identifier: MIT
"""Numbers of results in a few characters, and rows as aligned text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from nfsjudge.wording import as_size, count
from workloads.histogram import PERCENTILES, Histogram
from workloads.result import DataChecks, Result, Setup
from workloads.spec import title_of
from workloads.statistics import Interval

UNKNOWN = "-"
"""In a cell: there is no such number, or too few values for it."""


def duration(microseconds: float) -> str:
    """``12 µs``, ``3.4 ms``, ``2.0 s``: two or three digits."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size * 0.9995:
            return f"{digits(microseconds / size)} {unit}"
    return f"{digits(microseconds)} µs"


def digits(value: float) -> str:
    """A number with three digits, or all that stand before the point."""
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def duration_between(interval: Interval) -> str:
    """``6.22 ms (6.13 to 6.31)``, of µs; without the ends if they are not known."""
    size, unit = next(
        (each for each in ((1e6, "s"), (1e3, "ms")) if interval.estimate >= each[0] * 0.9995), (1.0, "µs")
    )
    return f"{digits(interval.estimate / size)} {unit}{_ends(interval, size)}"


def digits_between(interval: Interval) -> str:
    """``1070 (1050 to 1090)``."""
    return f"{digits(interval.estimate)}{_ends(interval, 1.0)}"


def _ends(interval: Interval, size: float) -> str:
    if interval.low == interval.high:
        return ""
    return f" ({digits(interval.low / size)} to {digits(interval.high / size)})"


def precise(value: float) -> str:
    """A number with four digits, or all that stand before the point."""
    return f"{value:.{max(0, min(6, 3 - math.floor(math.log10(abs(value)))))}f}" if value else "0"


def seconds(value: float) -> str:
    """Seconds with milliseconds."""
    return f"{value:.3f}"


def per_second(amount: float, duration_seconds: float) -> str:
    """A rate; `UNKNOWN` if no time passed."""
    return digits(amount / duration_seconds) if duration_seconds > 0 else UNKNOWN


def percentile(histogram: Histogram, percent: float) -> str:
    """A percentile, if there is at least one value beyond it: p99.99 of 500 values would be their highest."""
    beyond = histogram.count * (100 - percent) / 100
    return duration(histogram.percentile(percent)) if beyond >= 0.999 else UNKNOWN


def percentile_names() -> list[str]:
    """``p50`` and so on, those that results have."""
    return [f"p{each:g}" for each in PERCENTILES]


def describe(setup: Setup) -> str:
    """The work in one line."""
    parts = [
        f"{setup.workload} ({setup.kind})",
        f"policy {setup.policy}",
        "a mounted directory"
        if setup.version == "mount"
        else f"{title_of(setup.version)} over {setup.transport}",
    ]
    if setup.stable:
        parts.append(setup.stable)
    parts.append(
        f"read {as_size(setup.sizes.read)}, write {as_size(setup.sizes.write)}, window {setup.window}"
    )
    parts.append(f"{count(setup.callers, 'caller')} in {count(setup.workers, 'worker')}")
    if setup.kind == "rate":
        parts.append(f"open loop, {digits(setup.arrivals)} arrivals/s" if setup.arrivals else "closed loop")
    return ", ".join(parts)


def compared(checks: DataChecks) -> str:
    """What was compared of data, and with what end."""
    made = f"{count(checks.made, 'read')} compared ({as_size(checks.bytes)})" if checks.made else ""
    if checks.failed:
        return ", ".join(part for part in (made, f"{checks.failed} WRONG") if part)
    return f"{made}, all as written" if made else "none compared"


def names_of(results: Sequence[Result]) -> list[str]:
    """A name for each of several results, no two the same: the target, with what else differs."""
    names = [each.target for each in results]
    for more in (
        lambda each: title_of(each.setup.version),
        lambda each: each.setup.policy,
        lambda each: each.setup.workload,
        lambda each: each.setup.stable,
    ):
        if len(set(names)) == len(names):
            break
        if len({more(each) for each in results}) > 1:
            names = [
                f"{name}, {more(each)}" if more(each) else name
                for name, each in zip(names, results, strict=True)
            ]
    return _numbered(names)


def _numbered(names: list[str]) -> list[str]:
    totals = {name: names.count(name) for name in names}
    seen: dict[str, int] = {}
    made = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(f"{name} ({seen[name]})" if totals[name] > 1 else name)
    return made


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table: the first column to the left, numbers to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        (
            f"{row[0]:<{widths[0]}}"
            + "".join(f"  {cell:>{widths[at]}}" for at, cell in enumerate(row[1:], 1))
        ).rstrip()
        for row in rows
    ]
