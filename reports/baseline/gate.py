# SPDX-License-Identifier: MIT
"""A run held against a baseline: everything that is otherwise than expected, each named."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from nfsjudge.records import CheckRecord, FindingRecord
from reports.baseline.model import VERDICTS, Baseline, Entry, glob
from reports.run import Run

_NOT_EXECUTED = frozenset({"SKIP", "UNSUPPORTED"})
_NOT_RED = frozenset({"PASS", *_NOT_EXECUTED})


class Kind(StrEnum):
    """The ways in which a run can differ from its baseline."""

    NEW = "new"
    """A check without an entry has a verdict that it must not have."""
    UNEXPECTED = "other verdict"
    """A check does not have the verdict of its entry: most often it passes now."""
    SYMPTOM = "other symptom"
    STALE = "matches nothing"
    """No check of the run is what an entry names."""
    VANISHED = "vanished"
    """A check that there is was not judged."""
    EXPIRED = "expired"
    FLOOR = "too few checks"
    UNFINISHED = "not finished"


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which a run is not as its baseline says."""

    kind: Kind
    subject: str
    """The id of a check or of a rule, or the pattern of an entry."""
    text: str
    line: int = 0
    """Of the entry in the baseline; 0: there is none."""

    def __str__(self) -> str:
        where = f" (line {self.line})" if self.line else ""
        return f"{self.kind}: {self.subject}{where}: {self.text}"


@dataclass(frozen=True, slots=True)
class Seen:
    """A check of the run, or all findings of one rule of the lint."""

    id: str
    verdict: str
    text: str


def seen_in(run: Run) -> dict[str, Seen]:
    """What a baseline speaks of: each check, and each rule of the lint that was broken."""
    seen = {record.id: Seen(record.id, record.verdict, _text_of(record)) for record in run.checks}
    for finding in run.findings:
        if finding.verdict == "INFO":
            continue
        known = seen.get(finding.id)
        if known is None or VERDICTS.index(finding.verdict) < VERDICTS.index(known.verdict):
            seen[finding.id] = Seen(finding.id, finding.verdict, _text_of(finding))
    return seen


def _text_of(record: CheckRecord | FindingRecord) -> str:
    reason = record.reason if isinstance(record, CheckRecord) else ""
    return record.observed or reason


class Match:
    """Which entry speaks of which check: the first that fits, so that the narrow ones stand first."""

    def __init__(self, baseline: Baseline, ids: Collection[str]) -> None:
        self.entry_of: dict[str, Entry] = {}
        self.empty: list[tuple[Entry, str]] = []
        """Patterns that fit nothing."""
        for entry in baseline.entries:
            for pattern in entry.ids:
                fitting = [pattern] if pattern in ids else list(filter(glob(pattern).fullmatch, ids))
                if not fitting:
                    self.empty.append((entry, pattern))
                for one in fitting:
                    self.entry_of.setdefault(one, entry)


def hold_against(
    run: Run,
    baseline: Baseline,
    *,
    today: dt.date,
    promised: Collection[str] = (),
    is_partial: bool = False,
) -> list[Difference]:
    """The differences, in the order of the report: none means that the run is as expected.

    `promised` are the ids (without parameters) that a whole run judges; a part of the suite (`is_partial`) is held
    against what it ran, and against no floor.
    """
    seen = seen_in(run)
    match = Match(baseline, seen)
    found = [*_unfinished(run)]
    for one in sorted(seen.values(), key=lambda one: one.id):
        entry = match.entry_of.get(one.id)
        found += _without_entry(one, baseline) if entry is None else _with_entry(one, entry)
    found += [
        Difference(Kind.EXPIRED, str(entry), f"it counted until {entry.expires}: {entry.reason}", entry.line)
        for entry in baseline.entries
        if entry.expires is not None and entry.expires <= today
    ]
    return found if is_partial else [*found, *_missing(run, baseline, match, promised)]


def _unfinished(run: Run) -> Iterator[Difference]:
    if run.end is None:
        yield Difference(Kind.UNFINISHED, "the run", run.ending)
    elif run.end.exit_code in {2, 3, 4, 5} or run.end.note:
        yield Difference(Kind.UNFINISHED, "the run", run.end.note or run.ending)


def _without_entry(one: Seen, baseline: Baseline) -> Iterator[Difference]:
    if one.verdict not in baseline.unlisted:
        yield Difference(Kind.NEW, one.id, f"{one.verdict} {one.text}".strip())


def _with_entry(one: Seen, entry: Entry) -> Iterator[Difference]:
    if one.verdict != entry.verdict:
        if not (entry.sometimes and (entry.verdict == "VOID" or one.verdict in _NOT_RED)):
            text = f"expected {entry.verdict}, seen {one.verdict} {one.text}".rstrip()
            yield Difference(Kind.UNEXPECTED, one.id, text, entry.line)
    elif entry.symptom and not re.search(entry.symptom, one.text):
        text = f"expected {entry.symptom!r}, seen {one.text!r}"
        yield Difference(Kind.SYMPTOM, one.id, text, entry.line)


def _missing(run: Run, baseline: Baseline, match: Match, promised: Collection[str]) -> Iterator[Difference]:
    for entry, pattern in match.empty:
        if entry.sometimes:
            continue
        if pattern.startswith("lint/") and entry.verdict != "PASS":
            yield Difference(Kind.UNEXPECTED, pattern, "the rule is not broken any more", entry.line)
        else:
            yield Difference(Kind.STALE, pattern, "no check of the run has this id", entry.line)
    judged = {record.id.partition("[")[0] for record in run.checks}
    for one in sorted(set(promised) - judged):
        yield Difference(Kind.VANISHED, one, "the check was not judged")
    executed = sum(1 for record in run.checks if record.verdict not in _NOT_EXECUTED)
    if executed < baseline.floor:
        text = f"{executed} checks were executed, expected at least {baseline.floor}"
        yield Difference(Kind.FLOOR, "the run", text)


def gate_lines(found: Sequence[Difference], baseline: Baseline, run: Run) -> list[str]:
    """The outcome for people: a line each, and a summary."""
    known = Match(baseline, seen_in(run)).entry_of
    if not found:
        return [f"as the baseline says ({baseline.name}): {len(known)} known deviations"]
    return [*(str(one) for one in found), f"{len(found)} differences to the baseline {baseline.name}"]
