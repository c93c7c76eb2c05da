# SPDX-License-Identifier: MIT
"""A loop of asyncio whose timers are late by some 20 µs on an idle machine, instead of up to a millisecond.

The loop of asyncio waits in epoll, whose unit is a millisecond, rounded up: a latency of 100 µs would be one of 1,000.
Here it sleeps in select, which has microseconds, until shortly before the next timer, and then looks again and again.
So it needs a processor for itself while timers are near; without timers it sleeps as usual.

    time before the timer      what it does
    more than `SPIN`           sleeps in select on the descriptor of epoll: an event ends the sleep
    less                       asks epoll without waiting, until an event or the time comes
"""

from __future__ import annotations

import asyncio
import math
import select
import selectors
import time
import typing as t
from collections.abc import Callable

SPIN: t.Final = 150e-6
"""Seconds before a timer from which on the processor is used all the time: a sleep ends late by up to about this."""
_MOST_SELECTED: t.Final = 1024
"""Descriptors from this one on `select` refuses."""
Nap: t.TypeAlias = Callable[[float], object]
"""Sleeps up to these seconds, and wakes up when an event is there."""


def wait_exactly(
    look: Callable[[], list[t.Any]], nap: Nap, clock: Callable[[], float], seconds: float
) -> list[t.Any]:
    """Events as soon as there are some, or none after exactly these seconds by the clock. `look` does not wait."""
    until = clock() + seconds
    if seconds > SPIN:
        nap(seconds - SPIN)
    while True:
        found = look()
        if found or clock() >= until:
            return found


class ExactSelector(selectors.DefaultSelector):
    """As the selector of the system, with the exactness of `wait_exactly`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """As `BaseSelector.select`."""
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        return wait_exactly(lambda: super(ExactSelector, self).select(0), self._nap, self._clock, timeout)

    def _nap(self, seconds: float) -> None:
        fileno = getattr(self, "fileno", None)
        if fileno is not None and fileno() < _MOST_SELECTED:
            select.select([fileno()], [], [], seconds)
        else:
            super().select(math.floor(seconds * 1000) / 1000)


def new_loop() -> asyncio.AbstractEventLoop:
    """A loop for `asyncio.Runner`."""
    return asyncio.SelectorEventLoop(ExactSelector())
