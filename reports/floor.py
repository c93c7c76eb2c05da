# SPDX-License-Identifier: MIT
"""The default floor: a run that could judge less than half of what the server serves is not green.

A server that denies one basic operation, or is full, makes most checks SKIP. That no check failed then says little.
The same goes for what could not be set up, and for what is not known because its probe could not be set up. What a
server lacks is not counted: it is optional, and was refused as it should be. Nor is what needs the embedded server.
"""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from nfsjudge.deviation import short
from nfsjudge.reason import Lack
from nfsjudge.records import CheckRecord
from reports.reason import reason_of, short_text

_FEWEST: t.Final = 50
"""Checks of one protocol that say something about a share: whoever runs a few knows which."""
_JUDGED: t.Final = frozenset({"PASS", "FAIL", "NONSTRICT"})
_NOT_JUDGED: t.Final = frozenset({"SKIP", "VOID"})
_MOST_REASONS: t.Final = 2
_ADVICE: t.Final = {
    "ROFS": "nearly all checks make files: export it read-write, or say that it is not meant to be: --lacks writable",
    "ACCES": "the user of the calls may not write there: let it, or choose another by uid= and gid= in the URL",
    "NOSPC": "the file system of the export is full: make room (--clean removes what interrupted runs have left)",
    "DQUOT": "the user of the calls is over quota: make room, or choose another by uid= and gid= in the URL",
}
"""What to do about an error that most checks of a protocol meet."""
_WHICHEVER: t.Final = frozenset({Lack.REFUSED, Lack.NOT_READY, Lack.NOT_SUPPORTED})
"""Reasons that are the same, whichever operation has answered so."""
_STILL_NOT_READY: t.Final = "the server is still not ready after all retries"
_SAME: t.Final = {"ACCESS": "ACCES", "PERM": "ACCES"}
_FEWEST_NOT_READY: t.Final = 3
"""Checks of one operation: a server may ask to wait at any time, but one that does so each time is not tested."""


class _Reason(t.NamedTuple):
    text: str
    status: str
    """The error that was answered; empty if it is about none."""


@dataclass(slots=True)
class _Tally:
    """The checks of one protocol."""

    judged: int = 0
    left: int = 0
    reasons: Counter[_Reason] = field(default_factory=Counter)

    @property
    def is_too_little(self) -> bool:
        return self.judged < self.left and self.judged + self.left >= _FEWEST

    @property
    def most(self) -> list[tuple[_Reason, int]]:
        return self.reasons.most_common(_MOST_REASONS)


def too_little(checks: Iterable[CheckRecord]) -> list[str]:
    """A line for each protocol of which less than half could be judged, with the most frequent reasons.

    And one for each operation that always asks to wait, longer than the run has patience: nothing is known of it.
    """
    checks = list(checks)
    return [_line(protocol, tally) for protocol, tally in _short(checks)] + _never_ready(checks)


def advice(checks: Iterable[CheckRecord]) -> list[str]:
    """What to do about the most frequent reasons why too little could be judged, each once."""
    errors = (short(reason.status) for _, tally in _short(checks) for reason, _ in tally.most)
    names = dict.fromkeys(_SAME.get(error, error) for error in errors)
    return [_ADVICE[name] for name in names if name in _ADVICE]


def _short(checks: Iterable[CheckRecord]) -> list[tuple[str, _Tally]]:
    """The protocols of which too little could be judged."""
    found: dict[str, _Tally] = {}
    for check in checks:
        tally = found.setdefault(check.protocol, _Tally())
        if check.verdict in _JUDGED:
            tally.judged += 1
        elif _counts(check):
            tally.left += 1
            tally.reasons[_reason(check)] += 1
    return [(protocol, tally) for protocol, tally in sorted(found.items()) if tally.is_too_little]


def _reason(check: CheckRecord) -> _Reason:
    """Why a check could not be judged, without the objects that the check is about."""
    why = reason_of(check)
    if why.status and why.kind in _WHICHEVER:
        return _Reason(why.status, why.status)
    answer = f"{why.operation} answers {why.status}"
    return _Reason(answer if why.operation and why.status else short_text(why), why.status)


def _never_ready(checks: Iterable[CheckRecord]) -> list[str]:
    """A line for each subject of checks of which none was judged, and some waited in vain."""
    judged, waited = Counter[str](), Counter[str]()
    for check in checks:
        subject = check.id.rpartition("/")[0]
        judged[subject] += check.verdict in _JUDGED
        waited[subject] += check.verdict == "SKIP" and reason_of(check).kind == Lack.NOT_READY
    return [
        f"{subject}: {count} checks waited in vain, and none could be judged: {_STILL_NOT_READY}"
        for subject, count in sorted(waited.items())
        if count >= _FEWEST_NOT_READY and not judged[subject]
    ]


def _counts(check: CheckRecord) -> bool:
    """Whether a check without a verdict on the server is about something that the server serves."""
    return check.verdict in _NOT_JUDGED or (check.verdict == "UNSUPPORTED" and bool(check.unserved))


def _line(protocol: str, tally: _Tally) -> str:
    most = ", ".join(f"{reason.text} ({count})" for reason, count in tally.most)
    judged, all_of_them = tally.judged, tally.judged + tally.left
    share = 100 * judged // all_of_them
    return f"{protocol}: only {judged} of {all_of_them} checks ({share} %) could be judged: {most}"
