# SPDX-License-Identifier: MIT
"""Frames of a capture that are counted, with the numbers of the first ones: what a person looks up in Wireshark."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

_SHOWN: t.Final = 5


@dataclass(slots=True)
class Frames:
    """How many frames, and the numbers of the first and the last."""

    count: int = 0
    first: list[int] = field(default_factory=list)
    last: int = 0

    def add(self, number: int) -> None:
        """One more frame."""
        if number == self.last:
            return
        self.count += 1
        self.last = number
        if len(self.first) < _SHOWN:
            self.first.append(number)

    def join(self, other: Frames) -> None:
        """All of another set, which has none of these frames."""
        self.count += other.count
        self.first = sorted([*self.first, *other.first])[:_SHOWN]
        self.last = max(self.last, other.last)

    def __bool__(self) -> bool:
        return self.count > 0

    def __str__(self) -> str:
        """``frame 4``, or ``frames 4, 6 and 9``, or ``frames 4, 6, 9, 10, 12 and 30 more up to 99``."""
        *before, latest = [str(number) for number in self.first] or ["none"]
        more = self.count - len(self.first)
        if more:
            return f"frames {', '.join([*before, latest])} and {more} more up to {self.last}"
        return f"frames {', '.join(before)} and {latest}" if before else f"frame {latest}"
