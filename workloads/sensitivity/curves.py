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

import bisect
import csv
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
_MOST: t.Final = 500
"""Points of a file: a fit of the model takes a time in proportion to them."""
_THROUGHPUTS: t.Final = (1e-3, 1e9)
"""The smallest and the largest, in operations per second."""
_RESPONSES: t.Final = (1e-6, 1e9)
"""The same in ms."""
_OF_SETTING: t.Final = ("knob", "value")
"""Names of columns of a `curves.csv`, which may have several settings."""


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


def response_at(curve: Sequence[Point], throughput: float) -> float:
    """Response time at a throughput, on the line between its neighbours, or of the two next points beyond the ends.

    `curve`: two points or more, in the order of throughput.
    """
    after = min(max(1, bisect.bisect_left(curve, (throughput,))), len(curve) - 1)
    (low, begin), (high, end) = curve[after - 1], curve[after]
    return begin if high == low else begin + (throughput - low) / (high - low) * (end - begin)


def before_the_hook(points: Sequence[Point]) -> list[Point]:
    """The points up to the highest throughput: those after it are beyond the saturation."""
    top = max(range(len(points)), key=lambda at: points[at].throughput)
    return list(points[: top + 1])


def little(throughput: float, response: float) -> float:
    """Operations in flight on average, by Little's law: what is delivered times how long it takes."""
    return throughput * response / 1000


def read_curve(path: Path) -> list[Point]:
    """A CSV file with throughput (operations per second) and response time (ms), in the order of loads.

    A line of names before the first point is skipped, and so are comments and further columns; but in a file that
    `sensitivity` has written, all points must be of one setting. Raises `Refused`, with the line.
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
    found, names = 0, list[str]()
    setting: list[str] | None = None
    for number, cells in _rows(path, text):
        if not (found or names or _number(cells[0]) is not None):
            names = cells
            continue
        point = _point(cells)
        if point is None:
            raise Refused(
                f"{path}, line {number}: expected operations per second from {_THROUGHPUTS[0]:g} to "
                f"{_THROUGHPUTS[1]:g} and ms from {_RESPONSES[0]:g} to {_RESPONSES[1]:g}, "
                f"got {','.join(cells)[:60]!r}"
            )
        mine = [cell for name, cell in zip(names, cells, strict=False) if name in _OF_SETTING]
        if setting is not None and mine != setting:
            raise Refused(
                f"{path}, line {number}: expected points of one setting, got {' '.join(mine)[:60]!r} after "
                f"{' '.join(setting)[:60]!r}: keep the lines of one of them"
            )
        setting, found = mine, found + 1
        if found > _MOST:
            raise Refused(f"{path}, line {number}: expected {_MOST} points at most, got more")
        yield point
    if found < FEWEST:
        raise Refused(
            f"{path}: expected {FEWEST} points at least, got {found}; lines that begin with # are no points"
        )


def _rows(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """(number of the line, its cells) of lines that are neither empty nor comments."""
    lines = csv.reader(text.splitlines())
    try:
        for row in lines:
            cells = [cell.strip() for cell in row]
            if any(cells) and not cells[0].startswith("#"):
                yield lines.line_num, cells
    except csv.Error as error:
        raise Refused(f"{path}, line {lines.line_num}: {error}") from error


def _number(cell: str) -> float | None:
    """None: it is no number."""
    try:
        return float(cell)
    except ValueError:
        return None


def _point(cells: Sequence[str]) -> Point | None:
    throughput, response = (*map(_number, cells[:2]), None, None)[:2]
    if throughput is None or response is None:
        return None
    is_curve = _THROUGHPUTS[0] <= throughput <= _THROUGHPUTS[1] and _RESPONSES[0] <= response <= _RESPONSES[1]
    return Point(throughput, response) if is_curve else None
