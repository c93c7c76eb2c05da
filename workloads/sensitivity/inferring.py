# SPDX-License-Identifier: MIT
"""Which server would have this curve? Fits the queueing model to published or measured points (section 6).

The number of disks is a whole number, so the fit of the rest is made for each that is tried, and those that are nearly
as good as the best are all named. The errors are relative ones: near the saturation a millisecond is nothing.

Not every curve says everything. If it begins where the cache already misses, a slower disk, a smaller cache and a
shorter delay look the same: then the interval of each is wide, and it is *not determined*, unless the time of a disk is
known. A curve on which nobody waits for a disk says no more than how many disks there are at least.
"""

from __future__ import annotations

import importlib
import math
import typing as t
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nfsjudge.wording import count
from workloads.sensitivity.curves import FEWEST, Point, before_the_hook
from workloads.sensitivity.queueing import ENDLESS, Server, errors
from workloads.statistics import CONFIDENCE, Interval, t_quantile
from workloads.trouble import Refused

PACKAGE: t.Final = "scipy.optimize"
_DISKS: t.Final = (ENDLESS, *range(1, 17), 18, 20, 22, 24, 26, 28, 32, 40, 48, 64, 96, 128)
_FULL: t.Final = 0.9995
"""The share of time that a processor or disks are busy at most, so that a fit has a way back."""
_STEPS: t.Final = 100
"""Of one fit at most."""
_TIMES: t.Final = (1e-10, 1e6)
"""Seconds of a disk, if they are known: the shortest and the longest."""
_WIDE: t.Final = 4.0
"""Upper to lower end of an interval from which on a value is not determined."""
_BEGINNINGS: t.Final = (
    (0.5, 0.5, False),
    (0.9, 0.2, False),
    (0.98, 0.1, False),
    (0.2, 0.1, True),
    (0.5, 0.5, True),
)
"""(share of its time that the processor is busy at most, share that the cache answers then, whether disks are the
limit)."""
_NAMES: t.Final = ("service", "delay", "cached", "disk")


