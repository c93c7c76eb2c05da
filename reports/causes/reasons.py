# SPDX-License-Identifier: MIT
"""Checks that were not asked, grouped by the fields of the reason (`nfsjudge.reason`).

Where it has none, or its record is of a version that had none, its text is compared, without names and numbers.
"""

from __future__ import annotations

import typing as t
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from nfsjudge.reason import ReasonRecord
from nfsjudge.records import AnyRecord, CheckRecord
from nfsjudge.wording import count
from reports.plain import shortened
from reports.reason import key_of, reason_of, text_of

LEFT_OUT = ("UNSUPPORTED", "SKIP")

_LONG = 120


@dataclass(slots=True)
class Reason:
    """Checks that were left out for one reason."""

    verdict: str
    """UNSUPPORTED or SKIP."""
    text: str
    checks: list[str] = field(default_factory=list)
    """Their ids, in order."""

    @property
    def line(self) -> str:
        """``NFSv2 is not served: 526 checks not asked``; a single check by its id."""
        done = "asked" if self.verdict == "UNSUPPORTED" else "judged"
        who = self.checks[0] if len(self.checks) == 1 else count(len(self.checks), "check")
        return f"{shortened(self.text, _LONG)}: {who} not {done}"

    def to_plain(self) -> dict[str, t.Any]:
        """For JSON."""
        return {**asdict(self), "line": self.line}


def reasons(records: Iterable[AnyRecord]) -> list[Reason]:
    """Why checks of a run are SKIP or UNSUPPORTED; what concerns most checks first."""
    found: dict[tuple[object, ...], tuple[Reason, list[ReasonRecord]]] = {}
    for record in records:
        if isinstance(record, CheckRecord) and record.verdict in LEFT_OUT:
            why = reason_of(record)
            empty = Reason(record.verdict, ""), list[ReasonRecord]()
            reason, members = found.setdefault((record.verdict, *key_of(why)), empty)
            reason.checks.append(record.id)
            members.append(why)
    for reason, members in found.values():
        reason.text = text_of(members)
        reason.checks.sort()
    return sorted(
        (reason for reason, _ in found.values()),
        key=lambda reason: (-len(reason.checks), LEFT_OUT.index(reason.verdict), reason.text),
    )
