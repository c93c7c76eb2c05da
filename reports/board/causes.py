# SPDX-License-Identifier: MIT
"""The causes of all runs of a board, each once: what several servers share, and what a target had in several runs."""

from __future__ import annotations

import typing as t
from collections.abc import Sequence
from dataclasses import dataclass, field

from nfsjudge.verdict import VERDICTS
from reports.board.safe import clause_url, visible_line
from reports.causes import SEVERITIES, Cause, causes_of
from reports.causes.severity import GRAVE, rank_of
from reports.plain import shortened
from reports.run import Run

_LONG = 400
"""Characters of what was seen."""


@dataclass(slots=True)
class Shared:
    """One cause in the runs that have it."""

    of: dict[int, Cause] = field(default_factory=dict)
    """By number of the run."""

    @property
    def best(self) -> int:
        """The run in which it is worst, and in which most checks show it."""
        return min(
            self.of,
            key=lambda run: (
                rank_of(self.of[run].verdict, self.of[run].severity),
                VERDICTS.index(self.of[run].verdict),
                -len(self.of[run].checks),
            ),
        )

    @property
    def first(self) -> Cause:
        """The cause as that run has it."""
        return self.of[self.best]

    def overlap(self, cause: Cause) -> int:
        """How many symptoms it has in common with a cause of the same verdict."""
        alike = [known for known in self.of.values() if known.verdict == cause.verdict]
        return max((len({*cause.signatures} & {*known.signatures}) for known in alike), default=0)


def shared_causes(of_runs: Sequence[Sequence[Cause]]) -> list[Shared]:
    """Causes of several runs that show the same, together; never two of one run, which were separated with reason."""
    found: list[Shared] = []
    for run, causes in enumerate(of_runs):
        rest = []
        for cause in causes:
            same = next((group for group in found if run not in group.of and _has(group, cause.key)), None)
            if same is None:
                rest.append(cause)
            else:
                same.of[run] = cause
        for cause in rest:
            free = [group for group in found if run not in group.of and group.overlap(cause)]
            best = max(free, key=lambda group: group.overlap(cause), default=None)
            if best is None:
                found.append(Shared({run: cause}))
            else:
                best.of[run] = cause
    return sorted(found, key=_rank)


def _has(shared: Shared, key: str) -> bool:
    return any(cause.key == key for cause in shared.of.values())


def _rank(shared: Shared) -> tuple[tuple[bool, int], int, int, int]:
    """What does most harm first; then what most runs share, and what most checks show."""
    size = sum(
        len(cause.checks) or max(map(len, cause.findings.values()), default=0) for cause in shared.of.values()
    )
    first = shared.first
    return rank_of(first.verdict, first.severity), VERDICTS.index(first.verdict), -len(shared.of), -size


def severities_data() -> list[dict[str, t.Any]]:
    """For the page: the severities of causes, the worst first; a broken SHOULD is advice unless it is grave."""
    return [
        {"name": severity.name, "title": severity.title, "why": severity.why, "grave": severity.name in GRAVE}
        for severity in SEVERITIES
    ]


def causes_data(runs: Sequence[Run], numbers: dict[str, int]) -> list[dict[str, t.Any]]:
    """For the page. `numbers`: of the checks, by id."""
    used: set[str] = set()
    return [
        _plain(shared_cause, numbers, used)
        for shared_cause in shared_causes([causes_of(run) for run in runs])
    ]


def _plain(shared: Shared, numbers: dict[str, int], used: set[str]) -> dict[str, t.Any]:
    first = shared.first
    key = first.key if first.key not in used else f"{first.key}-{len(used)}"
    used.add(key)
    rfc, _, section = first.clause.partition(", ")[0].rpartition(" ")
    return {
        "key": key,
        "verdict": visible_line(first.verdict),
        "severity": first.severity,
        "text": _text(first),
        "clause": visible_line(first.clause),
        "url": clause_url(rfc, section),
        "level": visible_line(first.level),
        "gist": visible_line(first.gist),
        "best": shared.best,
        "of": {run: _in_run(cause, numbers) for run, cause in sorted(shared.of.items())},
    }


def _in_run(cause: Cause, numbers: dict[str, int]) -> dict[str, t.Any]:
    def known(ids: Sequence[str]) -> list[int]:
        return sorted(numbers[check_id] for check_id in ids if check_id in numbers)

    return {
        "verdict": visible_line(cause.verdict),
        "severity": cause.severity,
        "text": _text(cause),
        "first": numbers.get(cause.first),
        "counts": visible_line(cause.counts),
        "checks": known(cause.checks),
        "rules": [[visible_line(rule), known(ids)] for rule, ids in cause.findings.items()],
        "elsewhere": [visible_line(note) for note in cause.elsewhere],
    }


def _text(cause: Cause) -> str:
    return visible_line(shortened(cause.text, _LONG))


def is_red(run: Run) -> bool:
    """Whether somebody has to look at a run: its exit status says so, or it has none and something failed."""
    if run.end is not None:
        return run.end.exit_code not in {0, 5}
    return any(check.verdict in {"FAIL", "VOID"} for check in run.checks) or bool(run.findings)
