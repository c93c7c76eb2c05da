# SPDX-License-Identifier: MIT
"""A run as plain text."""

from __future__ import annotations

from nfsjudge.records import FindingRecord, failure_text
from reports.plain import printable
from reports.run import VERDICTS, Run

_IN_FULL = ("FAIL", "VOID", "NONSTRICT")
_WITH_REASON = ("SKIP", "UNSUPPORTED")


def render_text(run: Run) -> str:
    """The whole report: table, what is not green in full, what was left out with its reason."""
    parts = [_head(run), _table(run)]
    parts += [failure_text(check) for verdict in _IN_FULL for check in run.of_verdict(verdict)]
    parts += [_finding(record, checks) for record, checks in run.rules_broken]
    left_out = [
        f"{check.verdict:<12} {check.id}: {check.reason or 'no reason was recorded'}"
        for verdict in _WITH_REASON
        for check in run.of_verdict(verdict)
    ]
    if left_out:
        parts.append("\n".join(left_out))
    return printable("\n\n".join(parts) + "\n")


def _finding(record: FindingRecord, checks: list[str]) -> str:
    """A rule that the lint found broken: the first time in full, and where else."""
    others = [f"  also in:    {check}" for check in checks if check != record.check]
    return "\n".join([failure_text(record), *others])


def _head(run: Run) -> str:
    lines = [f"target:  {run.target}"]
    if run.about is not None and run.about.started:
        lines.append(f"started: {run.about.started}")
    lines.append(f"ended:   {run.ending}")
    if run.end is not None and run.end.note:
        lines.append(f"finding: {run.end.note}")
    if run.end is not None:
        lines += [f"log:     {log}" for log in run.end.logs]
    return "\n".join(lines)


def _table(run: Run) -> str:
    """Counts per protocol and verdict."""
    names = [*run.protocols, *(["all"] if len(run.protocols) != 1 else [])]
    width = max(len("protocol"), *(len(name) for name in names))
    lines = [f"{'protocol':<{width}}  " + "  ".join(f"{verdict:>{len(verdict)}}" for verdict in VERDICTS)]
    for name in names:
        counts = run.counts(None if name == "all" else name)
        cells = (f"{counts[verdict]:>{len(verdict)}}" for verdict in VERDICTS)
        lines.append(f"{name:<{width}}  " + "  ".join(cells))
    return "\n".join(lines)
