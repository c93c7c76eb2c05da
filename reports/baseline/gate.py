# SPDX-License-Identifier: MIT
"""Compares a run with a baseline and names each difference."""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from nfsjudge.records import CheckRecord, FindingRecord, deviation
from nfsjudge.verdict import VERDICTS
from nfsjudge.wording import count
from reports.baseline.model import Baseline, Entry
from reports.baseline.symptoms import TooSlow, finds
from reports.causes.symptom import RED, signature
from reports.globs import glob
from reports.idlist import IdList, known_ids
from reports.minors import claim_of, left_out
from reports.order import natural
from reports.plain import printable, shortened
from reports.run import Run

_NOT_EXECUTED = frozenset({"SKIP", "UNSUPPORTED"})
_NOT_RED = frozenset({"PASS", *_NOT_EXECUTED})
LINT = "lint/"
"""How the ids of its rules begin."""
_TIMES = re.compile(r"; \d+ times in all$")
"""How often a check broke a rule: another check, or another set-up, breaks it more often."""
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
        line = " ".join(f"{self.kind}: {self.subject}{where}: {self.text}".split())
        return shortened(printable(line), _LONG)


@dataclass(frozen=True, slots=True)
class Seen:
    """A check of the run, or all findings of one rule of the lint."""

    id: str
    verdict: str
    text: str
    cause: str = ""
    """The signature of what it shows; empty if it is not red."""


def seen_in(run: Run) -> dict[str, Seen]:
    """What a baseline speaks of: each check, and each rule of the lint that was broken."""
    seen: dict[str, Seen] = {}
    # Of a rule the first check by id speaks: the order in which several workers come to them is another each time.
    findings = sorted(run.findings, key=lambda finding: natural(finding.check))
    records: list[CheckRecord | FindingRecord] = [*run.checks, *findings]
    for record in records:
        if record.verdict == "INFO":
            continue
        known = seen.get(record.id)  # of what comes twice the worse counts
        if known is None or VERDICTS.index(record.verdict) < VERDICTS.index(known.verdict):
            cause = signature(record) if record.verdict in RED else ""
            seen[record.id] = Seen(record.id, record.verdict, _TIMES.sub("", deviation(record)), cause)
    return seen


def compared_in(run: Run) -> dict[str, Seen]:
    """What is compared with a baseline: without the rules of the lint if their findings are only printed."""
    return {
        name: seen
        for name, seen in seen_in(run).items()
        if compares_lint(run) or not name.startswith(LINT) or seen.verdict == "VOID"
    }


def compares_lint(run: Run) -> bool:
    """Whether findings of the lint are red: it was neither off nor asked to tell them only."""
    return run.about is None or run.about.lint not in {"off", "report"}


def unlisted_in(run: Run, baseline: Baseline) -> frozenset[str]:
    """The verdicts that a check without an entry may have; NONSTRICT is not among them with `--strict`."""
    return frozenset(baseline.unlisted) - ({"NONSTRICT"} if run.is_strict else frozenset())


class Names:
    """Which of some ids the patterns of one baseline fit, also by names that the checks had before.

    A pattern with ``*`` that fits ids of this version is about these alone: an old name may look like the ids of a
    later group. But in a file that still names a check by its old id, all patterns fit old names as well.
    """

    def __init__(self, baseline: Baseline, ids: Collection[str], listed: IdList) -> None:
        self._ids = frozenset(ids)
        self._listed = listed
        self._is_old_file = any(
            self._is_renamed(check_id) for entry in baseline.entries for check_id in entry.ids
        )

    def _is_renamed(self, check_id: str) -> bool:
        now = self._listed.current(check_id)
        return now != check_id and now in self._listed.present

    def fitting(self, pattern: str) -> list[str]:
        """The ids that a pattern of the baseline fits."""
        if pattern in self._ids:
            return [pattern]
        if self._listed.current(pattern) in self._ids:
            return [self._listed.current(pattern)]
        if "*" not in pattern:
            return []
        fits = glob(pattern)
        found = [check_id for check_id in self._ids if fits.fullmatch(check_id)]
        if self._is_old_file or not (found or self._listed.fits_some(fits)):
            others = self._ids - set(found)
            found += [other for other in others if any(map(fits.fullmatch, self._listed.former(other)))]
        return found

    def renamed(self, pattern: str) -> list[str]:
        """What stands for a pattern in a file of this version: itself, unless it is one of old names."""
        if pattern in self._ids or pattern.startswith(LINT):
            return [pattern]
        now = self._listed.current(pattern)
        if "*" not in pattern or now in self._ids:
            return [now]
        fits = glob(pattern).fullmatch
        found = self.fitting(pattern)
        return [pattern] if all(map(fits, found)) else _shortest(found, self._ids)


