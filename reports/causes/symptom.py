# SPDX-License-Identifier: MIT
"""What a record shows, in a form that two records of one cause share: without names, numbers, handles and times."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nfsjudge.records import CheckRecord, FindingRecord, any_of
from reports.plain import printable

_LONGEST = 1000
"""Characters of a text that are looked at: what a server sent may be as long as it likes."""

IS_ANSWERED = "a server that receives a call computes the results of the procedure and sends a reply"
"""The gist of the clause that a call without an answer breaks."""
BY_FORM = frozenset(
    {
        "results are encoded as their type says, with zero padding and nothing after them",
        IS_ANSWERED,
        "a reply has the form of an RPC reply and answers a call by its XID",
    }
)
"""Gists of clauses that are about every operation: symptom and operation tell a cause, not the clause."""
BY_INPUT = frozenset({"a name with characters that the server cannot handle should be refused"})
"""Gists of clauses that are about different inputs: the check tells a cause, by the first word of its name."""

_SHAPES = (
    (re.compile(r"b?'[^']*'(?:\.\.\.)?"), "'...'"),
    (re.compile(r'b?"[^"]*"(?:\.\.\.)?'), "'...'"),
    (re.compile(r"\((?:unexpected|missing|range of|file of) [^()]*\)"), ""),
    (re.compile(r"\(\d+ bytes\)"), ""),
    (re.compile(r"\b([A-Z][A-Z0-9_]+) \(\d+\)"), r"\1"),  # a status with its number
    (re.compile(r"\b(?:0x)?[0-9a-f]*\d[0-9a-f]{7,}(?:\.\.\.)?"), "N"),  # handles, data; also long numbers
    (re.compile(r"\b[0-9a-f]{2}(?= '...')"), "N"),  # a byte with its character
    (re.compile(r"\b\d[\d,]*(?:\.\d+)?\b"), "N"),
    (re.compile(r"(N|'\.\.\.')(?:(?:, | to )\1)+"), r"\1"),
    (re.compile(r"\[('\.\.\.')\]"), r"\1"),
    (re.compile(r"\s+"), " "),
)
_BEHIND = re.compile(
    r"; (?:another check judges that|last lines of its log|\d+ times in all)|\s(?:Its output:|It printed nothing\.)"
)
"""Where details begin: a log, or what a command of the owner of the target has printed."""
_PROGRAM = re.compile(r" \(program \d+ version \d+ procedure \d+\)")
_OPERATION = re.compile(r"\b[A-Z][A-Z0-9]{2,}\b")
_NO_OPERATION = frozenset({"AUTH", "RPC", "XDR", "UDP", "TCP", "SUCCESS", "NFS", "XID"})
_NAME = r"[A-Z][A-Z0-9]{2,}(?:_[A-Z0-9]+)*"
"""An operation, also one of NFSv4 with an underscore."""
_OF_OPERATION = re.compile(rf"(?:status|results|answer|reply|size) (?:of|to) ({_NAME})\b")
_CALLED = re.compile(rf"{_NAME}\b")


def shape(text: str) -> str:
    """A text without names, numbers and what else differs between two records of the same thing."""
    found = _BEHIND.split(text[:_LONGEST], maxsplit=1)[0]
    for pattern, stand_in in _SHAPES:
        found = pattern.sub(stand_in, found)
    return found.strip()


def loosened(text: str) -> str:
    """A shape in which all operations look alike."""
    return _OPERATION.sub(lambda word: word[0] if word[0] in _NO_OPERATION else "OPERATION", text)


def plain_line(text: str) -> str:
    """A text from anywhere in one line, of limited length."""
    return " ".join(printable(text[:_LONGEST]).split())


def plain_reason(text: str) -> str:
    """Why a check was not judged, in one line: without the log of the server, and the numbers of programs."""
    return _PROGRAM.sub("", _BEHIND.split(plain_line(text), maxsplit=1)[0])


def stem(check_id: str) -> str:
    """An id without its parameters."""
    return check_id.partition("[")[0]


def input_of(check_id: str) -> str:
    """The input that a check is about, as its name says it: ``slash`` of ``nfs3/names/slash-use[lookup]``."""
    return stem(check_id).rpartition("/")[2].partition("-")[0]


@dataclass(frozen=True, slots=True)
class Symptom:
    """What one record shows."""

    clause: str
    """``RFC 1813 3.3.16``; empty if there is none."""
    gist: str
    operation: str
    """Of which the deviating answer is; empty if that is not known."""
    what: str
    expected: str
    observed: str

    @property
    def text(self) -> str:
        """All of it in one line."""
        told = f"expected {self.expected}, got {self.observed}" if self.expected else self.observed
        return f"{self.what}: {told}" if self.what else told


def symptom_of(record: CheckRecord | FindingRecord) -> Symptom:
    """The symptom of a record that is not green."""
    requirement = record.requirement
    clause = "" if requirement is None else f"{requirement.rfc} {requirement.section}"
    gist = "" if requirement is None else requirement.gist
    if isinstance(record, FindingRecord):
        return Symptom(clause, gist, "", record.id, "", "")
    if not record.observed:
        reason = shape(plain_reason(record.reason))
        return Symptom(clause, gist, "", "", "", reason)
    expected = shape(any_of([one[:_LONGEST] for one in record.expected[:5]])) if record.expected else ""
    return Symptom(clause, gist, _operation(record), shape(record.what), expected, shape(record.observed))


def _operation(record: CheckRecord) -> str:
    named = _OF_OPERATION.match(record.what)
    if named is not None:
        return named[1]
    called = _CALLED.match(record.call)
    if called is not None:
        return called[0]
    subject = stem(record.id).split("/")[1:2]
    return subject[0] if subject and _CALLED.fullmatch(subject[0]) else ""


def signature(record: CheckRecord | FindingRecord, symptom: Symptom | None = None) -> str:
    """The symptom with its clause, in one line: equal for what is the same in other runs and of other servers.

    A finding has the id of its rule.
    """
    if isinstance(record, FindingRecord):
        return record.id
    symptom = symptom or symptom_of(record)
    text = plain_line(symptom.text)
    if symptom.operation and symptom.operation not in text:
        text = f"{symptom.operation}: {text}"
    if symptom.gist in BY_INPUT:
        text += f" ({input_of(record.id)})"
    return f"{symptom.clause}: {text}" if symptom.clause and record.observed else text