class MissingFit(Refused):
    """scipy is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "the queueing model is fitted by scipy, which is not installed: python -m pip install 'nfsproof[fit]' "
            "(in a checkout: .venv/bin/python -m pip install -e '.[fit]')"
        )


@dataclass(frozen=True, slots=True)
class Inferred:
    """What a curve says of its server."""

    server: Server
    intervals: dict[str, Interval | None]
    """Of the fields of `server`: None where the curve does not determine it. What was given is not here."""
    disks: tuple[int, ...]
    """Numbers of disks that are nearly as good; `ENDLESS` among them: more would do as well."""
    points: tuple[Point, ...]
    """Those that were used."""
    left_out: int
    """Points beyond the saturation, of which the model says nothing."""

    @property
    def errors(self) -> tuple[float, ...]:
        """For each point, how far the model is off, as a share."""
        return tuple(errors(self.server, self.points))

    @property
    def bottleneck(self) -> str:
        """What ends the curve."""
        processor, disks = self.server.limits
        return "processor" if processor <= disks else "disks"


def infer(curve: Sequence[Point], *, disk: float | None = None, package: str = "") -> Inferred:
    """Fit the model. `disk`: seconds of a disk for one operation, if known. Raises `Refused`: no scipy, few points."""
    if disk is not None and not _TIMES[0] <= disk <= _TIMES[1]:
        raise Refused(f"expected a time of a disk from {1000 * _TIMES[0]:g} to {1000 * _TIMES[1]:g} ms")
    points = before_the_hook(curve)
    different = len({point.throughput for point in points})
    if different < FEWEST:
        raise Refused(
            f"expected {FEWEST} different throughputs up to the highest at least, got {different}: "
            f"{count(len(points), 'point')}"
        )
    try:
        optimize: t.Any = importlib.import_module(package or PACKAGE)
    except ImportError:
        raise MissingFit from None
    try:
        fitted = [fit for disks in _DISKS if (fit := _fit(points, disks, disk, optimize)) is not None]
    except (ValueError, ArithmeticError) as error:
        raise Refused(f"the model cannot be fitted to this curve: {error}") from error
    if not fitted:
        raise Refused("the model has no server with such a curve")
    best = min(fitted, key=lambda fit: fit.rest)
    unknown = len(best.values) + 1  # the disks
    free = max(1, len(points) - unknown)
    # A region for all of them together, by Student's t, which is wider than by F: a narrow one would be a claim.
    limit = best.rest * (1 + unknown * t_quantile(free) ** 2 / free) + 1e-12
    good = [fit for fit in fitted if fit.rest <= limit]
    if good[0].disks == ENDLESS:  # no more than needed: the disks do not show
        best = good[0]
    return Inferred(
        best.server(disk),
        _united(best, good, len(points)),
        tuple(fit.disks for fit in good),
        tuple(points),
        len(curve) - len(points),
    )


def _united(best: _Fit, good: Sequence[_Fit], points: int) -> dict[str, Interval | None]:
    """The intervals of all fits that are good enough, as one for each value, around that of the best."""
    each = [fit.intervals(points) for fit in good]
    found: dict[str, Interval | None] = {}
    for name, value in zip(_NAMES, best.values, strict=False):
        known = [interval for intervals in each if (interval := intervals[name]) is not None]
        found[name] = None
        if len(known) == len(each):
            low, high = min(part.low for part in known), max(part.high for part in known)
            if high < low * _WIDE:
                found[name] = Interval(math.exp(value), low, high, CONFIDENCE)
    return found


@dataclass(slots=True)
class _Fit:
    disks: int
    values: list[float]
    """Logarithms, in the order of `_NAMES`; the last one is absent if it is known."""
    rest: float
    jacobian: list[list[float]]

    def server(self, disk: float | None) -> Server:
        return _server(self.values, self.disks, disk)

    def intervals(self, points: int) -> dict[str, Interval | None]:
        free = max(1, points - len(self.values))
        covariance = _inverse(_squared(self.jacobian))
        found: dict[str, Interval | None] = {}
        for at, value in enumerate(self.values):
            variance = math.inf if covariance is None else covariance[at][at] * self.rest / free
            half = t_quantile(free) * math.sqrt(variance) if 0 <= variance < math.inf else math.inf
            known = 2 * half < math.log(_WIDE)
            estimate = math.exp(value)
            found[_NAMES[at]] = (
                Interval(estimate, estimate / math.exp(half), estimate * math.exp(half), CONFIDENCE)
                if known
                else None
            )
        return found


def _server(values: Iterable[float], disks: int, disk: float | None) -> Server:
    service, delay, cached, *rest = map(math.exp, values)
    return Server(
        service=service, delay=delay, cached=cached, disk=rest[0] if disk is None else disk, disks=disks
    )


def _fit(points: Sequence[Point], disks: int, disk: float | None, optimize: t.Any) -> _Fit | None:
    """The best of fits from several beginnings; None if no such server serves the highest throughput."""
    most = max(point.throughput for point in points)
    base = min(point.response for point in points) / 1000
    longest = max(point.response for point in points) / 1000
    if disk is not None and disks != ENDLESS and disks / disk < 1e-3 * most:
        return None

    def residuals(values: t.Any) -> list[float]:
        server = _server(values, disks, disk)
        return [math.log(1000 * _bounded(server, point.throughput) / point.response) for point in points]

    low = [math.log(1e-6 * _FULL / most), math.log(base * 1e-4), math.log(most * 1e-3)]
    high = [math.log(_FULL / most), math.log(base), math.log(most * 1.5)]
    if disk is None:
        low.append(math.log(base * 1e-2))
        high.append(math.log(10 * longest))
    best: _Fit | None = None
    for service, cached, is_limit in _BEGINNINGS:
        if is_limit and (disk is not None or disks == ENDLESS):
            continue
        begin = [math.log(service / most), math.log(base / 2), math.log(cached * most)]
        if disk is None:  # half of the longest response, or what makes the disks the limit
            begin.append(math.log(0.97 * disks / (most * (1 - cached)) if is_limit else longest / 2))
        begin = [min(max(value, low[at] + 1e-9), high[at] - 1e-9) for at, value in enumerate(begin)]
        found = optimize.least_squares(
            residuals, begin, bounds=(low, high), xtol=1e-12, ftol=1e-12, max_nfev=_STEPS
        )
        rest = math.fsum(value**2 for value in residuals(found.x))
        if best is None or rest < best.rest:
            best = _Fit(disks, [float(value) for value in found.x], rest, found.jac.tolist())
    return best


def _bounded(server: Server, rate: float) -> float:
    """As `Server.response`, but large instead of infinite, and growing, where too much arrives."""
    processor, disks = server.limits
    busy = max(rate / processor, 0.0 if disks == math.inf else rate / disks)
    if busy <= _FULL:
        return server.response(rate)
    return server.response(rate * _FULL / busy) * (1 + 100 * (busy - _FULL))


def _squared(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """The transposed matrix times the matrix."""
    width = range(len(rows[0]))
    return [[math.fsum(row[i] * row[j] for row in rows) for j in width] for i in width]


def _inverse(matrix: Sequence[Sequence[float]]) -> list[list[float]] | None:
    """By elimination; None if there is none."""
    size = len(matrix)
    rows = [[*row, *(float(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    scale = max(abs(value) for row in matrix for value in row) or 1.0
    for at in range(size):
        pivot = max(range(at, size), key=lambda row: abs(rows[row][at]))
        if abs(rows[pivot][at]) < 1e-13 * scale:
            return None
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [value / rows[at][at] for value in rows[at]]
        for other in range(size):
            if other != at:
                factor = rows[other][at]
                rows[other] = [
                    value - factor * mine for value, mine in zip(rows[other], rows[at], strict=True)
                ]
    return [row[size:] for row in rows]
