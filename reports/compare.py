# SPDX-License-Identifier: MIT
"""Compares two runs: what is fixed or broken."""

from __future__ import annotations

from dataclasses import dataclass

from reports.baseline.gate import LINT, Seen, seen_in
from reports.changes import MEANINGS, SYMPTOM, change, lasting
from reports.plain import printable
from reports.run import Run


@dataclass(frozen=True, slots=True)
class Changed:
    """A check, or a rule of the lint, that is not the same in both runs."""

    how: str
    """A key of `reports.changes.MEANINGS`."""
    id: str
    before: Seen | None
    after: Seen | None

    def __str__(self) -> str:
        before = self.before.verdict if self.before is not None else "not run"
        after = self.after.verdict if self.after is not None else "not run"
        text = self.after.text if self.after is not None else ""
        first = text.splitlines()[0][:160] if text else ""
        return printable(f"{self.how}: {self.id}: {before} -> {after}{f'  {first}' if first else ''}")


def _how(before: Seen | None, after: Seen | None) -> str | None:
    found = change(before.verdict if before else None, after.verdict if after else None)
    if found is None and before is not None and after is not None and before.verdict != "PASS":
        return None if lasting(before.text) == lasting(after.text) else SYMPTOM
    return found


def _seen(run: Run, seen: dict[str, Seen], one: str, other: Run) -> Seen | None:
    """What a run says of a check or a rule, None if nothing.

    A rule of the lint that was not broken has no record. It counts as followed if the run looked for it in the
    exchanges of every check in which the other one found it broken.
    """
    if one in seen or not one.startswith(LINT):
        return seen.get(one)
    if run.about is not None and run.about.lint == "off":
        return None
    broken = {finding.check for finding in other.findings if finding.id == one}
    return Seen(one, "PASS", "") if broken <= {check.id for check in run.checks} else None


def compare(before: Run, after: Run) -> list[Changed]:
    """What differs, in the order of `MEANINGS`, then of ids."""
    first, second = seen_in(before), seen_in(after)
    found = []
    for one in first.keys() | second.keys():
        pair = _seen(before, first, one, after), _seen(after, second, one, before)
        how = _how(*pair)
        if how is not None:
            found.append(Changed(how, one, *pair))
    order = list(MEANINGS)
    return sorted(found, key=lambda one: (order.index(one.how), one.id))
