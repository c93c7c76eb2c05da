# SPDX-License-Identifier: MIT
"""The words of a cause: which record stands for all, and what is printed of it."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from nfsjudge.records import FindingRecord, deviation
from nfsjudge.verdict import VERDICTS
from reports.causes.model import Cause
from reports.causes.severity import ORDER
from reports.causes.symptom import Red
from reports.reason import plain_line, reason_of

_NUMBER = re.compile(r"(?<![\w.])(\d{1,6})(?: to (\d{1,6}))?(?![\w.])")
"""A number, or a range of numbers: only to print what varies in a cause as one range."""


def cause_of(members: Sequence[Red]) -> Cause:
    """The cause of records that belong together."""
    checks = sorted({member.check for member in members if member.is_check})
    findings: dict[str, set[str]] = {}
    for member in members:
        if not member.is_check:
            findings.setdefault(member.record.id, set()).add(member.check)
    names = Counter(member.name for member in members)
    ordered = sorted(names, key=lambda name: (-names[name], name))
    first = _first(members, ordered)
    requirement = first.record.requirement if first.record.observed else None
    worst = min((member.record.verdict for member in members), key=VERDICTS.index)
    return Cause(
        key=hashlib.sha256(f"{worst} {ordered[0]}".encode()).hexdigest()[:10],
        verdict=worst,
        severity=min((member.severity for member in members), key=ORDER.__getitem__),
        clause=_clauses(first, members),
        level="" if requirement is None else requirement.level,
        gist="" if requirement is None else requirement.gist,
        text=_text(first, members),
        first=first.check,
        rule="" if first.is_check else first.record.id,
        checks=checks,
        findings={rule: sorted(ids) for rule, ids in sorted(findings.items())},
        signatures=ordered,
        elsewhere=list(first.record.elsewhere),
    )


def _clauses(first: Red, members: Sequence[Red]) -> str:
    """The clause that the first record proves; of checks of other versions, whose RFC is another one, theirs too."""
    if not first.clause or not first.record.observed:
        return ""
    found: dict[str, str] = {}
    for member in [first, *(member for member in members if member.record.verdict == first.record.verdict)]:
        requirement = member.record.requirement
        if requirement is not None and member.record.observed:
            found.setdefault(requirement.rfc, f"{requirement.rfc} {requirement.section}")
    return ", ".join(found.values())


def _first(members: Sequence[Red], signatures: Sequence[str]) -> Red:
    """The record that stands for all: of the worst verdict and severity, a check rather than a finding."""
    order = {name: number for number, name in enumerate(signatures)}

    def rank(red: Red) -> tuple[int, bool, int, tuple[bool, bool], int, str]:
        is_vague = red.is_general, not (red.operation or not red.is_check)
        verdict, severity = VERDICTS.index(red.record.verdict), ORDER[red.severity]
        return verdict, not red.is_check, severity, is_vague, order[red.name], red.check

    return min(members, key=rank)


def _text(first: Red, members: Sequence[Red]) -> str:
    """What the first record saw; where others say the same with other numbers, with all of these."""
    shown = _line_of(first)
    pattern = _NUMBER.sub("#", shown)
    alike = [text for text in map(_line_of, members) if _NUMBER.sub("#", text) == pattern]
    columns = iter(list(zip(*map(_NUMBER.findall, alike), strict=True)))
    return _NUMBER.sub(lambda match: _spanned(match, next(columns)), shown)


def _spanned(match: re.Match[str], column: Iterable[tuple[str, str]]) -> str:
    """A number or a range with all that stands in its place: from the smallest to the largest.

    ``from 7 to 3`` reports a change, which is no range: it stays as it is.
    """
    pairs = [(int(first), int(last or first)) for first, last in column]
    if any(first > last for first, last in pairs):
        return match[0]
    least, most = min(first for first, _ in pairs), max(last for _, last in pairs)
    return match[0] if len(set(pairs)) == 1 else f"{least} to {most}"


def _line_of(red: Red) -> str:
    """What a record saw, in one line."""
    record = red.record
    if isinstance(record, FindingRecord):
        text = plain_line(record.observed)
        return f"{record.requirement.gist}: {text}" if record.requirement is not None else text
    if not record.observed:
        return plain_line(reason_of(record).text) or record.heading
    operation = red.operation
    text = plain_line(deviation(record))
    return f"{operation}: {text}" if operation and operation not in text else text
