# SPDX-License-Identifier: MIT
"""Checks that were not asked, grouped by the reason.

Nothing deviates in them, so they have no outcome: reasons are sentences of probes, fixtures and owners of targets,
and are compared as texts.
"""

from __future__ import annotations

import re
import typing as t
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from nfsjudge.records import AnyRecord, CheckRecord
from nfsjudge.wording import count
from reports.causes.symptom import plain_line, plain_reason, shape
from reports.plain import shortened

LEFT_OUT = ("UNSUPPORTED", "SKIP")

_PROGRAMS = {"100003": "NFSv{}", "100005": "MOUNT version {}", "100000": "portmap version {}"}
_LACKS = re.compile(r"the target lacks (?P<name>\w+): (?=.* )")
_NOT_KNOWN = re.compile(r"whether the target has \w+ is not known: (?=.* )")
_OTHER_FORM = "the results do not decode"
"""What a probe of a version says of a server that answers it in the form of another one."""
_VERSION = re.compile(
    r"(?:NFSv\d: )?\w+ \(program (?P<program>\d+) version (?P<version>\d+) procedure \d+\): "
    r"the server (?:has this program in versions|does not have this program)"
)
_STILL_THERE = re.compile(r" \([^()]* is still there\)$")
"""What a crash has kept is evidence for one reason: `suites/losses.py`."""
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
    found: dict[tuple[str, str], Reason] = {}
    for one in records:
        if isinstance(one, CheckRecord) and one.verdict in LEFT_OUT:
            text = short_reason(one.reason)
            found.setdefault((one.verdict, shape(text)), Reason(one.verdict, text)).checks.append(one.id)
    for reason in found.values():
        reason.checks.sort()
    return sorted(found.values(), key=lambda one: (-len(one.checks), LEFT_OUT.index(one.verdict), one.text))


def short_reason(reason: str) -> str:
    """A reason in one line; without the capability, if a sentence says why the target lacks it."""
    text = _NOT_KNOWN.sub("", plain_line(reason) or "no reason was recorded")
    why = _LACKS.match(text)
    text = text[why.end() :] if why is not None else text
    text = _STILL_THERE.sub("", text)
    version = re.match(r"nfs(\d)", why["name"]) if why is not None else None
    if version is not None and text.startswith(_OTHER_FORM):
        return f"NFSv{version[1]} is not served, though its calls are answered: {plain_reason(text)}"
    lacks = _VERSION.match(text)
    if lacks is not None and lacks["program"] in _PROGRAMS:
        return f"{_PROGRAMS[lacks['program']].format(lacks['version'])} is not served"
    return plain_reason(text)
