# SPDX-License-Identifier: MIT
"""The measuring itself: rounds over all clients of an operation, so that each ratio is of the same moment."""

from __future__ import annotations

import random
import statistics
import sys
import typing as t
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks import goals
from benchmarks.plan import OURS, Contender, Operation
from benchmarks.worker import Measurement, WorkerFailed, Workers

Verdict = t.Literal["", "holds", "within tolerance", "FAILS"]


@dataclass
class Row:
    """One client on one operation; one entry per round in each list."""

    label: str
    unit: str
    rates: list[float] = field(default_factory=list)
    cpu_us: list[float] = field(default_factory=list)
    """Processor time of the client per operation, microseconds."""
    ratios: list[float] = field(default_factory=list)
    """Ours divided by this client, of the same round."""
    aim: goals.Aim | None = None

    @property
    def rate(self) -> float:
        """Median rate."""
        return statistics.median(self.rates)

    @property
    def ratio(self) -> float | None:
        """Median ratio; None for ours itself."""
        return statistics.median(self.ratios) if self.ratios else None

    @property
    def cpu(self) -> float:
        """Median client CPU per operation, microseconds."""
        return statistics.median(self.cpu_us)

    @property
    def verdict(self) -> Verdict:
        """How the ratio stands to its gate."""
        if self.aim is None or self.aim.gate is None or self.ratio is None:
            return ""
        if self.ratio >= self.aim.gate:
            return "holds"
        return "within tolerance" if self.ratio >= self.aim.gate * (1 - goals.TOLERANCE) else "FAILS"

    @property
    def reaches_goal(self) -> bool | None:
        """Whether the goal is reached; None where there is none."""
        if self.aim is None or self.aim.goal is None or self.ratio is None:
            return None
        return self.ratio >= self.aim.goal

    def add(self, measured: Measurement) -> None:
        amount = measured.bytes / 1e6 if self.unit == "MB/s" else measured.operations
        self.rates.append(amount / measured.seconds)
        self.cpu_us.append(measured.cpu / max(measured.operations, 1) * 1e6)


@dataclass
class Result:
    """All clients on one operation; what could not take part is in `left_out`, with the reason."""

    operation: Operation
    rows: list[Row] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)


def measure(
    operation: Operation, workers: Workers, rounds: int, seconds: float, progress: Callable[[], None]
) -> Result:
    """Run an operation: each round takes all clients, in random order.

    Chance, because who runs after whom matters: what the one before left asleep, the next one has to wake.
    """
    chance = random.Random(operation.id)
    result = Result(operation)
    rows = {contender.label: Row(contender.label, operation.unit) for contender in operation.contenders}
    for _ in range(rounds * operation.slices):
        taking_part = [
            contender for contender in operation.contenders if contender.label not in result.left_out
        ]
        chance.shuffle(taking_part)
        for contender in taking_part:
            try:
                rows[contender.label].add(_order(operation, contender, workers, seconds / operation.slices))
            except WorkerFailed as reason:
                result.left_out[contender.label] = str(reason)
            progress()
    _compare(result, rows)
    return result


def _order(operation: Operation, contender: Contender, workers: Workers, seconds: float) -> Measurement:
    name = contender.operation or operation.name
    line = f"{name} {operation.place} {operation.window} {operation.size}"
    return workers[contender.worker].order(line, seconds)


def _compare(result: Result, rows: dict[str, Row]) -> None:
    ours = rows.get(OURS)
    for label, row in rows.items():
        if label in result.left_out:
            continue
        if row is not ours and ours is not None and OURS not in result.left_out:
            row.ratios = [mine / theirs for mine, theirs in zip(ours.rates, row.rates, strict=True)]
            row.aim = goals.aim_for(result.operation.id, label)
        result.rows.append(row)


class Progress:
    """A count of measurements on standard error, where that is a terminal."""

    def __init__(self, total: int) -> None:
        self._done = 0
        self._total = total
        self._shown = sys.stderr.isatty()

    def __call__(self) -> None:
        self._done += 1
        if self._shown:
            end = "\r" if self._done < self._total else "\n"
            print(f"{self._done} of {self._total} measurements", end=end, file=sys.stderr, flush=True)
