# SPDX-License-Identifier: MIT
"""Compares a run with a baseline and names each difference."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from nfsjudge.records import CheckRecord, FindingRecord
from reports.baseline.model import VERDICTS, Baseline, Entry, glob
from reports.baseline.symptoms import TooSlow, finds
from reports.plain import printable, shortened
from reports.run import Run

_NOT_EXECUTED = frozenset({"SKIP", "UNSUPPORTED"})
_NOT_RED = frozenset({"PASS", *_NOT_EXECUTED})
LINT = "lint/"
"""How the ids of its rules begin."""
_LONG = 500
"""Characters of one difference: what a server sent may be as long as it likes."""


class Kind(StrEnum):
    """The ways in which a run can differ from its baseline."""

    NEW = "new"
    """A check without an entry has a verdict that it must not have."""
    UNEXPECTED = "other verdict"
    """A check does not have the verdict of its entry: most often it passes now."""
    SYMPTOM = "other symptom"
    STALE = "matches nothing"
    """No check of the run is what an entry names."""
    HIDDEN = "hidden"
    """An entry before speaks for all that a pattern fits."""
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
        # Parts of it come from a server: one line, with nothing in it that a terminal or a CI would obey.
        told = " ".join(f"{self.kind}: {self.subject}{where}: {self.text}".split())
        return shortened(printable(told), _LONG)


@dataclass(frozen=True, slots=True)
class Seen:
    """A check of the run, or all findings of one rule of the lint."""

    id: str
    verdict: str
    text: str


def seen_in(run: Run) -> dict[str, Seen]:
    """What a baseline speaks of: each check, and each rule of the lint that was broken."""
    seen: dict[str, Seen] = {}
    records: list[CheckRecord | FindingRecord] = [*run.checks, *run.findings]
    for record in records:
        if record.verdict == "INFO":
            continue
        known = seen.get(record.id)  # of what comes twice the worse counts
        if known is None or VERDICTS.index(record.verdict) < VERDICTS.index(known.verdict):
            seen[record.id] = Seen(record.id, record.verdict, _text_of(record))
    return seen


def held_in(run: Run) -> dict[str, Seen]:
    """What is compared with a baseline: without the rules of the lint if their findings are only printed."""
    return {
        one: seen
        for one, seen in seen_in(run).items()
        if holds_lint(run) or not one.startswith(LINT) or seen.verdict == "VOID"
    }


def holds_lint(run: Run) -> bool:
    """Whether findings of the lint are red: it was neither off nor asked to tell them only."""
    return run.about is None or run.about.lint not in {"off", "report"}


def unlisted_in(run: Run, baseline: Baseline) -> frozenset[str]:
    """The verdicts that a check without an entry may have; NONSTRICT is not among them with `--strict`."""
    return frozenset(baseline.unlisted) - ({"NONSTRICT"} if run.is_strict else frozenset())


def _text_of(record: CheckRecord | FindingRecord) -> str:
    reason = record.reason if isinstance(record, CheckRecord) else ""
    return record.observed or reason


class Match:
    """Which entry speaks of which check: the first that fits, so that the narrow ones stand first."""

    def __init__(self, baseline: Baseline, ids: Collection[str]) -> None:
        self.entry_of: dict[str, Entry] = {}
        self.empty: list[tuple[Entry, str]] = []
        """Patterns that fit nothing."""
        self.hidden: list[tuple[Entry, str, Entry]] = []
        """Patterns that fit nothing but what an entry before speaks of, and that entry."""
        for entry in baseline.entries:
            for pattern in entry.ids:
                fitting = [pattern] if pattern in ids else list(filter(glob(pattern).fullmatch, ids))
                if not fitting:
                    self.empty.append((entry, pattern))
                    continue
                owners = [self.entry_of.setdefault(one, entry) for one in fitting]
                if all(owner is not entry for owner in owners):
                    self.hidden.append((entry, pattern, owners[0]))

    def useless(self, entry: Entry) -> list[str]:
        """The patterns of an entry that speak of nothing."""
        pairs = [*self.empty, *((one, pattern) for one, pattern, _ in self.hidden)]
        return [pattern for one, pattern in pairs if one is entry]


def hold_against(
    run: Run,
    baseline: Baseline,
    *,
    today: dt.date,
    promised: Collection[str] = (),
    is_partial: bool = False,
) -> list[Difference]:
    """The differences, in the order of the report: none means that the run is as expected.

    `promised` are the ids (without parameters) that a complete run judges. A partial run (`is_partial`) is compared
    only with the entries of what it ran, and without the floor. The missing checks of an incomplete run are counted,
    not named.
    """
    seen = held_in(run)
    match = Match(baseline, seen)
    unlisted = unlisted_in(run, baseline)
    unfinished = [*_unfinished(run)]
    found = [*unfinished]
    for one in sorted(seen.values(), key=lambda one: one.id):
        entry = match.entry_of.get(one.id)
        found += _without_entry(one, unlisted) if entry is None else _with_entry(one, entry)
    concerned = [*match.entry_of.values()] if is_partial else baseline.entries
    found += [
        Difference(Kind.EXPIRED, str(entry), f"has expired on {entry.expires}: {entry.reason}", entry.line)
        for entry in baseline.entries
        if entry.expires is not None and entry.expires <= today and entry in concerned
    ]
    if is_partial:
        return found
    if unfinished:
        return [*found, *_not_judged(run, promised)]
    return [*found, *_missing(run, baseline, match, promised)]


def _unfinished(run: Run) -> Iterator[Difference]:
    if run.end is None:
        yield Difference(Kind.UNFINISHED, "the run", run.ending)
    elif run.end.exit_code in {2, 3, 4, 5} or run.end.note:
        yield Difference(Kind.UNFINISHED, "the run", run.end.note or run.ending)
    for problem in run.problems:  # what could not be read may have been something new
        yield Difference(Kind.UNFINISHED, "its records", problem)


def _without_entry(one: Seen, unlisted: Collection[str]) -> Iterator[Difference]:
    if one.verdict not in unlisted:
        yield Difference(Kind.NEW, one.id, f"{one.verdict} {one.text}".strip())


def _with_entry(one: Seen, entry: Entry) -> Iterator[Difference]:
    if one.verdict != entry.verdict:
        if not (entry.sometimes and (entry.verdict == "VOID" or one.verdict in _NOT_RED)):
            text = f"expected {entry.verdict}, seen {one.verdict} {one.text}".rstrip()
            yield Difference(Kind.UNEXPECTED, one.id, text, entry.line)
        return
    try:
        if finds(entry.symptom, one.text):
            return
        text = f"expected {entry.symptom!r}, seen {one.text!r}"
    except TooSlow as error:
        text = f"{entry.symptom!r} {error}"
    yield Difference(Kind.SYMPTOM, one.id, text, entry.line)


def agrees(one: Seen, entry: Entry) -> bool:
    """Whether a check is as its entry says."""
    return not any(_with_entry(one, entry))


def not_judged(run: Run, promised: Collection[str]) -> list[str]:
    """The ids, without parameters, of which there is no record in the run."""
    return sorted(set(promised) - {record.id.partition("[")[0] for record in run.checks})


def _not_judged(run: Run, promised: Collection[str]) -> Iterator[Difference]:
    if missing := not_judged(run, promised):
        text = f"{len(missing)} of {len(promised)} checks were not judged, such as {missing[0]}"
        yield Difference(Kind.VANISHED, "the run", text)


def _missing(run: Run, baseline: Baseline, match: Match, promised: Collection[str]) -> Iterator[Difference]:
    for entry, pattern in match.empty:
        if entry.sometimes or (pattern.startswith(LINT) and not holds_lint(run)):
            continue
        if pattern.startswith(LINT) and entry.verdict != "PASS":
            yield Difference(Kind.UNEXPECTED, pattern, "the rule is no longer broken", entry.line)
        else:
            yield Difference(Kind.STALE, pattern, "no check of the run has this id", entry.line)
    for entry, pattern, owner in match.hidden:
        text = f"the entry at line {owner.line} matches it first: put the narrow entry before it"
        yield Difference(Kind.HIDDEN, pattern, text, entry.line)
    for one in not_judged(run, promised):
        yield Difference(Kind.VANISHED, one, "the check was not judged")
    executed = sum(1 for record in run.checks if record.verdict not in _NOT_EXECUTED)
    if executed < baseline.floor:
        text = f"{executed} checks were executed, expected at least {baseline.floor}"
        yield Difference(Kind.FLOOR, "the run", text)


def gate_lines(found: Sequence[Difference], baseline: Baseline, run: Run) -> list[str]:
    """The outcome for people: a line each, and a summary."""
    seen = held_in(run)
    owners = Match(baseline, seen).entry_of
    known = sum(1 for one, entry in owners.items() if seen[one].verdict == entry.verdict != "PASS")
    waiting = sum(1 for entry in baseline.entries if not entry.is_explained)
    wait = f", {waiting} of its entries without a reason" if waiting else ""
    if not found:
        told = f"{known} known {'deviation' if known == 1 else 'deviations'}"
        return [f"the run agrees with the baseline ({baseline.name}): {told}{wait}"]
    many = "1 difference" if len(found) == 1 else f"{len(found)} differences"
    return [*(str(one) for one in found), f"{many} from the baseline {baseline.name}{wait}"]
