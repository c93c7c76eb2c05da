# SPDX-License-Identifier: MIT
"""Where the file system's times come from."""

from __future__ import annotations

import time
import typing as t


class Clock(t.Protocol):
    """A source of wall clock time."""

    def now_ns(self) -> int:
        """Nanoseconds since 1970-01-01 UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds since some time; never less than before."""
        ...


class SystemClock:
    """The clock of this machine."""

    def now_ns(self) -> int:
        """Nanoseconds since 1970-01-01 UTC."""
        return time.time_ns()

    def monotonic(self) -> float:
        """Seconds since some time."""
        return time.monotonic()


class ForwardedClock(SystemClock):
    """The clock of this machine; what it says of passing time can be put forward, and the date stays right."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def advance(self, seconds: float) -> None:
        """As if this time, in seconds, had passed."""
        self._ahead += seconds

    def monotonic(self) -> float:
        """Seconds since some time, and those by which it was put forward."""
        return super().monotonic() + self._ahead


class ManualClock:
    """A clock that moves only on request."""

    def __init__(self, start_ns: int = 1_000_000_000_000_000_000) -> None:
        self._now = start_ns
        self._passed = 0.0

    def now_ns(self) -> int:
        """Nanoseconds since 1970-01-01 UTC."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass; a negative number sets the clock back."""
        self._now += round(seconds * 1e9)
        self._passed += max(0.0, seconds)

    def monotonic(self) -> float:
        """Seconds that have passed; setting the clock back takes nothing away."""
        return self._passed


class Stamper:
    """Gives each change a different time.

    Clients tell "changed" from "unchanged" by ctime and mtime alone, so two changes within one tick of the
    clock (or while the clock is set back) must not share a reading: successive stamps strictly increase.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0
        self.granularity = 1
        """Nanoseconds. Above 1 stamps are multiples of it, and changes may share one: none is earlier than the last."""

    def stamp(self) -> int:
        """The time of a change, in nanoseconds, later than every stamp before."""
        if self.granularity > 1:
            last = -(-self._last // self.granularity) * self.granularity
            self._last = max(self.coarse(self._clock.now_ns()), last)
        else:
            self._last = max(self._clock.now_ns(), self._last + 1)
        return self._last

    def now(self) -> int:
        """The time of the clock itself."""
        return self._clock.now_ns()

    def coarse(self, time: int) -> int:
        """A time as it can be kept."""
        return time - time % self.granularity
