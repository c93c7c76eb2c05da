# SPDX-License-Identifier: MIT
"""A call of NFSv2 that a delegation is in the way of is made again after silence, by the clock of the target.

A server in this process puts its clock forward while the loop's stands still: a wait for the loop would be in vain.
"""

from __future__ import annotations

import typing as t
from types import SimpleNamespace

from suites.nfs4.conflicts import Attempt, Conflict

SILENCE: t.Final = 0.002


class Silent(Attempt):
    """A call that gets no reply, and that the loop has no time to give up."""

    pending: t.Any = SimpleNamespace(done=False)

    def __init__(self, silent_at: float) -> None:
        self.silent_at = silent_at

    def reply(self) -> None:
        return None


def test_silence_counts_by_the_clock_of_the_target() -> None:
    time, sent = [0.0], []

    def start(timeout: float) -> Attempt:
        sent.append(time[0])
        return Silent(time[0] + SILENCE)

    connections = SimpleNamespace(
        loop=SimpleNamespace(catch_up=lambda: None, clock=lambda: 0.0, run_until=lambda *_: None),
        now=lambda: time[0],
        wait_for=lambda seconds: 0.0,
        call_timeout=1.0,
    )
    granted: t.Any = SimpleNamespace(v4=SimpleNamespace(connections=connections), leases=(), contested=0.0)
    conflict = Conflict(granted, "WRITE of NFSv2", start)
    for wait in conflict.serve(lambda: False, 0.5):
        time[0] += wait.seconds
    assert conflict.manner == "silence"
    assert len(sent) > 2, sent
