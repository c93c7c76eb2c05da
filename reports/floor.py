# SPDX-License-Identifier: MIT
"""The default floor: a run that could judge less than half of what the server serves is not green.

A server that denies one basic operation, or is full, makes most checks SKIP. That no check failed then says little.
The same goes for what could not be set up, and for what is not known because its probe could not be set up. What a
server lacks is not counted: it is optional, and was refused as it should be. Nor is what needs the embedded server.
"""

from __future__ import annotations

import re
import typing as t
from collections import Counter
from collections.abc import Iterable

from nfsjudge.deviation import short
from nfsjudge.records import CheckRecord
from reports.causes.reasons import short_reason

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
_ERROR: t.Final = re.compile(r"answers (\w+)")
_SAME: t.Final = {"ACCESS": "ACCES", "PERM": "ACCES"}
_NOT_READY: t.Final = "the server is still not ready after all retries"
_FEWEST_NOT_READY: t.Final = 3
"""Checks of one operation: a server may ask to wait at any time, but one that does so each time is not tested."""


def too_little(checks: Iterable[CheckRecord]) -> list[str]:
    """A line for each protocol of which less than half could be judged, with the most frequent reasons.

    And one for each operation that always asks to wait, longer than the run has patience: nothing is known of it.
    """
    checks = list(checks)
    judged, left = Counter[str](), Counter[str]()
    reasons: dict[str, Counter[str]] = {}
    for check in checks:
        if check.verdict in _JUDGED:
            judged[check.protocol] += 1
        elif _counts(check):
            left[check.protocol] += 1
            # What is before the last colon names objects of the check.
            reason = short_reason(check.reason.rpartition(": ")[2])
            reasons.setdefault(check.protocol, Counter())[reason] += 1
    return [
        _line(protocol, judged[protocol], judged[protocol] + count, reasons[protocol])
        for protocol, count in sorted(left.items())
        if judged[protocol] < count and judged[protocol] + count >= _FEWEST
    ] + _never_ready(checks)


def advice(lines: Iterable[str]) -> list[str]:
    """What to do about the most frequent reasons in lines of `too_little`, each once."""
    errors = (short(found[1]) for line in lines if (found := _ERROR.search(line)))
    names = dict.fromkeys(_SAME.get(error, error) for error in errors)
    return [_ADVICE[name] for name in names if name in _ADVICE]


def _never_ready(checks: Iterable[CheckRecord]) -> list[str]:
    """A line for each subject of checks of which none was judged, and some waited in vain."""
    judged, waited = Counter[str](), Counter[str]()
    for check in checks:
        subject = check.id.rpartition("/")[0]
        judged[subject] += check.verdict in _JUDGED
        waited[subject] += check.verdict == "SKIP" and _NOT_READY in check.reason
    return [
        f"{subject}: {count} checks waited in vain, and none could be judged: {_NOT_READY}"
        for subject, count in sorted(waited.items())
        if count >= _FEWEST_NOT_READY and not judged[subject]
    ]


def _counts(check: CheckRecord) -> bool:
    """Whether a check without a verdict on the server is about something that the server serves."""
    return check.verdict in _NOT_JUDGED or (check.verdict == "UNSUPPORTED" and bool(check.unserved))


def _line(protocol: str, judged: int, all_of_them: int, reasons: Counter[str]) -> str:
    most = ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common(_MOST_REASONS))
    share = 100 * judged // all_of_them
    return f"{protocol}: only {judged} of {all_of_them} checks ({share} %) could be judged: {most}"
