# SPDX-License-Identifier: MIT
"""How a client came through faults: the table of a run of a client, from its records."""

from __future__ import annotations

from dataclasses import dataclass, field

from nfsjudge.clients import ERROR, KEY, OUTCOMES, RIGHT, SILENT, STUCK, UNTOUCHED, WRONG, Cell, cell_of
from reports.order import natural
from reports.run import Run

SHORT = {RIGHT: "right", ERROR: "error", STUCK: "stuck", SILENT: "ended", WRONG: "WRONG", UNTOUCHED: "-"}
"""Words for a cell of a table."""
LEGEND = "; ".join(
    f"{SHORT[outcome]}: {meaning}" for outcome, meaning in OUTCOMES.items() if outcome != UNTOUCHED
)


@dataclass(slots=True)
class ClientTable:
    """Plans in the order in which they ran, a row for each with each version; works are columns."""

    rows: list[tuple[str, str]] = field(default_factory=list)
    """(plan, version)."""
    works: list[str] = field(default_factory=list)
    cells: dict[Cell, str] = field(default_factory=dict)
    """A word of `SHORT`; "?" for what was not judged."""
    ids: dict[Cell, str] = field(default_factory=dict)
    """Those of the checks."""

    def row(self, plan: str, version: str) -> list[str]:
        """The cells of a row; empty where a work was not done."""
        return [self.cells.get(Cell(plan, work, version), "") for work in self.works]


def client_table(run: Run) -> ClientTable:
    """The table of a run; without rows if it tested no client."""
    table = ClientTable()
    for check in run.checks:
        cell = cell_of(check.id)
        if cell is None or check.verdict == "UNSUPPORTED":
            continue
        table.ids[cell] = check.id
        outcome = check.observations.get(KEY, "")
        table.cells[cell] = SHORT.get(outcome, "?")
        if cell.work not in table.works:
            table.works.append(cell.work)
        if (cell.plan, cell.version) not in table.rows:
            table.rows.append((cell.plan, cell.version))
    order = list(dict.fromkeys(plan for plan, _ in table.rows))
    table.rows.sort(key=lambda row: (order.index(row[0]), natural(row[1])))
    return table


def table_of(run: Run) -> str:
    """The same as text."""
    table = client_table(run)
    rows = [
        ["plan", "version", *table.works],
        *([plan, version, *table.row(plan, version)] for plan, version in table.rows),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([run.target, *lines, LEGEND])
