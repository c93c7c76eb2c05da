# SPDX-License-Identifier: MIT
"""Reads the records that runs have left: what is no record is reported with its line, the rest is used."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Iterator
from pathlib import Path

from nfsjudge.records import AnyRecord, BadRecord, CheckRecord, FindingRecord, from_line
from reports.run import VERDICTS, Run, from_records

MAX_LINE = 32 * 2**20
"""Bytes. A check that keeps all its messages has some hundred thousand."""
MAX_PROBLEMS = 20
"""Lines of one file that are named; of more only the number is told."""

RECORDS = "records.jsonl"


def load(path: Path) -> Run:
    """The run in `records.jsonl`, or in the one of a report folder; the last one if there are several.

    What is wrong with the file is in `Run.problems`. Raises OSError, and `nfsjudge.records.BadRecord` when nothing
    in the file can be used.
    """
    return load_runs(path / RECORDS if path.is_dir() else path)[-1]


def load_all(paths: Iterable[Path]) -> tuple[list[Run], list[str]]:
    """The runs in files and folders, in their order, and what is wrong there.

    A folder without records stands for those right below it. Raises OSError and BadRecord, of the first that cannot
    be used, when none can.
    """
    runs: list[Run] = []
    problems: list[str] = []
    errors: list[OSError | BadRecord] = []
    for file in (file for path in paths for file in find_records(path)):
        try:
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
    """The files of records that a path stands for; at least one, which need not be there."""
    if not path.is_dir():
        return [path]
    here = path / RECORDS
    below = [] if here.exists() else sorted(path.glob(f"*/{RECORDS}"))
    return below or [here]


def load_runs(file: Path) -> list[Run]:
    """All runs of one file, mostly one. Raises OSError, and BadRecord when there is none."""
    problems: list[str] = []
    with file.open("rb") as stream:
        records = list(_records(stream, problems))
    unnamed = max(0, len(problems) - MAX_PROBLEMS)
    told = [f"{file}: {text}" for text in problems[:MAX_PROBLEMS]]
    told += [f"{file}: {unnamed} more lines are no records"] if unnamed else []
    runs = from_records(records)
    if not any(run.about or run.checks or run.findings for run in runs):
        raise BadRecord(f"{file}: no record of a run in it" + (f"; {problems[0]}" if problems else ""))
    if runs[0].about is None:
        told.append(f"{file}: the line that says what was tested is missing")
    for run in runs:
        run.problems, run.folder = told, file.parent
    return runs


def _records(stream: t.BinaryIO, problems: list[str]) -> Iterator[AnyRecord]:
    """The records of a file; what is none is told in `problems`."""
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
            torn = "" if line.endswith(b"\n") else ", the last one, was not written to its end, or"
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
