# SPDX-License-Identifier: MIT
"""Talks to a worker process: see `benchmarks.workers.common` for the other side."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import typing as t
from collections.abc import Callable
from pathlib import Path

from benchmarks.native import Unavailable, compiled
from benchmarks.peers import DISTRIBUTIONS, Peers

ROOT = Path(__file__).resolve().parent.parent
_PATIENCE = 60.0
"""Seconds beyond the measured time that a worker may take to connect, open and warm up."""


class Measurement(t.NamedTuple):
    """What a worker did for one order."""

    seconds: float
    cpu: float
    operations: int
    bytes: int


class WorkerFailed(Exception):
    """A worker could not carry out an order; the text says why."""


class Worker:
    """One worker process, started on its first order and again after it died."""

    def __init__(
        self, name: str, command: Callable[[], list[str]], environment: dict[str, str], log: Path
    ) -> None:
        self.name = name
        self._command = command
        self._environment = environment
        self._log = log
        self._process: subprocess.Popen[str] | None = None

    def order(self, line: str, seconds: float) -> Measurement:
        """Carry out one order. Raises `WorkerFailed`."""
        process = self._running()
        assert process.stdin is not None
        try:
            process.stdin.write(f"{line} {seconds}\n")
            process.stdin.flush()
        except OSError as error:
            raise WorkerFailed(self._exit_report(process)) from error
        answer = self._answer(process, seconds * 3 + _PATIENCE)
        if "unsupported" in answer or "error" in answer:
            raise WorkerFailed(str(answer.get("unsupported") or answer.get("error")))
        return Measurement(**answer)

    def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        try:
            command = self._command()
        except Unavailable as error:
            raise WorkerFailed(str(error)) from error
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=self._log.parent,
                env=os.environ | self._environment | {"PYTHONPATH": str(ROOT)},
            )
        if self._answer(self._process, _PATIENCE) != {"ready": True}:
            raise WorkerFailed("did not say that it is ready")
        return self._process

    def _answer(self, process: subprocess.Popen[str], patience: float) -> dict[str, t.Any]:
        assert process.stdout is not None
        readable, _, _ = select.select([process.stdout], [], [], patience)
        if not readable:
            process.kill()
            raise WorkerFailed(f"no answer within {patience:.0f} s")
        line = process.stdout.readline()
        if not line:
            raise WorkerFailed(self._exit_report(process))
        return t.cast("dict[str, t.Any]", json.loads(line))

    def _exit_report(self, process: subprocess.Popen[str]) -> str:
        status = process.wait(5)
        last = (self._log.read_text().strip().splitlines() or ["it said nothing"])[-1]
        return f"ended with status {status}: {last}"


class Workers:
    """All workers of a run, by name."""

    def __init__(self, peers: Peers, environment: dict[str, str], folder: Path) -> None:
        self._peers = peers
        self._environment = environment
        self._folder = folder
        self._known: dict[str, Worker] = {}

    def __getitem__(self, name: str) -> Worker:
        worker = self._known.get(name)
        if worker is None:
            log = self._folder / f"{name}.log"
            worker = self._known[name] = Worker(name, lambda: self._command(name), self._environment, log)
        return worker

    def _command(self, name: str) -> list[str]:
        if name == "libnfs":
            return [str(compiled("libnfs_driver", "nfs", hint="libnfs-dev"))]
        python = self._peers.interpreter(name) if name in DISTRIBUTIONS else sys.executable
        return [python, "-m", f"benchmarks.workers.{name}"]

    def close(self) -> None:
        for worker in self._known.values():
            worker.close()
