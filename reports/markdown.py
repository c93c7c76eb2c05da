# SPDX-License-Identifier: MIT
"""Runs as Markdown for a pull request: the numbers, what failed and why, details folded. GitHub and GitLab show it.

It reads well as plain text, too. What came from a target stands in code spans and fenced blocks: there it is neither
markup, nor a link, nor a mention of somebody. What could end a span stands in a `code` element, with every character
that means something written as a number.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nfsjudge.harm import harm_done
from nfsjudge.records import CheckRecord, FindingRecord, RequirementRecord, elsewhere_lines, seen
from nfsjudge.verdict import VERDICTS
from reports.causes import causes_of, reasons
from reports.duplicates import LEGEND, SHORT, profile_of, sentences
from reports.excerpt import excerpt
from reports.figures import lines_of
from reports.not_asked import is_not_asked
from reports.plain import clause_url, printable, shortened
from reports.run import Run, distinct_labels

LIMIT = 60_000
"""Characters. GitHub takes 65,536 in a comment, and 1 MiB in the summary of a job."""

_IN_FULL = ("FAIL", "VOID", "NONSTRICT")
_RESERVE = 100
"""Characters for the line that says what was left out."""
_LONG = 300
_DIFFERENCES = 20
"""At most this many differences from a baseline are listed."""
_REASONS = 10
"""Reasons why checks were not asked that are listed."""
_DETAILS = 3000
"""Characters of the folded details of one check, about."""
_TRANSCRIPT = 2000
"""Characters that its exchanges have of them, at least."""

_NUMBERED = {ord(sign): f"&#{ord(sign)};" for sign in string.punctuation if sign not in "-/,=+;'%{}?"}
_NOT_IN_SPAN = re.compile(r"[|`$]")
"""What ends a code span, or a cell of a table in spite of it; and what begins a formula."""
_PLAIN_LABEL = re.compile(r"(?!.*www)[A-Za-z0-9 .,()-]+")
"""Text of a link that needs no escapes."""
_TICKS = re.compile("`+")


@dataclass(slots=True)
class _Entry:
    """A check, or a rule that was broken: one line, or with its details. The first of its kind has a title."""

    title: str
    short: str
    full: str


def render_markdown(runs: Sequence[Run], limit: int = LIMIT) -> str:
    """The text, of at most `limit` characters (5,000 at least): what does not fit is left out and counted.

    Details go first: up to half of the text is kept for a line of each check.
    """
    labels = distinct_labels(runs)
    text = "".join(_head(run, label) for run, label in zip(runs, labels, strict=True))
    if len(text) > limit - _RESERVE:
        return f"### nfsproof: {len(runs)} runs, too many for a summary\n"
    room = limit - _RESERVE - len(text)
    entries = [
        entry
        for run, label in zip(runs, labels, strict=True)
        for entry in _entries(run, label, len(runs) > 1)
    ]
    lines_left = sum(len(entry.title) + len(entry.short) for entry in entries)
    for number, entry in enumerate(entries):
        lines_left -= len(entry.title) + len(entry.short)
        in_full = entry.title + entry.full
        chosen = in_full if len(in_full) + min(lines_left, limit // 2) <= room else entry.title + entry.short
        if len(chosen) > room:
            return (
                f"{text}\n*{len(entries) - number} more are left out, because the text would be too long.*\n"
            )
        text += chosen
        room -= len(chosen)
    return text


def as_code(text: str, length: int = _LONG) -> str:
    """Text from anywhere, on one line, as code."""
    shown = shortened(printable(" ".join(text.split())), length)
    if shown and not _NOT_IN_SPAN.search(shown):
        return f"`{shown}`"
    return f"<code>{shown.translate(_NUMBERED)}</code>"


def _entries(run: Run, label: str, several: bool) -> Iterator[_Entry]:
    of = f" of {as_code(label)}" if several else ""
    yield from _causes(run, of)
    for verdict in _IN_FULL:
        found = [
            record for record in run.of_verdict(verdict) if not is_not_asked(record)
        ]  # these are among the causes
        title = f"\n#### {verdict}{of}: {run.meaning(verdict)} ({len(found)})\n\n"
        for number, check in enumerate(found):
            yield _entry("" if number else title, check)
    title = f"\n#### Rules broken in the exchanges{of}, found by the lint: {run.rules_summary}\n\n"
    for number, (record, checks) in enumerate(run.rules_broken):
        yield _entry("" if number else title, record, checks)
    yield from _duplicates(run, of)
    measured = "".join(f"- {as_code(line)}\n" for line in lines_of(run.checks))
    if measured:
        yield _Entry(f"\n#### Measured{of}, without a limit\n\n", measured, measured)


def _duplicates(run: Run, of: str) -> Iterator[_Entry]:
    """What the server does with calls that come again: in words, and folded as a table."""
    profile = profile_of(run)
    if not profile.cells and not profile.bounds:
        return
    words = "".join(f"- {as_code(sentence, _DETAILS)}\n" for sentence in sentences(profile))
    rows = [["", *profile.ways]]
    for version, procedure in profile.rows:
        cells = profile.cells[version, procedure]
        outcomes = [SHORT[cells[way]] if way in cells else "" for way in profile.ways]
        rows.append([f"{version} {procedure}", *outcomes])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    table = _folded("\n".join([*lines, "", LEGEND])) if profile.cells else ""
    yield _Entry(f"\n#### Duplicates of calls{of}\n\n", words, f"{words}\n{table}\n")


def _causes(run: Run, of: str) -> Iterator[_Entry]:
    """A line for each cause, and for each reason why checks were not asked."""
    found = causes_of(run)
    for number, cause in enumerate(found):
        where = f" · {as_code(cause.where)}" if cause.checks else ""
        line = f"- {cause.verdict} · {as_code(cause.headline)} · {as_code(cause.counts)}{where}\n"
        yield _Entry("" if number else f"\n#### Causes{of} ({len(found)})\n\n", line, line)
    for number, reason in enumerate(reasons(run.checks)[:_REASONS]):
        line = f"- {reason.verdict} · {as_code(reason.line)}\n"
        yield _Entry("" if number else f"\n#### Not asked{of}\n\n", line, line)


def _head(run: Run, label: str) -> str:
    """What was tested, how it ended, and the table of counts."""
    counts = run.counts()
    counted = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    rules = f"; rules broken in the exchanges: {run.rules_summary}" if run.rules_summary else ""
    lines = [f"### nfsproof: {as_code(label)}: {counted or 'no check was executed'}{rules}", ""]
    if run.trouble:
        lines += [f"**The run as a whole:** {as_code(run.trouble)}", ""]
    else:
        lines += [f"Ended: {run.ending}.", ""]
    for text in run.below_floor:
        lines += [f"**Not judged:** {as_code(text)}", ""]
    lines += _baseline_lines(run)
    columns = [verdict for verdict in VERDICTS if counts[verdict]]
    if columns:
        lines += _table(run, columns)
    if run.about is not None and run.about.version:
        lines += [*([""] if columns else []), f"Judged by nfsproof {as_code(run.about.version, 60)}."]
    return "\n".join(lines) + "\n\n"


def _table(run: Run, columns: Sequence[str]) -> Iterator[str]:
    """The counts of each protocol, with columns that are straight in plain text."""
    rows = [["protocol", *columns]]
    for protocol in run.protocols[:20]:
        counts = run.counts(protocol)
        rows.append([as_code(protocol, 40), *(str(counts[verdict]) for verdict in columns)])
    widths = [max(4, *map(len, column)) for column in zip(*rows, strict=True)]
    rules = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    for first, *rest in (rows[0], rules, *rows[1:]):
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        yield f"| {' | '.join(cells)} |"


def _baseline_lines(run: Run) -> list[str]:
    """What is not as the baseline says, or that all is; nothing without one."""
    if not run.baseline:
        return []
    name = as_code(run.baseline, 100)
    if not run.differences:
        return [f"**Agrees with the baseline {name}**. The failures below are known.", ""]
    listed = [f"- {as_code(text)}" for text in run.differences[:_DIFFERENCES]]
    more = len(run.differences) - _DIFFERENCES
    listed += [f"- and {more} more"] if more > 0 else []
    return [f"**Differs from the baseline {name}**. All other failures below are known:", "", *listed, ""]


def _entry(title: str, record: CheckRecord | FindingRecord, checks: Sequence[str] = ()) -> _Entry:
    """A line for the check with what was seen, and the same with its details folded."""
    reason = record.reason if isinstance(record, CheckRecord) else ""
    is_rule = isinstance(record, FindingRecord)
    parts = [f"{record.verdict} {as_code(record.id)}" if is_rule else as_code(record.id)]
    parts[0] += f" · {_clause(record, record.requirement)}" if record.requirement is not None else ""
    parts += [] if isinstance(record, FindingRecord) else [as_code(record.heading)]
    parts += [f"seen: {as_code(seen(record))}"] if record.observed else []
    parts += [as_code(reason)] if reason else []
    short = "- " + "\n  ".join(parts) + "\n"
    more = [record.requirement.gist] if record.requirement is not None else []
    more += [f"expected: {expectation}" for expectation in record.expected[:5]]
    more += [f"also in: {check}" for check in checks if check != getattr(record, "check", "")][:20]
    more += [f"also on: {server}" for server in record.elsewhere[:20]] or elsewhere_lines(record)
    more += [f"again: {record.rerun}"] if record.rerun else []
    known = printable("\n".join([*more, "", ""]))
    exchanges = printable(excerpt(record.transcript, max(_TRANSCRIPT, _DETAILS - len(known))))
    details = shortened(known, _DETAILS - _TRANSCRIPT) + shortened(exchanges, _DETAILS)
    return _Entry(title, short, f"{short}\n{_folded(details)}\n" if details.strip() else short)


def _folded(details: str) -> str:
    """Lines as they are, folded, in a list item."""
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in _TICKS.findall(details))])
    inside = [f"  {line}".rstrip() for line in details.rstrip("\n").split("\n")]
    lines = ["  <details><summary>details</summary>", "", f"  {fence}", *inside, f"  {fence}", ""]
    return "\n".join([*lines, "  </details>", ""])


def _clause(record: CheckRecord | FindingRecord, requirement: RequirementRecord) -> str:
    harm = harm_done(requirement.harm, record.outcome)
    level = requirement.level + (f", harm {harm}" if harm else "")
    citation = shortened(printable(f"{requirement.citation} ({level})"), 80)
    url = clause_url(requirement)
    if url and _PLAIN_LABEL.fullmatch(citation):
        return f"[{citation}]({url})"
    return f'<a href="{url}">{citation.translate(_NUMBERED)}</a>' if url else as_code(citation)
