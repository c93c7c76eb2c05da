# SPDX-License-Identifier: MIT
"""What differs between two runs, check by check: the words for it, and when a red check shows another symptom."""

from __future__ import annotations

import re

from nfsjudge.records import CheckRecord, seen

GONE = "gone"
NEW = "new"
BROKEN = "broken"
FIXED = "fixed"
NEWLY_JUDGED = "red, not judged before"
SYMPTOM = "other symptom"
UNJUDGED = "no longer judged"
OTHER = "other verdict"

MEANINGS = {
    BROKEN: "was PASS or NONSTRICT, is now worse: FAIL or NONSTRICT",
    NEWLY_JUDGED: "was SKIP, UNSUPPORTED or VOID, which says nothing, and is now FAIL or NONSTRICT",
    FIXED: "was red, is now PASS",
    SYMPTOM: "red in both, but with a different outcome",
    UNJUDGED: "was judged, is now SKIP, UNSUPPORTED or VOID",
    OTHER: "a different verdict, neither better nor worse",
    NEW: "only the second run has it",
    GONE: "only the first run has it",
}
"""Every way in which a check may differ, what deserves a look first, first."""

OF_SERVERS = {
    BROKEN: ("worse on B", "PASS or NONSTRICT on A, worse on B: FAIL or NONSTRICT"),
    NEWLY_JUDGED: ("red on B, not judged on A", "SKIP, UNSUPPORTED or VOID on A, FAIL or NONSTRICT on B"),
    FIXED: ("better on B", "red on A, PASS on B"),
    SYMPTOM: (SYMPTOM, MEANINGS[SYMPTOM]),
    UNJUDGED: ("not judged on B", "judged on A; SKIP, UNSUPPORTED or VOID on B"),
    OTHER: (OTHER, MEANINGS[OTHER]),
    NEW: ("only in the run of B", MEANINGS[NEW]),
    GONE: ("only in the run of A", MEANINGS[GONE]),
}
"""The same where A and B are two servers, of which none is before or after the other: (words, meaning)."""

_RED = ("FAIL", "NONSTRICT")
_JUDGED = (*_RED, "PASS")

_VOLATILE = (
    (re.compile(r"nfsproof-[0-9a-f]{6,}"), "nfsproof-*"),  # names of scratch folders
    (re.compile(r"\b\d{6,}\.\d+\b"), "*"),  # times
    (re.compile(r"\b(?:0x)?[0-9a-f]{8,}\b"), "*"),  # handles, verifiers, XIDs
    (re.compile(r"exchange #\d+"), "exchange #*"),
    (re.compile(r"\d{6,}"), "*"),  # file ids, file systems
    (re.compile(r"\d+(?:\.\d+)? m?s\b"), "* s"),
)


def change(before: str | None, after: str | None) -> str | None:
    """How a check has changed (a key of `MEANINGS`), None if it has not. A verdict of None: the run lacks the check."""
    if before == after:
        return None
    if before is None or after is None:
        return NEW if before is None else GONE
    if after in _RED and before not in _JUDGED:
        return NEWLY_JUDGED
    if after == "FAIL" or (after == "NONSTRICT" and before not in _RED):
        return BROKEN
    if after == "PASS" and before in _RED:
        return FIXED
    if before in _JUDGED and after not in _JUDGED:
        return UNJUDGED
    return OTHER


def symptom(check: CheckRecord) -> str:
    """What a check that is not green has shown, without what differs from run to run (names, handles, times)."""
    if check.verdict == "PASS":
        return ""
    return lasting("\n".join([*check.expected, seen(check), check.reason]))


def lasting(text: str) -> str:
    """A text without what differs from run to run."""
    for pattern, stand_in in _VOLATILE:
        text = pattern.sub(stand_in, text)
    return text
