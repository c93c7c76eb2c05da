# SPDX-License-Identifier: MIT
"""What a record shows, in a form that is equal for records of one cause: the fields of its outcome, and its clause.

Fields decide wherever there are any. Texts are compared, as they are but for names and numbers, only where nobody has
fields for them: a reason that no other check has, and the noun of a value that the check computed itself.
"""

from __future__ import annotations

from nfsjudge.deviation import OF_FORM, Deviation, OutcomeRecord, short
from nfsjudge.records import CheckRecord, FindingRecord, any_of
from reports.causes.severity import severity_of
from reports.reason import plain_line, reason_of, shape

RED = ("FAIL", "VOID", "NONSTRICT")
"""The verdicts that have causes, in the order of reports."""
_COMMON = frozenset({"INVAL", "NOENT"})
"""Errors that are answered for many reasons."""
_NAMELESS = frozenset({Deviation.STATUS, Deviation.UNANSWERED, Deviation.NAMES, Deviation.DATA})
"""What is the same thing wherever it is seen: the words of a check only name it."""


def stem(check_id: str) -> str:
    """An id without its parameters."""
    return check_id.partition("[")[0]


def input_of(check_id: str) -> str:
    """The input that a check is about, as its name says it: ``slash`` of ``nfs3/names/slash-use[lookup]``."""
    return stem(check_id).rpartition("/")[2].partition("-")[0]


def _text_of(record: CheckRecord | FindingRecord) -> str:
    return reason_of(record).text if isinstance(record, CheckRecord) else ""


class Red:
    """A red record, and what it shows. All of that is made of fields but `noun`, where no decoded result has it."""

    def __init__(self, record: CheckRecord | FindingRecord) -> None:
        requirement, outcome = record.requirement, record.outcome or OutcomeRecord("")
        self.record, self.outcome = record, outcome
        self.is_check = isinstance(record, CheckRecord)
        self.check = record.check if isinstance(record, FindingRecord) else record.id
        self.severity = severity_of(record)
        self.gist = "" if requirement is None else requirement.gist
        self.is_general = requirement is not None and requirement.is_general
        self.clause = ""
        """``RFC 1813 3.3.16``; empty if there is none, or nothing was judged."""
        self.kind, self.operation = outcome.kind, outcome.operation
        self.noun, self.expected = "", tuple(outcome.expected)
        self.seen = outcome.ended or outcome.seen
        if self.is_check and not record.observed:
            if not self.seen:
                self.kind = self.operation = ""
                self.seen = shape(plain_line(_text_of(record))) or record.id
            return
        if requirement is not None:
            self.clause = f"{requirement.rfc} {requirement.section}"
        self.noun = self._noun()
        if not self.kind and (subject := record.id.partition("/")[2].partition("/")[0]).isupper():
            self.operation = subject

    def _noun(self) -> str:
        """What deviates. Of a record of a version that had no fields: the check."""
        outcome, kind = self.outcome, self.outcome.kind
        if not kind:
            return stem(self.record.id)
        if kind == Deviation.UNDECODABLE:
            return outcome.field
        if kind == Deviation.STATUS and outcome.field:
            return kind  # versions call the field of a status by different names
        words = "" if self.is_general and kind in OF_FORM else shape(getattr(self.record, "what", ""))
        return (words or kind) if kind in {Deviation.DATA, Deviation.NAMES} else outcome.name or words

    @property
    def alike(self) -> tuple[object, ...]:
        """What it has in common with the same of other operations."""
        return self.kind, "" if self.kind in _NAMELESS else self.noun, self.expected, self.seen

    @property
    def field(self) -> str:
        """The last part of the field that is wrong: ``eof``; empty of a status, or if nobody knows it."""
        return self.outcome.name if self.kind == Deviation.FIELD else ""

    @property
    def answer(self) -> tuple[str, str] | None:
        """The operation and the error that it answered, or the type of an object that is wrong."""
        if self.outcome.is_error and short(self.seen) not in _COMMON:
            return self.operation, self.seen
        return ("", self.seen) if self.field == "type" else None

    @property
    def name(self) -> str:
        """The symptom with its clause, in one line; of a finding the id of its rule."""
        if not self.is_check:
            return self.record.id
        expected = f"expected {any_of(self.expected)}, got " if self.expected else ""
        parts = [self.clause, self.operation, self.noun or self.kind, f"{expected}{self.seen}"]
        is_of_input = self.is_general and self.clause and self.kind not in OF_FORM
        return plain_line(": ".join(filter(None, parts))) + (
            f" ({input_of(self.check)})" if is_of_input else ""
        )


def signature(record: CheckRecord | FindingRecord) -> str:
    """A name for what a record shows: equal for the same in other runs and of other servers."""
    return Red(record).name
