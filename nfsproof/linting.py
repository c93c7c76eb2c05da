# SPDX-License-Identifier: MIT
"""`nfsproof lint`: what a capture holds, and what is wrong in it, as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nfsjudge.captured import BadCapture, Reading, Statistics
from nfsjudge.lint import Finding, Rule, all_rules
from nfsjudge.transcript import full_lines
from nfsjudge.wording import count

NO_CALL = "the capture has no call of RPC"


@dataclass(frozen=True, slots=True)
class Told:
    """The outcome: a text, the findings in it, and why reading ended before the end of the file, if it did."""

    text: str
    findings: tuple[Finding, ...]
    broken: str = ""
    calls: int = 0

    def is_red(self, *, strict: bool) -> bool:
        """Whether something was found that fails a check."""
        red = {"FAIL", "NONSTRICT"} if strict else {"FAIL"}
        return any(finding.severity in red for finding in self.findings)


def rules_table() -> list[str]:
    """The rules as rows of a table in Markdown."""
    return [
        f"| `{rule.id}` | {rule.severity} | {rule.requirement.citation} | {_first_line(rule)} | "
        f"{', '.join(f'`{name}`' for name in rule.killed_by)} |"
        for rule in all_rules()
    ]


def _first_line(rule: Rule) -> str:
    return (rule.look.__doc__ or "").strip().splitlines()[0].rstrip(".")


def lint_file(path: Path, *, alone: bool) -> Told:
    """Judge a capture. Raises OSError."""
    reading, broken = Reading(alone=alone), ""
    with path.open("rb") as file:
        try:
            reading.read(file)
        except BadCapture as error:
            broken = str(error)
    findings = in_order(reading.findings)
    lines = [*_head(path, reading.statistics), *(line for one in findings for line in lines_of(one))]
    calls = sum(reading.statistics.exchanges.values())
    lines.append(end_of(findings) if calls else f"\nnothing was judged: {NO_CALL}")
    return Told("\n".join(lines) + "\n", tuple(findings), broken, calls)


def in_order(findings: list[Finding]) -> list[Finding]:
    """The worst first."""
    order = ("FAIL", "NONSTRICT", "INFO")
    return sorted(findings, key=lambda one: (order.index(one.severity), one.rule.name))


def _head(path: Path, statistics: Statistics) -> Iterator[str]:
    exchanges = sum(statistics.exchanges.values())
    yield f"{path}: {count(statistics.packets, 'packet')}, {count(exchanges, 'call')} of RPC"
    for name, number in sorted(statistics.exchanges.items()):
        yield f"  {name}: {number}"
    notes = {
        "calls without a reply": statistics.unanswered,
        "replies to calls that the capture lacks": statistics.unmatched,
        "truncated packets (capture with a snapshot length of 0)": statistics.cut,
        "gaps in streams": statistics.lost,
    }
    for text, number in notes.items():
        if number:
            yield f"  {text}: {number}"


def lines_of(finding: Finding) -> Iterator[str]:
    """A finding with its clause and its exchange."""
    requirement, breach = finding.rule.requirement, finding.breach
    yield ""
    yield f"{finding.severity}  {finding.rule.id}"
    yield f"  clause:     {requirement.citation} ({requirement.level})"
    yield f"              {requirement.gist}"
    yield f"  expected:   {breach.expected}"
    yield f"  seen:       {finding.say('packet ')}"
    if finding.severity != "INFO":
        lines = full_lines(
            finding.exchange, finding.number, mark=finding.field, note=f"expected {breach.expected}", most=100
        )
        yield "  exchange:"
        for line in lines:
            yield f"    {line}"


def end_of(findings: list[Finding]) -> str:
    """How many rules are broken."""
    counts = {
        severity: sum(one.severity == severity for one in findings)
        for severity in ("FAIL", "NONSTRICT", "INFO")
    }
    told = ", ".join(f"{number} {severity}" for severity, number in counts.items() if number)
    return f"\nrules broken: {told or 'none'}"
