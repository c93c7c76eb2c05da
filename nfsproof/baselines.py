# SPDX-License-Identifier: MIT
"""`nfsproof baseline` and `nfsproof diff`: compare runs with known failures, and with each other."""

from __future__ import annotations

import contextlib
import datetime as dt
import errno
import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nfsjudge.wording import count
from nfsproof.exits import Exit, Trouble
from reports import Run, load
from reports.baseline import (
    baseline_lines,
    compare_with_baseline,
    find_baseline,
    fitting_baseline,
    load_baseline,
)
from reports.baseline.gate import LINT, not_judged
from reports.baseline.model import parse_baseline, read_text
from reports.baseline.symptoms import Patience
from reports.baseline.update import left_over, shown_difference, updated
from reports.changes import MEANINGS
from reports.compare import Changed, are_two_servers, between_servers, common, compare, grouped
from reports.idlist import CLIENT, is_of_client, known_ids
from reports.plain import printable

_LONG_CHANGE = 60
"""Lines of a change that are printed; a longer one is counted."""
AUTO = "auto"
"""The baseline that comes with nfsproof for the server and version of a run."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Lines for the terminal, and whether all is well."""

    lines: Sequence[str]
    status: Exit


def _promised(run: Run) -> frozenset[str]:
    """The checks that a whole run of its target has; none is known of another suite."""
    if run.is_second_opinion:
        return frozenset()
    # A label may stand for the name of the target: the checks say what it is.
    of_client = any(is_of_client(check.id) for check in run.checks)
    minor = 0 if run.about is None else run.about.minor
    return frozenset(known_ids().promised(CLIENT if of_client else "", minor))


def check(folder: Path, word: str) -> Comparison:
    """Compare the records of a run with a baseline. Raises OSError, `BadBaseline` and `BadRecord`."""
    run = load(folder)
    description = "" if run.about is None else run.about.description
    name = (fitting_baseline(description) or word) if word == AUTO and not Path(word).exists() else word
    baseline = load_baseline(find_baseline(name))
    partial = run.about is not None and run.about.is_partial
    found = compare_with_baseline(
        run,
        baseline,
        today=dt.datetime.now(dt.UTC).date(),
        promised=frozenset() if partial else _promised(run),
        is_partial=partial,
    )
    lines = baseline_lines(found, baseline, run)
    missing = [] if run.end is None else run.end.missing
    lines += [printable(f"REQUIRED capability is missing: {text}") for text in missing]
    return Comparison(lines, Exit.FAIL if missing else Exit.BASELINE if found else Exit.OK)


def _counted(before: str, after: str, file: Path) -> str:
    """A change that is too long to be read on a terminal, in one line."""
    old, new = (parse_baseline(text, str(file)).entries for text in (before, after))
    unexplained = sum(1 for entry in new if not entry.is_explained)
    return (
        f"{file}: {count(len(new), 'entry', 'entries')}, {len(old)} before; "
        f"{unexplained} without a reason: search for TODO"
    )


class CannotUpdate(ValueError):
    """The run does not say of every check how it is: what it did not judge would be taken for gone."""


def update(folder: Path, file: Path, *, dry_run: bool) -> Comparison:
    """Update a baseline with a run; the lines are the change. Raises OSError, `BadBaseline` and `CannotUpdate`."""
    run = load(folder)
    _hold_whole(run, folder)
    before = read_text(file) if file.exists() else ""
    patience = Patience()
    after = updated(before, run, str(file), patience=patience)
    if not dry_run and after != before:
        _replace(file, after)
    lines = shown_difference(before, after, file.name).splitlines() or [f"{file}: nothing to change"]
    if len(lines) > _LONG_CHANGE and not dry_run:
        lines = [_counted(before, after, file)]
    today = dt.datetime.now(dt.UTC).date()
    rest = [
        str(difference) for difference in left_over(after, run, str(file), today, _promised(run), patience)
    ]
    return Comparison([*lines, *rest], Exit.BASELINE if rest else Exit.OK)


def _hold_whole(run: Run, folder: Path) -> None:
    """A run that judged everything, and whose records can all be read. Raises `CannotUpdate`."""
    whole = "a baseline needs a complete run"
    if run.problems:
        raise CannotUpdate(f"{printable(run.problems[0])}; {whole}, with all its records")
    if run.about is not None and run.about.is_partial:
        raise CannotUpdate(f"{folder}: the run judged only some of the checks; {whole}")
    if run.end is None or run.end.note or run.end.exit_code in {2, 3, 4, 5}:
        why = run.end.note if run.end is not None and run.end.note else run.ending
        raise CannotUpdate(f"{folder}: {printable(why)}; {whole}, finished")
    if missing := not_judged(run, _promised(run)):
        raise CannotUpdate(
            f"{folder}: the run did not judge {count(len(missing), 'check')} of this version of nfsproof, "
            f"such as {missing[0]}; {whole}, of the same version"
        )


def _replace(file: Path, text: str) -> None:
    """Write all of it or nothing; a link stays one, and line ends stay as they were. Raises OSError."""
    place = file.resolve()
    content = text.encode()
    mode = None
    if place.exists():
        if not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
        mode = place.stat().st_mode
        if b"\r\n" in place.read_bytes():
            content = content.replace(b"\n", b"\r\n")
    try:
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is None:
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o666 & ~mask
        Path(name).chmod(mode & 0o7777)
        Path(name).replace(place)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def difference(before: Path, after: Path) -> Comparison:
    """What changed from one run to another, or how two servers differ. Raises OSError and `BadRecord`."""
    runs = load(before), load(after)
    if runs[0].is_second_opinion != runs[1].is_second_opinion:
        raise Trouble(
            f"{before} and {after}: one of them is a run of pynfs, whose tests are others; "
            "nfsproof pynfs --compare compares them"
        )
    lines = [printable(f"warning: {text}") for run in runs for text in run.problems]
    lines += [
        printable(f"warning: {folder}: {_cut_short(run)}")
        for folder, run in zip((before, after), runs, strict=True)
        if _cut_short(run)
    ]
    both = common(*runs)
    if not (both.before.checks or both.after.checks):
        raise Trouble(f"{before} and {after} have no check in common: nothing was compared")
    changed = compare(both.before, both.after)
    lines += [both.line] if both.line else []
    if are_two_servers(*runs):
        lines += [*between_servers(both.before, both.after), _between(changed)]
    else:
        counts = Counter(change.how for change in changed)
        counted = ", ".join(f"{counts[how]} {how}" for how in MEANINGS if counts[how])
        lines += [*grouped(changed, both.before, both.after), counted or "no difference"]
    return Comparison(lines, Exit.BASELINE if changed or any(run.problems for run in runs) else Exit.OK)


def _between(changed: Sequence[Changed]) -> str:
    """How many results differ between two servers."""
    rules = sum(1 for change in changed if change.id.startswith(LINT))
    summary = f"different results: {count(len(changed) - rules, 'check')}, {count(rules, 'rule')} of the lint"
    return summary if changed else "no difference"


def _cut_short(run: Run) -> str:
    """Why there is not all of a run; empty if there is."""
    if run.about is not None and run.about.is_partial:
        return "only some of the checks were selected"
    return run.ending if run.end is None or run.end.exit_code in {2, 3, 4, 5} else run.end.note
