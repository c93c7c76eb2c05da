# SPDX-License-Identifier: MIT
"""`nfsproof reproduce`: one check of a run again, or the script that it left."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from nfsjudge.records import CheckRecord
from nfsproof import starter
from reports import Run, load
from reports.archived import is_archive
from reports.folders import chosen_run
from reports.idlist import known_ids

AGAIN = "reproduced"
"""The folder below the report for that of the check that is run again: the records of the run stay."""


class CannotReproduce(Exception):
    """The text says what was expected, what was seen, and what to do."""


@dataclass(frozen=True, slots=True)
class Found:
    """A check of a run."""

    check: CheckRecord
    folder: Path
    target: str


def find(name: str, report: Path) -> Found:
    """The check with this id, or the only one whose id begins so; for a rule of the lint the first that broke it.

    Raises `CannotReproduce`, OSError and `BadRecord`.
    """
    if report.is_file() and is_archive(report):
        raise CannotReproduce(
            f"expected the folder of a report, saw the archive {report}: extract it, and name the folder"
        )
    report = chosen_run(report)
    run = load(report)
    folder = report if report.is_dir() else report.parent
    check = _check(name, run)
    target = run.about.target if run.about is not None else check.target
    return Found(check, folder, target)


def _check(name: str, run: Run) -> CheckRecord:
    ruled = next((one.check for one in run.findings if one.id == name), known_ids().current(name)).lower()
    exact = [one for one in run.checks if one.id.lower() == ruled]
    near = exact or [one for one in run.checks if one.id.lower().startswith(ruled)]
    if len(near) > 1:
        red = [one for one in near if one.verdict in {"FAIL", "NONSTRICT", "VOID"}]
        near = red if len(red) == 1 else near
    if len(near) == 1:
        return near[0]
    if not near:
        failed = [one.id for one in run.checks if one.verdict == "FAIL"]
        seen = f"; failed: {', '.join(failed[:3])}" if failed else ""
        raise CannotReproduce(f"expected the id of a check of this run, saw {name!r}{seen}")
    some = ", ".join(one.id for one in near[:3])
    raise CannotReproduce(
        f"expected the id of one check, saw {name!r}, with which {len(near)} begin: {some} ..."
    )


def script_path(found: Found) -> Path:
    """The script that a check left. Raises `CannotReproduce`."""
    check = found.check
    if not check.script:
        raise CannotReproduce(
            f"expected a script of {check.id} in {found.folder}, saw none ({check.verdict}); "
            "run it again with --evidence=always"
        )
    path = (found.folder / check.script).resolve()
    if not path.is_relative_to(found.folder.resolve()) or path.suffix != ".py" or not path.is_file():
        raise CannotReproduce(f"expected a script below {found.folder}, saw {check.script!r}, which is none")
    return path


def run_script(found: Found, target: str | None) -> int:
    """Run the script that a check left; its exit status."""
    server = _target_of(found, target)  # where the run started one, only the script knows its port
    words = [sys.executable, str(script_path(found)), *([server] if target is not None else [])]
    path = str(starter.PACKAGE.parent)
    return subprocess.run(words, check=False, env=_environment(path)).returncode


def _environment(path: str) -> dict[str, str]:
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([path, *([known] if known else [])])}


def run_again(found: Found, target: str | None, arguments: tuple[str, ...] = ()) -> int:
    """Run the check again; its exit status. The report goes into a folder below that of the run."""
    if found.check.id.startswith("-"):
        raise CannotReproduce(f"expected the id of a check, saw {found.check.id!r} in the records")
    report = found.folder / AGAIN
    words = [f"--target={_target_of(found, target)}", f"--report={report}", "--evidence=always", *arguments]
    return starter.run_suite([*words, found.check.id])


def _target_of(found: Found, target: str | None) -> str:
    """The server that the user names, or the one of the run. Raises `CannotReproduce` where the records hide it."""
    from nfstargets import TARGETS
    from nfstargets.spelling import as_url

    if target is not None:
        return as_url(target)
    if "://" in found.target or found.target.partition(":")[0] in TARGETS:
        return found.target
    raise CannotReproduce(
        f"the records hide which server {found.target!r} is: name it with --target=nfs://HOST/EXPORT"
    )