def _shortest(chosen: Collection[str], ids: Collection[str]) -> list[str]:
    """Some of the ids: as one pattern, or one for each function, where these fit no other id."""
    whole = _pattern_of(chosen) if len(chosen) > 1 else ""
    if whole.partition("*")[0].count("/") > 1 and _fits_only(whole, chosen, ids):
        return [whole]
    groups: dict[str, list[str]] = {}
    for check_id in sorted(chosen):
        groups.setdefault(check_id.partition("[")[0], []).append(check_id)
    found = []
    for group in groups.values():
        pattern = _pattern_of(group)
        found += [pattern] if len(group) > 1 and _fits_only(pattern, group, ids) else group
    return found


def _pattern_of(ids: Collection[str]) -> str:
    """What all ids begin and end with, and ``*`` between."""
    start = _common(ids)
    return f"{start}*{_common([check_id[len(start) :][::-1] for check_id in ids])[::-1]}"


def _common(texts: Collection[str]) -> str:
    columns = zip(*texts, strict=False)
    return "".join(column[0] for column in itertools.takewhile(lambda column: len(set(column)) == 1, columns))


def _fits_only(pattern: str, chosen: Collection[str], ids: Collection[str]) -> bool:
    return {check_id for check_id in ids if glob(pattern).fullmatch(check_id)} == set(chosen)


class Match:
    """Which entry speaks of which check: the first that fits, so that the narrow ones stand first."""

    def __init__(
        self,
        baseline: Baseline,
        seen: Mapping[str, Seen],
        listed: IdList,
        others: Collection[str] = frozenset(),
    ) -> None:
        """`others` are ids that the run left out: patterns of these fit nothing, and are right."""
        names = Names(baseline, seen, listed)
        of_cause: dict[str, list[str]] = {}
        for record in seen.values():
            of_cause.setdefault(record.cause, []).append(record.id)
        self.entry_of: dict[str, Entry] = {}
        self.empty: list[tuple[Entry, str]] = []
        """Patterns that fit nothing."""
        self.left_out: set[str] = set()
        """Patterns that fit nothing but what the run left out."""
        self.hidden: list[tuple[Entry, str, Entry]] = []
        """Patterns that fit nothing but what an entry before speaks of, and that entry."""
        for entry in baseline.entries:
            for pattern in entry.ids or (entry.cause,):
                fitting = names.fitting(pattern) if entry.ids else of_cause.get(entry.cause, [])
                if not fitting:
                    if any(map(glob(pattern).fullmatch, others)):
                        self.left_out.add(pattern)
                    else:
                        self.empty.append((entry, pattern))
                    continue
                owners = [self.entry_of.setdefault(name, entry) for name in fitting]
                if all(owner is not entry for owner in owners):
                    self.hidden.append((entry, pattern, owners[0]))

    def useless(self, entry: Entry) -> list[str]:
        """The patterns of an entry that speak of nothing."""
        pairs = [*self.empty, *((owner, pattern) for owner, pattern, _ in self.hidden)]
        return [pattern for owner, pattern in pairs if owner is entry]


def compare_with_baseline(
    run: Run,
    baseline: Baseline,
    *,
    today: dt.date,
    promised: Collection[str] = (),
    is_partial: bool = False,
    listed: IdList | None = None,
) -> list[Difference]:
    """The differences, in the order of the report: none means that the run is as expected.

    `promised` are the ids that a complete run judges. A partial run (`is_partial`) is compared only with the entries of
    what it ran, and without the floor. The missing checks of an incomplete run are counted, not named. `listed` has the
    old names of checks: the list of this version.
    """
    seen = compared_in(run)
    ids = listed or known_ids()
    match = Match(baseline, seen, ids, left_out_of(run, ids.present))
    unlisted = unlisted_in(run, baseline)
    unfinished = [*_unfinished(run)]
    found = [*unfinished]
    for record in sorted(seen.values(), key=lambda record: natural(record.id)):
        entry = match.entry_of.get(record.id)
        found += _without_entry(record, unlisted) if entry is None else _with_entry(record, entry)
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


