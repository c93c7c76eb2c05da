# SPDX-License-Identifier: MIT
"""What red records share with others of the same cause: the keys by which they are grouped.

A key says: the same clause, unless that clause is about everything; the same symptom of the same check with other
parameters; the same symptom of the same operation. Each is made of fields of records. What a key has in it was compared
with the causes that people wrote down for real servers (tests/reports/causes).
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator

from nfsjudge.deviation import ACCEPTED, LACKED_MEMORY, OF_FORM, SUCCESS, Deviation, is_error
from nfsjudge.records import CheckRecord, FindingRecord
from reports.causes.severity import severity_of
from reports.causes.symptom import Symptom, input_of, signature, stem, symptom_of

_UNSPECIFIC = frozenset({"", "none", SUCCESS, "bytes", "list", "number", "missing", "unexpected"})
"""What is seen in too many cases to say anything."""
_KINDS = frozenset({"fifo", "socket", "block", "character"})
"""Types of objects in ids: a server that opens such an object may wait in every procedure."""
_RECORD_MARKING = frozenset({("RFC 1831", "10"), ("RFC 5531", "11")})
_COMMON = ("ERR_INVAL", "ERR_NOENT")
"""Ends of errors that are answered for many reasons."""
_OF_CALLS = frozenset({"RPC_MISMATCH", "PROG_MISMATCH", "PROG_UNAVAIL", "PROC_UNAVAIL"})
"""Refusals of RPC that say what is wrong with a call, whatever is in it."""
_OF_SERVER = frozenset({Deviation.DIED, Deviation.GREW})
"""Clauses about a server that ends or grows are about everything, too."""


class Red:
    """A red record with what is looked at again and again."""

    __slots__ = ("check", "name", "record", "severity", "symptom")

    def __init__(self, record: CheckRecord | FindingRecord) -> None:
        self.record = record
        self.symptom = symptom_of(record)
        self.name = signature(record, self.symptom)
        self.severity = severity_of(record)
        self.check = record.check if isinstance(record, FindingRecord) else record.id

    @property
    def is_check(self) -> bool:
        """Whether it is the verdict of a check, and not what the lint found."""
        return isinstance(self.record, CheckRecord)

    @property
    def field(self) -> str:
        """The last part of the field that is wrong: ``eof``; empty of a status, or if nobody knows it."""
        outcome = self.record.outcome
        return outcome.name if outcome is not None and outcome.kind == Deviation.FIELD else ""

    @property
    def answer(self) -> tuple[str, str] | None:
        """The operation and the error that it answered, or the type of an object that is wrong."""
        outcome = self.record.outcome
        if outcome is not None and outcome.is_error and not outcome.seen.endswith(_COMMON):
            return outcome.operation, outcome.seen
        return ("", self.symptom.seen) if self.field == "type" else None


def keys_of(one: Red) -> Iterator[Hashable]:
    """What a record shares with others of the same cause."""
    record, symptom = one.record, one.symptom
    if isinstance(record, FindingRecord):
        yield "rule", record.id
        yield _key_of_clause(one)
    elif not record.observed:
        yield "unjudged", record.verdict, stem(record.id)
        # Ways to end are few: they may be those of several defects. Lack of memory shows in whatever runs then.
        is_end = symptom.kind == Deviation.DIED and symptom.seen != LACKED_MEMORY
        yield "reason", record.verdict, symptom.kind, symptom.operation, symptom.seen, is_end and symptom.gist
    elif symptom.kind in _OF_SERVER:
        yield _key_of_damage(record, symptom)
    else:
        yield _key_of_clause(one)
        yield from _keys_of_symptom(record, symptom)
        yield from _keys_of_silence(record, symptom)


def _key_of_clause(one: Red) -> Hashable:
    """The clause; of one about everything also what tells its breaches from each other."""
    record, symptom = one.record, one.symptom
    field = "" if record.outcome is None else record.outcome.field
    key = record.verdict, symptom.clause, symptom.gist
    if not symptom.is_general:
        return "clause", *key
    if symptom.kind not in OF_FORM:
        return "input", *key, input_of(one.check)
    return (
        ("field", *key, field) if field else ("form", *key, symptom.operation, symptom.expected, symptom.seen)
    )


def _keys_of_symptom(record: CheckRecord, symptom: Symptom) -> Iterator[Hashable]:
    """What checks share that prove different clauses."""
    verdict, name, alike = record.verdict, stem(record.id), symptom.alike
    place, _, slug = name.rpartition("/")
    yield "check", name, alike, "" if symptom.seen else verdict
    if not symptom.is_general:
        yield "claim", verdict, place, symptom.gist
    if symptom.seen == SUCCESS:
        if any(map(_is_specific, symptom.expected)):
            yield "accepts", verdict, symptom.operation, symptom.expected
        return
    yield "slug", verdict, record.protocol, slug, alike
    if symptom.seen == ACCEPTED and _OF_CALLS.intersection(symptom.expected[:1]):
        yield "accepts", symptom.expected[0]
    if symptom.kind == Deviation.FIELD and symptom.noun:
        yield "section", verdict, symptom.clause, place, alike
    if symptom.seen in _UNSPECIFIC:
        return
    yield "section", symptom.clause, place if SUCCESS in symptom.expected else "", symptom.operation, alike
    if symptom.noun == "type":
        yield "type", verdict, symptom.operation, symptom.seen
    is_wrong = record.outcome is not None and record.outcome.is_wrong_error
    if is_wrong and place.islower() and _is_specific(symptom.seen):
        yield "wrong error", verdict, place, symptom.seen


def _is_specific(status: str) -> bool:
    """Whether an error says what is wrong with a call. INVAL is right, and answered, for many reasons."""
    return status in _OF_CALLS or (is_error(status) and not status.endswith("ERR_INVAL"))


def _key_of_damage(record: CheckRecord, symptom: Symptom) -> Hashable:
    """The operation that did it, and how the server ended.

    What RPC does comes before the operation. A length that it believes is one defect, whichever check announces it;
    so is, where nothing more is known, the end of a server of which nobody saw how it ended.
    """
    server = record.server
    way = symptom.seen or (server.ended if server is not None else "")
    place = symptom.operation or stem(record.id)
    if record.protocol == "rpc":
        announces = server is not None and server.announced > 0
        place = "rpc" if announces or not way else stem(record.id)
    return "damage", record.verdict, symptom.gist, place, way


def _keys_of_silence(record: CheckRecord, symptom: Symptom) -> Iterator[Hashable]:
    """What calls share that are not answered: cut records, or the type of the object that holds them up."""
    if symptom.kind != Deviation.UNANSWERED:
        return
    for clause in record.requirements[:1] or filter(None, [record.requirement]):
        if (clause.rfc, clause.section) in _RECORD_MARKING:
            yield "fragments", record.verdict
    if symptom.is_general:
        for kind in _KINDS.intersection(re.split(r"\W|_", record.id)):
            yield "held up by", record.verdict, record.protocol, kind
