# SPDX-License-Identifier: MIT
"""Facts about this machine that a reader of results needs, without names of hosts and users."""

from __future__ import annotations

import contextlib
import os
import platform
import re

from workloads.result import Environment


def here(nfsproof: str) -> Environment:
    """The machine of this process, now. `nfsproof` is the version of nfsproof."""
    return Environment(
        nfsproof=nfsproof,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        system=f"{platform.system()} {_version_of(platform.release())} {platform.machine()}",
        processors=_processors(),
        memory=_memory(),
        load=_load(),
    )


def _version_of(release: str) -> str:
    """The numbers at the beginning: what follows is chosen by whoever built the system, and may name a machine."""
    match = re.match(r"[0-9]+(?:\.[0-9]+)*", release)
    return match[0] if match else "unknown"


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> int:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return max(0, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return 0


def _load() -> float:
    with contextlib.suppress(OSError, AttributeError):
        return round(os.getloadavg()[0], 2)
    return 0.0
