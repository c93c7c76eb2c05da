# SPDX-License-Identifier: MIT
"""What red records share with others of the same cause: the keys by which they are grouped.

A key says: the same clause, unless that clause is about everything; the same symptom of the same check with other
parameters; the same symptom of the same operation. Each is made of fields of records. What a key has in it was compared
with the causes that people wrote down for real servers (tests/reports/causes).
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator

from nfsjudge.deviation import ACCEPTED, AN_ERROR, LACKED_MEMORY, OF_FORM, SUCCESS, Deviation, is_error, short
from nfsjudge.records import CheckRecord, FindingRecord
from reports.causes.symptom import Red, input_of, stem

_UNSPECIFIC = frozenset({"", "none", SUCCESS, "bytes", "list", "number", "time"})
"""What is seen in too many cases to say anything; so are names that are missing, or should be."""
_KINDS = frozenset({"fifo", "socket", "block", "character"})
"""Types of objects in ids: a server that opens such an object may wait in every procedure."""
_RECORD_MARKING = frozenset({("RFC 1831", "10"), ("RFC 5531", "11")})
_OF_CALLS = frozenset({"RPC_MISMATCH", "PROG_MISMATCH", "PROG_UNAVAIL", "PROC_UNAVAIL"})
"""Refusals of RPC that say what is wrong with a call, whatever is in it."""
_OF_SERVER = frozenset({Deviation.DIED, Deviation.GREW})
"""Clauses about a server that ends or grows are about everything, too."""


def keys_of(red: Red) -> Iterator[Hashable]:
    """What a record shares with others of the same cause."""
    record = red.record
    if isinstance(record, FindingRecord):
        yield "rule", record.id
        yield _key_of_clause(red)
    elif not record.observed:
        yield "unjudged", record.verdict, stem(record.id)
        # Ways to end are few: they may be those of several defects. Lack of memory shows in whatever runs then.
        is_end = red.kind == Deviation.DIED and red.seen != LACKED_MEMORY
        yield "reason", record.verdict, red.kind, red.operation, red.seen, is_end and red.gist
    elif red.kind in _OF_SERVER:
        yield _key_of_damage(record, red)
    else:
        if record.requirement is not None:  # another suite names none
            yield _key_of_clause(red)
        yield from _keys_of_symptom(record, red)
        yield from _keys_of_silence(record, red)


def _key_of_clause(red: Red) -> Hashable:
    """The clause; of one about everything also what tells its breaches from each other."""
    key = red.record.verdict, red.clause, red.gist
    if not red.is_general:
        return "clause", *key
    if red.kind not in OF_FORM:
        return "input", *key, input_of(red.check)
    field = red.outcome.field
    return ("field", *key, field) if field else ("form", *key, red.operation, red.expected, red.seen)


def _keys_of_symptom(record: CheckRecord, red: Red) -> Iterator[Hashable]:
    """What checks share that prove different clauses."""
    verdict, name, alike = record.verdict, stem(record.id), red.alike
    place, _, slug = name.rpartition("/")
    yield "check", name, alike, "" if red.seen else verdict
    if not red.is_general and record.requirement is not None:
        yield "claim", verdict, place, red.gist
    if red.seen == SUCCESS:
        if any(map(_is_specific, red.expected)):
            yield "accepts", verdict, red.operation, red.expected
        return
    yield "slug", verdict, record.protocol, slug, alike
    if red.seen == ACCEPTED and _OF_CALLS.intersection(red.expected[:1]):
        yield "accepts", red.expected[0]
    if red.kind == Deviation.FIELD and red.noun:
        yield "section", verdict, red.clause, place, alike
    if red.seen in _UNSPECIFIC or red.kind == Deviation.NAMES:
        return
    yield "section", red.clause, place if SUCCESS in red.expected else "", red.operation, alike
    if red.noun == "type":
        yield "type", verdict, red.operation, red.seen
    if red.outcome.is_wrong_error and place.islower() and _is_specific(red.seen):
        yield "wrong error", verdict, place, red.seen


def _is_specific(status: str) -> bool:
    """Whether an error says what is wrong with a call. INVAL is right, and answered, for many reasons."""
    return status in _OF_CALLS or (is_error(status) and status != AN_ERROR and short(status) != "INVAL")


def _key_of_damage(record: CheckRecord, red: Red) -> Hashable:
    """The operation that did it, and how the server ended.

    What RPC does comes before the operation. A length that it believes is one defect, whichever check announces it;
    so is, where nothing more is known, the end of a server of which nobody saw how it ended.
    """
    server = record.server
    way = red.seen or (server.ended if server is not None else "")
    place = red.operation or stem(record.id)
    if record.protocol == "rpc":
        announces = server is not None and server.announced > 0
        place = "rpc" if announces or not way else stem(record.id)
    return "damage", record.verdict, red.gist, place, way


def _keys_of_silence(record: CheckRecord, red: Red) -> Iterator[Hashable]:
    """What calls share that are not answered: cut records, or the type of the object that holds them up."""
    if red.kind != Deviation.UNANSWERED:
        return
    for clause in record.requirements[:1] or filter(None, [record.requirement]):
        if (clause.rfc, clause.section) in _RECORD_MARKING:
            yield "fragments", record.verdict
    if red.is_general:
        for kind in _KINDS.intersection(re.split(r"\W|_", record.id)):
            yield "held up by", record.verdict, record.protocol, kind
