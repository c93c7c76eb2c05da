# SPDX-License-Identifier: MIT
"""How busy the machine is on which nfsproof runs, and often the server too."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from pathlib import Path

_LOAD = Path("/proc/loadavg")
_MOST = 10.0
"""No limit grows more than that."""


def crowding(load: Path = _LOAD) -> float:
    """How many processes share one processor: 1 or more; 1 if the system does not say.

    On Linux it is the larger one of the mean of a minute and of what wants to run now: the mean is late.
    """
    try:
        mean, running = _linux_load(load)
    except (OSError, ValueError, IndexError):
        try:
            mean, running = os.getloadavg()[0], 0.0
        except OSError:
            return 1.0
    return max(1.0, max(mean, running) / processors())


def allowed(seconds: float, crowd: Callable[[], float] = crowding) -> float:
    """A time limit for work on this machine, as crowded as it is now."""
    return seconds * min(crowd(), _MOST)


def _linux_load(path: Path) -> tuple[float, float]:
    fields = path.read_text(encoding="ascii").split()
    return float(fields[0]), float(fields[3].partition("/")[0])


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def oom_kills() -> int:
    """How many processes the kernel has killed for lack of memory, since it was started; 0 if it does not say."""
    with contextlib.suppress(OSError):
        found = re.search(r"^oom_kill (\d+)$", Path("/proc/vmstat").read_text(), re.MULTILINE)
        return int(found[1]) if found is not None else 0
    return 0
