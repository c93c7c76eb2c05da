# SPDX-License-Identifier: MIT
"""What the suite costs by itself: `python -m benchmarks.suite [OPTION OF nfsproof run ...]`.

Runs the checks on the embedded server in this process, looks every two milliseconds of processor time where it is, and
prints milliseconds a check by room and by phase. Shares of one run mean something; milliseconds are of this machine.
"""

from __future__ import annotations

import functools
import os
import resource
import signal
import sys
import tempfile
import types
import typing as t
from collections import Counter
from pathlib import Path

from nfsproof import starter

ROOT = Path(__file__).resolve().parents[1]
_INTERVAL = 0.002
_SERVER = "nfsclient/rpc/server.py"
"""Whatever runs below it is the server's work, the library's included."""
_LINT = "nfsjudge/lint/"
_RECORDS = (
    "fixtures/books", "fixtures/evidence", "fixtures/recorder", "fixtures/statuses", "nfsjudge/records",
    "nfsjudge/transcript", "nfsjudge/messages", "nfsjudge/capture", "reports/",
)  # fmt: skip
_ROOMS = {
    "nfsclient/": "client",
    "nfsserver/": "server",
    "suites/": "checks",
    "fixtures/": "plugin and fixtures",
    "nfsjudge/": "judge",
}
_PHASES = {
    "pytest_collection": "collection",
    "pytest_runtest_setup": "set-up",
    "pytest_runtest_call": "the check",
    "pytest_runtest_teardown": "clean-up",
    "pytest_runtest_makereport": "verdict, record, lint",
    "pytest_runtest_logreport": "books",
    "pytest_sessionfinish": "report",
}


class Frames:
    """Where samples of a run were taken."""

    def __init__(self) -> None:
        self.rooms: Counter[str] = Counter()
        self.phases: Counter[str] = Counter()

    def take(self, _number: int, frame: types.FrameType | None) -> None:
        """A handler of SIGPROF."""
        files, functions = [], []
        while frame is not None:
            files.append(below(frame.f_code.co_filename))
            functions.append(frame.f_code.co_name)
            frame = frame.f_back
        self.rooms[room_of(files)] += 1
        self.phases[next((_PHASES[name] for name in functions if name in _PHASES), "around")] += 1


@functools.cache
def below(path: str) -> str:
    """A path as seen from the checkout."""
    return os.path.relpath(path, ROOT)


def room_of(files: list[str]) -> str:
    """The room of a stack of files, the innermost first."""
    if _SERVER in files:
        return "server"
    if any(file.startswith(_LINT) for file in files):
        return "lint"
    for file in files:
        if file.startswith(_RECORDS):
            return "records and reports"
        if "_pytest" in file or "pluggy" in file:
            return "pytest"
        found = [room for start, room in _ROOMS.items() if file.startswith(start)]
        if found:
            return found[0]
    return "start"


def table(counts: Counter[str], cpu: float, checks: int) -> str:
    """Milliseconds a check, and shares, the largest first."""
    total = counts.total() or 1
    return "\n".join(
        f"  {name:<24}{count / total * cpu / checks * 1000:7.2f} ms {count / total:6.1%}"
        for name, count in counts.most_common()
    )


def main() -> int:
    """Run it; the exit status of the run."""
    frames = Frames()
    with tempfile.TemporaryDirectory() as folder:
        signal.signal(signal.SIGPROF, frames.take)
        signal.setitimer(signal.ITIMER_PROF, _INTERVAL, _INTERVAL)
        began = _cpu()
        status = starter.run_suite(["--target", "embedded", "-q", "-q", "--report", folder, *sys.argv[1:]])
        cpu = _cpu() - began
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        lines: t.Iterable[str] = (Path(folder) / "records.jsonl").read_text().splitlines()
        checks = sum('"kind":"check"' in line for line in lines) or 1
    print(f"{checks} checks, {cpu:.1f} s of processor time, {cpu / checks * 1000:.2f} ms a check,")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(table(frames.rooms, cpu, checks))
    print("by phase")
    print(table(frames.phases, cpu, checks))
    return status


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
