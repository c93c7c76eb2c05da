# SPDX-License-Identifier: MIT
"""What time it is for a client: kept attributes grow old by it, and `/etc/update` comes by it."""

from __future__ import annotations

from collections.abc import Callable


class ClientClock:
    """The time of the machine, or a time that goes on with the calls of programs (`begin`).

    With a pace, a run has the same calls each time, and the ratio of work and time that the authors of a paper had. It
    never goes back.
    """

    def __init__(self, machine: Callable[[], float]) -> None:
        """`machine`: the clock of the machine."""
        self._machine = machine
        self._pace = 0.0
        self._calls = 0
        self._base = 0.0

    def __call__(self) -> float:
        """Seconds."""
        return self._base + (self._calls * self._pace if self._pace else self._machine())

    def begin(self, pace: float) -> None:
        """From now on each call takes `pace` seconds; 0: what it takes."""
        now = self()
        self._pace, self._calls = pace, 0
        self._base = now if pace else now - self._machine()

    def go_on(self) -> None:
        """A program makes a call."""
        self._calls += 1
