# SPDX-License-Identifier: MIT
"""A run as its records tell it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from nfsjudge.records import (
    AnyRecord,
    CheckRecord,
    EndRecord,
    FindingRecord,
    RunRecord,
    StatisticsRecord,
)
from nfsjudge.verdict import VERDICTS
from reports.again import for_others
from reports.floor import too_little
from reports.idlist import IdList, is_second_opinion
from reports.order import natural

MEANINGS = {
    "PASS": "the claim holds",
    "FAIL": "a MUST was broken, or a rule stated in plain prose, or a breach did harm",
    "NONSTRICT": "a SHOULD was broken, which did no harm",
    "UNSUPPORTED": "the target lacks an optional feature",
    "SKIP": "a precondition is missing",
    "VOID": "the check could not be judged",
}

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)")
_WITH_FLOOR = frozenset({1, 10})
"""The exit codes of runs that were not interrupted."""


@dataclass(slots=True)
class Run:
    """One run: its first line, its checks in order of completion, its last line."""

    about: RunRecord | None = None
    checks: list[CheckRecord] = field(default_factory=list)
    findings: list[FindingRecord] = field(default_factory=list)
    """What the lint found, in order of completion of the checks."""
    statistics: StatisticsRecord | None = None
    """The calls of the run; None where they were not counted."""
    end: EndRecord | None = None
    """None: the run was killed, or is still going on."""
    problems: list[str] = field(default_factory=list)
    """What is wrong with the file that it was read from, a line each; its lines are named."""
    folder: Path | None = None
    """Where the records were read from: captures, scripts and logs are named from there."""

    @property
    def target(self) -> str:
        """What was tested, as its label if it has one: that may hide who it is."""
        if self.about is not None:
            return self.about.label or self.about.description or self.about.target
        return self.checks[0].target if self.checks else "unknown target"

    @property
    def label(self) -> str:
        """A short name of what was tested, the same in each run against it by the same suite."""
        if self.about is not None:
            name = self.about.label or self.about.target
            return f"{name}, by pynfs" if self.is_second_opinion else name
        return self.checks[0].target if self.checks else "unknown"

    @property
    def started(self) -> str:
        """When it was started, to the minute: ``2026-11-25 18:46``, UTC. Empty if that is not known."""
        found = _MOMENT.match(self.about.started) if self.about is not None else None
        return f"{found[1]} {found[2]}" if found else ""

    @property
    def commit(self) -> str:
        """The commit in the folder where the run was started, which may be that of the server; empty if not known."""
        return self.about.environment.get("commit", "") if self.about is not None else ""

    @property
    def is_anonymous(self) -> bool:
        """Whether the target has a label; then its address must not be shown."""
        return self.about is not None and bool(self.about.label)

    @property
    def is_strict(self) -> bool:
        """Whether a broken SHOULD was red."""
        return self.about is not None and self.about.strict

    @property
    def trouble(self) -> str:
        """What is wrong with the run as a whole, such as that it is not complete; empty if nothing is."""
        if self.end is None or self.end.exit_code in {2, 3, 4}:
            return self.ending
        missing = [f"a required capability is missing: {text}" for text in self.end.missing]
        return "; ".join([*([self.end.note] if self.end.note else []), *missing])

    @property
    def below_floor(self) -> list[str]:
        """A line for each protocol of which too little could be judged; a baseline has its own floor."""
        has_floor = self.end is not None and self.end.exit_code in _WITH_FLOOR and not self.baseline
        return too_little(self.checks) if has_floor else []

    @property
    def rules_summary(self) -> str:
        """How many rules the lint saw broken, in words: ``2 FAIL, 1 NONSTRICT``; empty if none."""
        counts = Counter(record.verdict for record, _ in self.rules_broken)
        counted = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
        return (
            f"{counted}, printed only"
            if counted and self.about is not None and self.about.lint == "report"
            else counted
        )

    def hide_address(self) -> None:
        """A target with a label appears under this label only: commands have TARGET instead of its name or URL.

        Of a target file they have the name, and of commands of its owner that there are some.
        """
        if self.about is None or not self.is_anonymous or not self.about.target:
            return
        records: list[CheckRecord | FindingRecord] = [*self.checks, *self.findings]
        for record in records:
            record.rerun = for_others(record.rerun, self.about.target)

    def rename(self, ids: IdList) -> None:
        """Give checks that had another name when the run was made the name that they have now."""
        for check in self.checks:
            check.id = ids.current(check.id)
        for finding in self.findings:
            finding.check = ids.current(finding.check)

    @property
    def baseline(self) -> str:
        """The baseline of the run: only differences from it are red. Empty if there is none."""
        return "" if self.end is None else self.end.baseline

    @property
    def differences(self) -> list[str]:
        """What is not as the baseline says, a line each."""
        return [] if self.end is None else self.end.differences

    def is_printed_only(self, finding: FindingRecord) -> bool:
        """Whether a finding was not red, as `--lint=report` has it."""
        return self.about is not None and self.about.lint == "report" and finding.verdict != "VOID"

    @property
    def ending(self) -> str:
        """How the run ended, in words."""
        if self.end is None:
            return "the run is incomplete: the report contains what it had judged"
        endings = {
            0: "nothing red",
            1: "red",
            2: "interrupted: the report contains what it had judged",
            3: "ended by an internal error",
            4: "wrong usage, or the target did not answer",
            5: "no check was selected",
            10: "some checks could not be judged",
            11: "differs from its baseline",
        }
        if self.end.exit_code == 0 and self.is_second_opinion:
            return "a second opinion: its failures are not red"
        return endings.get(self.end.exit_code, f"exit status {self.end.exit_code}")

    def meaning(self, verdict: str) -> str:
        """What a verdict means in this run."""
        return "says another suite" if self.is_second_opinion and verdict == "FAIL" else MEANINGS[verdict]

    @property
    def is_second_opinion(self) -> bool:
        """Whether another suite has judged: it alone then, so the first check says it."""
        return bool(self.checks) and is_second_opinion(self.checks[0].id)

    def counts(self, protocol: str | None = None) -> Counter[str]:
        """Checks by verdict, of one protocol or of all."""
        return Counter(check.verdict for check in self.checks if protocol in {None, check.protocol})

    @property
    def protocols(self) -> list[str]:
        """The protocols that were tested, in order of name."""
        return sorted({check.protocol for check in self.checks})

    def of_verdict(self, verdict: str) -> list[CheckRecord]:
        """The checks with this verdict, in order of id."""
        return sorted(
            (check for check in self.checks if check.verdict == verdict),
            key=lambda record: natural(record.id),
        )

    @property
    def rules_broken(self) -> list[tuple[FindingRecord, list[str]]]:
        """What the lint found: the first of the worst records of each rule, and the checks that show it; FAIL first."""
        checks: dict[str, list[str]] = {}
        first: dict[str, FindingRecord] = {}
        for record in self.findings:
            known = first.setdefault(record.id, record)
            if VERDICTS.index(record.verdict) < VERDICTS.index(known.verdict):
                first[record.id] = record
            checks.setdefault(record.id, []).append(record.check)
        ordered = sorted(first.values(), key=lambda record: (VERDICTS.index(record.verdict), record.id))
        return [(record, sorted(checks[record.id], key=natural)) for record in ordered]

    @property
    def observations(self) -> list[tuple[str, str, str]]:
        """(id of the check, what was observed, which legal answer was seen), in order of id."""
        return sorted(
            (check.id, key, value) for check in self.checks for key, value in check.observations.items()
        )


def from_records(records: Iterable[AnyRecord]) -> list[Run]:
    """The runs of records in the order of their file: each first line begins another. At least one run."""
    runs = [Run()]
    for record in records:
        run = runs[-1]
        match record:
            case RunRecord():
                runs.append(Run(about=record))
            case CheckRecord():
                run.checks.append(record)
            case FindingRecord():
                run.findings.append(record)
            case StatisticsRecord():
                run.statistics = record
            case EndRecord():
                run.end = record
    return [run for run in runs if run != Run()] or runs


def distinct_labels(runs: Iterable[Run], *, dated: bool = True) -> list[str]:
    """The labels of runs; none twice, whatever the labels are.

    Runs of one target have the time of their start (UTC) in their label, and the commit where the commits differ. A
    number follows only where that is not enough. Without `dated` it is the number alone: machines compare such names.
    """
    all_runs = list(runs)
    series = Counter(run.label for run in all_runs)
    commits: dict[str, set[str]] = {}
    for run in all_runs:
        commits.setdefault(run.label, set()).add(run.commit)
    labels: list[str] = []
    names, used = {run.label for run in all_runs}, set[str]()
    for run in all_runs:
        name = run.label
        if dated and series[name] > 1:
            facts = [run.started, run.commit if len(commits[name]) > 1 else ""]
            name = ", ".join([name, *filter(None, facts)])
        label, number = name, 1
        while label in used or (number > 1 and label in names):
            number += 1
            label = f"{name} ({number})"
        used.add(label)
        labels.append(label)
    return labels
