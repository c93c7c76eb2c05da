# SPDX-License-Identifier: MIT
"""The part of a transcript that a reader needs first, where the whole does not fit."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Sequence

from reports.plain import shortened

_HEAD = re.compile(r"(?:#\d+|-) ")
"""How the first line of an exchange begins, and of what passed besides."""
_MARK = "<-- "
_BEFORE, _AFTER = 16, 4
"""Lines around one that deviates."""
_MARKS = 3
"""Deviating lines that are shown with those around them."""
_LAST = 30
"""Lines of the last exchange, where none is marked."""
_WIDTH = 120


def excerpt(transcript: Sequence[str], room: int) -> str:
    """At most `room` characters: what deviates with the lines around it (else the last exchange), and of the other
    exchanges a line each, the nearest first. Three dots stand for what is left out.
    """
    heads = [number for number, line in enumerate(transcript) if _HEAD.match(line)]
    core = _core(transcript, heads)
    kept = set(core)
    room_left = room - sum(min(len(transcript[place]), _WIDTH) + 8 for place in core)
    for head in sorted(set(heads) - kept, key=lambda head: abs(head - min(core, default=0))):
        room_left -= min(len(transcript[head]), _WIDTH) + 8
        if room_left < 0:
            break
        kept.add(head)
    left_out = [head for head in heads if head not in kept]
    known = set(heads)
    lines: list[str] = []
    last = -1
    for number in sorted(kept):
        if bisect(left_out, last) < bisect(left_out, number):
            lines.append("...")
        elif number > last + 1 and number not in known:
            lines.append("      ...")
        lines.append(shortened(transcript[number], _WIDTH))
        last = number
    if last + 1 < len(transcript):
        lines.append("...")
    return shortened("\n".join(lines), room)


def excerpt_lines(transcript: Sequence[str], most: int) -> list[str]:
    """At most `most` lines: the first one that deviates with those around it; else the last exchange."""
    marks = [number for number, line in enumerate(transcript) if _MARK in line]
    heads = [number for number, line in enumerate(transcript) if _HEAD.match(line)]
    if marks:
        head = max((head for head in heads if head <= marks[0]), default=0)
        end = min((head for head in heads if head > marks[0]), default=len(transcript))
        first = max(head + 1, marks[0] - max(1, most - 5))
    else:
        head = heads[-1] if heads else 0
        end, first = len(transcript), head + 1
    skips = ["      ..."] if first > head + 1 else []
    last = min(end, first + most - 1 - len(skips))
    last -= 1 if last < end else 0
    more = ["      ..."] if last < end else []
    shown = [transcript[head], *skips, *transcript[first:last], *more]
    return [shortened(line, _WIDTH) for line in shown[:most]]


def _core(transcript: Sequence[str], heads: Sequence[int]) -> list[int]:
    """Numbers of the lines that have to be there."""
    marks = [number for number, line in enumerate(transcript) if _MARK in line][:_MARKS]
    if not marks:
        first = heads[-1] if heads else 0
        return list(range(first, min(first + _LAST, len(transcript))))
    found: set[int] = set()
    for mark in marks:
        first = max((head for head in heads if head <= mark), default=0)
        end = min((head for head in heads if head > mark), default=len(transcript))
        found |= {first, *range(max(first, mark - _BEFORE), min(mark + _AFTER + 1, end))}
    return sorted(found)
