# SPDX-License-Identifier: MIT
"""How much harm a cause does: the order in which causes are listed.

`SEVERITIES` is the only list of them, the worst first. The harm that a breach did (`nfsjudge.harm`) counts first, then
what the record itself shows: that the target died, that a call was not answered, which kind of value is wrong. A new
field of a record that says more needs one more row in `_RULES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from nfsjudge.harm import Harm, harm_done
from nfsjudge.records import CheckRecord, FindingRecord
from reports.causes.symptom import BY_FORM, IS_ANSWERED


@dataclass(frozen=True, slots=True)
class Severity:
    """One degree of harm."""

    name: str
    """In records of causes, and in the data of the board."""
    title: str
    """For people, in a few words."""
    why: str
    """What it does to the users of the server: the reason for its place."""


SEVERITIES = (
    Severity("crash", "server ends", "the server ends or takes all memory, and serves nobody any more"),
    Severity("data", "data lost or wrong", "users lose data that was acknowledged, or read other data"),
    Severity("secret", "data of others", "a reply has bytes that are not the caller's"),
    Severity("object", "wrong object changed", "objects change or disappear that the call did not name"),
    Severity("success", "reported, not done", "success for what did not happen, or an error for what did"),
    Severity("silence", "no answer", "a call is not answered or fails inside, so its program waits or stops"),
    Severity("status", "wrong status", "a program gets another error than it expects, or none"),
    Severity("value", "wrong value", "attributes, sizes and other values in results are wrong"),
    Severity(
        "form", "wrong encoding", "messages have another form than the RFCs say: few clients may notice"
    ),
    Severity("unjudged", "not judged", "nothing is known of the server here"),
)
"""All, the worst first."""
ORDER = {one.name: number for number, one in enumerate(SEVERITIES)}
GRAVE = frozenset({"crash", "data", "secret", "object"})
"""What a broken SHOULD, too, makes more urgent than a wrong status."""

_ERROR = re.compile(r"(?:NFS(?:3|4|)|MNT3?)ERR_(\w+)")
_DIED = re.compile(r"the target (?:died|is gone)|ended unexpectedly|the server died")
_SILENT = "silent"
"""A death that was none, as far as is known (`fixtures.plugin.fatal`)."""
_FAILED_INSIDE = "the server failed inside"
_NO_ANSWER = re.compile(r"no reply|a closed connection|SYSTEM_ERR")
_PADDING = re.compile(r"padding is [0-9a-f]+, it must be zero")
"""What the codec says of padding with other bytes: often they are of the memory of the server."""
_OF_STATUS = re.compile(r"(?:status|answer) (?:of|to) |status$")

Red = CheckRecord | FindingRecord


def _harm(record: Red) -> str:
    return "" if record.requirement is None else record.requirement.harm


def _gist(record: Red) -> str:
    return "" if record.requirement is None else record.requirement.gist


def _is_death(record: Red) -> bool:
    if isinstance(record, FindingRecord):
        return record.verdict == "VOID" and record.id.startswith("target/")  # the log of the server
    return record.death not in {"", _SILENT} or (
        not record.observed and _DIED.search(record.reason[:1000]) is not None
    )


def _does_declared_harm(name: Harm) -> Callable[[Red], bool]:
    def applies(record: Red) -> bool:
        return harm_done(_harm(record), record.outcome) is name

    return applies


def _is_silence(record: Red) -> bool:
    if isinstance(record, FindingRecord):
        return False
    is_unanswered = _gist(record) == IS_ANSWERED and bool(record.observed)
    return is_unanswered or _NO_ANSWER.match(record.observed) is not None or _FAILED_INSIDE in record.reason


def _is_of_status(record: Red) -> bool:
    what = record.what if isinstance(record, CheckRecord) else ""
    observed = record.observed[:200]
    return _OF_STATUS.match(what) is not None or _ERROR.match(observed) is not None or observed == "success"


_RULES: tuple[tuple[str, Callable[[Red], bool]], ...] = (
    ("crash", _is_death),
    ("unjudged", lambda record: not record.observed and not _is_silence(record)),
    *((str(one), _does_declared_harm(one)) for one in Harm),
    ("secret", lambda record: _PADDING.search(record.observed[:500]) is not None),
    ("silence", _is_silence),
    ("form", lambda record: _gist(record) in BY_FORM),
    ("status", _is_of_status),
    ("value", lambda _: True),
)
"""Which severity a record has: that of the first row that fits."""


def severity_of(record: Red) -> str:
    """The name of the severity of a record that is not green."""
    return next(name for name, applies in _RULES if applies(record))


def rank_of(verdict: str, severity: str) -> tuple[bool, int]:
    """For sorting causes: a broken SHOULD comes after all others, unless its harm is grave."""
    return verdict == "NONSTRICT" and severity not in GRAVE, ORDER[severity]
