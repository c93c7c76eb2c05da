# SPDX-License-Identifier: MIT
"""An event from its file to archives, board and exit status."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from rich.console import Console

from nfsjudge.records import BadRecord
from nfsjudge.wording import count
from nfsproof import archiving, reporting
from nfsproof.events.file import Event
from nfsproof.events.runs import OUTPUT, Runs, TargetRun
from nfsproof.events.table import Display, LiveDisplay, PlainDisplay, table
from nfsproof.exits import Exit
from reports import Run, load
from reports.archived import find_archives
from reports.causes import shared
from reports.plain import printable

BOARD = "board.html"
_MOST_NAMES = 5
_MOST_SHARED = 15
"""Causes that several targets share, at most this many of them are printed."""
_MOST = 300
"""Characters of what a run said of its trouble."""
_WORST_FIRST = (
    *(Exit.INTERRUPTED, Exit.INTERNAL, Exit.FAIL, Exit.USAGE, Exit.BASELINE, Exit.VOID, Exit.NOTHING),
    Exit.OK,
)


class CannotHold(Exception):
    """A mistake that the user can fix, in one line."""


def hold(event: Event, folder: Path, say: Callable[[str], None], warn: Callable[[str], None]) -> int:
    """Run everything; the exit status is that of the worst run. Raises `CannotHold` before anything is run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotHold(f"cannot create the folder {folder}: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CannotHold(f"cannot write into the folder {folder}")
    runs = [TargetRun(target, folder / target.folder) for target in event.targets]
    archives: dict[str, Path] = {}
    console = Console(highlight=False)
    is_live = console.is_terminal and not console.is_dumb_terminal
    display: Display = LiveDisplay(console) if is_live else PlainDisplay(say)

    def finish(run: TargetRun) -> None:
        read_results(run)
        file = folder / f"{run.entry.folder}.{event.format}"
        try:
            wishes = archiving.Wishes(
                run.entry.label, run.entry.anonymous, event.with_hosts, event.with_logs, run.entry.hide
            )
            if run.records is not None:
                archives[run.entry.folder] = archiving.pack(run.folder, file, wishes).file
        except archiving.ArchiveError as error:
            run.remark = "; ".join(text for text in (run.remark, f"no archive: {error}") if text)

    group = Runs(runs, event.parallel, display.show, finish)
    try:
        group.hold()
    finally:
        display.close()
    console.print(table(runs, console.width, is_final=True))
    for run in runs:
        if run.trouble:
            say(
                f"{run.entry.name}: {printable(run.trouble)[:_MOST]} (complete output: {run.folder / OUTPUT})"
            )
    for line in shared_lines(runs):
        say(line)
    _report_others(folder, archives.values(), warn)
    _tell([archives[run.entry.folder] for run in runs if run.entry.folder in archives], folder, say, warn)
    return Exit.INTERRUPTED if group.interrupts else _status(runs)


def shared_lines(runs: Sequence[TargetRun]) -> list[str]:
    """The causes that several targets share, a line each, as their archives call the targets."""
    found: list[Run] = []
    for run in runs:
        with contextlib.suppress(OSError, BadRecord):
            if run.records is not None:
                read = load(run.folder)
                if read.about is not None:
                    read.about.label = run.entry.name
                found.append(read)
    causes = shared(found)
    lines = [
        printable(f"shared: {shared_cause.cause.verdict} {shared_cause.line}")
        for shared_cause in causes[:_MOST_SHARED]
    ]
    more = len(causes) - _MOST_SHARED
    return lines + ([f"shared: {count(more, 'cause')} more: see the reports"] if more > 0 else [])


def read_results(run: TargetRun) -> None:
    """Counts from the records, which have the last word, and what they mean."""
    if run.records is None:
        run.remark = run.remark or "no records"
        _is_not_whole(run)
        return
    try:
        found = load(run.folder)
    except (OSError, BadRecord):
        run.remark = run.remark or "no readable records"
        _is_not_whole(run)
        return
    if found.end is None:
        _is_not_whole(run)
    run.counts = dict(found.counts())
    executed = sum(number for verdict, number in run.counts.items() if verdict not in {"SKIP", "UNSUPPORTED"})
    if executed < run.entry.floor:
        few = f"{count(executed, 'check')} executed, expected {run.entry.floor} at least"
        run.remark = "; ".join(text for text in (run.remark or found.ending, few) if text)
        if run.status in {Exit.OK, Exit.VOID, Exit.BASELINE}:
            run.status = Exit.FAIL
    run.remark = run.remark or found.ending
    if found.rules_summary:
        run.remark += f"; lint: {found.rules_summary}"


def _is_not_whole(run: TargetRun) -> None:
    """A run that has left no end says nothing by its exit status, even if that is 0."""
    if run.status in {Exit.OK, Exit.FAIL, Exit.VOID, Exit.BASELINE}:
        run.status = Exit.INTERNAL


def _status(runs: list[TargetRun]) -> int:
    seen = {run.status if run.status in set(Exit) else Exit.INTERNAL for run in runs}
    return int(next((status for status in _WORST_FIRST if status in seen), Exit.OK))


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


def _report_others(folder: Path, archives: Collection[Path], warn: Callable[[str], None]) -> None:
    """Archives that lie there from earlier: handed over with the others, they would be taken for new ones."""
    others = [archive.name for archive in find_archives(folder) if archive not in archives]
    if others:
        more = f" and {len(others) - _MOST_NAMES} more" if len(others) > _MOST_NAMES else ""
        warn(
            f"not part of this event, and not on its board: {', '.join(others[:_MOST_NAMES])}{more}, in {folder}"
        )


def _warn_of(line: str, warn: Callable[[str], None]) -> None:
    if not line.startswith("written: "):
        warn(line)
