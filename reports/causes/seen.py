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
from pathlib import Path

from nfsjudge.records import CheckRecord, FindingRecord, RequirementRecord
from reports.causes.grouping import RED
from reports.causes.symptom import signature
from reports.run import Run

_LONG = 240
"""Characters of a text that are kept."""
_SCRATCH = re.compile(r"nfsproof-[0-9a-f]{6,}")


def pack(run: Run) -> dict[str, t.Any]:
    """The red records of a run in plain values; nothing of it names a host, a user or a time of the run."""
    clauses: dict[tuple[str, ...], int] = {}

    def clause(record: CheckRecord | FindingRecord) -> int | None:
        return None if record.requirement is None else number(record.requirement)

    def own(record: CheckRecord) -> list[int]:
        """The clause that the check proves, where the verdict is about another one."""
        return [number(one) for one in record.requirements[:1] if one != record.requirement]

    def number(one: RequirementRecord) -> int:
        values = (one.rfc, one.section, one.part, one.level, one.gist, one.harm)
        return clauses.setdefault(values if one.harm else values[:-1], len(clauses))

    checks = [
        [
            *(one.id, one.verdict, clause(one), _kept(one.what), [_kept(text) for text in one.expected]),
            *(_kept(one.observed), one.call.partition(" ")[0], _kept(one.reason), *own(one)),
        ]
        for one in sorted(run.checks, key=lambda one: one.id)
        if one.verdict in RED
    ]
    findings: dict[str, list[t.Any]] = {}
    for one in sorted(run.findings, key=lambda one: (one.id, one.check)):
        if one.verdict in RED:
            known = findings.setdefault(one.id, [one.id, one.verdict, clause(one), _kept(one.observed), []])
            known[-1].append(one.check)
    return {"clauses": list(map(list, clauses)), "checks": checks, "findings": list(findings.values())}


def _kept(text: str) -> str:
    return _SCRATCH.sub("nfsproof-000000000000", text[:_LONG])


def unpack(plain: Mapping[str, t.Any]) -> list[CheckRecord | FindingRecord]:
    """The records of what `pack` made."""
    clauses = [RequirementRecord(*one) for one in plain["clauses"]]
    found: list[CheckRecord | FindingRecord] = []
    for name, verdict, clause, what, expected, observed, call, reason, *own in plain["checks"]:
        requirement = None if clause is None else clauses[clause]
        record = CheckRecord(name, verdict, requirement, expected, observed, reason, what=what, call=call)
        record.requirements = [clauses[one] for one in own]
        found.append(record)
    for rule, verdict, clause, observed, checks in plain["findings"]:
        requirement = None if clause is None else clauses[clause]
        found += [FindingRecord(rule, one, verdict, requirement, observed=observed) for one in checks]
    return found


def to_text(plain: Mapping[str, t.Any]) -> str:
    """As JSON with a line for each record, so that changes can be read."""
    parts = []
    for name, rows in plain.items():
        lines = ",\n  ".join(json.dumps(one, ensure_ascii=True) for one in rows)
        parts.append(f' "{name}": [\n  {lines}\n ]' if rows else f' "{name}": []')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def load_seen(file: Path) -> list[CheckRecord | FindingRecord]:
    """The records in a file. Raises OSError and ValueError."""
    return unpack(json.loads(file.read_text(encoding="utf-8")))


@functools.cache
def signatures_in(file: Path) -> frozenset[tuple[str, str]]:
    """Verdict and signature of all that a file has; empty if there is no such file."""
    try:
        return frozenset((one.verdict, signature(one)) for one in load_seen(file))
    except (OSError, ValueError, TypeError, KeyError, IndexError):
        return frozenset()
