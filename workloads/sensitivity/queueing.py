# SPDX-License-Identifier: MIT
"""The paper's model of a server (section 4.1): a processor, a cache, disks, and a fixed delay.

    arrivals -> processor (M/M/1) -> in the cache?  yes: answered
                                                    no:  disks (M/M/m) -> answered      + a fixed delay

What is touched grows with the load, so the share that the cache answers falls: `cached` / load, where `cached` is the
load up to which all that is touched is in memory. Times are in seconds, loads in operations per second.
"""

from __future__ import annotations

import math
import typing as t
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workloads.sensitivity.curves import Point

ENDLESS: t.Final = 0
"""`disks`: as many as are needed, so that nobody waits for one."""


def erlang_c(servers: int, load: float) -> float:
    """The probability that an arrival waits in M/M/m; `load` is arrivals times service time. 1 if it never ends."""
    if load >= servers:
        return 1.0
    blocked = 1.0
    for number in range(1, servers + 1):  # Erlang B by its recursion, which does not overflow
        blocked = load * blocked / (number + load * blocked)
    return blocked / (1 - load / servers * (1 - blocked))


def response_of(servers: int, service: float, rate: float) -> float:
    """Seconds in M/M/m: waiting and service. Infinite if more arrives than can be served; `ENDLESS`: no waiting."""
    if servers == ENDLESS:
        return service
    load = rate * service
    if load >= servers:
        return math.inf
    return service + erlang_c(servers, load) * service / (servers - load)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """What a curve follows from."""

    service: float
    """Seconds of the processor for one operation."""
    disk: float = 0.0
    """Seconds of a disk for one operation that the cache does not answer."""
    disks: int = ENDLESS
    cached: float = math.inf
    """Operations per second up to which the cache has all that they touch."""
    delay: float = 0.0
    """Seconds that each operation takes besides."""
    variation: float = 1.0
    """Of the times of the processor, as variance over the square of the mean: 1 is M/M/1; 0, fixed times, is M/D/1."""

    def hit_rate(self, rate: float) -> float:
        """The share of operations that the cache answers."""
        return 1.0 if rate <= self.cached else self.cached / rate

    def response(self, rate: float) -> float:
        """Seconds of an operation on average; infinite from the saturation on."""
        misses = 1 - self.hit_rate(rate)
        waits = (
            response_of(1, self.service, rate) - self.service
        )  # of M/M/1; others by Pollaczek and Khinchine
        whole = self.service + waits * (1 + self.variation) / 2 + self.delay
        return whole + misses * response_of(self.disks, self.disk, misses * rate) if misses else whole

    @property
    def limits(self) -> tuple[float, float]:
        """The loads at which the processor and the disks are busy all the time."""
        processor = 1 / self.service if self.service else math.inf
        has_end = self.disk and self.disks != ENDLESS
        return processor, self.cached + self.disks / self.disk if has_end else math.inf

    @property
    def saturation(self) -> float:
        """The load that it cannot serve any more."""
        return min(self.limits)

    def curve(self, rates: Sequence[float]) -> list[Point]:
        """Its points, in milliseconds; those from the saturation on are left out."""
        return [Point(rate, 1000 * self.response(rate)) for rate in rates if rate < self.saturation]


def errors(server: Server, points: Sequence[Point]) -> Iterator[float]:
    """For each point, how far the model is off, as a share of what was measured."""
    for point in points:
        yield 1000 * server.response(point.throughput) / point.response - 1


SCSI: t.Final = Server(service=900e-6, disk=12e-3, disks=24, cached=128, delay=3.4e-3)
RAID: t.Final = Server(service=650e-6, disk=12e-3, disks=28, cached=512, delay=3.4e-3)
"""The two servers of the paper: 1 MB is touched for each operation per second, so `cached` is their memory in MB."""
