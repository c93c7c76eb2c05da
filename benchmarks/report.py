# SPDX-License-Identifier: MIT
"""The results as a table for people and as JSON for programs."""

from __future__ import annotations

import os
import platform
import subprocess
import typing as t
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.rounds import Result, Row

_HEADINGS = ("client", "rate", "", "ours/client", "CPU µs/op", "gate", "", "goal", "")


def table(results: Iterable[Result]) -> str:
    return "\n".join(_block(result) for result in results)


def _block(result: Result) -> str:
    lines = [result.operation.title + f"  [{result.operation.id}]"]
    lines += _aligned([_HEADINGS, *(_cells(row) for row in result.rows)])
    lines += [f"    left out: {label}: {reason}" for label, reason in result.left_out.items()]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> tuple[str, ...]:
    aim, ratio = row.aim, row.ratio
    goal = {None: "", True: "reached", False: "not yet"}[row.reaches_goal]
    return (
        row.label,
        _number(row.rate),
        row.unit,
        "" if ratio is None else f"{ratio:.2f}",
        f"{row.cpu:.1f}",
        "" if aim is None or aim.gate is None else f"{aim.gate:.2f}",
        row.verdict,
        "" if aim is None or aim.goal is None else f"{aim.goal:.2f}",
        goal,
    )


def _number(rate: float) -> str:
    return f"{rate / 1e3:,.1f} k" if rate >= 10_000 else f"{rate:,.0f}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    left = {0, 2, 6, 8}
    made = []
    for row in rows:
        cells = (
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        made.append("    " + "  ".join(cells).rstrip())
    return made


def taken_now() -> dict[str, t.Any]:
    """When a run begins, of which commit, and how busy the machine is."""
    asked = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        commit = done.stdout.strip()
    except OSError:
        commit = ""
    today = datetime.now(UTC).date().isoformat()
    return {"date": today, "commit": commit or "unknown", "load": round(os.getloadavg()[0], 1)}


def _processor() -> str:
    """The model of the processor, where Linux says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, "") or platform.processor() or platform.machine()


def as_json(
    results: Iterable[Result],
    settings: dict[str, t.Any],
    versions: dict[str, str],
    taken: dict[str, t.Any],
) -> dict[str, t.Any]:
    """Everything that was measured, each round of it."""
    return {
        "machine": {
            "processor": _processor(),
            "processors": os.cpu_count() or 1,
            "kernel": platform.release(),
            "python": platform.python_version(),
        },
        "taken": taken,
        "versions": versions,
        "settings": settings,
        "operations": [
            {
                "id": result.operation.id,
                "title": result.operation.title,
                "unit": result.operation.unit,
                "outstanding": result.operation.window,
                "clients": [_row_as_json(row) for row in result.rows],
                "left_out": result.left_out,
            }
            for result in results
        ],
    }


def _row_as_json(row: Row) -> dict[str, t.Any]:
    return {
        "client": row.label,
        "rate": row.rate,
        "rates": row.rates,
        "cpu_us_per_operation": row.cpu,
        "ratio": row.ratio,
        "ratios": row.ratios,
        "gate": row.aim.gate if row.aim else None,
        "gate_verdict": row.verdict or None,
        "goal": row.aim.goal if row.aim else None,
        "goal_reached": row.reaches_goal,
    }


def summary(results: Sequence[Result]) -> str:
    """How many gates hold and goals are reached, and every gate that does not hold."""
    rows = [(result, row) for result in results for row in result.rows]
    gated = [(result, row) for result, row in rows if row.aim is not None and row.verdict]
    met = sum(row.verdict == "holds" for _, row in gated)
    aimed = [row.reaches_goal for _, row in rows if row.reaches_goal is not None]
    lines = [f"gates: {met} of {len(gated)} hold; goals: {sum(aimed)} of {len(aimed)} are reached"]
    for result, row in gated:
        if row.verdict != "holds" and row.aim is not None:
            standing = f"{row.ratio:.2f}, gate {row.aim.gate:.2f} {row.verdict}"
            lines.append(f"    {result.operation.id} against {row.label}: {standing}")
    return "\n".join(lines)


def failures(results: Iterable[Result]) -> int:
    """Gates missed beyond the tolerance."""
    return sum(row.verdict == "FAILS" for result in results for row in result.rows)
