# SPDX-License-Identifier: MIT
"""Putting up with JUKEBOX: the server asks to be called again later, in a new call (RFC 1813 section 2.6)."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

R = t.TypeVar("R")


class WaitingLoop(t.Protocol):
    """The part of `nfsclient.rpc.loop.Loop` that waiting needs."""

    @property
    def clock(self) -> t.Callable[[], float]:
        """The time in seconds."""
        ...

    def run_until(self, predicate: t.Callable[[], bool], deadline: float) -> object:
        """Serve all connections until `predicate` is true or the clock passes `deadline`."""
        ...


@dataclass(frozen=True)
class Patience:
    """How to wait between attempts: `first` seconds, then twice as long each time up to `longest`.

    No attempt starts later than `total` seconds after the first answer. `wait` passes the time and `clock`
    tells it; `of` takes both from a loop, so that everything else on the loop is served meanwhile.
    """

    wait: t.Callable[[float], None]
    clock: t.Callable[[], float]
    first: float = 0.05
    longest: float = 5.0
    total: float = 30.0

    @classmethod
    def of(
        cls, loop: WaitingLoop, *, first: float = 0.05, longest: float = 5.0, total: float = 30.0
    ) -> Patience:
        """Patience that waits by running `loop`."""

        def wait(seconds: float) -> None:
            loop.run_until(lambda: False, loop.clock() + seconds)

        return cls(wait, loop.clock, first, longest, total)

    def pauses(self) -> t.Iterator[float]:
        """Wait before each further attempt and yield the seconds waited; ends when `total` is used up."""
        deadline = self.clock() + self.total
        pause = self.first
        while (left := deadline - self.clock()) > 0:
            waited = min(pause, left)
            self.wait(waited)
            yield waited
            pause = min(pause * 2, self.longest)

    def retry(self, attempt: t.Callable[[], R], refused: t.Callable[[R], bool], first: R) -> R:
        """Attempt again while `refused` says so; the last result, which may still be a refusal."""
        result = first
        if refused(result):
            for _ in self.pauses():
                result = attempt()
                if not refused(result):
                    break
        return result
