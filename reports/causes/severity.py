# SPDX-License-Identifier: MIT
"""How much harm a cause does: the order in which causes are listed.

`SEVERITIES` is the only list of them, the worst first. The harm that a breach did (`nfsjudge.harm`) counts first, then
what the record itself shows: that the target died, that a call was not answered, which kind of value is wrong. A new
field of a record that says more needs one more row in `_RULES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nfsjudge.deviation import FAILED_INSIDE, PADDING, Deviation, OutcomeRecord
from nfsjudge.harm import Harm, harm_done
from nfsjudge.records import CheckRecord, FindingRecord


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
ORDER = {severity.name: number for number, severity in enumerate(SEVERITIES)}
GRAVE = frozenset({"crash", "data", "secret", "object"})
"""What a broken SHOULD, too, makes more urgent than a wrong status."""

_SILENT = "silent"
"""A death that was none, as far as is known (`fixtures.plugin.fatal`)."""

Red = CheckRecord | FindingRecord
_NOTHING = OutcomeRecord()


def _outcome(record: Red) -> OutcomeRecord:
    return record.outcome or _NOTHING


def _is_death(record: Red) -> bool:
    if isinstance(record, FindingRecord):
        return record.verdict == "VOID" and record.id.startswith("target/")  # the log of the server
    if record.death == _SILENT:
        return False
    return bool(record.death) or (not record.observed and _outcome(record).kind == Deviation.DIED)


def _does_declared_harm(name: Harm) -> Callable[[Red], bool]:
    def applies(record: Red) -> bool:
        declared = "" if record.requirement is None else record.requirement.harm
        return harm_done(declared, record.outcome) is name

    return applies


def _is_silence(record: Red) -> bool:
    """No answer to a call, or that the server failed inside."""
    outcome = _outcome(record)
    return isinstance(record, CheckRecord) and (
        outcome.kind == Deviation.UNANSWERED or outcome.seen == FAILED_INSIDE
    )


_RULES: tuple[tuple[str, Callable[[Red], bool]], ...] = (
    ("crash", _is_death),
    ("unjudged", lambda record: not record.observed and not _is_silence(record)),
    *((str(harm), _does_declared_harm(harm)) for harm in Harm),
    ("secret", lambda record: _outcome(record).seen == PADDING),
    ("silence", _is_silence),
    ("form", lambda record: _outcome(record).kind == Deviation.UNDECODABLE),
    ("status", lambda record: _outcome(record).kind == Deviation.STATUS),
    ("value", lambda _: True),
)
"""Which severity a record has: that of the first row that fits."""


def severity_of(record: Red) -> str:
    """The name of the severity of a record that is not green."""
    return next(name for name, applies in _RULES if applies(record))


def rank_of(verdict: str, severity: str) -> tuple[bool, int]:
    """For sorting causes: a broken SHOULD comes after all others, unless its harm is grave."""
    return verdict == "NONSTRICT" and severity not in GRAVE, ORDER[severity]
