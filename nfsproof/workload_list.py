# SPDX-License-Identifier: MIT
"""`nfsproof workload list`: the workloads, their parameters, and the tables of the policies."""

from __future__ import annotations

from collections.abc import Iterator

from workloads import catalog
from workloads.policies import DIRECT, POLICIES
from workloads.spec import Workload


def lines(name: str | None) -> Iterator[str]:
    """All workloads, or one with its parameters. Raises `Refused` for an unknown name."""
    if name is None:
        for workload in catalog.every():
            yield f"{workload.name:20} {workload.kind:7} NFSv{', '.join(workload.versions)}: {workload.about}"
        return
    yield from _about(catalog.find(name))


def _about(workload: Workload) -> Iterator[str]:
    yield f"{workload.name} ({workload.kind}): {workload.about}"
    yield f"source: {workload.source}"
    yield f"versions: {', '.join(workload.versions)}"
    for version, what in workload.needs.items():
        yield f"NFSv{version}: not here, {what}"
    yield f"phases: {', '.join(phase.name for phase in workload.phases) or 'none'}"
    yield "parameters:"
    for parameter, value in workload.defaults.items():
        bounds = workload.bounds.get(parameter)
        yield f"  {parameter}={value}" + (f"  ({bounds.least:.15g} to {bounds.most:.15g})" if bounds else "")
    if workload.manifest is not None:
        yield "generated with seed 1 (bytes, path):"
        yield from (f"  {line}" for line in workload.manifest(workload.defaults, 1))
    yield "policies:"
    for policy in POLICIES.values():
        if (policy.name == DIRECT) != (workload.policy == DIRECT):
            continue
        yield f"  {policy.name} (NFSv{', '.join(policy.versions)}): {policy.about}"
        for call, row in policy.rows.items():
            yield f"    {call:10} {' '.join(row.steps)}"
        for source in dict.fromkeys(row.source for row in policy.rows.values()):
            yield f"    source: {source}"
