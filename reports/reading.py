# SPDX-License-Identifier: MIT
"""Reads the records that runs have left: what is no record is reported with its line, the rest is used."""

from __future__ import annotations

import tempfile
import typing as t
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from nfsjudge.records import AnyRecord, BadRecord, CheckRecord, FindingRecord, from_line
from nfsjudge.verdict import VERDICTS
from reports.archived import BadArchive, find_archives, is_archive, replace_folder, stem, unpack
from reports.folders import RECORDS, chosen_run
from reports.idlist import known_ids
from reports.order import natural
from reports.plain import shortened
from reports.run import Run, from_records

MAX_LINE = 32 * 2**20
"""Bytes. A check that keeps all its messages has some hundred thousand."""
MAX_PROBLEMS = 20
"""Number of damaged lines of one file that are listed; the others are counted."""

_KEPT: list[tempfile.TemporaryDirectory[str]] = []
"""What was unpacked, as long as this process lives."""


def load(path: Path) -> Run:
    """The run in `records.jsonl`, or in the one of a report folder, or in an archive; of several the last.

    What is wrong with the file is in `Run.problems`. Raises OSError, and `nfsjudge.records.BadRecord` when nothing
    in the file can be used.
    """
    if not path.is_dir() and is_archive(path):
        return load_archive(path)[-1]
    path = chosen_run(path)
    return load_runs(path / RECORDS if path.is_dir() else path)[-1]


def load_all(paths: Iterable[Path], unpack_into: Path | None = None) -> tuple[list[Run], list[str]]:
    """The runs in files, folders and archives, in their order, and what is wrong there.

    A folder of numbered runs stands for the latest. A folder without records stands for the folders and archives right
    below it; where both have one name, the archive counts. Archives are unpacked below `unpack_into`, or else into a
    folder that goes with this process. Raises OSError and BadRecord, of the first that cannot be used, when none can.
    """
    runs: list[Run] = []
    problems: list[str] = []
    errors: list[OSError | BadRecord] = []
    taken: Counter[str] = Counter()
    for file in (file for path in paths for file in find_records(path)):
        try:
            if is_archive(file):
                taken[stem(file)] += 1
                number = taken[stem(file)]
                place = stem(file) + (f"-{number}" if number > 1 else "")
                found = load_archive(file, None if unpack_into is None else unpack_into / place)
            else:
                found = load_runs(file)
        except (OSError, BadRecord) as error:
            errors.append(error)
            problems.append(str(error))
            continue
        runs += found
        problems += found[0].problems
    if not runs and errors:
        raise errors[0]
    return runs, problems


def find_records(path: Path) -> list[Path]:
    """The files of records, or archives, that a path stands for; at least one, which need not be there."""
    if not path.is_dir():
        return [path]
    path = chosen_run(path)
    here = path / RECORDS
    if here.exists():
        return [here]
    archives = find_archives(path)
    # Server-A/ and Server-A.tar.gz are the same run: the archive is what may be shown.
    packed = {stem(archive) for archive in archives}
    folders = [path for path in path.glob(f"*/{RECORDS}") if path.parent.name not in packed]
    # A link such as `latest` next to the run that it names is no other run.
    folders = [
        folder
        for folder in folders
        if not (folder.parent.is_symlink() and folder.resolve() in _targets(folders))
    ]
    below = sorted([*folders, *archives], key=lambda folder: natural(str(folder)))
    return below or [here]


def _targets(folders: Iterable[Path]) -> set[Path]:
    return {folder.resolve() for folder in folders if not folder.parent.is_symlink()}


def load_archive(file: Path, folder: Path | None = None) -> list[Run]:
    """The runs in an archive, which is unpacked into a folder. Raises OSError and BadRecord, as `load_runs` does."""
    file.stat()  # what is not there shall leave no folder
    if folder is None:
        _KEPT.append(tempfile.TemporaryDirectory(prefix="nfsproof-"))
        folder = Path(_KEPT[-1].name)
    else:
        replace_folder(folder)
    try:
        unpacked = unpack(file, folder)
    except BadArchive as error:
        raise BadRecord(str(error)) from error
    runs = load_runs(folder / RECORDS, str(file))
    for run in runs:
        run.problems = [*unpacked.problems, *run.problems]
    return runs


def load_runs(file: Path, name: str = "") -> list[Run]:
    """All runs of one file, mostly one. Raises OSError, and BadRecord when there is none.

    `name` is how problems call the file, where it is not its own.
    """
    name = name or str(file)
    problems: list[str] = []
    with file.open("rb") as stream:
        records = list(_records(stream, problems))
    unnamed = max(0, len(problems) - MAX_PROBLEMS)
    described = [f"{name}: {text}" for text in problems[:MAX_PROBLEMS]]
    described += [f"{name}: {unnamed} more lines are no records"] if unnamed else []
    runs = from_records(records)
    if not any(run.about or run.checks or run.findings for run in runs):
        raise BadRecord(f"{name}: it has no record of a run" + (f"; {problems[0]}" if problems else ""))
    if runs[0].about is None:
        described.append(f"{name}: the line that says what was tested is missing")
    described += [f"{name}: {text}" for run in runs for text in _repeated(run)]
    for run in runs:
        run.rename(known_ids())
        run.problems, run.folder = described, file.parent
        run.hide_address()
    return runs


def _repeated(run: Run) -> list[str]:
    """A line if checks share an id: each of them counts in the forms that count records, one of them on the board."""
    times = Counter(check.id for check in run.checks)
    again = [time for time, count in times.items() if count > 1]
    if not again:
        return []
    first = shortened(again[0], 200)
    return [
        f"ids that occur more than once: {len(again)}, such as {first}; the board shows the worst of each"
    ]


def _records(stream: t.BinaryIO, problems: list[str]) -> Iterator[AnyRecord]:
    """The records of a file; other lines are reported in `problems`."""
    for number, line in enumerate(_lines(stream), 1):
        if line is None:
            problems.append(f"line {number} is longer than {MAX_LINE} bytes")
            continue
        if not line.strip():
            continue
        try:
            record = from_line(line.decode("utf-8-sig" if number == 1 else "utf-8"))
            if isinstance(record, CheckRecord | FindingRecord):
                _hold(record)
        except UnicodeDecodeError as error:
            problems.append(f"line {number} is not UTF-8: {error.reason} at byte {error.start}")
        except BadRecord as error:
            torn = "" if line.endswith(b"\n") else ", the last one, is incomplete, or"
            problems.append(f"line {number}{torn} is {error}")
        else:
            if not (isinstance(record, FindingRecord) and record.verdict == "INFO"):
                yield record


def _hold(record: CheckRecord | FindingRecord) -> None:
    """What reports rely on. Raises BadRecord."""
    if not record.id.strip():
        raise BadRecord("no record: the id is empty")
    if record.verdict not in VERDICTS and not (
        isinstance(record, FindingRecord) and record.verdict == "INFO"
    ):
        raise BadRecord(f"no record: {record.verdict[:40]!r} is no verdict, of {record.id[:80]!r}")


def _lines(stream: t.BinaryIO) -> Iterator[bytes | None]:
    """Lines with their ends; None for one that is too long, which is never held as a whole."""
    while line := stream.readline(MAX_LINE):
        if line.endswith(b"\n") or len(line) < MAX_LINE:
            yield line
            continue
        yield None
        while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
            pass
