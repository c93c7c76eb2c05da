# SPDX-License-Identifier: MIT
"""Carries programs out, and counts and times what they do."""

from __future__ import annotations

import math
import typing as t
from collections.abc import Callable

from workloads import calls as c
from workloads.engine import Drain, Pool, Start, Until, Work
from workloads.histogram import Histogram
from workloads.trouble import Stopped

BATCHES: t.Final = 20
"""Parts of the steady state, in the order of time: their means are nearly independent, units are not."""
MOST_OUTSTANDING: t.Final = 20_000
"""Units of an open loop that are under way, above which the server is too slow for that rate."""
_LONGEST_TURN: t.Final = 0.02
"""Seconds for which a caller whose units need no call may go on alone."""


class Performer(t.Protocol):
    """What carries out one call: a client with a policy, or a mounted directory."""

    def perform(self, call: c.Call) -> Work[t.Any]:
        """Its work; the result is that of the call."""
        ...


class Second:
    """What ended in one second."""

    __slots__ = ("histogram", "operations", "read", "written")

    def __init__(self) -> None:
        self.operations = self.read = self.written = 0
        self.histogram = Histogram()


class Tally:
    """What programs did in one phase."""

    def __init__(self) -> None:
        self.operations = 0
        self.read = 0
        self.written = 0
        self.latencies = Histogram()
        self.lag: Histogram | None = None
        self.ended = 0
        """Units that ended in the steady state, whenever they began: throughput."""
        self.arrivals = 0
        """Units of an open loop that began in the steady state."""
        self.met = 0
        """Units that these found under way, all together: arrivals at random see the average."""
        self.messages: int | None = None
        """Sent and received until the end of the steady state: what is under way then is in no other number."""
        self.seconds: dict[int, Second] = {}
        self.batches: list[list[float]] = [[0, 0.0] for _ in range(BATCHES)]
        """(units, µs of all together) of those that began in each part of the steady state."""

    def load(self, messages: int = 0) -> dict[str, t.Any]:
        """What the curves of `sensitivity` need, as plain data. `messages`: until now, if the end was not reached."""
        return {
            "ended": self.ended,
            "arrivals": self.arrivals,
            "met": self.met,
            "messages": messages if self.messages is None else self.messages,
            "batches": [{"count": int(count), "sum": total} for count, total in self.batches],
        }

    def series(self) -> list[list[float]]:
        """(second, operations, bytes read, written, p50 and p99 in microseconds) of each second, as plain data."""
        return [
            [
                number,
                second.operations,
                second.read,
                second.written,
                second.histogram.percentile(50),
                second.histogram.percentile(99),
            ]
            for number, second in sorted(self.seconds.items())
        ]

    def note(self, call: c.Call, result: t.Any) -> None:
        """A call has ended."""
        if isinstance(call, c.Read):
            self.read += result
        elif isinstance(call, c.Write):
            self.written += call.count


def carry_out(
    performer: Performer,
    program: c.Program[t.Any],
    tally: Tally,
    clock: Callable[[], float],
    until: float = math.inf,
) -> Work[t.Any]:
    """All calls of a program; its result. A pause that would begin after `until` ends it."""
    try:
        call = next(program)
        while True:
            if isinstance(call, c.Think):
                if clock() >= until:
                    program.close()
                    return None
                if call.seconds > 0:
                    yield Until(clock() + call.seconds)
                call = program.send(None)
                continue
            result = yield from performer.perform(call)
            tally.operations += 1
            tally.note(call, result)
            call = program.send(result)
    except StopIteration as end:
        return end.value


class Rate:
    """The loops of a rate: what is counted, and when. Times are of the clock of the loop."""

    def __init__(
        self,
        clock: Callable[[], float],
        begin: float,
        warmup: float,
        duration: float,
        tally: Tally | None = None,
        turned_at: Callable[[], float] | None = None,
    ) -> None:
        """`tally` gets what is counted, also if the rate ends early; `turned_at` says when the loop was served last."""
        self.clock = clock
        self._turned_at = turned_at
        self.begin = begin
        self.steady = begin + warmup
        self.end = begin + warmup + duration
        self.tally = Tally() if tally is None else tally

    def unit(
        self, performer: Performer, program: c.Program[t.Any], intended: float | None = None
    ) -> Work[None]:
        """One unit, counted if it ends before the end, and in the steady state if it began there.

        A unit that makes no call is none.
        """
        began = self.clock()
        inner = Tally()
        yield from carry_out(performer, program, inner, self.clock, self.end)
        now = self.clock()
        if not inner.operations:
            yield Until(now + c.PAUSE)
            return
        if now > self.end:
            return
        since = began if intended is None else intended
        microseconds = max(0.0, now - since) * 1e6
        second = self.tally.seconds.setdefault(int(now - self.begin), Second())
        second.operations += 1
        second.read += inner.read
        second.written += inner.written
        second.histogram.add(microseconds)
        if now >= self.steady:
            self.tally.ended += 1
        if since >= self.steady:
            tally = self.tally
            tally.operations += 1
            tally.read += inner.read
            tally.written += inner.written
            tally.latencies.add(microseconds)
            share = (since - self.steady) / (self.end - self.steady)
            batch = tally.batches[min(int(share * BATCHES), BATCHES - 1)]
            batch[0] += 1
            batch[1] += microseconds
            if intended is not None and tally.lag is not None:
                tally.lag.add(max(0.0, began - intended) * 1e6)

    def closed(self, performer: Performer, unit: Callable[[], c.Program[t.Any]]) -> Work[None]:
        """A caller that begins the next unit when the one before has ended."""
        while self.clock() < self.end:
            yield from self.unit(performer, unit())
            if self._turned_at is not None and self.clock() - self._turned_at() > _LONGEST_TURN:
                yield Until(self.clock())  # units that need no call: others want to go on, too

    def open(
        self, performer: Performer, unit: Callable[[int], c.Program[t.Any]], gaps: Callable[[], float]
    ) -> Work[None]:
        """Arrivals: units that begin when it is their time, whatever has become of those before."""
        self.tally.lag = self.tally.lag or Histogram()
        at, number, pool = self.begin + gaps(), 0, Pool(MOST_OUTSTANDING)
        while at < self.end and not pool.errors:
            if at > self.clock():
                yield Until(at)
            if pool.running >= MOST_OUTSTANDING:
                raise Stopped("too slow", f"{pool.running} units are under way: lower the rate of arrivals")
            if at >= self.steady:
                self.tally.arrivals += 1
                self.tally.met += pool.running
            yield Start(self.unit(performer, unit(number), at), pool)
            at, number = at + gaps(), number + 1
        yield Drain(pool)
