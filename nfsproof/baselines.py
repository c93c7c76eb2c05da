# SPDX-License-Identifier: MIT
"""`nfsproof baseline` and `nfsproof diff`: runs held against what was known, and against each other."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fixtures.ids import SUITES, IdList
from nfsproof import starter
from reports import load
from reports.baseline import find_baseline, gate_lines, hold_against, load_baseline
from reports.baseline.update import left_over, shown_difference, updated
from reports.changes import MEANINGS
from reports.compare import compare


@dataclass(frozen=True, slots=True)
class Told:
    """Lines for the terminal, and whether all is well."""

    lines: Sequence[str]
    is_good: bool


def _promised() -> frozenset[str]:
    return frozenset(IdList.read(starter.home() / SUITES / "ids.txt").present)


def check(folder: Path, word: str) -> Told:
    """Hold the records of a run against a baseline. Raises OSError, `BadBaseline` and `BadRecord`."""
    run, baseline = load(folder), load_baseline(find_baseline(word))
    partial = run.about is not None and run.about.is_partial
    found = hold_against(
        run,
        baseline,
        today=dt.datetime.now(dt.UTC).date(),
        promised=frozenset() if partial else _promised(),
        is_partial=partial,
    )
    return Told(gate_lines(found, baseline, run), not found)


class Partial(ValueError):
    """The run judged some of the checks only: what it did not run would be taken for gone."""


def update(folder: Path, file: Path, *, dry_run: bool) -> Told:
    """Write a baseline anew for a run; the lines are the change. Raises OSError, `BadBaseline` and `Partial`."""
    run = load(folder)
    if run.about is not None and run.about.is_partial:
        raise Partial(f"{folder}: the run judged only some of the checks; a baseline needs a whole run")
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    after = updated(before, run, str(file))
    if not dry_run and after != before:
        file.write_text(after, encoding="utf-8")
    lines = shown_difference(before, after, file.name).splitlines() or [f"{file}: nothing to change"]
    rest = [str(one) for one in left_over(after, run, str(file), dt.datetime.now(dt.UTC).date())]
    return Told([*lines, *rest], not rest)


def difference(before: Path, after: Path) -> Told:
    """What changed from one run to another. Raises OSError and `BadRecord`."""
    changed = compare(load(before), load(after))
    if not changed:
        return Told(["no difference"], is_good=True)
    counts = Counter(one.how for one in changed)
    told = ", ".join(f"{counts[how]} {how}" for how in MEANINGS if counts[how])
    return Told([*map(str, changed), told], is_good=False)
