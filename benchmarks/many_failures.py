# SPDX-License-Identifier: MIT
"""How long reports of a run with very many failures take, and how much memory.

    python -m benchmarks.many_failures [--checks 100000] [--folder DIR]

Makes the records of such a run, then starts `nfsproof report` and `nfsproof diff` on them, each in its own process.
Each should need less than a minute of an idle processor. With --folder the files stay there, to open the board.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from nfsjudge.records import AnyRecord, CheckRecord, EndRecord, RequirementRecord, RunRecord, to_line

_CLAUSE = RequirementRecord(
    "RFC 1813", "3.3.7", "DESCRIPTION", "STATED", "The server returns the count that it wrote."
)
_COMMANDS = (
    ("report", "{run}", "--html", "{folder}/board.html"),
    ("report", "{run}", "--markdown", "{folder}/summary.md"),
    ("report", "{run}", "--junit", "{folder}/junit.xml"),
    ("report", "{run}"),
    ("diff", "{run}", "{run}"),
)


def records_of(checks: int) -> Iterator[AnyRecord]:
    """A run in which every check fails, each with a transcript of usual length."""
    transcript = [f"#{number} LOOKUP xid 0x{number:08x} -> NFS3_OK" for number in range(1, 31)]
    transcript += ["    reply:", *(f"      field{number}: {number}" for number in range(30))]
    yield RunRecord("nfs://host/export", "A server", {"nfs3": "yes"}, started="2026-01-01T00:00:00+00:00")
    for number in range(checks):
        yield CheckRecord(
            f"nfs3/SUBJECT{number % 400}/slug-{number}",
            "FAIL",
            _CLAUSE,
            [f"a count of {number}"],
            f"{number + 1} bytes",
            title=f"Check number {number} does something.",
            transcript=transcript,
            target="nfs://host/export",
            nodeid=f"suites/nfs3/test_subject{number % 400}.py::test_slug_{number}",
        )
    yield EndRecord(1, 100.0, {"FAIL": checks})


def write_run(folder: Path, checks: int) -> Path:
    """Write the records; the folder of the run."""
    run = folder / "run"
    run.mkdir(parents=True, exist_ok=True)
    with (run / "records.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(to_line(record) + "\n" for record in records_of(checks))
    return run


def measure(words: list[str]) -> tuple[float, int]:
    """Processor time in seconds, and memory in MiB, of one command."""
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "nfsproof", *words], stdout=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, used.ru_maxrss // 1024


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the reports of a run with many failures.")
    parser.add_argument("--checks", type=int, default=100_000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        run = write_run(folder, options.checks)
        for command in _COMMANDS:
            words = [word.format(run=run, folder=folder) for word in command]
            seconds, memory = measure(words)
            sys.stdout.write(f"{seconds:6.1f} s {memory:6} MiB  nfsproof {' '.join(words)}\n")


if __name__ == "__main__":
    main()
