# SPDX-License-Identifier: MIT
"""What the suite costs by itself: `python -m benchmarks.suite [--write] [OPTION OF nfsproof run ...]`.

Runs the checks on the embedded server in this process, looks every two milliseconds of processor time where it is, and
prints milliseconds a check by room and by phase. Shares of one run mean something; milliseconds are of this machine.

The figure that other machines have as well is the cost in *loops*: the processor time of the run divided by that of a
fixed loop of plain Python (`loop`), which runs before and after it in the same process. It is printed next to the one
of `suite-cost.json`, which a whole run with --write replaces. Whoever adds checks sees what they add.
"""

from __future__ import annotations

import functools
import json
import os
import resource
import signal
import sys
import tempfile
import time
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
    "fixtures/plugin/results", "fixtures/plugin/evidence", "fixtures/plugin/recorder", "fixtures/plugin/scripting",
    "fixtures/plugin/statuses", "nfsjudge/records", "nfsjudge/transcript", "nfsjudge/messages", "nfsjudge/capture",
    "reports/",
)  # fmt: skip
_ROOMS = {
    "nfsclient/": "client",
    "nfsserver/": "server",
    "suites/": "checks",
    "fixtures/": "plugin and fixtures",
    "nfsjudge/": "judge",
    "nfsfaults/": "faults",
    "nfstargets/": "targets",
}
COST = Path(__file__).with_name("suite-cost.json")
"""The cost that was last written."""
_TURNS = 15
"""How often the loop runs, before and after the run. The shortest time counts: nothing disturbed it."""
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


def loop() -> int:
    """The fixed loop: what Python does in a codec and in a dispatcher, and nothing of nfsproof. Never change it."""
    found: dict[int, tuple[int, bytes]] = {}
    total = 0
    for number in range(20_000):
        data = number.to_bytes(8, "big")
        word = int.from_bytes(data[4:], "big") & 1023
        kept = found.get(word)
        if kept is None or kept[0] < number:
            found[word] = (number, data)
        total += len(found[word][1]) + (word ^ number) % 7
    return total


def seconds_of_loop() -> float:
    """Processor time of one loop."""
    times = []
    for _ in range(_TURNS):
        began = time.process_time()
        loop()
        times.append(time.process_time() - began)
    return min(times)


class Cost(t.NamedTuple):
    """What a run has cost, in a measure that all machines share."""

    checks: int
    loops: float
    """The processor time of the run, divided by that of one loop."""
    shares: dict[str, float]
    """Of each room."""

    @property
    def a_check(self) -> float:
        """Loops a check."""
        return self.loops / self.checks

    def to_text(self) -> str:
        """As it is in the file."""
        shares = {name: round(share, 3) for name, share in self.shares.items()}
        plain = {"checks": self.checks, "loops": round(self.loops), "loops_a_check": round(self.a_check, 3)}
        return json.dumps(plain | {"shares": shares}, indent=2) + "\n"

    @classmethod
    def read(cls, file: Path = COST) -> Cost:
        """The one that was last written."""
        plain = json.loads(file.read_text(encoding="utf-8"))
        return cls(plain["checks"], plain["loops"], plain["shares"])


def next_to(cost: Cost, written: Cost) -> str:
    """Both, and how much they differ."""
    return "\n".join(
        [
            f"{'cost':<26}{'this run':>10}{'written':>10}{'ratio':>8}",
            f"  {'loops':<24}{cost.loops:10.0f}{written.loops:10.0f}{cost.loops / written.loops:8.2f}",
            f"  {'loops a check':<24}{cost.a_check:10.3f}{written.a_check:10.3f}{cost.a_check / written.a_check:8.2f}",
            *(
                f"  {name:<24}{cost.shares.get(name, 0):10.1%}{written.shares.get(name, 0):10.1%}"
                for name in sorted(
                    {*cost.shares, *written.shares}, key=lambda name: -cost.shares.get(name, 0)
                )
            ),
        ]
    )


def main(args: list[str]) -> int:
    """Run it; the exit status of the run."""
    frames = Frames()
    is_written = "--write" in args
    args = [arg for arg in args if arg != "--write"]
    with tempfile.TemporaryDirectory() as folder:
        first = seconds_of_loop()
        signal.signal(signal.SIGPROF, frames.take)
        signal.setitimer(signal.ITIMER_PROF, _INTERVAL, _INTERVAL)
        began = _cpu()
        status = starter.run_suite(["--target", "embedded", "-q", "-q", "--report", folder, *args])
        cpu = _cpu() - began
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        unit = min(first, seconds_of_loop())
        lines: t.Iterable[str] = (Path(folder) / "records.jsonl").read_text().splitlines()
        checks = sum('"kind":"check"' in line for line in lines) or 1
    total = frames.rooms.total() or 1
    cost = Cost(checks, cpu / unit, {name: number / total for name, number in frames.rooms.most_common()})
    print(f"{checks} checks, {cpu:.1f} s of processor time, {cpu / checks * 1000:.2f} ms a check,")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, {unit * 1000:.2f} ms a loop")
    print(table(frames.rooms, cpu, checks))
    print("by phase")
    print(table(frames.phases, cpu, checks))
    if is_written:
        COST.write_text(cost.to_text(), encoding="utf-8")
    print(next_to(cost, Cost.read()))
    return status


def _cpu() -> float:
    """Seconds of this process, and of those that it has started and that have ended."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
