# SPDX-License-Identifier: MIT
"""Compares two runs: what is fixed or broken, or how two servers differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nfsjudge.wording import count
from reports.baseline.gate import LINT, Seen, seen_in
from reports.causes import Cause, causes_of
from reports.changes import MEANINGS, SYMPTOM, change, lasting
from reports.order import natural
from reports.plain import printable, shortened
from reports.reason import plain_line, shape
from reports.run import Run, distinct_labels


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


def grouped(changed: Sequence[Changed], before: Run, after: Run) -> list[str]:
    """The changes, a line each; those of one cause that changed alike are one line.

    The cause is that of the second run, or of the first if nothing is wrong in the second any more.
    """
    causes = [
        {name: cause for cause in causes_of(run) for name in [*cause.checks, *cause.findings]}
        for run in (after, before)
    ]
    groups: dict[tuple[str, str], list[Changed]] = {}
    of: dict[str, Cause] = {}
    for differing in changed:
        cause = next((known[differing.id] for known in causes if differing.id in known), None)
        text = differing.after.text if differing.after is not None else ""
        key = cause.key if cause is not None else shape(text) or differing.id
        groups.setdefault((differing.how, key), []).append(differing)
        if cause is not None:
            of[key] = cause
    return [
        str(alike[0]) if len(alike) == 1 else _line(how, alike, of.get(key))
        for (how, key), alike in groups.items()
    ]


def _line(how: str, alike: Sequence[Changed], cause: Cause | None) -> str:
    first = alike[0]
    what = "of one cause" if cause is not None else "alike"
    text = cause.headline if cause is not None else plain_line(first.after.text if first.after else "")
    verdicts = {(differing.before.verdict if differing.before else "not there") for differing in alike}
    after = {(differing.after.verdict if differing.after else "not there") for differing in alike}
    steps = f"{'/'.join(sorted(verdicts))} -> {'/'.join(sorted(after))}"
    return printable(f"{how}: {len(alike)} {what}: {steps}  {shortened(text, 200)}; first {first.id}")


def _how(before: Seen | None, after: Seen | None) -> str | None:
    found = change(before.verdict if before else None, after.verdict if after else None)
    if found is None and before is not None and after is not None and before.verdict != "PASS":
        return None if lasting(before.text) == lasting(after.text) else SYMPTOM
    return found


def _seen(run: Run, seen: dict[str, Seen], name: str, other: Run) -> Seen | None:
    """What a run says of a check or a rule, None if nothing.

    A rule of the lint that was not broken has no record. It counts as followed if the run looked for it in the
    exchanges of every check in which the other one found it broken.
    """
    if name in seen or not name.startswith(LINT):
        return seen.get(name)
    if run.about is not None and run.about.lint == "off":
        return None
    broken = {finding.check for finding in other.findings if finding.id == name}
    return Seen(name, "PASS", "") if broken <= {check.id for check in run.checks} else None


def compare(before: Run, after: Run) -> list[Changed]:
    """What differs, in the order of `MEANINGS`, then of ids."""
    first, second = seen_in(before), seen_in(after)
    found = []
    for name in first.keys() | second.keys():
        pair = _seen(before, first, name, after), _seen(after, second, name, before)
        how = _how(*pair)
        if how is not None:
            found.append(Changed(how, name, *pair))
    order = list(MEANINGS)
    return sorted(found, key=lambda differing: (order.index(differing.how), natural(differing.id)))


def is_part(run: Run) -> bool:
    """Whether a run lacks checks because they were not selected, or because it was interrupted."""
    is_partial = run.about is not None and run.about.is_partial
    return is_partial or run.end is None or run.end.exit_code in {2, 3, 4, 5}


@dataclass(frozen=True, slots=True)
class Common:
    """Two runs without what one of them never ran because it is only a part."""

    before: Run
    after: Run
    left_out: tuple[int, int]
    """How many checks only the first run has, and only the second."""

    @property
    def line(self) -> str:
        """What was left out; empty if nothing was."""
        words = [
            f"{count(number, 'check')} that only the {which} run has"
            for number, which in zip(self.left_out, ("first", "second"), strict=True)
            if number
        ]
        return f"not compared: {', '.join(words)}" if words else ""


def common(before: Run, after: Run) -> Common:
    """What can be compared of two runs: of a part of the checks, those that both ran."""
    first, second = ({check.id for check in run.checks} for run in (before, after))
    gone = first - second if is_part(after) else set[str]()
    fresh = second - first if is_part(before) else set[str]()
    return Common(_without(before, gone), _without(after, fresh), (len(gone), len(fresh)))


def _without(run: Run, ids: set[str]) -> Run:
    if not ids:
        return run
    checks = [check for check in run.checks if check.id not in ids]
    return replace(
        run, checks=checks, findings=[finding for finding in run.findings if finding.check not in ids]
    )


def are_two_servers(before: Run, after: Run) -> bool:
    """Whether the runs are of different targets: then nothing is fixed or broken."""
    return before.label != after.label


def between_servers(before: Run, after: Run) -> Iterator[str]:
    """The causes of two servers, a line each: those that only one has, what does most harm first, then shared ones."""
    runs = before, after
    labels = distinct_labels(runs)
    found = [causes_of(run) for run in runs]
    names = [{(cause.verdict, name) for cause in causes for name in cause.signatures} for causes in found]
    both = []
    for number, (causes, label) in enumerate(zip(found, labels, strict=True)):
        for cause in causes:
            is_shared = any((cause.verdict, name) in names[1 - number] for name in cause.signatures)
            if not is_shared:
                yield printable(f"only {label}: {cause.verdict} {cause.line}")
            elif not number:
                both.append(printable(f"both: {cause.verdict} {cause.headline}"))
    yield from both
