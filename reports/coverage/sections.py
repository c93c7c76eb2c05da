# SPDX-License-Identifier: MIT
"""Sections, requirements, checks and verdicts, from the records of runs."""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from nfsjudge.records import CheckRecord, RequirementRecord
from reports.coverage.tables import Document, Section, Tables
from reports.run import Run, distinct_labels

LEVELS: t.Final = ("MUST", "STATED", "SHOULD", "MAY")
State = t.Literal["covered", "outside", "open", "silent"]
STATES: t.Final[dict[State, str]] = {
    "covered": "a check or a rule of the lint is there",
    "outside": "no check can cover it from outside",
    "open": "it has normative words, and no check",
    "silent": "no normative word was counted in it, and no check cites it",
}


def function_of(check_id: str) -> str:
    """The id without its parameters."""
    return check_id.partition("[")[0]


@dataclass(slots=True)
class Claim:
    """One requirement, with the checks that prove it."""

    requirement: RequirementRecord
    checks: set[str] = field(default_factory=set)
    """Ids with parameters."""
    rules: set[str] = field(default_factory=set)
    """Rules of the lint that hold it."""
    verdicts: list[dict[str, str]] = field(default_factory=list)
    """By run: id -> verdict, of checks and of what the lint found. A check that fails for one of its clauses has none
    on the others."""

    def counts(self, run: int) -> Counter[str]:
        """Checks by verdict, in one run."""
        return Counter(self.verdicts[run].values())

    @property
    def functions(self) -> list[tuple[str, int]]:
        """Ids without parameters, and how many parameters each has."""
        return sorted(Counter(function_of(check) for check in self.checks).items())


@dataclass(slots=True)
class CoveredSection:
    """One section, with the requirements that are claimed in it."""

    section: Section
    reason: str = ""
    claims: list[Claim] = field(default_factory=list)

    @property
    def state(self) -> State:
        if self.claims:
            return "covered"
        if self.reason:
            return "outside"
        return "open" if self.section.words else "silent"

    @property
    def checks(self) -> set[str]:
        """Ids with parameters."""
        return {check for claim in self.claims for check in claim.checks}

    @property
    def rules(self) -> set[str]:
        """Rules of the lint."""
        return {rule for claim in self.claims for rule in claim.rules}

    def counts(self, run: int) -> Counter[str]:
        """Checks by verdict, in one run, each once."""
        verdicts: dict[str, str] = {}
        for claim in self.claims:
            verdicts |= claim.verdicts[run]
        return Counter(verdicts.values())


@dataclass(slots=True)
class CoveredDocument:
    """One RFC."""

    document: Document
    sections: list[CoveredSection]

    @property
    def claims(self) -> list[Claim]:
        return [claim for section in self.sections for claim in section.claims]

    @property
    def checks(self) -> set[str]:
        """Ids with parameters."""
        return {check for section in self.sections for check in section.checks}

    @property
    def is_begun(self) -> bool:
        """Whether more than a few of its sections have checks; otherwise only its chapters are listed."""
        covered = sum(section.state == "covered" for section in self.sections)
        return covered * 20 >= len(self.sections)

    def numbers(self) -> Counter[str]:
        """Sections with normative words ("worded") and their states, and "besides": covered ones without such words."""
        counts: Counter[str] = Counter()
        for section in self.sections:
            if section.section.words:
                counts["worded"] += 1
                counts[section.state] += 1
            elif section.state == "covered":
                counts["besides"] += 1
        return counts

    def levels(self) -> Counter[str]:
        """Requirements by level."""
        return Counter(claim.requirement.level for claim in self.claims)


@dataclass(slots=True)
class SectionCoverage:
    """All of it."""

    targets: list[str]
    documents: list[CoveredDocument]
    elsewhere: list[Claim]
    """Of documents, or sections, that the tables do not have."""

    @property
    def claims(self) -> list[Claim]:
        return [claim for document in self.documents for claim in document.claims] + self.elsewhere


_Key: t.TypeAlias = tuple[str, str, str, str, str]


class _Claims:
    """Requirements as they come, each once."""

    def __init__(self, runs: int) -> None:
        self.runs = runs
        self.found: dict[_Key, Claim] = {}

    def of(self, requirement: RequirementRecord) -> Claim:
        key = (requirement.rfc, requirement.section, requirement.part, requirement.level, requirement.gist)
        if key not in self.found:
            self.found[key] = Claim(requirement, verdicts=[{} for _ in range(self.runs)])
        return self.found[key]

    def add_check(self, run: int, check: CheckRecord) -> None:
        main = check.requirement
        claimed = check.requirements or ([main] if main is not None else [])
        for requirement in claimed:
            claim = self.of(requirement)
            claim.checks.add(check.id)
            if not check.expected or requirement == main:
                claim.verdicts[run][check.id] = check.verdict
        if main is not None and main not in claimed:  # broken on the way: the form of a reply, no answer
            claim = self.of(main)
            claim.checks.add(check.id)
            claim.verdicts[run][check.id] = check.verdict


def cover_sections(
    runs: Sequence[Run], tables: Tables, rules: Iterable[tuple[str, RequirementRecord]] = ()
) -> SectionCoverage:
    """What the checks of `runs`, and `rules` of the lint with what they hold, cover."""
    claims = _Claims(len(runs))
    for number, run in enumerate(runs):
        for check in run.checks:
            claims.add_check(number, check)
        for finding in run.findings:
            if finding.requirement is not None:
                claim = claims.of(finding.requirement)
                claim.rules.add(finding.id)
                claim.verdicts[number][f"{finding.id} in {finding.check}"] = finding.verdict
    for rule, requirement in rules:
        claims.of(requirement).rules.add(rule)
    places: dict[tuple[str, str], list[Claim]] = {}
    for claim in claims.found.values():
        place = tables.place_of(claim.requirement.rfc, claim.requirement.section)
        places.setdefault(place, []).append(claim)
    documents = [
        CoveredDocument(
            document,
            [
                CoveredSection(
                    section, tables.reason(section), _ordered(places.pop((section.rfc, section.number), []))
                )
                for section in document.sections
            ],
        )
        for document in tables.documents
    ]
    elsewhere = _ordered([claim for left in places.values() for claim in left])
    return SectionCoverage(distinct_labels(runs), documents, elsewhere)


def _ordered(claims: list[Claim]) -> list[Claim]:
    def key(claim: Claim) -> tuple[t.Any, ...]:
        requirement = claim.requirement
        return (
            requirement.rfc,
            requirement.section,
            LEVELS.index(requirement.level) if requirement.level in LEVELS else 9,
            requirement.part,
            requirement.gist,
        )

    return sorted(claims, key=key)
