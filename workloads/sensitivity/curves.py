# SPDX-License-Identifier: MIT
"""A curve of response time over delivered throughput, and its signature: base, slope, saturation.

    response                     .   beyond the saturation the curve turns back: less is
        |                    .  .    delivered, and each operation takes longer
        |           .  .  .
        |  . . .                     slope: 10 to 80 % of the saturation
   base |.
        +----------------------- throughput (delivered)

Throughput is in operations per second, response time in milliseconds.
"""

from __future__ import annotations

import csv
import math
import typing as t
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workloads.sensitivity.fits import Line, fit_line
from workloads.trouble import Refused

MIDDLE: t.Final = (0.1, 0.8)
"""Shares of the saturation between which the slope is fitted."""
FEWEST: t.Final = 6
"""Points of a curve that something is inferred from."""
_LARGEST_FILE: t.Final = 1 << 20


class Point(t.NamedTuple):
    """What was delivered at one load, and how long an operation took."""

    throughput: float
    response: float


@dataclass(frozen=True, slots=True)
class Signature:
    """The three features of a curve."""

    base: float
    """Response time at the lowest throughput."""
    base_at: float
    slope: Line | None
    """Response time over throughput in the middle; None: fewer than three points are there."""
    saturation: float
    """The highest throughput."""


def signature(points: Sequence[Point]) -> Signature:
    """Of a curve in the order of its loads. ValueError for an empty one."""
    if not points:
        raise ValueError("a curve needs a point")
    rising = before_the_hook(points)
    first = min(rising)
    saturation = max(rising).throughput
    low, high = (share * saturation for share in MIDDLE)
    middle = [point for point in rising if low <= point.throughput <= high]
    line = fit_line(middle) if len({point.throughput for point in middle}) > 2 else None
    return Signature(first.response, first.throughput, line, saturation)


def before_the_hook(points: Sequence[Point]) -> list[Point]:
    """The points up to the highest throughput: those after it are beyond the saturation."""
    top = max(range(len(points)), key=lambda at: points[at].throughput)
    return list(points[: top + 1])


def little(throughput: float, response: float) -> float:
    """Operations in flight on average, by Little's law: what is delivered times how long it takes."""
    return throughput * response / 1000


def read_curve(path: Path) -> list[Point]:
    """A CSV file with throughput (operations per second) and response time (ms), in the order of loads.

    A first line of names is skipped; so are further columns. Raises `Refused`, with the line.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise Refused(f"cannot read {path}: {error.strerror}") from error
    if len(data) > _LARGEST_FILE:
        raise Refused(f"{path} is larger than {_LARGEST_FILE} bytes: that is no curve")
    text = data.decode("utf-8-sig", errors="replace")
    return list(_points(path, text))


def _points(path: Path, text: str) -> Iterator[Point]:
    number = found = 0
    try:
        for number, row in enumerate(csv.reader(text.splitlines()), 1):
            cells = [cell.strip() for cell in row]
            if not any(cells) or cells[0].startswith("#"):
                continue
            point = _point(cells)
            if point is not None:
                found += 1
                yield point
            elif found or number > 1:
                raise Refused(
                    f"{path}, line {number}: expected operations per second and ms above 0, got {','.join(row)[:60]!r}"
                )
    except csv.Error as error:
        raise Refused(f"{path}, line {number}: {error}") from error
    if found < FEWEST:
        raise Refused(f"{path}: expected {FEWEST} points at least, got {found}")


def _point(cells: Sequence[str]) -> Point | None:
    try:
        throughput, response = map(float, cells[:2])
    except ValueError:
        return None
    if not (0 < throughput < math.inf and 0 < response < math.inf):
        return None
    return Point(throughput, response)
