# SPDX-License-Identifier: MIT
"""What a record shows, in a form that is equal for records of one cause: the fields of its outcome, and its clause.

Fields decide wherever there are any. Texts are compared only where nobody has fields for them: the reason of a check
that was not judged, and the noun of a value that the check computed itself and that stands in no result.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from nfsjudge.deviation import OF_FORM, Deviation, OutcomeRecord
from nfsjudge.records import CheckRecord, FindingRecord, any_of
from reports.plain import printable

RED = ("FAIL", "VOID", "NONSTRICT")
"""The verdicts that have causes, in the order of reports."""
_LONGEST = 1000
"""Characters of a text that are looked at: what a server sent may be as long as it likes."""
_VARIES = (
    (re.compile(r"'[^']*'|\"[^\"]*\""), "'...'"),
    (re.compile(r"\b(?:0x)?\d[0-9a-f]{7,}\b|\b\d[\d,.]*\b"), "N"),
    (re.compile(r"\s+"), " "),
)
"""What differs between two reasons, or two nouns, that say the same: names, handles, numbers."""
_LOG = re.compile(r"; (?:another check|last lines|\d+ times in all)|\s(?:Its output:|It printed nothing\.)")
"""Where the log of a server begins, or what a command of the owner of the target has printed."""
_PROGRAM = re.compile(r" \(program \d+ version \d+ procedure \d+\)")


def shape(text: str) -> str:
    """A free text without what varies: for reasons and nouns, which have no fields."""
    found = _LOG.split(text[:_LONGEST], maxsplit=1)[0]
    for pattern, stand_in in _VARIES:
        found = pattern.sub(stand_in, found)
    return found.strip()


def plain_line(text: str) -> str:
    """A text from anywhere in one line, of limited length."""
    return " ".join(printable(text[:_LONGEST]).split())


def plain_reason(text: str) -> str:
    """Why a check was not judged, in one line: without the log of the server, and the numbers of programs."""
    return _PROGRAM.sub("", _LOG.split(plain_line(text), maxsplit=1)[0])


def stem(check_id: str) -> str:
    """An id without its parameters."""
    return check_id.partition("[")[0]


def input_of(check_id: str) -> str:
    """The input that a check is about, as its name says it: ``slash`` of ``nfs3/names/slash-use[lookup]``."""
    return stem(check_id).rpartition("/")[2].partition("-")[0]


@dataclass(frozen=True, slots=True)
class Symptom:
    """What one record shows. All of it comes from fields but `noun`, where what was seen is in no decoded result."""

    clause: str
    """``RFC 1813 3.3.16``; empty if there is none, or nothing was judged."""
    gist: str
    kind: str
    operation: str
    noun: str
    expected: tuple[str, ...]
    seen: str
    is_general: bool = False
    """Whether the clause is about every operation or input."""

    @property
    def alike(self) -> tuple[object, ...]:
        """What it has in common with the same of other operations."""
        is_answer = self.kind in {Deviation.STATUS, Deviation.UNANSWERED}
        return self.kind, "" if is_answer else self.noun, self.expected, self.seen

    @property
    def text(self) -> str:
        """All of it in one line."""
        parts = [self.clause, self.operation, self.noun or self.kind]
        expected = f"expected {any_of(self.expected)}, got " if self.expected else ""
        return ": ".join(filter(None, [*parts, f"{expected}{self.seen}"]))


def symptom_of(record: CheckRecord | FindingRecord) -> Symptom:
    """The symptom of a record that is not green."""
    one, outcome = record.requirement, record.outcome
    clause = "" if one is None else f"{one.rfc} {one.section}"
    gist, is_general = ("", False) if one is None else (one.gist, one.is_general)
    if isinstance(record, CheckRecord) and not record.observed:
        outcome = outcome or OutcomeRecord()
        is_known = bool(outcome.seen or outcome.ended)
        seen = outcome.seen or outcome.ended or shape(plain_reason(record.reason)) or record.id
        operation = outcome.operation if is_known else ""
        return Symptom("", gist, outcome.kind if is_known else "", operation, "", (), seen, is_general)
    if outcome is None:  # of a version that had no fields: the clause and the check say what it is
        subject = record.id.partition("/")[2].partition("/")[0]
        operation = subject if subject.isupper() else ""
        return Symptom(clause, gist, "", operation, stem(record.id), (), "", is_general)
    noun = outcome.field if outcome.kind == Deviation.UNDECODABLE else outcome.name
    if outcome.kind == Deviation.STATUS and noun:
        noun = outcome.kind  # versions call the field of a status by different names
    if isinstance(record, CheckRecord) and not noun and not (is_general and outcome.kind in OF_FORM):
        noun = shape(record.what)
    seen = outcome.ended or outcome.seen
    return Symptom(
        clause, gist, outcome.kind, outcome.operation, noun, tuple(outcome.expected), seen, is_general
    )


def signature(record: CheckRecord | FindingRecord, symptom: Symptom | None = None) -> str:
    """The symptom with its clause, in one line: equal for what is the same in other runs and of other servers.

    A finding has the id of its rule.
    """
    if isinstance(record, FindingRecord):
        return record.id
    symptom = symptom or symptom_of(record)
    is_of_input = symptom.is_general and symptom.kind not in OF_FORM
    return plain_line(symptom.text) + (f" ({input_of(record.id)})" if is_of_input else "")
