# SPDX-License-Identifier: MIT
"""Runs of the suite on embedded servers, several at a time, each a process with its own report."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import typing as t
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from nfsproof import starter
from nfsproof.exits import Trouble

if t.TYPE_CHECKING:
    from reports import Run

_PATIENCE = 900.0
"""Seconds for one run."""
_Result = t.TypeVar("_Result")
_Job: t.TypeAlias = Callable[[Path], _Result]
"""Does something in a new folder."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended: its exit status, its records, and what it printed."""

    status: int
    run: Run | None
    """None if there are no records."""
    output: str

    @property
    def verdicts(self) -> Counter[str]:
        """The number of checks with each verdict, and of findings of the lint."""
        if self.run is None:
            return Counter()
        return self.run.counts() + Counter(finding.verdict for finding in self.run.findings)


@dataclass(slots=True)
class Trials:
    """Runs that are going on. `stop` kills them; more cannot be started then."""

    _running: set[subprocess.Popen[bytes]] = field(default_factory=set)
    _is_stopped: bool = False

    def run(self, arguments: Sequence[str], folder: Path) -> Ended:
        """`nfsproof run embedded` with these arguments; its report is in `folder`, which must not exist."""
        folder.mkdir(parents=True)
        command = [
            sys.executable,
            "-m",
            "nfsproof",
            "run",
            "embedded",
            f"--report={folder}",
            *("-q", "-p", "no:cacheprovider"),  # not what --lf is about
            *arguments,
        ]
        environment = os.environ | {"PYTHONPATH": str(starter.home())}
        with (folder / "output").open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
        self._running.add(process)
        if self._is_stopped:
            process.kill()
        try:
            status = process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        finally:
            self._running.discard(process)
        return Ended(status, _records(folder), (folder / "output").read_text(errors="replace"))

    def several(self, jobs: Iterable[_Job[_Result]], place: Path) -> Iterator[_Result]:
        """The results of jobs in their order, one job more at a time than there are processors: some mostly wait."""
        with ThreadPoolExecutor((os.cpu_count() or 1) + 1) as pool:
            waiting: list[Future[_Result]] = [
                pool.submit(job, place / str(number)) for number, job in enumerate(jobs)
            ]
            try:
                for process in waiting:
                    yield process.result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
                self.stop()

    def stop(self) -> None:
        """Kill what runs."""
        self._is_stopped = True
        for process in list(self._running):
            process.kill()


def _records(folder: Path) -> Run | None:
    from reports import load

    try:
        return load(folder)
    except (OSError, ValueError):
        return None


def let_sigterm_interrupt() -> None:
    """SIGTERM ends this process as Ctrl-C does: with its runs."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


def seeds_of(text: str, word: str, usual: int) -> range:
    """The seeds of ``drawn`` (1 to `usual`), ``drawn:7`` (one), or ``drawn:1-200``. Raises `Trouble`."""
    found = re.fullmatch(rf"{word}(?::(\d+)(?:-(\d+))?)?", text)
    if found is not None:
        first, last = found[1] or "1", found[2] or found[1] or str(usual)
        if int(first) <= int(last):
            return range(int(first), int(last) + 1)
    raise Trouble(f"expected {word}, {word}:7 or {word}:1-99, got {text!r}")
