# SPDX-License-Identifier: MIT
"""What the proxy shows: a live table on a terminal, lines elsewhere."""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Iterator

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from fixtures.proxy_watch import Watch
from nfsclient.protocol.registry import programs, protocol_of_version
from nfsfaults.matcher import Matcher
from nfsfaults.messages import Kind
from nfsfaults.plan import Firing
from nfsjudge.wording import count
from reports.plain import printable

_MOST_LINES: t.Final = 200
"""Firings, and troubles, that get a line each; the rest is counted."""
_MOST_ROWS: t.Final = 20
"""Procedures in the table, the most frequent ones."""
_REFRESHES: t.Final = 2
"""In a second."""


class View:
    """Shows a proxy until it is closed."""

    def __init__(self, matcher: Matcher, watch: Watch, began: float) -> None:
        self._matcher = matcher
        self._watch = watch
        self._began = began
        self._console = Console(highlight=False, soft_wrap=True)
        self._live: Live | None = None
        self._lines: Counter[str] = Counter()
        if self._console.is_terminal:
            self._live = Live(
                get_renderable=self._tables,
                console=self._console,
                refresh_per_second=_REFRESHES,
                transient=True,
            )

    def start(self) -> None:
        """Paint from now on."""
        if self._live is not None:
            self._live.start()

    def close(self) -> None:
        """Leave the last state on the screen."""
        if self._live is not None:
            self._live.stop()
        self._console.print(self._tables())
        for line in self._rest():
            self.say(line)

    def say(self, line: str) -> None:
        """A line above the table."""
        self._console.print(Text(printable(line)))

    def fired(self, firing: Firing) -> None:
        """A rule has acted."""
        self._limited("firings", f"{firing.at - self._began:8.3f} s  {firing.rule.label}: {firing.message}")

    def trouble(self, line: str) -> None:
        """Something went wrong around the proxy."""
        self._limited("troubles", line)

    def _limited(self, kind: str, line: str) -> None:
        self._lines[kind] += 1
        if self._lines[kind] <= _MOST_LINES:
            self.say(line)
        elif self._lines[kind] == _MOST_LINES + 1:
            self.say(f"more {kind} are counted only")

    def _tables(self) -> Group:
        parts = [_passed_table(dict(self._matcher.passed))]
        if self._matcher.plan.rules:
            parts.append(_rules_table(self._matcher))
        return Group(*parts)

    def _rest(self) -> Iterator[str]:
        for rule in self._matcher.unfired:
            yield f"never acted: {rule.label}"
        if self._lines["troubles"] > _MOST_LINES:
            yield f"{self._lines['troubles'] - _MOST_LINES} troubles were not shown"
        if self._watch.packets:
            yield f"{count(self._watch.packets, 'packet')}"


def _passed_table(passed: dict[tuple[Kind, int, int, int], int]) -> Table:
    rows: dict[tuple[int, int, int], dict[str, int]] = {}
    for (kind, program, version, procedure), number in passed.items():
        rows.setdefault((program, version, procedure), {})[kind] = number
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("came")
    table.add_column("calls", justify="right")
    table.add_column("replies", justify="right")
    ordered = sorted(rows.items(), key=lambda row: (-sum(row[1].values()), row[0]))
    for key, numbers in ordered[:_MOST_ROWS]:
        table.add_row(_name(*key), str(numbers.get("call", 0)), str(numbers.get("reply", 0)))
    left = [numbers for _, numbers in ordered[_MOST_ROWS:]]
    if left:
        calls, replies = (sum(counts.get(kind, 0) for counts in left) for kind in ("call", "reply"))
        table.add_row(f"{len(left)} others", str(calls), str(replies))
    if not ordered:
        table.add_row("nothing yet", "0", "0")
    return table


def _rules_table(matcher: Matcher) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("rule")
    table.add_column("matched", justify="right")
    table.add_column("acted", justify="right")
    for index, rule in enumerate(matcher.plan.rules):
        table.add_row(Text(printable(rule.label)), str(matcher.seen[index]), str(matcher.fired[index]))
    return table


def _name(program: int, version: int, procedure: int) -> str:
    """``NFS version 3 READ``."""
    if not program:
        return "replies to unknown calls"
    protocol = protocol_of_version(program, version)
    if protocol is None:
        return f"program {program} version {version} procedure {procedure}"
    operation = programs()[program, version].by_number.get(procedure)
    word = operation.name if operation else f"procedure {procedure}"
    return f"{protocol.family or protocol.name} version {version} {word}"
