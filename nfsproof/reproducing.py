# SPDX-License-Identifier: MIT
"""`nfsproof reproduce`: one check of a run again, or the script that it left."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from nfsclient.similar import similar_text
from nfsclient.url import NfsUrl
from nfsjudge.records import CheckRecord
from nfsproof import starter
from nfsproof.events.chosen import load_target
from nfsproof.only_data import is_only_data
from reports import Run, load
from reports.again import is_file_of_targets
from reports.archived import is_archive, is_from_archive
from reports.folders import chosen_run
from reports.idlist import known_ids

AGAIN = "reproduced"
"""The folder below the report for that of the check that is run again: the records of the run stay."""


CONTROL_LOG = Path("logs", "control.log")
"""Below the report: what the commands did that controlled the server of a URL."""
_EMBEDDED = "embedded"


class CannotReproduce(Exception):
    """The text says what was expected, what was seen, and what to do."""


@dataclass(frozen=True, slots=True)
class Found:
    """A check of a run."""

    check: CheckRecord
    folder: Path
    target: str
    mutants: tuple[str, ...] = ()
    knobs: tuple[str, ...] = ()
    """Of the embedded server: see `RunRecord`."""
    seed: int = 1


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
    if run.about is None:
        return Found(check, folder, check.target)
    return Found(
        check, folder, run.about.target, tuple(run.about.mutants), tuple(run.about.knobs), run.about.seed
    )


def _check(name: str, run: Run) -> CheckRecord:
    ruled = next(
        (finding.check for finding in run.findings if finding.id == name), known_ids().current(name)
    ).lower()
    exact = [check for check in run.checks if check.id.lower() == ruled]
    near = exact or [check for check in run.checks if check.id.lower().startswith(ruled)]
    if len(near) > 1:
        red = [check for check in near if check.verdict in {"FAIL", "NONSTRICT", "VOID"}]
        near = red if len(red) == 1 else near
    if len(near) == 1:
        return near[0]
    if not near:
        failed = [check.id for check in run.checks if check.verdict == "FAIL"]
        seen = f"; failed: {', '.join(failed[:3])}" if failed else ""
        near_ids = similar_text(name, [check.id for check in run.checks])
        raise CannotReproduce(f"expected the id of a check of this run, saw {name!r}{near_ids}{seen}")
    some = ", ".join(check.id for check in near[:3])
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


def run_script(found: Found, target: str | None, *, trust: bool = False) -> int:
    """Run the script that a check left; its exit status. A server that was started for the run is started again.

    Raises `CannotReproduce`, also for a script of someone else without `trust`, and `TargetError`.
    """
    script, server = script_path(found), _target_of(found, target)
    if not trust:
        _require_own(found, script)
    with _server(found, server) as url:
        words = [sys.executable, str(script), url]
        return subprocess.run(words, check=False, env=_environment()).returncode


def _require_own(found: Found, script: Path) -> None:
    """Raises `CannotReproduce` for a script that may come from someone else."""
    if is_from_archive(found.folder):
        why = f"{script} comes from an archive, so someone else wrote it"
    elif not is_only_data(script.read_text(encoding="utf-8", errors="replace")):
        why = f"{script} does more than the scripts of nfsproof do"
    else:
        return
    raise CannotReproduce(f"{why}: read it (--print), and run it with --trust")


@contextlib.contextmanager
def _server(found: Found, target: str) -> Iterator[str]:
    """The URL of a server; one without a URL is started, and ends with the block."""
    if "://" in target:
        yield target
    elif target == _EMBEDDED:
        with _embedded(found) as url:
            yield url
    else:
        from fixtures.plugin.scripting import url_of
        from nfstargets import make_target

        server = make_target(target)
        server.start()
        try:
            yield str(url_of(target, server.address()))
        finally:
            server.stop()


@contextlib.contextmanager
def _embedded(found: Found) -> Iterator[str]:
    """The embedded server as the run had it, in another process."""
    from nfstargets.embedded import EXPORT, SECOND_EXPORT

    is_same = found.target == _EMBEDDED
    words = [f"--export={path}" for path in (EXPORT, SECOND_EXPORT)]
    words += [f"--mutant={mutant}" for mutant in found.mutants] if is_same else []
    words += [f"--knob={knob}" for knob in found.knobs] if is_same else []
    command = [sys.executable, "-m", "nfsproof", "serve", "--port=0", *words]
    with subprocess.Popen(command, env=_environment(), stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        announced = server.stdout.readline().split()
        try:
            if len(announced) < 2 or "://" not in announced[1]:
                raise CannotReproduce("the embedded server cannot be started as the run had it")
            url = NfsUrl.parse(announced[1])
            yield str(dataclasses.replace(url, rpcbindport=url.nfs_port, uid=0, gid=0))
        finally:
            server.terminate()


def _environment() -> dict[str, str]:
    path = str(starter.PACKAGE.parent)
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([path, *([known] if known else [])])}


def run_again(found: Found, target: str | None, arguments: tuple[str, ...] = ()) -> int:
    """Run the check again; its exit status. The report goes into a folder below that of the run."""
    if found.check.id.startswith("-"):
        raise CannotReproduce(f"expected the id of a check, saw {found.check.id!r} in the records")
    report = found.folder / AGAIN
    if target is not None and is_file_of_targets(target):
        arguments = (*load_target(target).how_it_runs(), *arguments)
    elif (found.folder / CONTROL_LOG).exists():
        click.echo(
            "nfsproof: the run controlled its server by commands, which the records do not contain; "
            "checks that need them are SKIP without --target FILE.toml",
            err=True,
        )
    server = _target_of(found, target)
    same = [f"--seed={found.seed}"] if found.seed != 1 else []
    if server == found.target == _EMBEDDED:
        same += [f"--mutant={mutant}" for mutant in found.mutants] + [
            f"--knob={knob}" for knob in found.knobs
        ]
    again = shlex.join([target or server, *same])
    words = [f"--target={server}", f"--report={report}", "--evidence=always", f"--again={again}", *arguments]
    return starter.run_suite([*words, *same, found.check.id])


def _target_of(found: Found, target: str | None) -> str:
    """The server that the user names, or the one of the run. Raises `CannotReproduce` where the records hide it."""
    from nfstargets import TARGETS
    from nfstargets.clients import KIND
    from nfstargets.spelling import as_url

    if target is not None:
        return load_target(target).target if is_file_of_targets(target) else as_url(target)
    if "://" in found.target or found.target.partition(":")[0] in {*TARGETS, KIND}:
        return found.target
    raise CannotReproduce(
        f"the records hide which server {found.target!r} is: name it with --target=nfs://HOST/EXPORT"
    )
