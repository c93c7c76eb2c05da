# SPDX-License-Identifier: MIT
"""Runs of the command on a stand-in."""

from __future__ import annotations

import functools
import itertools
import time
import typing as t
from dataclasses import dataclass
from pathlib import Path

import pytest

from fixtures.plugin.recorder import Recorder
from nfsclient.rpc.loop import Loop
from nfsjudge.records import CheckRecord
from nfsproof.cli import run_command_line
from reports import Run, load
from tests.pynfs.stand_in import Planned, is_waiting, make_checkout


@dataclass(frozen=True, slots=True)
class Done:
    """A run of `nfsproof pynfs`."""

    status: int
    output: str
    errors: str
    folder: Path
    checkout: Path

    @property
    def run(self) -> Run:
        """Its records."""
        return load(self.folder)

    @property
    def records(self) -> dict[str, CheckRecord]:
        """By code."""
        return {check.id.rpartition("/")[2]: check for check in self.run.checks}

    @property
    def verdicts(self) -> dict[str, str]:
        """By code."""
        return {code: record.verdict for code, record in self.records.items()}


_HOURS: t.Final = 36_000.0
"""Seconds: more than any limit of a test."""
Pynfs: t.TypeAlias = t.Callable[..., Done]


@pytest.fixture
def pynfs(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Pynfs:
    """Runs a stand-in with these tests on the embedded server. Hours pass while a test waits."""
    folder = tmp_path / "checkout"

    passed = itertools.count(1)
    ahead = 0.0

    def clock() -> float:
        nonlocal ahead
        if is_waiting(folder):
            ahead = _HOURS * next(passed)
        return time.monotonic() + ahead

    # A page and a call of git for each run would be a third of what these tests cost.
    monkeypatch.setattr("nfsproof.pynfs.running.suite_version", lambda: "0")
    monkeypatch.setattr(Recorder, "write_reports", lambda _: None)
    monkeypatch.setattr("nfsproof.pynfs.running.Loop", functools.partial(Loop, clock))

    def run(*tests: Planned, words: tuple[str, ...] = (), dies: int = 0, target: str = "embedded") -> Done:
        checkout = make_checkout(folder, *tests, dies=dies)
        report = tmp_path / "report"
        status = run_command_line(["pynfs", str(checkout), target, f"--report={report}", *words])
        printed = capfd.readouterr()
        return Done(status, printed.out, printed.err, report, checkout)

    return run
