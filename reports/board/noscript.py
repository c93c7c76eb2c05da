# SPDX-License-Identifier: MIT
"""What a page shows without scripts: of each run the counts, and its red checks and findings.

Written here rather than by a template, because each run makes a page, and one of a single check would spend a twentieth
of its time on the language of templates.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from nfsjudge.records import CheckRecord, FindingRecord, RequirementRecord
from nfsjudge.verdict import VERDICTS
from nfsjudge.wording import count
from reports.board.data import SYMBOLS
from reports.board.safe import visible
from reports.run import MEANINGS, Run

_IN_FULL = ("FAIL", "VOID", "NONSTRICT")


def text_of(value: object) -> str:
    """Text of a server, or of a user, as it may stand between tags."""
    return escape(visible(value))


def noscript(run: Run) -> str:
    """A section of HTML."""
    return "\n".join(['<section class="noscript">', *_lines(run), "</section>\n"])


def _lines(run: Run) -> Iterator[str]:
    counts = run.counts()
    yield f"<h2>{text_of(run.target)}</h2>"
    yield (
        f"<p>{count(len(run.checks), 'check')}: {text_of(run.ending)}. The matrix needs JavaScript. "
        "These checks are red.</p>"
    )
    for text in run.below_floor:
        yield f"<p>Not judged: {text_of(text)}</p>"
    if run.end and run.end.note:
        yield f"<p>{text_of(run.end.note)}</p>"
    yield "<table>"
    yield f"<tr>{''.join(f'<th>{SYMBOLS[verdict]} {verdict}</th>' for verdict in VERDICTS)}</tr>"
    yield f"<tr>{''.join(f'<td>{counts[verdict]}</td>' for verdict in VERDICTS)}</tr>"
    yield "</table>"
    for verdict in _IN_FULL:
        if counts[verdict]:
            yield f"<h3>{verdict}: {escape(MEANINGS[verdict])}</h3>"
            yield from ("<ul>", *map(_check, run.of_verdict(verdict)), "</ul>")
    if run.rules_broken:
        yield f"<h3>Rules broken in the exchanges, found by the lint: {text_of(run.rules_summary)}</h3>"
        yield from ("<ul>", *(_finding(finding, checks) for finding, checks in run.rules_broken), "</ul>")


def _check(check: CheckRecord) -> str:
    words = ["acceptable", *["or"] * len(check.expected)]
    return "".join(
        [
            f"<li><code>{text_of(check.id)}</code>: {text_of(check.heading)}{_clause(check.requirement)}",
            *(f"<br>{word}: {text_of(text)}" for word, text in zip(words, check.expected, strict=False)),
            f"<br>seen: {text_of(check.observed)}" if check.observed else "",
            f"<br>reason: {text_of(check.reason)}" if check.reason else "",
            "</li>",
        ]
    )


def _finding(finding: FindingRecord, checks: list[str]) -> str:
    seen = f"<br>seen: {text_of(finding.observed)}" if finding.observed else ""
    return (
        f"<li>{text_of(finding.verdict)} <code>{text_of(finding.id)}</code>{_clause(finding.requirement)}{seen}"
        f"<br>in {count(len(checks), 'check')}, such as <code>{text_of(finding.check)}</code></li>"
    )


def _clause(requirement: RequirementRecord | None) -> str:
    if requirement is None:
        return ""
    return f", {text_of(requirement.citation)} ({text_of(requirement.level)}): {text_of(requirement.gist)}"
