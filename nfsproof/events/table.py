# SPDX-License-Identifier: MIT
"""What an event shows while it goes on, and at its end: a table on a terminal, lines elsewhere."""

from __future__ import annotations

import time
import typing as t
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

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


def table(runs: Sequence[TargetRun], *, is_final: bool) -> Table:
    """A line for each target."""
    from fixtures.pace import roughly

    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("target", no_wrap=True, max_width=30)
    for verdict, style in _VERDICTS.items():
        grid.add_column(verdict, justify="right", style=style, no_wrap=True)
    grid.add_column(
        "" if is_final else "done", no_wrap=not is_final, overflow="fold" if is_final else "ellipsis"
    )
    for run in runs:
        counts = [str(run.counts.get(verdict) or "·") for verdict in _VERDICTS]
        if is_final or run.is_over:
            state = run.remark
        elif run.state in {"runs", "ends"} and run.total:
            percent = run.done * 100 // run.total
            state = "  ".join(
                one for one in (f"{percent} %", run.remark, roughly(run.left), run.running) if one
            )
        else:
            state = run.state
        grid.add_row(Text(printable(run.entry.name)), *counts, Text(printable(state)))
    return grid


class Display(t.Protocol):
    """Shows the runs while they go on."""

    def show(self, runs: Sequence[TargetRun]) -> None:
        """Show how far they are."""

    def close(self) -> None:
        """Nothing more comes."""


class LiveDisplay:
    """The table, painted over, at most four times a second and by no thread."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stderr=False)
        self._live.start()

    def show(self, runs: Sequence[TargetRun]) -> None:
        """Paint it."""
        self._live.update(table(runs, is_final=False), refresh=True)

    def close(self) -> None:
        """Take it away."""
        self._live.stop()


class PlainDisplay:
    """Lines: when a run begins and ends, and now and then between."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._clock = clock
        self._states: dict[str, str] = {}
        self._told: dict[str, float] = {}

    def show(self, runs: Sequence[TargetRun]) -> None:
        """Tell what is new."""
        now = self._clock()
        for run in runs:
            name = run.entry.name
            if self._states.get(name, "waits") != run.state:
                self._states[name], self._told[name] = run.state, now
                self._say(_line(run))
            elif run.state == "runs" and now - self._told[name] >= _PLAIN_INTERVAL:
                self._told[name] = now
                self._say(_line(run))

    def close(self) -> None:
        """There is nothing to take away."""


def _line(run: TargetRun) -> str:
    counts = ", ".join(f"{verdict} {run.counts[verdict]}" for verdict in _VERDICTS if run.counts.get(verdict))
    done = f"{run.done} of {run.total} checks" if run.total else ""
    parts = "; ".join(one for one in (done, counts, run.remark) if one)
    return printable(f"{run.entry.name}: {run.state}{': ' if parts else ''}{parts}")
