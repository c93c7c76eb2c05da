# SPDX-License-Identifier: MIT
"""Our numbers next to those of a paper: cell by cell, with the quotient and the reasons."""

from __future__ import annotations

import statistics
import typing as t
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workloads.papers.model import TOLERANCE, Column, Kind, Plan, Row, Table
from workloads.result import GRANTED, Result

_FEW = 0.25
"""Delegations for each OPEN: below it, a table with delegations says that there were few."""
_NOTHING_IS_LOCAL = "The server granted no delegation: all goes to the server, and nothing is recalled."
_ONLY_COUNTS = "what was counted stands here, without times"
"""Of a run that did all its work with right data, and broke a rule of the lint: what is fast and wrong has no time."""
_LITTLE_IS_LOCAL = "The server granted few delegations: what it granted none for goes to it."
Measured = Mapping[t.Any, "Sequence[t.Any] | str"]
"""The results, or studies, of each plan; or why there are none."""


@dataclass(frozen=True)
class Cell:
    """A number of the paper, ours, and how many times ours is the paper's."""

    kind: Kind
    paper: float | None
    ours: float | None
    """Of relative rows: divided by the base column of the same side. None: not measured."""
    reason: str = ""
    """Why ours differs, if it does by more than `TOLERANCE`."""

    @property
    def ratio(self) -> float | None:
        """None where one side has no number or is negative, or the paper's is 0."""
        if self.ours is None or self.paper is None or self.ours < 0 or self.paper <= 0:
            return None
        return self.ours / self.paper

    @property
    def is_off(self) -> bool:
        """Whether a count needs a reason. Times need none: they are of other machines."""
        if not self.kind.is_count or self.paper is None or self.ours is None:
            return False
        return abs(self.ours - self.paper) > TOLERANCE * self.paper


@dataclass(frozen=True)
class FilledRow:
    """A row with a cell for each column."""

    row: Row
    cells: tuple[Cell, ...]
    base: str
    """The column by which a relative row is divided."""


@dataclass(frozen=True)
class Filled:
    """A table with the numbers of both sides."""

    table: Table
    rows: tuple[FilledRow, ...]
    lacking: dict[str, str]
    """Why a column has no numbers of nfsproof, or what else must be known of them."""

    @property
    def unexplained(self) -> list[str]:
        """Cells that are off and have no reason: ``ROW, COLUMN: expected N, got M``."""
        return [
            f"{filled.row.name}, {column.name}: the paper has {cell.paper:g}, and here are {cell.ours:g}"
            for filled in self.rows
            for column, cell in zip(self.table.columns, filled.cells, strict=True)
            if cell.is_off and not cell.reason
        ]


def fill(table: Table, measured: Measured) -> Filled:
    """The table with medians of what was measured. A plan that is not in `measured` was not run."""
    found = [_results(column, measured) for column in table.columns]
    results: list[Sequence[t.Any]] = [each if not isinstance(each, str) else () for each in found]
    references = [
        measured.get(column.reference, "not run") if column.reference else () for column in table.columns
    ]
    lacking = {
        column.name: each for column, each in zip(table.columns, found, strict=True) if isinstance(each, str)
    }
    for column, each in zip(table.columns, results, strict=True):
        if red := _broken_rules(each):
            lacking[column.name] = f"{red}; {_ONLY_COUNTS}"
    for column, of in zip(table.columns, references, strict=True):
        if isinstance(of, str):
            lacking[column.name] = f"{table.theirs}: {of}"
    short: dict[str, str] = {}
    """Columns with fewer delegations than the paper's -> why that is more calls."""
    for column, each in zip(table.columns, results, strict=True):
        is_delegated = isinstance(column.plan, Plan) and column.plan.policy == "delegated"
        missing = _missing_delegations(each) if is_delegated else None
        if missing is not None and column.name not in lacking:
            lacking[column.name], short[column.name] = missing
    theirs = [() if isinstance(of, str) else of for of in references]
    rows = (_fill_row(table, row, results, theirs, short) for row in table.rows)
    return Filled(table, tuple(row for row in rows if not _is_empty(table, row)), lacking)


def _broken_rules(runs: Sequence[t.Any]) -> str:
    """The verdict and the reasons of the first run that is not PASS; nothing if all are. A study is."""
    results = (run for run in runs if isinstance(run, Result))
    return next((f"{run.verdict}: {'; '.join(run.reasons)}" for run in results if run.reasons), "")


def _missing_delegations(runs: Sequence[t.Any]) -> tuple[str, str] | None:
    """That the server granted no delegation, or few, and what follows. Linux grants as many as it has memory for."""
    granted = sum(run.events.get(GRANTED, 0) for run in runs)
    opens = sum(run.calls.get("OPEN", 0) for run in runs)
    if runs and not granted:
        return "the server granted no delegation", _NOTHING_IS_LOCAL
    if granted < _FEW * opens:
        return f"the server granted {granted} delegations for {opens} OPENs", _LITTLE_IS_LOCAL
    return None


def _is_empty(table: Table, row: FilledRow) -> bool:
    """Whether a row has nothing to say: no side has anything of it, and no paper has printed it."""
    is_measured = any(column.reference is not None for column in table.columns)
    return is_measured and not any(cell.paper or cell.ours for cell in row.cells)


def _results(column: Column, measured: Measured) -> Sequence[t.Any] | str:
    if column.computed is not None:
        return (column.computed,)
    if column.plan is None:
        return column.lacking
    return measured.get(column.plan, "not run")


def _fill_row(
    table: Table,
    row: Row,
    results: Sequence[Sequence[t.Any]],
    references: Sequence[Sequence[t.Any]],
    short: Mapping[str, str],
) -> FilledRow:
    if row.kind.is_relative:
        results = [() if _broken_rules(each) else each for each in results]
    ours = [_median(row, each) for each in results]
    paper: Sequence[float | None] = [
        _median(row, each) if each else printed for each, printed in zip(references, row.paper, strict=True)
    ]
    base = _base(table, row, ours)
    if row.kind.is_relative:
        ours, paper = _relative(ours, base), _relative(paper, base)
    cells = []
    for column, theirs, mine in zip(table.columns, paper, ours, strict=True):
        cell = Cell(row.kind, theirs, mine)
        if cell.is_off:
            more_calls = short.get(column.name)
            texts = [
                reason.text
                for reason in table.reasons
                if reason.holds(row.name, column.name) and not (more_calls and reason.needs_delegations)
            ]
            if more_calls and (not texts or (mine or 0) > (theirs or 0)):
                texts.insert(0, more_calls)
            cell = Cell(row.kind, theirs, mine, " ".join(texts))
        cells.append(cell)
    return FilledRow(row, tuple(cells), table.columns[base].name)


def _median(row: Row, runs: Sequence[t.Any]) -> float | None:
    """Of those that have this number."""
    known = [number for number in map(row.measure, runs) if number is not None]
    return statistics.median(known) if known else None


def _base(table: Table, row: Row, ours: Sequence[float | None]) -> int:
    """The base column of the table; if a server has no numbers for it, the first that both sides have, or ours."""
    if ours[table.base]:
        return table.base
    both = [at for at, (theirs, mine) in enumerate(zip(row.paper, ours, strict=True)) if theirs and mine]
    return next((at for at in (*both, *(at for at, mine in enumerate(ours) if mine))), table.base)


def _relative(values: Sequence[float | None], base: int) -> list[float | None]:
    divisor = values[base]
    return [value / divisor if value is not None and divisor else None for value in values]
