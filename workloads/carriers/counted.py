# SPDX-License-Identifier: MIT
"""A carrier whose workers share a mounted directory: their calls are counted here, for all of them together."""

from __future__ import annotations

from workloads.mount_counts import PhaseCounts
from workloads.mountstats import MountCounts
from workloads.running import Carrier
from workloads.shape import Plain
from workloads.worker import STEADY


class CountedCarrier:
    """As `running.Carrier`. The calls of a phase are in the report of the first worker."""

    def __init__(self, carrier: Carrier, counter: PhaseCounts, warmup: float) -> None:
        self._carrier = carrier
        self._counter = counter
        self._warmup = warmup

    def open(self) -> list[dict[str, Plain]]:
        return self._carrier.open()

    def phase(self, name: str) -> list[dict[str, Plain]]:
        """Counts while the workers carry it out. An interrupted phase has no counts."""
        self._counter.begin(self._warmup if name == STEADY else 0.0)
        counts: MountCounts | None = None
        try:
            reports = self._carrier.phase(name)
        finally:
            counts = self._counter.end()
        reports[0] |= {
            "calls": dict(counts.calls),
            "rpcs": counts.transmissions,
            "sent": counts.sent,
            "received": counts.received,
        }
        return reports

    def clean(self) -> list[dict[str, Plain]]:
        return self._carrier.clean()

    def close(self) -> None:
        self._carrier.close()

    def stop(self) -> None:
        self._carrier.stop()
