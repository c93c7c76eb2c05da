# SPDX-License-Identifier: MIT
"""Causes of several runs: which ones servers share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reports.causes.grouping import causes_of
from reports.causes.model import Cause
from reports.causes.reasons import reasons
from reports.run import Run, distinct_labels


@dataclass(frozen=True, slots=True)
class SharedCause:
    """One cause, as the first of some runs shows it."""

    cause: Cause
    labels: tuple[str, ...]
    """The targets that show it."""

    @property
    def line(self) -> str:
        """``status of READ: expected ... (RFC 1813 3.3.6): ganesha, go-nfs``."""
        return f"{self.cause.headline}: {', '.join(self.labels)}"


def shared(runs: Sequence[Run]) -> list[SharedCause]:
    """The causes that at least two of the runs show, those of most targets first.

    Two causes are the same if they have a signature in common, and are of one verdict.
    """
    found: list[tuple[Cause, dict[str, None]]] = []
    known: dict[tuple[str, str], int] = {}
    for run, label in zip(runs, distinct_labels(runs), strict=True):
        for cause in causes_of(run):
            names = [(cause.verdict, signature) for signature in cause.signatures]
            number = next((known[name] for name in names if name in known), len(found))
            if number == len(found):
                found.append((cause, {}))
            found[number][1][label] = None
            for name in names:
                known.setdefault(name, number)
    several = [SharedCause(cause, tuple(labels)) for cause, labels in found if len(labels) > 1]
    return sorted(several, key=lambda shared_cause: -len(shared_cause.labels))


def plain_causes(runs: Iterable[Run]) -> list[dict[str, object]]:
    """The causes and reasons of runs, for JSON: `nfsproof report --causes`."""
    found = list(runs)
    return [
        {
            "target": label,
            "causes": [cause.to_plain() for cause in causes_of(run)],
            "reasons": [reason.to_plain() for reason in reasons(run.checks)],
        }
        for run, label in zip(found, distinct_labels(found), strict=True)
    ]
