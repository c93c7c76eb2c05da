# SPDX-License-Identifier: MIT
"""A run as its records tell it."""

from __future__ import annotations

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
    read_records,
)

VERDICTS = ("FAIL", "VOID", "NONSTRICT", "SKIP", "UNSUPPORTED", "PASS")
"""What deserves a look first, first."""

MEANINGS = {
    "PASS": "the claim holds",
    "FAIL": "a MUST, or a rule stated in plain prose, was broken",
    "NONSTRICT": "a SHOULD was broken",
    "UNSUPPORTED": "optional, and the target does not have it",
    "SKIP": "a precondition was missing",
    "VOID": "could not be judged",
}


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

    @property
    def target(self) -> str:
        """What was tested."""
        if self.about is not None:
            return self.about.description or self.about.target
        return self.checks[0].target if self.checks else "unknown target"

    @property
    def ending(self) -> str:
        """How the run ended, in words."""
        if self.end is None:
            return "the run did not come to its end: what follows is what it had judged"
        endings = {
            0: "nothing red",
            1: "red",
            2: "interrupted: what follows is what it had judged",
            3: "ended by an internal error",
            4: "wrong usage, or the target did not answer",
            5: "no check was selected",
            10: "could not judge everything",
        }
        return endings.get(self.end.exit_code, f"exit status {self.end.exit_code}")

    def counts(self, protocol: str | None = None) -> Counter[str]:
        """Checks by verdict, of one protocol or of all."""
        return Counter(check.verdict for check in self.checks if protocol in {None, check.protocol})

    @property
    def protocols(self) -> list[str]:
        """The protocols that were tested, in order of name."""
        return sorted({check.protocol for check in self.checks})

    def of_verdict(self, verdict: str) -> list[CheckRecord]:
        """The checks with this verdict, in order of id."""
        return sorted((check for check in self.checks if check.verdict == verdict), key=lambda one: one.id)

    @property
    def rules_broken(self) -> list[tuple[FindingRecord, list[str]]]:
        """What the lint found: the first record of each rule, and the checks that show it; FAIL first."""
        checks: dict[str, list[str]] = {}
        first: dict[str, FindingRecord] = {}
        for record in self.findings:
            first.setdefault(record.id, record)
            checks.setdefault(record.id, []).append(record.check)
        ordered = sorted(first.values(), key=lambda one: (VERDICTS.index(one.verdict), one.id))
        return [(record, sorted(checks[record.id])) for record in ordered]

    @property
    def observations(self) -> list[tuple[str, str, str]]:
        """(id of the check, what was observed, which legal answer was seen), in order of id."""
        return sorted(
            (check.id, key, value) for check in self.checks for key, value in check.observations.items()
        )


def from_records(records: Iterable[AnyRecord]) -> Run:
    """A run of records in the order of their file. A later run in the same file replaces what came before."""
    run = Run()
    for record in records:
        match record:
            case RunRecord():
                run = Run(about=record)
            case CheckRecord():
                run.checks.append(record)
            case FindingRecord():
                run.findings.append(record)
            case StatisticsRecord():
                run.statistics = record
            case EndRecord():
                run.end = record
    return run


def load(path: Path) -> Run:
    """Read `records.jsonl`, or the one in a report folder. Raises OSError and `nfsjudge.records.BadRecord`."""
    file = path / "records.jsonl" if path.is_dir() else path
    with file.open(encoding="utf-8") as lines:
        return from_records(read_records(lines))
