# SPDX-License-Identifier: MIT
"""Points of a study in virtual time: client, links and server on one loop, whose clock goes on when nothing happens.

What costs time is what a test says: the times of a queue, a link, an overhead. All else costs none, so that laws can be
compared with numbers, on any machine. Sockets are real ones.
"""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.rpc.loop import Loop
from nfsfaults.inside import Inside
from nfsjudge.verdict import Verdict
from nfsproof import sensing
from nfsproof.fault_plans import parse_plan
from nfsserver.queueing import Times, queue
from nfstargets.embedded import EmbeddedTarget
from tests.workloads.rig import run_whole
from tests.workloads.samples import ENVIRONMENT
from workloads import clients, overhead
from workloads.result import Result
from workloads.running import Here
from workloads.sensitivity.study import CLIENT, PEAK, Measured, Setting, Study, Task
from workloads.worker import STEADY

BASE: t.Final = Setting()
BYTES: t.Final = 48 << 10
"""Of files for each operation per second."""
_DECK: t.Final = 3 << 20
_SUSPICIOUS: t.Final = 0.1
"""A step of the clock before which the kernel gets a moment: what was sent may be on its way."""


class VirtualLoop(Loop):
    """A loop that never waits."""

    def __init__(self) -> None:
        self.now = 1000.0
        super().__init__(lambda: self.now)

    def _serve(self, wait: float) -> bool:
        if super()._serve(0.0) or (wait > _SUSPICIOUS and super()._serve(0.001)):
            return True
        self.now += max(0.0, wait)
        return False

    def run_precisely(self, deadline: float) -> None:
        """As `run_once`: this clock is exact."""
        self.run_once(deadline)


class Bench:
    """Measures points of one study."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        times: Times | None = None,
        *,
        version: str = "3",
        transport: str = "tcp",
        callers: int = 32,
        seconds: float = 3.0,
        packet: int = 0,
        resend: float = 0.0,
        bytes_of_files: int = 0,
    ) -> None:
        """`bytes_of_files`: for each operation per second; there are those of a deck at least."""
        self._monkeypatch = monkeypatch
        self.times = times
        self.seconds = seconds
        self.result: Result | None = None
        """That of the last point."""
        self.study = Study(
            target="embedded", version=version, transport=transport, seed=1, callers=callers, workers=1, packet=packet,
            resend=resend, queue="", repeats=1, seconds=seconds, bytes=bytes_of_files, shares=(),
            environment=ENVIRONMENT,
        )  # fmt: skip

    def peak(self, setting: Setting = BASE, times: Times | None = None) -> Measured:
        """The closed loop of a setting; `times`: of this point alone."""
        return self._measure(Task(setting, PEAK, 0), 0.0, times)

    def point(self, rate: float, setting: Setting = BASE, share: float = 0.5) -> Measured:
        """An open loop; `share` is noted as that of the peak."""
        return self._measure(Task(setting, share, 0), rate, None)

    def _measure(self, task: Task, rate: float, times: Times | None) -> Measured:
        loop, reports = VirtualLoop(), list[dict[str, t.Any]]()
        with self._monkeypatch.context() as patched:
            self._link(patched, task.setting)
            patched.setattr(
                overhead, "spin", lambda _clock, seconds: setattr(loop, "now", loop.now + seconds)
            )

            def during(carrier: Here, target: EmbeddedTarget) -> None:
                used = times or self.times
                if used is not None:
                    queue(target.running(), loop, used)
                phase = carrier.phase

                def noting(name: str) -> list[dict[str, t.Any]]:
                    found = phase(name)
                    if name == STEADY:
                        reports.extend(found)
                    return found

                patched.setattr(carrier, "phase", noting)

            load = rate or 60.0
            outcome, _ = run_whole(
                "sfs-like",
                during=during,
                make_loop=lambda: loop,
                parameters={"load": load, "bytes": max(self.study.bytes, round(_DECK / load))},
                version=self.study.version,
                transport=self.study.transport,
                callers=self.study.callers,
                arrivals=rate,
                duration=self.seconds,
                warmup=1.0,
                lint=0,
                overhead=task.setting.value / 1e6 if task.setting.knob == CLIENT else 0.0,
                packet=self.study.packet,
                resend=self.study.resend,
                most_seconds=100_000.0,
                timeout=60.0,
            )
        assert (outcome.result.verdict, outcome.result.reasons) == (Verdict.PASS, ())
        self.result = outcome.result
        loads = [each["load"] for each in reports]
        return sensing.measured(task, rate, self.study, outcome.result, loads)

    @staticmethod
    def _link(patched: pytest.MonkeyPatch, setting: Setting) -> None:
        """All connections of the client go through the link of a setting."""
        inside = Inside(parse_plan(sensing.link_plan(setting), "plan.toml"))

        def through(connect: t.Callable[..., t.Any]) -> t.Callable[..., t.Any]:
            def connected(*args: t.Any, **more: t.Any) -> t.Any:
                rpc = connect(*args, **more)
                inside.attach(rpc)
                return rpc

            return connected

        for name in ("connect_tcp", "connect_udp"):
            patched.setattr(clients, name, through(getattr(clients, name)))
