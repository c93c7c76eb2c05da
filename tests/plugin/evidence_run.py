# SPDX-License-Identifier: MIT
"""One run on the embedded server with all evidence, for all tests of what a run writes down.

Of every 24th check; of all checks with ``NFSPROOF_EVERY=1``, as in CI, where a run takes minutes: then it has a worker
for each processor.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nfsjudge.records import CheckRecord, read_records
from tests.plugin.marking_run import MARKED, Marked
from tests.plugin.recorded_run import HEARD, Heard
from tests.plugin.settled_run import EVERY
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
_PLUGINS = (
    *("no:cacheprovider", "tests.plugin.settled_run"),
    *("tests.plugin.recorded_run", "tests.plugin.marking_run"),
)


@dataclass(frozen=True)
class EvidenceRun:
    """What a run on the embedded server left, and what the server says."""

    every: int
    folder: Path

    @property
    def report(self) -> Path:
        """The folder of the report."""
        return self.folder / "report"

    @cached_property
    def checks(self) -> dict[str, CheckRecord]:
        """The checks by their ids."""
        with (self.report / "records.jsonl").open() as lines:
            return {record.id: record for record in read_records(lines) if isinstance(record, CheckRecord)}

    @cached_property
    def heard(self) -> dict[str, list[Heard]]:
        """What the server received and sent in each check, by id."""
        lines = [line for path in self.folder.glob("heard*") for line in path.read_text().splitlines()]
        return {line["check"]: line["connections"] for line in map(json.loads, lines)}

    @cached_property
    def marked(self) -> list[Marked]:
        """What the claims of the checks would mark."""
        return marks_in(self.folder)


def marks_in(folder: Path) -> list[Marked]:
    """What `marking_run` has written there, to files whose names begin with "marked"."""
    lines = [line for path in folder.glob("marked*") for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines]


def run_with_evidence(folder: Path, workers: int | None = None) -> EvidenceRun:
    """Make the run, below this folder. It must be green. `workers` is 0 for one process."""
    every = int(os.environ.get(EVERY) or "24")
    if workers is None:
        workers = (os.cpu_count() or 1) if every == 1 else 0
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        EVERY: str(every),
        HEARD: str(folder / "heard"),
        MARKED: str(folder / "marked"),
    }
    made = EvidenceRun(every, folder)
    plugins = [word for plugin in _PLUGINS for word in ("-p", plugin)]
    words = ["-p", "xdist.plugin", "-n", str(workers)] if workers else []
    command = [sys.executable, "-m", "pytest", "suites", "-q", *plugins, *words, "--evidence=always"]
    result = subprocess.run(
        [*command, "--minor=all", f"--report={made.report}"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        timeout=AT_MOST * (4 if every == 1 else 1),
        check=False,
    )
    assert result.returncode == 0, result.stdout.decode()[-2000:]
    return made
