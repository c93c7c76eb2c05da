# SPDX-License-Identifier: MIT
"""The calls of a phase on a mounted directory: the difference between two looks at who counts them.

That is the kernel (`mountstats`), or a server of nfsproof (`served`). Both count for all processes at once, so with
several workers the controller looks, and the workers do not.
"""

from __future__ import annotations

import functools
import threading
import typing as t
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from workloads.mountstats import MountCounts, read_counts
from workloads.served import ask_counts
from workloads.spec import Order
from workloads.trouble import Stopped

NOTHING: t.Final = MountCounts(Counter(), 0, 0, 0)


def counter_of(order: Order) -> PhaseCounts:
    """The counts of the mounted directory of an order."""
    if order.counts:
        return PhaseCounts(functools.partial(ask_counts, order.counts))
    return PhaseCounts(functools.partial(read_counts, Path(order.mount)))


class PhaseCounts:
    """Counts what is sent between `begin` and `end`."""

    def __init__(self, look: Callable[[], MountCounts | None]) -> None:
        self._look = look
        self._before: MountCounts | None = None
        self._timer: threading.Timer | None = None
        self._error: Stopped | None = None

    def begin(self, wait: float = 0.0) -> None:
        """Count from now on, or from some seconds later: the end of a warm-up. Raises `Stopped`."""
        self._before = self._error = None
        if wait <= 0:
            self._before = self._look()
            return
        self._timer = threading.Timer(wait, self._look_later)
        self._timer.daemon = True
        self._timer.start()

    def _look_later(self) -> None:
        try:
            self._before = self._look()
        except Stopped as error:
            self._error = error

    def end(self) -> MountCounts:
        """What was sent; nothing if nobody counts, or if the warm-up is not over. Raises `Stopped`."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            timer.join()
        if self._error is not None:
            raise self._error
        if self._before is None:
            return NOTHING
        after = self._look()
        return NOTHING if after is None else after.since(self._before)
