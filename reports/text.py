# SPDX-License-Identifier: MIT
"""A run as plain text."""

from __future__ import annotations

from nfsjudge.reason import with_fields
from nfsjudge.records import FindingRecord, StatisticsRecord, failure_text
from nfsjudge.verdict import VERDICTS
from nfsjudge.wording import count
from reports.causes import causes_of, reasons
from reports.lacking import report_lines
from reports.not_asked import is_not_asked, not_asked, number_of
from reports.plain import printable
from reports.run import Run

_IN_FULL = ("FAIL", "VOID", "NONSTRICT")
_LATENCIES = {"mean ms": "mean", "p50": "p50", "p90": "p90", "p99": "p99", "max": "max"}
_WITH_REASON = ("SKIP", "UNSUPPORTED")


def render_text(run: Run) -> str:
    """The whole report: table, what is not green in full, what was left out with its reason."""
    parts = [_head(run), _table(run)]
    parts += [f"VOID  {number_of(number, 'check')} {reason}" for reason, number in not_asked(run.checks)]
    parts += _causes(run)
    in_full = (check for verdict in _IN_FULL for check in run.of_verdict(verdict))
    parts += [failure_text(check) for check in in_full if not is_not_asked(check)]
    parts += [_finding(record, checks) for record, checks in run.rules_broken]
    left_out = [
        f"{check.verdict:<12} {check.id}: {check.reason or 'no reason was recorded'}"
        for verdict in _WITH_REASON
        for check in run.of_verdict(verdict)
    ]
    if left_out:
        parts.append("\n".join(left_out))
    if run.statistics is not None and run.statistics.procedures:
        parts.append(_statistics(run.statistics))
    return printable("\n\n".join(parts) + "\n")


def _causes(run: Run) -> list[str]:
    """A line for each cause and for each reason."""
    found = [
        f"{cause.verdict:<12} {cause.line}" + (f"  {cause.where}" if cause.checks else "")
        for cause in causes_of(run)
    ]
    why = [f"{reason.verdict:<12} {reason.line}" for reason in reasons(run.checks)]
    parts = ["\n".join([f"causes: {len(found)}", *found])] if found else []
    return parts + (["\n".join([f"reasons: {len(why)}", *why])] if why else [])


def _finding(record: FindingRecord, checks: list[str]) -> str:
    """A rule that the lint found broken: the first time in full, and where else."""
    others = [f"  also in:    {check}" for check in checks if check != record.check]
    return "\n".join([failure_text(record), *others])


def _head(run: Run) -> str:
    lines = [f"target:  {run.target}"]
    if run.about is not None and run.about.started:
        lines.append(f"started: {run.about.started}")
    if run.about is not None and run.about.version:
        lines.append(f"suite:   nfsproof {run.about.version}")
    if run.about is not None and run.about.watched:
        lines.append(f"watched: {run.about.watched}")
    lines.append(f"ended:   {run.ending}")
    if run.about is not None and run.about.capabilities:
        lines += _capabilities(with_fields(run.about.capabilities, run.about.lacking))
    lines += [f"floor:   {text}" for text in run.below_floor]
    if run.rules_summary:
        lines.append(f"lint:    rules broken in the exchanges: {run.rules_summary}")
    lines += [f"killer:  {check.id}" for check in run.checks if check.death == "confirmed"]
    if run.end is not None and run.end.note:
        lines.append(f"finding: {run.end.note}")
    if run.end is not None:
        lines += [f"missing: {text}, which is required" for text in run.end.missing]
        outcome = "these differences" if run.differences else "no difference"
        lines += [f"compared: with the baseline {run.baseline}: {outcome}"] if run.baseline else []
        lines += [f"         {text}" for text in run.differences]
        lines += [f"log:     {log}" for log in run.end.logs]
    return "\n".join(lines)


def _capabilities(capabilities: dict[str, str]) -> list[str]:
    """What the target has, and what it lacks, by reason."""
    has = [name for name, value in capabilities.items() if value == "yes"]
    return [
        f"has:     {', '.join(has) or 'no capability'}",
        *report_lines(capabilities),
    ]


def _table(run: Run) -> str:
    names = [*run.protocols, *(["all"] if len(run.protocols) != 1 else [])]
    width = max(len("protocol"), *(len(name) for name in names))
    lines = [f"{'protocol':<{width}}  " + "  ".join(f"{verdict:>{len(verdict)}}" for verdict in VERDICTS)]
    for name in names:
        counts = run.counts(None if name == "all" else name)
        cells = (f"{counts[verdict]:>{len(verdict)}}" for verdict in VERDICTS)
        lines.append(f"{name:<{width}}  " + "  ".join(cells))
    return "\n".join(lines)


def _statistics(statistics: StatisticsRecord) -> str:
    """Calls as nfsstat tells them, a procedure a line; times in milliseconds."""
    columns = ("procedure", "calls", "share", "retrans", "sent", "received", *_LATENCIES)
    rows = [columns]
    for procedure in statistics.procedures:
        alike = [
            other
            for other in statistics.procedures
            if (other.protocol, other.within) == (procedure.protocol, procedure.within)
        ]
        calls = sum(other.calls for other in alike)
        share = f"{100 * procedure.calls / calls:.0f}%" if calls else ""
        times = [
            f"{procedure.latency[name] * 1000:.3f}" if name in procedure.latency else ""
            for name in _LATENCIES.values()
        ]
        name = f"{procedure.protocol} {'  ' if procedure.within else ''}{procedure.procedure.lower()}"
        numbers = (
            str(procedure.retransmissions),
            in_bytes(procedure.bytes_sent),
            in_bytes(procedure.bytes_received),
        )
        rows.append((name, str(procedure.calls), share, *numbers, *times))
    widths = [max(len(row[at]) for row in rows) for at in range(len(columns))]
    lines = [
        f"{row[0]:<{widths[0]}}" + "".join(f"  {cell:>{widths[at]}}" for at, cell in enumerate(row[1:], 1))
        for row in rows
    ]
    return "\n".join([f"rpc: {totals(statistics)}", *(printable(line.rstrip()) for line in lines)])


def totals(statistics: StatisticsRecord) -> str:
    """All calls in one line."""
    rows = [procedure for procedure in statistics.procedures if not procedure.within]
    calls, replies = sum(row.calls for row in rows), sum(row.replies for row in rows)
    resent = sum(row.retransmissions for row in rows)
    sent, received = sum(row.bytes_sent for row in rows), sum(row.bytes_received for row in rows)
    return (
        f"{count(calls, 'call')}, {calls - replies} without a reply, {count(resent, 'retransmission')}, "
        f"{in_bytes(sent)} sent, {in_bytes(received)} received"
    )


def in_bytes(number: int) -> str:
    """A number of bytes in a few characters: ``812``, ``1.2 K``, ``34 M``."""
    size = float(number)
    for unit in ("", " K", " M", " G"):
        if size < 1000 or unit == " G":
            return f"{size:.0f}{unit}" if size >= 10 or not unit else f"{size:.1f}{unit}"
        size /= 1000
    raise AssertionError
