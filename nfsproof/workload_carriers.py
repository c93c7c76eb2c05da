# SPDX-License-Identifier: MIT
"""Where the workers of a workload are: in this process, in processes of this machine, or on a cluster of Dask."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nfsclient.rpc.loop import Loop
from nfsproof import __version__
from workloads.carriers.counted import CountedCarrier
from workloads.carriers.crew import Crew, Deadlines, Reach
from workloads.carriers.processes import Processes
from workloads.carriers.removing import remove_run
from workloads.mount_counts import counter_of
from workloads.mounted import remove_mounted
from workloads.running import Carrier, Here, phases_of
from workloads.spec import Order, Workload
from workloads.trouble import Refused

_MOST: t.Final = 256
_CONNECT: t.Final = 60.0
"""Seconds until a cluster has answered."""


@dataclass(frozen=True, slots=True)
class Workers:
    """What the user wants."""

    number: int | None = None
    """None: one in this process, or all of a cluster."""
    cluster: str = ""
    """The address of a scheduler of Dask."""
    hosts: tuple[str, ...] = ()
    """Machines on which to start workers by SSH."""
    remote_python: str = ""

    @property
    def planned(self) -> int:
        """How many there will be, as far as that is known before a cluster has answered."""
        return self.number or len(self.hosts) or 1


def require_spread(workload: Workload, workers: int) -> None:
    """Raise `Refused` for a workload whose clients have to be in one process."""
    if workers > 1 and not workload.is_spread:
        raise Refused(
            f"{workload.name}: its clients change what the others use, so they have to be in one worker, which knows "
            "what may be read when; use --clients instead of --workers"
        )


@contextlib.contextmanager
def reached(workers: Workers, loop: Loop) -> Iterator[tuple[Reach | None, int]]:
    """A way to reach the workers, and how many they are; None: the only one is in this process."""
    if workers.cluster or workers.hosts:
        from nfsproof.workload_actor import WorkloadActor
        from workloads.carriers import cluster

        connect = (
            cluster.at_scheduler(workers.cluster)
            if workers.cluster
            else cluster.over_ssh(list(workers.hosts), workers.remote_python)
        )
        found = cluster.Cluster(connect, loop, WorkloadActor)
        try:
            number = found.find_workers(_CONNECT, workers.number or len(workers.hosts) or None)
            yield found, _bounded(number)
        finally:
            found.end(Deadlines().end)
    elif (workers.number or 1) > 1:
        number = _bounded(workers.number or 1)
        processes = Processes(number, loop, nfsproof=__version__)
        try:
            yield processes, number
        finally:
            processes.end(Deadlines().end)
    else:
        yield None, 1


def _bounded(number: int) -> int:
    if number > _MOST:
        raise Refused(f"expected at most {_MOST} workers, got {number}")
    return number


def carrier_of(
    reach: Reach | None,
    order: Order,
    workload: Workload,
    loop: Loop,
    *,
    evidence: Path | None,
    say: Callable[[str], None] | None,
) -> Carrier:
    """The carrier of a run."""
    if reach is None:
        return Here(order, loop=loop, evidence=evidence, say=say)
    crew = Crew(
        order,
        reach,
        loop=loop,
        last_phase=phases_of(workload)[-1][0],
        remove=lambda: remove_mounted(order) if order.mount else remove_run(order, loop),
        nfsproof=__version__,
        evidence=evidence,
        say=say,
    )
    return CountedCarrier(crew, counter_of(order), order.warmup) if order.mount else crew
