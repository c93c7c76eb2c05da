# SPDX-License-Identifier: MIT
"""Tables of papers with our numbers next to theirs, as text and as Markdown."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence

from reports.plain import printable
from reports.workloads.wording import UNKNOWN
from workloads.papers.filling import Cell, Filled, FilledRow
from workloads.papers.model import Column, Kind, Paper

_UNEXPLAINED = "?"


class _Notes:
    """Reasons by letters, each once."""

    def __init__(self) -> None:
        self.letters: dict[str, str] = {}

    def mark(self, cell: Cell) -> str:
        """What stands at the quotient of a cell."""
        if not cell.is_off:
            return ""
        if not cell.reason:
            return f" [{_UNEXPLAINED}]"
        letters = string.ascii_lowercase
        return f" [{self.letters.setdefault(cell.reason, letters[len(self.letters) % len(letters)])}]"

    def lines(self, filled: Filled) -> Iterator[str]:
        """The reasons, and what is not known."""
        yield from (f"[{letter}] {text}" for text, letter in self.letters.items())
        if filled.unexplained:
            yield f"[{_UNEXPLAINED}] no reason is known"
        for column, why in filled.lacking.items():
            yield f"{column}: {why}"


def table_text(filled: Filled) -> str:
    """A table for the terminal."""
    notes = _Notes()
    shown = _shown(filled)
    heads = ["", *(head for _, heads in shown for head in heads)]
    rows = [[_row_name(row), *_cells(row, shown, notes)] for row in filled.rows]
    lines = [
        f"{filled.table.name}: {filled.table.title}",
        *_header(shown, [heads, *rows]),
        *notes.lines(filled),
    ]
    return printable("\n".join([*lines, *([filled.table.note] if filled.table.note else [])]) + "\n")


_Shown = Sequence[tuple[Column, tuple[str, ...]]]


def _shown(filled: Filled) -> _Shown:
    """The numbers of each column: the paper's, ours and their quotient, as far as there are any."""
    return [
        (
            column,
            (filled.table.theirs, filled.table.ours, "ratio")
            if _has_paper(filled, at)
            else (filled.table.ours,),
        )
        for at, column in enumerate(filled.table.columns)
    ]


def _has_paper(filled: Filled, at: int) -> bool:
    return any(row.cells[at].paper is not None for row in filled.rows)


def _header(shown: _Shown, rows: Sequence[Sequence[str]]) -> list[str]:
    """Names of columns in the middle above their numbers; they make the last number wider if they must."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    line, at = " " * widths[0], 1
    for column, heads in shown:
        width = sum(widths[at : at + len(heads)]) + 2 * len(heads) - 2
        if len(column.name) > width:
            widths[at] += len(column.name) - width
            width = len(column.name)
        line += f"  {column.name:^{width}}"
        at += len(heads)
    body = [
        (
            f"{row[0]:<{widths[0]}}" + "".join(f"  {cell:>{widths[n]}}" for n, cell in enumerate(row[1:], 1))
        ).rstrip()
        for row in rows
    ]
    return [line.rstrip(), *body]


def _row_name(row: FilledRow) -> str:
    if row.row.kind is Kind.SHARE:
        return f"{row.row.name} (% of all calls)"
    return f"{row.row.name} ({row.row.kind}, {row.base} = 1)" if row.row.kind.is_relative else row.row.name


def _cells(row: FilledRow, shown: _Shown, notes: _Notes) -> Iterator[str]:
    for cell, (_, heads) in zip(row.cells, shown, strict=True):
        if len(heads) > 1:
            yield _number(cell.paper, cell.kind)
        yield _number(cell.ours, cell.kind)
        if len(heads) > 1:
            yield (UNKNOWN if cell.ratio is None else f"{cell.ratio:.2f}") + notes.mark(cell)


def _number(value: float | None, kind: Kind) -> str:
    if value is None:
        return UNKNOWN
    if kind.is_relative:
        return f"{value:.2f}"
    if kind is Kind.VALUE:
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


def paper_markdown(
    paper: Paper, by_target: Mapping[str, Sequence[Filled]], pictures: Mapping[str, str] | None = None
) -> str:
    """All tables of a paper as Markdown, each with a part for each target; `pictures`: where those of figures are."""
    parts = [f"## {paper.title}"]
    for at, table in enumerate(paper.tables):
        parts.append(f"### {table.name.capitalize()}: {table.title}")
        if table.note:
            parts.append(table.note)
        for target, tables in by_target.items():
            parts += [f"#### On {target}", *_markdown(tables[at])]
    for figure in paper.figures:
        if pictures and figure.name in pictures:
            title = f"{figure.name.capitalize()}: {figure.title}"
            parts += [
                f"### {title}",
                *([figure.note] if figure.note else []),
                f"![{title}]({pictures[figure.name]})",
            ]
    return printable("\n\n".join(parts) + "\n")


def _markdown(filled: Filled) -> Iterator[str]:
    notes, shown = _Notes(), _shown(filled)
    heads = ["", *(f"{column.name}: {each}" for column, heads in shown for each in heads)]
    lines = [_line(heads), _line(["---", *["--:"] * (len(heads) - 1)])]
    for row in filled.rows:
        name = _row_name(row) + (f"; paper: {row.row.note}" if row.row.note else "")
        lines.append(_line([name, *_cells(row, shown, notes)]))
    yield "\n".join(lines)
    if remarks := list(notes.lines(filled)):
        yield "\n".join(f"- {text}" for text in remarks)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
