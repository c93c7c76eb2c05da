# SPDX-License-Identifier: MIT
"""What servers have shown in whole runs, in a short form: red checks and findings, without their exchanges.

`baselines/seen/NAME.json` has it for the servers that nfsproof runs itself; `tools/seen.py` writes these files.
"""

from __future__ import annotations

import functools
import json
import re
import typing as t
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path

from nfsjudge.deviation import OutcomeRecord
from nfsjudge.records import CheckRecord, FindingRecord, RequirementRecord
from reports.causes.symptom import RED, signature
from reports.reason import reason_of
from reports.run import Run

_LONG = 240
"""Characters of a text that are kept."""
_SCRATCH = re.compile(r"nfsproof-[0-9a-f]{6,}")


def pack(run: Run) -> dict[str, t.Any]:
    """The red records of a run in plain values; nothing of it names a host, a user or a time of the run."""
    return pack_records([*run.checks, *run.findings])


def pack_records(records: t.Iterable[CheckRecord | FindingRecord]) -> dict[str, t.Any]:
    """The red ones of some records."""
    clauses: dict[tuple[t.Any, ...], int] = {}
    checks: list[list[t.Any]] = []
    findings: dict[str, list[t.Any]] = {}

    def number(requirement: RequirementRecord | None) -> int | None:
        return (
            None if requirement is None else clauses.setdefault(_trimmed(astuple(requirement)), len(clauses))
        )

    for record in sorted(
        records, key=lambda record: (record.id, record.check if isinstance(record, FindingRecord) else "")
    ):
        if record.verdict not in RED:
            continue
        clause, outcome = number(record.requirement), _fields(record.outcome)
        if isinstance(record, FindingRecord):
            row = [record.id, record.verdict, clause, _kept(record.observed), outcome, []]
            findings.setdefault(record.id, row)[-1].append(record.check)
            continue
        # The clause that the check proves, where the verdict is about another one.
        own = [number(each) for each in record.requirements[:1] if each != record.requirement]
        texts = [
            _kept(record.what),
            [*map(_kept, record.expected)],
            _kept(record.observed),
            _kept(reason_of(record).text),
        ]
        checks.append([record.id, record.verdict, clause, *texts, outcome, *own])
    return {"clauses": [*map(list, clauses)], "checks": checks, "findings": [*findings.values()]}


def _kept(text: str) -> str:
    return _SCRATCH.sub("nfsproof-000000000000", text[:_LONG])


def _trimmed(values: tuple[t.Any, ...]) -> tuple[t.Any, ...]:
    """Without the last values that are nothing, which are as the classes begin."""
    while values and not values[-1]:
        values = values[:-1]
    return values


def _fields(outcome: OutcomeRecord | None) -> list[t.Any] | None:
    return None if outcome is None else [*_trimmed(astuple(outcome))]


def unpack(plain: Mapping[str, t.Any]) -> list[CheckRecord | FindingRecord]:
    """The records that `pack` made."""
    clauses = [RequirementRecord(*row) for row in plain["clauses"]]

    def clause(number: int | None) -> RequirementRecord | None:
        return None if number is None else clauses[number]

    def outcome(values: list[t.Any] | None) -> OutcomeRecord | None:
        return None if values is None else OutcomeRecord(*values)

    found: list[CheckRecord | FindingRecord] = []
    for name, verdict, of, what, expected, observed, reason, fields, *own in plain["checks"]:
        record = CheckRecord(name, verdict, clause(of), expected, observed, reason, what=what)
        record.outcome, record.requirements = outcome(fields), [clauses[number] for number in own]
        found.append(record)
    for rule, verdict, of, observed, fields, checks in plain["findings"]:
        seen = {"observed": observed, "outcome": outcome(fields)}
        found += [FindingRecord(rule, check, verdict, clause(of), **seen) for check in checks]
    return found


def to_text(plain: Mapping[str, t.Any]) -> str:
    """As JSON with a line for each record, so that changes can be read."""
    parts = []
    for name, rows in plain.items():
        lines = ",\n  ".join(json.dumps(row, ensure_ascii=True) for row in rows)
        parts.append(f' "{name}": [\n  {lines}\n ]' if rows else f' "{name}": []')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def load_seen(file: Path) -> list[CheckRecord | FindingRecord]:
    """The records in a file. Raises OSError and ValueError."""
    return unpack(json.loads(file.read_text(encoding="utf-8")))


@functools.cache
def signatures_in(file: Path) -> frozenset[tuple[str, str]]:
    """Verdict and signature of all that a file has; empty if there is no such file."""
    try:
        return frozenset((record.verdict, signature(record)) for record in load_seen(file))
    except (OSError, ValueError, TypeError, KeyError, IndexError):
        return frozenset()
