# SPDX-License-Identifier: MIT
"""Two runs side by side: what one has mended or broken since the other."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reports.baseline.gate import Seen, seen_in
from reports.run import Run


class Change(StrEnum):
    """What happened to a check from one run to another, worst first."""

    BROKEN = "broken"
    OTHER_VERDICT = "other verdict"
    OTHER_SYMPTOM = "other symptom"
    GONE = "gone"
    NEW = "new"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class Changed:
    """A check that is not the same in both runs."""

    change: Change
    id: str
    before: Seen | None
    after: Seen | None

    def __str__(self) -> str:
        before = self.before.verdict if self.before is not None else "not there"
        after = self.after.verdict if self.after is not None else "not there"
        text = self.after.text if self.after is not None else ""
        first = text.splitlines()[0][:160] if text else ""
        return f"{self.change}: {self.id}: {before} -> {after}{f'  {first}' if first else ''}"


_GREEN = frozenset({"PASS"})
_RED = frozenset({"FAIL", "VOID", "NONSTRICT"})


def _change(before: Seen | None, after: Seen | None) -> Change | None:
    if before is None or after is None:
        return Change.NEW if before is None else Change.GONE
    if before.verdict == after.verdict:
        is_other = before.verdict in _RED and before.text != after.text
        return Change.OTHER_SYMPTOM if is_other else None
    if after.verdict in _GREEN:
        return Change.FIXED
    if before.verdict not in _RED and after.verdict in _RED:
        return Change.BROKEN
    return Change.OTHER_VERDICT


def _seen(run: dict[str, Seen], one: str) -> Seen | None:
    """A rule of the lint that was not broken has left no record: it is held."""
    return run.get(one, Seen(one, "PASS", "") if one.startswith("lint/") else None)


def compare(before: Run, after: Run) -> list[Changed]:
    """What differs, worst first, then in order of id. The rules of the lint count as checks."""
    first, second = seen_in(before), seen_in(after)
    found = []
    for one in sorted(first.keys() | second.keys()):
        pair = _seen(first, one), _seen(second, one)
        change = _change(*pair)
        if change is not None:
            found.append(Changed(change, one, *pair))
    order = list(Change)
    return sorted(found, key=lambda one: (order.index(one.change), one.id))
