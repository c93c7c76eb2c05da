# SPDX-License-Identifier: MIT
"""All workloads by name. A module registers its own with `register`; `_MODULES` says which modules there are."""

from __future__ import annotations

import importlib
import typing as t

from nfsclient.similar import similar_text
from workloads.spec import Workload
from workloads.trouble import Refused

_MODULES: t.Final = (
    "workloads.scripts.writes",
    "workloads.scripts.find",
    "workloads.scripts.connectathon",
    "workloads.scripts.andrew",
    "workloads.scripts.sort",
    "workloads.scripts.locks",
    "workloads.rates.data",
    "workloads.rates.metadata",
    "workloads.rates.servers",
    "workloads.rates.mix",
)
_KNOWN: dict[str, Workload] = {}


def register(*workloads: Workload) -> None:
    """Make workloads known. A name may come once."""
    for workload in workloads:
        if workload.name in _KNOWN:
            raise ValueError(f"two workloads are named {workload.name}")
        _KNOWN[workload.name] = workload


def every() -> list[Workload]:
    """All workloads: scripts first, in the order of their modules."""
    for module in _MODULES:
        if module not in _LOADED:
            _LOADED.add(module)
            importlib.import_module(module)
    return list(_KNOWN.values())


_LOADED: set[str] = set()


def find(name: str) -> Workload:
    """The workload with this name. Raises `Refused`."""
    known = {workload.name: workload for workload in every()}
    if name not in known:
        raise Refused(
            f"unknown workload {name!r}{similar_text(name, known)}; `nfsproof workload list` has all"
        )
    return known[name]
