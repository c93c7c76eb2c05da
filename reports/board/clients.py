# SPDX-License-Identifier: MIT
"""The tables of clients under faults, as the board shows them: one for each run of a client."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping, Sequence

from nfsjudge.clients import Cell
from reports.board.safe import visible_line
from reports.clients import LEGEND, client_table
from reports.run import Run


def clients_data(runs: Sequence[Run], numbers: Mapping[str, int]) -> dict[str, t.Any] | None:
    """Works, and rows of cells [word, number of the check], for each run; None if no run tested a client.

    `numbers`: id -> number of a check.
    """
    tables = [client_table(run) for run in runs]
    if not any(table.rows for table in tables):
        return None
    return {
        "legend": LEGEND,
        "tables": [
            {
                "works": [visible_line(work) for work in table.works],
                "rows": [
                    [
                        visible_line(plan),
                        visible_line(version),
                        [
                            [word, numbers.get(table.ids.get(Cell(plan, work, version), ""))]
                            for work, word in zip(table.works, table.row(plan, version), strict=True)
                        ],
                    ]
                    for plan, version in table.rows
                ],
            }
            for table in tables
        ],
    }