def _without_entry(seen: Seen, unlisted: Collection[str]) -> Iterator[Difference]:
    if seen.verdict not in unlisted:
        yield Difference(Kind.NEW, seen.id, f"{seen.verdict} {seen.text}".strip())


def _with_entry(seen: Seen, entry: Entry) -> Iterator[Difference]:
    if seen.verdict != entry.verdict:
        if not (entry.sometimes and (entry.verdict == "VOID" or seen.verdict in _NOT_RED)):
            text = f"expected {entry.verdict}, seen {seen.verdict} {seen.text}".rstrip()
            yield Difference(Kind.UNEXPECTED, seen.id, text, entry.line)
        return
    try:
        if entry.cause and seen.cause != entry.cause:
            text = f"expected the cause {entry.cause!r}, seen {seen.cause!r}"
        elif finds(entry.symptom, seen.text, entry.patience):
            return
        else:
            text = f"expected {entry.symptom!r}, seen {seen.text!r}"
    except TooSlow as error:
        text = f"{entry.symptom!r} {error}"
    yield Difference(Kind.SYMPTOM, seen.id, text, entry.line)


def agrees(seen: Seen, entry: Entry) -> bool:
    """Whether a check is as its entry says."""
    return not any(_with_entry(seen, entry))


def not_judged(run: Run, promised: Collection[str]) -> list[str]:
    """The ids of which there is no record in the run."""
    return sorted(set(promised) - {record.id for record in run.checks})


def _not_judged(run: Run, promised: Collection[str]) -> Iterator[Difference]:
    if missing := not_judged(run, promised):
        text = f"{len(missing)} of {len(promised)} checks were not judged, such as {missing[0]}"
        yield Difference(Kind.VANISHED, "the run", text)


def _missing(run: Run, baseline: Baseline, match: Match, promised: Collection[str]) -> Iterator[Difference]:
    for entry, pattern in match.empty:
        if entry.sometimes or (pattern.startswith(LINT) and not compares_lint(run)):
            continue
        if not entry.ids:
            yield Difference(Kind.STALE, pattern, "nothing in the run shows this cause", entry.line)
        elif pattern.startswith(LINT) and entry.verdict != "PASS":
            yield Difference(Kind.UNEXPECTED, pattern, "the rule is no longer broken", entry.line)
        else:
            yield Difference(Kind.STALE, pattern, "no check of the run has this id", entry.line)
    for entry, pattern, owner in match.hidden:
        text = f"the entry at line {owner.line} matches it first: put the narrow entry before it"
        yield Difference(Kind.HIDDEN, pattern, text, entry.line)
    for check_id in not_judged(run, promised):
        yield Difference(Kind.VANISHED, check_id, "the check was not judged")
    executed = executed_in(run)
    if executed < baseline.floor:
        text = f"{count(executed, 'check')} executed, expected at least {baseline.floor}"
        yield Difference(Kind.FLOOR, "the run", text)


def left_out_of(run: Run, ids: Collection[str]) -> frozenset[str]:
    """Those of some ids that a run left out, as its records say."""
    return left_out(ids, 0 if run.about is None else run.about.minor)


def executed_in(run: Run) -> int:
    """How many checks were executed, for the floor.

    What ran in one minor version counts for those that it stands for, so that a floor is right with `--minor all`, too.
    """
    executed = {record.id for record in run.checks if record.verdict not in _NOT_EXECUTED}
    claims = set(map(claim_of, executed))
    ids = {record.id for record in run.checks}
    others = left_out_of(run, known_ids().present) - ids
    return len(executed) + sum(claim_of(check_id) in claims for check_id in others)


def baseline_lines(
    found: Sequence[Difference], baseline: Baseline, run: Run, listed: IdList | None = None
) -> list[str]:
    """The outcome for people: a line each, and a summary."""
    seen = compared_in(run)
    owners = Match(baseline, seen, listed or known_ids()).entry_of
    known = sum(1 for name, entry in owners.items() if seen[name].verdict == entry.verdict != "PASS")
    waiting = sum(1 for entry in baseline.entries if not entry.is_explained)
    wait = f", {waiting} of its entries without a reason" if waiting else ""
    if not found:
        deviations = count(known, "known deviation")
        return [f"the run agrees with the baseline ({baseline.name}): {deviations}{wait}"]
    many = count(len(found), "difference")
    return [*(str(difference) for difference in found), f"{many} from the baseline {baseline.name}{wait}"]
