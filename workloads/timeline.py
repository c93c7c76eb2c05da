# SPDX-License-Identifier: MIT
"""What a run did over time: calls, and the processor time of a server that runs apart."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workloads.running import Here
from workloads.worker import Plain, Worker

_NANOSECONDS: t.Final = 1e9


@dataclass(frozen=True, slots=True)
class Sample:
    """All that happened until a time."""

    at: float
    """Seconds since the first measured phase began, on the clock of the client."""
    processor: float
    """Seconds of processor time that the server has used."""
    calls: int
    reads: int
    writes: int


@dataclass(frozen=True, slots=True)
class Span:
    """What happened between two times, each second of it."""

    begin: float
    end: float
    processor: float
    """Seconds of processor time of the server."""
    calls: float
    reads: float
    writes: float


@dataclass(slots=True)
class Timeline:
    """Samples of a run, and when its phases began."""

    samples: list[Sample] = field(default_factory=list)
    phases: list[tuple[str, float]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.samples[-1].at if self.samples else 0.0

    def spans(self, number: int) -> list[Span]:
        """About as many spans of the same length; each sample counts in proportion."""
        if len(self.samples) < 2 or self.seconds <= 0:
            return []
        length = self.seconds / number
        edges = [length * each for each in range(number + 1)]
        whole = [self._until(edge) for edge in edges]
        return [
            Span(
                begin, end, *((after - before) / length for before, after in zip(first, second, strict=True))
            )
            for begin, end, first, second in zip(edges, edges[1:], whole, whole[1:], strict=False)
        ]

    def _until(self, at: float) -> tuple[float, float, float, float]:
        """(processor, calls, reads, writes) until a time, between samples in proportion."""
        samples = self.samples
        after = next((number for number, each in enumerate(samples) if each.at >= at), len(samples) - 1)
        last, first = samples[after], samples[max(0, after - 1)]
        part = (at - first.at) / (last.at - first.at) if last.at > first.at else 1.0
        pairs = (
            (first.processor, last.processor),
            (first.calls, last.calls),
            (first.reads, last.reads),
            (first.writes, last.writes),
        )
        values = [low + (high - low) * min(max(part, 0.0), 1.0) for low, high in pairs]
        return values[0], values[1], values[2], values[3]

    def to_plain(self) -> Plain:
        """As JSON has it."""
        return {
            "phases": [list(each) for each in self.phases],
            "samples": [
                [each.at, each.processor, each.calls, each.reads, each.writes] for each in self.samples
            ],
        }

    @classmethod
    def from_plain(cls, plain: Plain) -> Timeline:
        """From what `to_plain` gave. Raises KeyError, TypeError, ValueError."""
        samples = [
            Sample(float(at), float(processor), int(calls), int(reads), int(writes))
            for at, processor, calls, reads, writes in plain["samples"]
        ]
        return cls(samples, [(str(name), float(at)) for name, at in plain["phases"]])


def processor_time(process: int) -> float:
    """Seconds of processor time of a process, as Linux counts it. Raises OSError, ValueError."""
    text = Path(f"/proc/{process}/schedstat").read_text(encoding="ascii")
    return int(text.split()[0]) / _NANOSECONDS


class Watched(Here):
    """One worker in this process, whose measured phases are sampled four times a second."""

    def __init__(
        self, *args: t.Any, phases: Sequence[str], processor: Callable[[], float], **more: t.Any
    ) -> None:
        """`phases`: the measured ones; `processor`: the processor time of the server so far."""
        super().__init__(*args, **more)
        assert isinstance(self.worker, Worker)
        self.timeline = Timeline()
        self._mine: Worker = self.worker
        self._measured = phases
        self._processor = processor
        self._is_on = False
        self._began = self._before = 0.0
        self._done = [0, 0, 0]
        self._mine.engine.keepers.append(self._sample)

    def phase(self, name: str) -> list[Plain]:
        now = self._mine.client_time()
        self._is_on = name in self._measured
        if self._is_on:
            if not self.timeline.phases:
                self._began, self._before = now, self._processor()
            self.timeline.phases.append((name, now - self._began))
        found = super().phase(name)
        if self._is_on:
            self._sample()
            self._done = self._counts()
            self._is_on = False
        return found

    def _counts(self) -> list[int]:
        calls = self._mine.meter.calls
        here = (calls.total(), calls["READ"], calls["WRITE"])
        return [before + now for before, now in zip(self._done, here, strict=True)]

    def _sample(self, _now: float = 0.0) -> None:
        if self._is_on:
            now, used = self._mine.client_time(), self._processor() - self._before
            self.timeline.samples.append(Sample(now - self._began, used, *self._counts()))
