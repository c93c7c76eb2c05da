# SPDX-License-Identifier: MIT
"""What an event shows while it goes on, and at its end: a table on a terminal, lines elsewhere."""

from __future__ import annotations

import time
import typing as t
from collections.abc import Callable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from nfsjudge.wording import count
from nfsproof.events.runs import TargetRun
from reports.plain import printable

_PLAIN_INTERVAL = 15.0
_VERDICTS = {
    "PASS": "green",
    "UNSUPPORTED": "cyan",
    "SKIP": "cyan",
    "NONSTRICT": "yellow",
    "VOID": "magenta",
    "FAIL": "red",
}


_ALWAYS = ("PASS", "FAIL")
_ROOM = 16
"""Columns that what a run is at should have."""


def table(runs: Sequence[TargetRun], width: int, *, is_final: bool) -> Table:
    """A line for each target, in `width` columns: names and counts, and what it is at as far as there is room."""
    names = min(max([6, *(cell_len(printable(run.entry.name)) for run in runs)]), max(30, width) // 4)
    headers, rest = _headers(runs, width - names)
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("target", no_wrap=True, width=names)
    for verdict, header in headers.items():
        grid.add_column(
            header, justify="right", style=_VERDICTS[verdict], no_wrap=True, width=max(4, len(header))
        )
    grid.add_column(
        "" if is_final else "done",
        no_wrap=not is_final,
        overflow="fold" if is_final else "ellipsis",
        max_width=rest,
    )
    for run in runs:
        counts = [str(run.counts.get(verdict) or "·") for verdict in headers]
        state = run.remark if is_final else _state(run)
        grid.add_row(Text(printable(run.entry.name)), *counts, Text(printable(state)))
    return grid


def _headers(runs: Sequence[TargetRun], width: int) -> tuple[dict[str, str], int]:
    """Verdict -> header of its column, and the columns that are left: all in words, or what there is room for."""
    whole = {verdict: verdict for verdict in _VERDICTS}
    short = {verdict: verdict if len(verdict) <= 4 else f"{verdict[:3]}." for verdict in _VERDICTS}
    came_up = {
        v: heading for v, heading in short.items() if v in _ALWAYS or any(run.counts.get(v) for run in runs)
    }
    main = {v: heading for v, heading in came_up.items() if v in {*_ALWAYS, "VOID"}}
    for headers in (whole, short, came_up, main):
        rest = width - 2 - sum(len(header) + 2 for header in headers.values())
        if rest >= _ROOM:
            break
    return headers, max(4, rest)


def _state(run: TargetRun) -> str:
    from fixtures.plugin.pace import roughly

    if run.is_over:
        return run.remark
    if run.state not in {"runs", "ends"} or not run.total:
        return run.state
    percent = run.done * 100 // run.total
    return "  ".join(text for text in (f"{percent} %", run.remark, roughly(run.left), run.running) if text)


class Display(t.Protocol):
    """Shows the runs while they go on."""

    def show(self, runs: Sequence[TargetRun]) -> None:
        """Show how far they are."""

    def close(self) -> None:
        """Nothing more comes."""


class LiveDisplay:
    """The table, painted over, at most four times a second and by no thread."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stderr=False)
        self._live.start()

    def show(self, runs: Sequence[TargetRun]) -> None:
        self._live.update(table(runs, self._console.width, is_final=False), refresh=True)

    def close(self) -> None:
        self._live.stop()


class PlainDisplay:
    """Lines: when a run begins and ends, and now and then between."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._clock = clock
        self._states: dict[str, str] = {}
        self._printed_at: dict[str, float] = {}

    def show(self, runs: Sequence[TargetRun]) -> None:
        now = self._clock()
        for run in runs:
            name = run.entry.name
            if self._states.get(name, "waits") != run.state:
                self._states[name], self._printed_at[name] = run.state, now
                self._say(_line(run))
            elif run.state == "runs" and now - self._printed_at[name] >= _PLAIN_INTERVAL:
                self._printed_at[name] = now
                self._say(_line(run))

    def close(self) -> None:
        """There is nothing to take away."""


def _line(run: TargetRun) -> str:
    counts = ", ".join(f"{verdict} {run.counts[verdict]}" for verdict in _VERDICTS if run.counts.get(verdict))
    done = f"{run.done} of {count(run.total, 'check')}" if run.total else ""
    parts = "; ".join(text for text in (done, counts, run.remark) if text)
    return printable(f"{run.entry.name}: {run.state}{': ' if parts else ''}{parts}")
