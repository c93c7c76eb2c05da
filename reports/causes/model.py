# SPDX-License-Identifier: MIT
"""A cause: what one defect of a server shows in a run."""

from __future__ import annotations

import typing as t
from dataclasses import asdict, dataclass, field

from nfsjudge.wording import count
from reports.plain import shortened

_LONG = 160
"""Characters of what was seen, in a line."""
_STEMS = 3
"""Checks that a line names."""


@dataclass(slots=True)
class Cause:
    """Checks and findings that show the same."""

    key: str
    """Short, for links: the same in other runs that show the same."""
    verdict: str
    """The worst of its checks and findings."""
    clause: str
    """``RFC 1813 3.3.16``; of checks of two versions both, ``RFC 1094 2.2, RFC 1813 1.6``; empty if there is none."""
    level: str
    gist: str
    """What the clause says."""
    text: str
    """What was expected and seen, of the first check; numbers that vary as ``16 to 88``."""
    first: str
    """The id of the check that shows it best."""
    checks: list[str] = field(default_factory=list)
    """Ids of all checks that are red for it, in order."""
    findings: dict[str, list[str]] = field(default_factory=dict)
    """Rules of the lint that see it -> ids of the checks in whose exchanges they do."""
    signatures: list[str] = field(default_factory=list)
    """Of its records, the most frequent first: names for it that baselines may use."""
    elsewhere: list[str] = field(default_factory=list)
    """Other servers of which the same is known."""
    rule: str = ""
    """The rule of the lint that sees it in `first`, if its finding shows it better than any check does."""
    severity: str = "value"
    """How much harm it does: a name of `reports.causes.severity.SEVERITIES`."""

    @property
    def where(self) -> str:
        """The id of its check; of several, ids without parameters, the first of them."""
        stems = list(dict.fromkeys(check.partition("[")[0] for check in self.checks))
        named = self.checks if len(self.checks) == 1 else stems[:_STEMS]
        return ", ".join(named) + (f" and {len(stems) - _STEMS} more" if len(stems) > _STEMS else "")

    @property
    def counts(self) -> str:
        """How much shows it: ``10 checks, lint readdir-count in 41``."""
        parts = [count(len(self.checks), "check")] if self.checks else []
        for number, (rule, ids) in enumerate(sorted(self.findings.items())):
            noun = f" {'check' if len(ids) == 1 else 'checks'}" if not parts and not number else ""
            name = rule if rule.startswith("target/") else f"lint {rule.rpartition('/')[2]}"
            parts.append(f"{name} in {len(ids)}{noun}")
        return ", ".join(parts)

    @property
    def headline(self) -> str:
        """What was seen, and the clause."""
        text = shortened(self.text, _LONG)
        return f"{text} ({self.clause})" if self.clause else text

    @property
    def line(self) -> str:
        """All in one line, without the verdict."""
        return f"{self.headline}: {self.counts}"

    def to_plain(self) -> dict[str, t.Any]:
        """For JSON: the fields, and the line in parts."""
        return {**asdict(self), "where": self.where, "counts": self.counts, "headline": self.headline}
