# SPDX-License-Identifier: MIT
"""The pages on coverage, and which servers new checks can judge: both from records of runs on the embedded server."""

from __future__ import annotations

import difflib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from nfsjudge.lint import all_rules
from nfsjudge.records import CheckRecord, RequirementRecord
from nfsproof import starter
from reports import load
from reports.coverage.rendering import Pages, suite_pages
from reports.idlist import known_ids
from reports.run import Run

_SHOWN = 40
"""Lines of a difference that are printed."""


class CannotCover(Exception):
    """Why the pages cannot be made: says what was expected, what was seen and what to do."""


def lint_rules() -> Iterator[tuple[str, RequirementRecord]]:
    """The rules of the lint with the clauses that they hold."""
    for rule in all_rules():
        requirement = rule.requirement
        yield (
            rule.id,
            RequirementRecord(
                requirement.rfc,
                requirement.section,
                str(requirement.part),
                str(requirement.level),
                requirement.gist,
            ),
        )


def make_pages(records: Path | None) -> Pages:
    """From the records of a whole run on the embedded server; without any, one is made. Raises `CannotCover`."""
    if records is not None:
        return suite_pages(_whole(records), lint_rules())
    with tempfile.TemporaryDirectory(prefix="nfsproof-coverage-") as folder:
        _run_suite(Path(folder))
        return suite_pages(_whole(Path(folder)), lint_rules())


def checks_in_run(ids: Iterable[str]) -> list[CheckRecord]:
    """Run some checks on the embedded server. Raises `CannotCover` unless all of them pass."""
    chosen = sorted(ids)
    if not chosen:
        return []
    with tempfile.TemporaryDirectory(prefix="nfsproof-new-") as folder:
        _run_suite(Path(folder), chosen)
        return load(Path(folder)).checks


def _run_suite(folder: Path, ids: Iterable[str] = ()) -> None:
    command = [sys.executable, "-m", "nfsproof", "run", "embedded", *ids, "-q", f"--report={folder}"]
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
    minor = 0 if run.about is None else run.about.minor
    ids = known_ids().promised(target, minor)
    seen = {check.id for check in run.checks}
    if seen != ids:
        check_id = min(seen ^ ids)
        raise CannotCover(
            f"{folder} does not contain the checks of suites/ids.txt: {check_id} is "
            f"{'new' if check_id in seen else 'missing'}; use a complete run, "
            "and nfsproof regenerate if checks were added or removed"
        )
    return run


def difference(name: str, there: str, expected: str) -> list[str]:
    """The first lines of the difference between a page and what it should be."""
    lines = difflib.unified_diff(
        there.splitlines(), expected.splitlines(), name, "as it should be", "", "", 0
    )
    return list(lines)[:_SHOWN]


def write(pages: Pages, folder: Path) -> list[Path]:
    """Write them into a folder, which is made; the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / name for name in pages.texts]
    for file in files:
        file.write_text(pages.texts[file.name], encoding="utf-8")
    return files
