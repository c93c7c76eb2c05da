# SPDX-License-Identifier: MIT
"""Which of the errors that an RFC lists for an operation a server answered with, and in which checks."""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from reports.coverage.sections import function_of
from reports.coverage.tables import ErrorTable, Reason, short_error
from reports.run import Run

State = t.Literal["provoked", "outside", "server", "open"]
STATES: t.Final[dict[State, str]] = {
    "provoked": "a check brought the server to answer so",
    "outside": "cannot be provoked from outside",
    "server": "not with the reference server: its choice, or its nature",
    "open": "no check yet",
}


@dataclass(slots=True)
class Pair:
    """An operation and an error of it."""

    operation: str
    error: str
    reason: Reason | None = None
    checks: set[str] = field(default_factory=set)
    """Ids of the checks in whose exchanges it was seen."""

    @property
    def state(self) -> State:
        if self.checks:
            return "provoked"
        return t.cast("State", self.reason.kind) if self.reason is not None else "open"

    @property
    def functions(self) -> list[str]:
        """The checks without parameters, those first that are about this operation or about few others."""
        counts = Counter(function_of(check) for check in self.checks)
        word = self.operation.lower()
        return sorted(
            counts,
            key=lambda function: (
                self.operation not in function.split("/")[1:2],
                word not in function.lower(),
                function,
            ),
        )


@dataclass(slots=True)
class ErrorCoverage:
    """The pairs of one protocol."""

    protocol: str
    pairs: list[Pair]
    unlisted: list[Pair]
    """Seen, though the RFC does not list them."""

    @property
    def counts(self) -> Counter[str]:
        return Counter(pair.state for pair in self.pairs)

    @property
    def operations(self) -> dict[str, list[Pair]]:
        """Pairs by operation, in order."""
        found: dict[str, list[Pair]] = {}
        for pair in self.pairs:
            found.setdefault(pair.operation, []).append(pair)
        return found

    @property
    def is_begun(self) -> bool:
        """Whether anything of the protocol was seen."""
        return any(pair.checks for pair in self.pairs)

    @property
    def refuted(self) -> list[Pair]:
        """Pairs that were provoked, though a reason says that they are not.

        A general reason why the reference server does not answer so is of the pairs that are left.
        """
        return [
            pair
            for pair in self.pairs
            if pair.checks
            and pair.reason is not None
            and not (pair.reason.is_general and pair.reason.kind == "server")
        ]


def cover_errors(runs: Sequence[Run], tables: Sequence[ErrorTable]) -> list[ErrorCoverage]:
    """The pairs of each protocol, with what was seen in any of `runs`."""
    seen: dict[tuple[str, str, str], set[str]] = {}
    for run in runs:
        for check in run.checks:
            for text in check.statuses:
                protocol, operation, status = [*text.split(" "), "", ""][:3]
                seen.setdefault((protocol, operation, short_error(status)), set()).add(check.id)
    found = []
    for table in tables:
        pairs = [
            Pair(
                operation,
                error,
                table.reasons.get((operation, error)),
                seen.pop((table.protocol, operation, error), set()),
            )
            for operation, error in table.pairs
        ]
        others = [
            Pair(operation, error, None, checks)
            for (protocol, operation, error), checks in sorted(seen.items())
            if protocol == table.protocol and not error.endswith("_OK") and operation in table.errors
        ]
        found.append(ErrorCoverage(table.protocol, pairs, others))
    return found
