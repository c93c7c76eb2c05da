# SPDX-License-Identifier: MIT
"""A failure text in a few lines: what was broken, and the lines of the exchange around it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from nfsjudge.records import CheckRecord, FindingRecord, failure_text
from reports.excerpt import excerpt_lines
from reports.plain import shortened

MOST = 25
"""Lines of one text."""
_LEAST = 6
"""Lines of a transcript that say something."""
_WIDTH = 200
_DISPENSABLE = ("  noted:", "  elsewhere:", "              ", "  call:")
"""What goes first if there is no room, in this order; the indented line is the gist of the clause."""


def brief(record: CheckRecord | FindingRecord, room: int = MOST) -> list[str]:
    """At most `room` lines, 5 at least: the last one is the command that runs the check again."""
    head = failure_text(dataclasses.replace(record, transcript=[])).splitlines()
    *head, last = [shortened(line, _WIDTH) for line in head]
    for start in _DISPENSABLE:
        while len(head) + 1 > room and (found := _last_with(head, start)) is not None:
            del head[found]
    head = head[: max(room - 1, 1)]
    left = room - len(head) - 1
    if record.transcript and left > _LEAST:
        lines = excerpt_lines(record.transcript, left - 1)
        head += ["  exchange:", *(f"    {line}" for line in lines)]
    return [*head, last]


def _last_with(lines: Sequence[str], start: str) -> int | None:
    found = [number for number, line in enumerate(lines) if number and line.startswith(start)]
    return found[-1] if found else None
