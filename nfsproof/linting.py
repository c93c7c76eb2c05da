# SPDX-License-Identifier: MIT
"""`nfsproof lint`: what a capture holds, and what is wrong in it, as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nfsjudge.captured import BadCapture, Reading, Statistics
from nfsjudge.harm import harm_text
from nfsjudge.lint import Finding, Rule, all_rules
from nfsjudge.transcript import full_lines
from nfsjudge.wording import count


@dataclass(frozen=True, slots=True)
class LintResult:
    """The outcome: a text, the findings in it, and why reading ended before the end of the file, if it did."""

    text: str
    findings: tuple[Finding, ...]
    broken: str = ""
    is_judged: bool = True
    """Whether all calls that the capture should have were judged; False if it has none, or hides some."""

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


def lint_file(path: Path, *, alone: bool) -> LintResult:
    """Judge a capture. Raises OSError."""
    reading, broken = Reading(alone=alone), ""
    with path.open("rb") as file:
        try:
            reading.read(file)
        except BadCapture as error:
            broken = str(error)
    findings = in_order(reading.findings)
    lines = [*_head(path, reading.statistics), *(line for finding in findings for line in lines_of(finding))]
    unseen = list(unseen_of(reading.statistics))
    if unseen and not reading.statistics.answered:
        lines += ["", f"nothing was judged: {unseen[0]}", *unseen[1:]]
    else:
        lines += [end_of(findings), *unseen]
    return LintResult("\n".join(lines) + "\n", tuple(findings), broken, not unseen)


def unseen_of(statistics: Statistics) -> Iterator[str]:
    """What could not be judged, with the frames and a remedy, if it is all or if calls are hidden in frames."""
    hides = statistics.hidden or (not statistics.answered and statistics.cut)
    if hides:
        which = statistics.hidden or statistics.cut
        yield f"calls or replies are cut in {which}: capture whole packets (tcpdump -s 0)"
    if statistics.answered:
        return
    if statistics.begun and not hides:  # a message that is cut is not followed by the beginning of another
        yield (
            f"in {statistics.begun} connections go on that began earlier, and no message of RPC begins there: start "
            "the capture before the mount"
        )
    for name, frames in statistics.unopened.items():
        yield f"{name} is not opened, in {frames}: capture at the end of the tunnel"
    for reason, frames in statistics.not_judged.items():
        yield f"no rule is for {reason}, in {frames}: {_remedy(reason)}"
    if statistics.unanswered and not hides:
        calls = count(statistics.unanswered, "call")
        yield f"{calls} without a reply: capture both directions (no filter by source or destination)"
    if statistics.unmatched and not hides and not sum(statistics.exchanges.values()):
        yield f"{count(statistics.unmatched, 'reply', 'replies')} without a call: capture both directions"
    if not sum(statistics.exchanges.values()):
        yield "the capture has no call of RPC"


def _remedy(reason: str) -> str:
    if reason == "RPCSEC_GSS":
        return "mount with sec=sys"
    if reason.endswith("in the reply"):
        return "mount with vers=4.1, or with vers=3"
    return "mount with vers=4.1 or 4.2, or with vers=3"


def in_order(findings: list[Finding]) -> list[Finding]:
    """The worst first."""
    order = ("FAIL", "NONSTRICT", "INFO")
    return sorted(findings, key=lambda finding: (order.index(finding.severity), finding.rule.name))


def _head(path: Path, statistics: Statistics) -> Iterator[str]:
    exchanges = sum(statistics.exchanges.values())
    yield f"{path}: {count(statistics.packets, 'packet')}, {count(exchanges, 'call')} of RPC"
    for name, number in sorted(statistics.exchanges.items()):
        yield f"  {name}: {number}"
    notes = {
        "calls without a reply": statistics.unanswered,
        "replies to calls that the capture lacks": statistics.unmatched,
        "gaps in streams": statistics.lost,
    }
    for text, number in notes.items():
        if number:
            yield f"  {text}: {number}"
    if statistics.cut:
        yield f"  truncated packets: {statistics.cut}"
    for name, frames in statistics.unopened.items():
        yield f"  not opened: {name}, {frames}"
    yield from not_judged_of(statistics)


def not_judged_of(statistics: Statistics) -> Iterator[str]:
    """Calls of which only the header of the reply was judged, with the reason, a line each."""
    for reason, frames in statistics.not_judged.items():
        yield f"  not judged: {reason}, {frames}"


def lines_of(finding: Finding) -> Iterator[str]:
    """A finding with its clause and its exchange."""
    requirement, breach = finding.rule.requirement, finding.breach
    yield ""
    yield f"{finding.severity}  {finding.rule.id}"
    harm = harm_text(requirement.harm, finding.outcome)
    yield f"  clause:     {requirement.citation} ({requirement.level}){harm and f', {harm}'}"
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
        severity: sum(finding.severity == severity for finding in findings)
        for severity in ("FAIL", "NONSTRICT", "INFO")
    }
    counted = ", ".join(f"{number} {severity}" for severity, number in counts.items() if number)
    return f"\nrules broken: {counted or 'none'}"
