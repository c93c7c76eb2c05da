# SPDX-License-Identifier: MIT
"""Runs a workload by several workers on an embedded server that is on the loop of the controller."""

from __future__ import annotations

import os
import signal
import typing as t
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from nfsclient.rpc.loop import Loop
from nfsserver.server import Server
from nfstargets.embedded import EmbeddedTarget
from tests.workloads.rig import SMALL, names_of
from tests.workloads.toys import make_toy
from workloads import catalog
from workloads.carriers.crew import Crew, Deadlines, Reach
from workloads.carriers.processes import Processes
from workloads.carriers.removing import remove_run
from workloads.running import About, Outcome, carry_out, phases_of
from workloads.shape import Plain
from workloads.spec import Order

DIRECTORY: t.Final = "nfsproof-workload-test"


class Watched(Crew):
    """Keeps what workers gave, and their processes. `during` is called before each phase."""

    reports: dict[str, list[Plain]]
    pids: list[int]
    during: Callable[[str, Watched], None] | None = None

    def phase(self, name: str) -> list[Plain]:
        if self.during is not None:
            self.during(name, self)
        self.reports[name] = super().phase(name)
        return self.reports[name]

    def _call(self, *args: t.Any, **more: t.Any) -> t.Any:
        if isinstance(self._reach, Processes) and not self.pids:
            self.pids += [process.pid or 0 for process in self._reach.processes]
        return super()._call(*args, **more)


class Rig:
    """A server, workers, and what was seen of them."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.target = EmbeddedTarget()
        self.target.loop = self.loop
        self.pids: list[int] = []
        self.lines: list[str] = []
        self.reports: dict[str, list[Plain]] = {}
        self.reach: Reach | None = None

    @property
    def server(self) -> Server:
        return self.target.running()

    def order(self, workload: str, workers: int, **settings: t.Any) -> Order:
        """The order of a run."""
        definition = catalog.find(workload)
        parameters = {
            **definition.defaults,
            **SMALL.get(workload, {}),
            **settings.pop("parameters", {}),
        }
        usual = {
            "version": "3",
            "window": definition.window,
            "rsize": definition.size,
            "wsize": definition.size,
            "timeout": 30.0,
        }
        return Order(
            workload=workload,
            parameters=parameters,
            address=self.target.address().to_plain(),
            directory=DIRECTORY,
            workers=workers,
            **{**usual, **settings},
        )

    def run(
        self,
        order: Order,
        *,
        reach: Reach | None = None,
        during: Callable[[str, Watched], None] | None = None,
        on_line: Callable[[str, Watched], None] | None = None,
        evidence: Path | None = None,
        deadlines: Deadlines | None = None,
        nfsproof: str = "1",
        version: str = "1",
    ) -> Outcome:
        """Carry the run out. `nfsproof` is the version of workers, `version` the one that is expected."""
        self.reach = reach or Processes(order.workers, self.loop, nfsproof=nfsproof, make=make_toy)

        def say(line: str) -> None:
            self.lines.append(line)
            if on_line is not None:
                on_line(line, crew)

        crew = Watched(
            order,
            self.reach,
            loop=self.loop,
            last_phase=phases_of(catalog.find(order.workload))[-1][0],
            remove=lambda: remove_run(order, self.loop, patience=30),
            nfsproof=version,
            evidence=evidence,
            say=say,
            deadlines=deadlines or Deadlines(),
        )
        crew.reports, crew.pids, crew.during = self.reports, self.pids, during
        return carry_out(crew, order, About("embedded", "1"))

    def require_nothing_left(self) -> None:
        """No file in the export, and no process."""
        assert names_of(self.server) == []
        for pid in self.pids:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                continue
            raise AssertionError(f"process {pid} of a worker still runs")


def rig() -> t.Iterator[Rig]:
    """For a fixture."""
    made = Rig()
    with closing(made.loop):
        made.target.start()
        try:
            yield made
        finally:
            made.target.stop()


def kill_at_phase(monkeypatch: pytest.MonkeyPatch, name: str, worker: int = 1) -> None:
    """As soon as a worker process has the order for this phase, it is killed."""
    send = Processes.send

    def send_and_kill(self: Processes, to: int, text: str) -> None:
        send(self, to, text)
        if to == worker and f'"name":"{name}"' in text:
            os.kill(self.processes[worker].pid or 0, signal.SIGKILL)

    monkeypatch.setattr(Processes, "send", send_and_kill)
