# SPDX-License-Identifier: MIT
"""`nfsproof coverage`: writes the coverage pages of docs/, or compares them with a run."""

from __future__ import annotations

import difflib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from nfsjudge.lint import all_rules
from nfsjudge.records import RequirementRecord
from nfsproof import starter
from reports import load
from reports.coverage import Pages, suite_pages
from reports.idlist import known_ids
from reports.run import Run

_SHOWN = 40
"""Lines of a difference that are printed."""


class CannotCover(Exception):
    """Why the pages cannot be made: says what was expected, what was seen and what to do."""


def lint_rules() -> Iterator[tuple[str, RequirementRecord]]:
    """The rules of the lint with the clauses that they hold."""
    for rule in all_rules():
        one = rule.requirement
        yield (
            rule.id,
            RequirementRecord(one.rfc, one.section, str(one.part), str(one.level), one.gist),
        )


def make_pages(records: Path | None) -> Pages:
    """From the records of a whole run on the embedded server; without any, one is made. Raises `CannotCover`."""
    if records is not None:
        return suite_pages(_whole(records), lint_rules())
    with tempfile.TemporaryDirectory(prefix="nfsproof-coverage-") as folder:
        _run_suite(Path(folder))
        return suite_pages(_whole(Path(folder)), lint_rules())


def _run_suite(folder: Path) -> None:
    command = [sys.executable, "-m", "nfsproof", "run", "embedded", "-q", f"--report={folder}"]
    environment = os.environ | {"PYTHONPATH": str(starter.home())}
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        raise CannotCover(
            f"the run on the embedded server ended with {done.returncode}, 0 was expected:\n{done.stdout}"
        )


def _whole(folder: Path) -> Run:
    """The run, if it was of all checks, on the embedded server, to its end."""
    try:
        run = load(folder)
    except (OSError, ValueError) as error:
        raise CannotCover(f"expected the records of a run in {folder}: {error}") from error
    target = run.about.target if run.about is not None else "unknown"
    if target != "embedded":
        raise CannotCover(f"expected a run on the embedded server in {folder}, saw one on {target}")
    if run.end is None:
        raise CannotCover(f"expected a complete run in {folder}, got an incomplete one")
    ids = known_ids().present
    seen = {check.id for check in run.checks}
    if seen != ids:
        one = min(seen ^ ids)
        raise CannotCover(
            f"{folder} does not contain the checks of suites/ids.txt: {one} is {'new' if one in seen else 'missing'}; "
            "use a complete run, and nfsproof regenerate if checks were added or removed"
        )
    return run


def differences(pages: Pages, docs: Path) -> list[str]:
    """What is in the way of an agreement between `docs` and the pages; empty: nothing."""
    found = list(pages.faults)
    for name, text in pages.texts.items():
        path = docs / name
        there = path.read_text(encoding="utf-8") if path.exists() else ""
        if there != text:
            found += difference(name, there, text)
    return found


def difference(name: str, there: str, expected: str) -> list[str]:
    """The first lines of the difference between a page and what it should be."""
    lines = difflib.unified_diff(
        there.splitlines(), expected.splitlines(), name, "as it should be", "", "", 0
    )
    return list(lines)[:_SHOWN]


def write(pages: Pages, docs: Path) -> list[str]:
    """Write them; the names of those that changed."""
    changed = []
    for name, text in pages.texts.items():
        path = docs / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            changed.append(name)
    return changed
