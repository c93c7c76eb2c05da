# SPDX-License-Identifier: MIT
"""An event from its file to archives, board and exit status."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from nfsjudge.records import BadRecord
from nfsproof import archiving, reporting
from nfsproof.events.file import Event
from nfsproof.events.runs import OUTPUT, Runs, TargetRun
from nfsproof.events.table import Display, LiveDisplay, PlainDisplay, table
from nfsproof.exits import Exit
from reports import load
from reports.plain import printable

BOARD = "board.html"
_MOST = 300
"""Characters of what a run said of its trouble."""
_WORST_FIRST = (
    *(Exit.INTERRUPTED, Exit.INTERNAL, Exit.FAIL, Exit.USAGE, Exit.BASELINE, Exit.VOID, Exit.NOTHING),
    Exit.OK,
)


class CannotHold(Exception):
    """What the user can mend, in one line."""


def hold(event: Event, folder: Path, say: Callable[[str], None], warn: Callable[[str], None]) -> int:
    """Run everything; the exit status is that of the worst run. Raises `CannotHold` before anything is run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotHold(f"cannot make the folder {folder}: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CannotHold(f"cannot write into the folder {folder}")
    runs = [TargetRun(one, folder / one.folder) for one in event.targets]
    archives: dict[str, Path] = {}
    console = Console(highlight=False)
    display: Display = LiveDisplay(console) if console.is_terminal else PlainDisplay(say)

    def finish(run: TargetRun) -> None:
        _look_back(run)
        file = folder / f"{run.entry.folder}.{event.format}"
        try:
            wishes = archiving.Wishes(
                run.entry.label, run.entry.anonymous, event.with_hosts, event.with_logs, run.entry.hide
            )
            if run.records is not None:
                archives[run.entry.folder] = archiving.pack(run.folder, file, wishes).file
        except archiving.ArchiveError as error:
            run.remark = "; ".join(one for one in (run.remark, f"no archive: {error}") if one)

    group = Runs(runs, event.parallel, display.show, finish)
    try:
        group.hold()
    finally:
        display.close()
    console.print(table(runs, is_final=True))
    for run in runs:
        if run.trouble:
            say(f"{run.entry.name}: {printable(run.trouble)[:_MOST]} (all of it: {run.folder / OUTPUT})")
    _tell([archives[run.entry.folder] for run in runs if run.entry.folder in archives], folder, say, warn)
    return Exit.INTERRUPTED if group.interrupts else _status(runs)


def _look_back(run: TargetRun) -> None:
    """Counts from the records, which have the last word, and what they mean."""
    if run.records is None:
        run.remark = run.remark or "no records"
        return
    try:
        found = load(run.folder)
    except (OSError, BadRecord):
        run.remark = run.remark or "no records that can be read"
        return
    run.counts = dict(found.counts())
    executed = sum(number for verdict, number in run.counts.items() if verdict not in {"SKIP", "UNSUPPORTED"})
    if executed < run.entry.floor:
        few = f"{executed} checks executed, expected {run.entry.floor} at least"
        run.remark = "; ".join(one for one in (run.remark or found.ending, few) if one)
        run.status = Exit.FAIL
    run.remark = run.remark or found.ending


def _status(runs: list[TargetRun]) -> int:
    seen = {run.status if run.status in set(Exit) else Exit.INTERNAL for run in runs}
    return int(next((one for one in _WORST_FIRST if one in seen), Exit.OK))


def _tell(
    archives: list[Path], folder: Path, say: Callable[[str], None], warn: Callable[[str], None]
) -> None:
    """The board is made of the archives: it shows what is handed over."""
    for file in archives:
        say(f"archive: {file}")
    if not archives:
        return
    try:
        reporting.report(
            archives, reporting.Forms(html=folder / BOARD), say, lambda line: _warn_of(line, warn)
        )
    except reporting.ReportError as error:
        warn(f"no board: {error}")
        return
    say(f"board: {folder / BOARD}")


def _warn_of(line: str, warn: Callable[[str], None]) -> None:
    if not line.startswith("written: "):
        warn(line)
