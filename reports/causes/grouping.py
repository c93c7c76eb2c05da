# SPDX-License-Identifier: MIT
"""Groups the failures and findings of a run by cause.

Two records are of one cause if they share a key. A key says: the same clause, unless that clause is about everything;
the same symptom of the same check with other parameters; the same symptom of the same operation. What a key has in it
was compared with the causes that people wrote down for real servers (tests/reports/causes).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from nfsjudge.records import AnyRecord, CheckRecord, FindingRecord, deviation
from nfsjudge.verdict import VERDICTS
from reports.causes.model import Cause
from reports.causes.severity import ORDER, rank_of, severity_of
from reports.causes.symptom import (
    BY_FORM,
    BY_INPUT,
    IS_ANSWERED,
    Symptom,
    input_of,
    loosened,
    plain_line,
    plain_reason,
    signature,
    stem,
    symptom_of,
)
from reports.run import Run

RED = ("FAIL", "VOID", "NONSTRICT")
"""The verdicts that have causes, in the order of reports."""

_UNSPECIFIC = frozenset({"none", "success", "'...'", "N"})
_SHORT = 2
"""Words of a noun that says little: ``mtime``, ``the size``."""
_LONG = 3
"""Words of a noun that says what it is of: ``answer to a call with RPC version 3``. Shorter ones say less."""
_TYPE = re.compile(r"NF3?[A-Z]+")
_ERROR = re.compile(r"(?:NFS3?|MNT3)ERR_\w+")
_ERRORS = re.compile(rf"{_ERROR.pattern}(?:(?:, | or ){_ERROR.pattern})*")
_FIELD = re.compile(r"\b((?:[A-Za-z]\w*\.)+\w+)(?:\[\d+\])? at byte \d")
_ANSWER = re.compile(
    r"(?P<operation>[A-Z]\w+), exchange #\d+: (?:(?P<error>(?:NFS3?|MNT3)ERR_\w+)|type (?P<type>NF3?[A-Z]+))$"
)
"""What a finding says that is about the status of an answer, or about the type of an object."""
_IS_FIELD = re.compile(r"[a-z]\w*(?:\.[a-z]\w*)*")
_FIELD_IS = re.compile(r"([a-z]\w*) is\b")
_KINDS = frozenset({"fifo", "socket", "block", "character"})
"""Types of objects in ids: a server that opens such an object may wait in every procedure."""
_RECORD_MARKING = frozenset({("RFC 1831", "10"), ("RFC 5531", "11")})
_DEATH = re.compile(r"^the target (?:is gone|died after its last reply): ")
_WAY = re.compile(r"\bended with (signal \d+|exit status \d+)")
"""How a server ended, in records of runs that say no more of it."""
_WHILE = re.compile(r"\bwhile ([A-Z][A-Z0-9_]+)\b")
"""The operation that was not answered when it did."""
_NUMBER = re.compile(r"(?<![\w.])(\d{1,6})(?: to (\d{1,6}))?(?![\w.])")
"""A number, or a range of numbers."""


class _Red:
    """A red record with what is looked at again and again."""

    __slots__ = ("check", "name", "record", "severity", "symptom")

    def __init__(self, record: CheckRecord | FindingRecord) -> None:
        self.record = record
        self.symptom = symptom_of(record)
        self.name = signature(record, self.symptom)
        self.severity = severity_of(record)
        self.check = record.check if isinstance(record, FindingRecord) else record.id

    @property
    def section(self) -> str:
        return "" if self.record.requirement is None else self.record.requirement.citation


def causes(records: Iterable[AnyRecord]) -> list[Cause]:
    """The causes in records of one run, what does most harm and is most frequent first."""
    red = [
        _Red(one) for one in records if isinstance(one, CheckRecord | FindingRecord) and one.verdict in RED
    ]
    groups = _Groups(red)
    _join_findings(red, groups)
    found = [_cause([red[one] for one in members]) for members in groups.members()]
    found.sort(key=_rank)
    _tell_apart(found)
    return found


def causes_of(run: Run) -> list[Cause]:
    """The causes in a run."""
    return causes([*run.checks, *run.findings])


def _tell_apart(found: Iterable[Cause]) -> None:
    """No key twice, though two causes may look alike."""
    times: Counter[str] = Counter()
    for one in found:
        times[one.key] += 1
        if times[one.key] > 1:
            one.key += f"-{times[one.key]}"


def _rank(cause: Cause) -> tuple[tuple[bool, int], int, int, str]:
    shown = len(cause.checks) or max(map(len, cause.findings.values()), default=0)
    return rank_of(cause.verdict, cause.severity), RED.index(cause.verdict), -shown, cause.first


class _Groups:
    """Sets of records, by their numbers; those that share a key are in one set."""

    def __init__(self, records: Sequence[_Red]) -> None:
        self._parent = list(range(len(records)))
        owner: dict[Hashable, int] = {}
        for number, record in enumerate(records):
            for key in _keys(record):
                self.join(owner.setdefault(key, number), number)

    def of(self, number: int) -> int:
        """The set of a record, by the number of one that stands for all."""
        while self._parent[number] != number:
            self._parent[number] = self._parent[self._parent[number]]
            number = self._parent[number]
        return number

    def join(self, one: int, other: int) -> None:
        first, second = sorted((self.of(one), self.of(other)))
        self._parent[second] = first

    def members(self) -> list[list[int]]:
        found: dict[int, list[int]] = {}
        for number in range(len(self._parent)):
            found.setdefault(self.of(number), []).append(number)
        return list(found.values())


def _key_of_field(one: _Red) -> Iterator[Hashable]:
    """The field of a result that is wrong, with its section: `_join_findings` knows all records, and looks closer."""
    record = one.record
    field = _field_of(record)
    if isinstance(record, CheckRecord) and _IS_FIELD.fullmatch(record.what):
        field = record.what.rpartition(".")[2]
    if field:
        yield "field of section", record.verdict, one.section, field


class NewCauses:
    """Tells records of new causes from those of causes that were there before, one after the other.

    A later record may join two causes; what was printed of them stands.
    """

    def __init__(self) -> None:
        self._keys: set[Hashable] = set()

    def add(self, record: CheckRecord | FindingRecord) -> bool:
        """Whether nothing that was added before shows the same."""
        one = _Red(record)
        keys = {*_keys(one), *_key_of_field(one)}
        is_new = self._keys.isdisjoint(keys)
        self._keys |= keys
        return is_new


def _keys(one: _Red) -> Iterator[Hashable]:
    """What a record shares with others of the same cause."""
    record, symptom = one.record, one.symptom
    if isinstance(record, FindingRecord):
        yield "rule", record.id
        if symptom.gist in BY_FORM:
            yield from _keys_of_form(record, symptom)
        elif symptom.gist not in BY_INPUT:
            yield "clause", record.verdict, symptom.clause, symptom.gist
            yield _claim_of(record.verdict, symptom)
        return
    if not record.observed:
        is_killer = "ended unexpectedly" in symptom.observed
        if record.verdict == "VOID":
            yield "unjudged", stem(record.id)
        why = _DEATH.sub("", symptom.observed) or record.id
        yield "reason", record.verdict, why, symptom.gist if is_killer else ""
        return
    yield from _keys_of_check(record, symptom)


def _keys_of_check(record: CheckRecord, symptom: Symptom) -> Iterator[Hashable]:
    """The keys of a check that was judged."""
    if _breaks_down(record):
        yield _key_of_damage(record, symptom)
        return
    verdict, name = record.verdict, stem(record.id)
    place, _, slug = name.rpartition("/")
    alike = loosened(symptom.what), loosened(symptom.expected), loosened(symptom.observed)
    if symptom.gist in BY_FORM:
        yield from _keys_of_form(record, symptom)
    elif symptom.gist in BY_INPUT:
        yield "input", verdict, symptom.clause, symptom.gist, input_of(record.id)
    else:
        yield "clause", verdict, symptom.clause, symptom.gist
        yield from _keys_of_section(symptom, verdict, place)
    yield from _keys_of_silence(record, symptom)
    if symptom.gist.count(": ") == 1 and len(symptom.gist.partition(": ")[0].split()) > _LONG:
        yield _claim_of(record.verdict, symptom)
    yield "check", name, alike
    if len(symptom.what.split()) > _LONG and symptom.observed not in {"none", "success", "'...'"}:
        yield "noun", place, symptom.what, symptom.observed
    if _TYPE.fullmatch(symptom.observed):
        yield "type", verdict, symptom.operation, symptom.observed
    if symptom.observed not in _UNSPECIFIC:
        yield "slug", verdict, record.protocol, slug, alike


def _breaks_down(record: CheckRecord) -> bool:
    """Whether it is about a server that ends or grows: such clauses are about everything, too."""
    return record.requirement is not None and record.requirement.harm == "crash"


def _key_of_damage(record: CheckRecord, symptom: Symptom) -> Hashable:
    """The operation that did it, and how the server ended.

    What RPC does comes before the operation. A length that it believes is one defect, whichever check announces it;
    so is, where nothing more is known, the end of a server of which nobody saw how it ended.
    """
    server = record.server
    seen = _WAY.search(record.observed[:1000])
    way = (server is not None and (server.ended or server.damage)) or (seen[1] if seen is not None else "")
    pending = _WHILE.search(record.observed[:1000])
    if record.protocol == "rpc":
        announces = server is not None and server.announced > 0
        place = "rpc" if announces or not way else stem(record.id)
    else:
        place = (pending[1] if pending is not None else symptom.operation) or stem(record.id)
    return "damage", record.verdict, symptom.gist, place, way


def _claim_of(verdict: str, symptom: Symptom) -> Hashable:
    """The claim of a clause, before it is explained: lint and checks may word the rest in their ways."""
    return "claim", verdict, symptom.clause, symptom.gist.partition(": ")[0]


def _keys_of_silence(record: CheckRecord, symptom: Symptom) -> Iterator[Hashable]:
    """What calls share that are not answered: cut records, or the type of the object that holds them up."""
    if severity_of(record) != "silence":
        return
    for clause in record.requirements[:1] or filter(None, [record.requirement]):
        if (clause.rfc, clause.section) in _RECORD_MARKING:
            yield "fragments", record.verdict
    if symptom.gist == IS_ANSWERED:
        for kind in _KINDS.intersection(re.split(r"\W|_", record.id)):
            yield "held up by", record.verdict, record.protocol, kind


def _keys_of_section(symptom: Symptom, verdict: str, place: str) -> Iterator[Hashable]:
    """What checks share that prove different clauses of one section."""
    seen = symptom.expected, symptom.observed
    words = symptom.what.split()
    if symptom.observed not in _UNSPECIFIC:
        yield "begin", verdict, symptom.clause, place, " ".join(words[:2]), seen
        subject = place if symptom.expected == "success" else ""
        yield "same", symptom.clause, subject, symptom.operation, symptom.what, seen
        if _ERRORS.fullmatch(symptom.expected) and _ERROR.fullmatch(symptom.observed) and place.islower():
            yield "wrong error", verdict, place, symptom.observed
    elif symptom.observed == "N" and len(words) > _SHORT:
        yield "number", verdict, symptom.clause, place, symptom.what, seen
    elif symptom.observed == "success" and _ERROR.fullmatch(symptom.expected):
        yield "accepts", verdict, symptom.operation, symptom.what, seen


def _keys_of_form(record: CheckRecord | FindingRecord, symptom: Symptom) -> Iterator[Hashable]:
    """The keys of an answer that is missing, or in the wrong form: the field that is wrong, or the symptom."""
    field = _FIELD.search(record.observed[:1000])
    if field is not None:
        yield "field", record.verdict, symptom.clause, field[1]
    elif isinstance(record, CheckRecord):
        operation = symptom.operation or record.id.rpartition("[")[2].partition("-")[0].rstrip("]").upper()
        yield "form", record.verdict, symptom.clause, operation, symptom.expected, symptom.observed


def _join_findings(records: Sequence[_Red], groups: _Groups) -> None:
    """A rule of the lint joins the cause of the checks that show it, if both are about one section.

    It joins one cause at most, of the same verdict if there is one: a rule must not make one cause of two.
    """
    shown: dict[str, set[str]] = {}
    number_of: dict[str, int] = {}
    for number, one in enumerate(records):
        if isinstance(one.record, FindingRecord):
            shown.setdefault(one.record.id, set()).add(one.check)
            number_of.setdefault(one.record.id, number)
    if not shown:
        return
    by_section: dict[str, list[_Place]] = {}
    by_answer: dict[tuple[str, str], list[_Place]] = {}
    for members in groups.members():
        if not any(isinstance(records[one].record, CheckRecord) for one in members):
            continue
        place = _Place.of([records[one] for one in members], members[0])
        by_section.setdefault(place.section, []).append(place)
        for answer in place.answers:
            by_answer.setdefault(answer, []).append(place)
    for rule, number in number_of.items():
        found = records[number]
        near = by_section.get(found.section, []) if found.section else []
        alike = [one for one in near if one.verdict == found.record.verdict]
        of_field = [one for one in alike if _field_of(found.record) in one.fields]
        if len(of_field) == 1:
            groups.join(of_field[0].number, number)
            continue
        fitting = [one for one in near if one.is_shown_in(shown[rule])]
        answer_seen = _ANSWER.match(found.record.observed)
        if answer_seen is not None:
            told = (
                (answer_seen["operation"], answer_seen["error"])
                if answer_seen["error"]
                else ("", answer_seen["type"])
            )
            fitting += by_answer.get(told, [])
        fitting = list({one.number: one for one in fitting if rule not in one.rules}.values())
        same = [one for one in fitting if one.verdict == found.record.verdict] or fitting
        if len(same) == 1:
            groups.join(same[0].number, number)


@dataclass(frozen=True, slots=True)
class _Place:
    """What decides whether a rule of the lint belongs to a set of records."""

    number: int
    section: str
    """Empty if they are about several."""
    verdict: str
    ids: set[str]
    rules: set[str]
    answers: set[tuple[str, str]]
    """Operations with the errors that they answered, and types of objects."""
    fields: set[str]
    """Fields of results that checks found wrong, without their paths: ``eof``."""

    @classmethod
    def of(cls, members: Sequence[_Red], number: int) -> _Place:
        sections = {one.section for one in members}
        symptoms = [one.symptom for one in members if isinstance(one.record, CheckRecord)]
        return cls(
            number,
            sections.pop() if len(sections) == 1 else "",
            min((one.record.verdict for one in members), key=VERDICTS.index),
            {one.check for one in members},
            {one.record.id for one in members if isinstance(one.record, FindingRecord)},
            {(one.operation, one.observed) for one in symptoms if _ERROR.fullmatch(one.observed)}
            | {("", one.observed) for one in symptoms if _TYPE.fullmatch(one.observed)},
            {
                one.record.what.rpartition(".")[2]
                for one in members
                if isinstance(one.record, CheckRecord) and _IS_FIELD.fullmatch(one.record.what)
            },
        )

    def is_shown_in(self, shown: set[str]) -> bool:
        """Whether a rule of the same section that some checks have shown sees what this is."""
        return self.ids <= shown or 2 * len(self.ids & shown) >= len(shown)


def _field_of(record: CheckRecord | FindingRecord) -> str:
    """The field that a finding is about: ``eof`` of what it expects, ``eof is TRUE``."""
    said = _FIELD_IS.match(record.expected[0]) if record.expected else None
    return said[1] if said is not None else ""


def _cause(members: Sequence[_Red]) -> Cause:
    checks = sorted({one.check for one in members if isinstance(one.record, CheckRecord)})
    findings: dict[str, set[str]] = {}
    for one in members:
        if isinstance(one.record, FindingRecord):
            findings.setdefault(one.record.id, set()).add(one.check)
    names = Counter(one.name for one in members)
    ordered = sorted(names, key=lambda name: (-names[name], name))
    first = _first(members, ordered)
    requirement = first.record.requirement if first.record.observed else None
    worst = min((one.record.verdict for one in members), key=VERDICTS.index)
    return Cause(
        key=hashlib.sha256(f"{worst} {ordered[0]}".encode()).hexdigest()[:10],
        verdict=worst,
        severity=min((one.severity for one in members), key=ORDER.__getitem__),
        clause=_clauses(first, members),
        level="" if requirement is None else requirement.level,
        gist="" if requirement is None else requirement.gist,
        text=_text(first, members),
        first=first.check,
        rule=first.record.id if isinstance(first.record, FindingRecord) else "",
        checks=checks,
        findings={rule: sorted(ids) for rule, ids in sorted(findings.items())},
        signatures=ordered,
        elsewhere=list(first.record.elsewhere),
    )


def _clauses(first: _Red, members: Sequence[_Red]) -> str:
    """The clause that the first record proves; of checks of other versions, whose RFC is another one, theirs too."""
    if not first.symptom.clause or not first.record.observed:
        return ""
    found: dict[str, str] = {}
    for one in [first, *(one for one in members if one.record.verdict == first.record.verdict)]:
        requirement = one.record.requirement
        if requirement is not None and one.record.observed:
            found.setdefault(requirement.rfc, f"{requirement.rfc} {requirement.section}")
    return ", ".join(found.values())


def _first(members: Sequence[_Red], signatures: Sequence[str]) -> _Red:
    """The record that stands for all: of the worst verdict and severity, a check rather than a finding."""
    order = {name: number for number, name in enumerate(signatures)}

    def rank(one: _Red) -> tuple[int, bool, int, tuple[bool, bool], int, str]:
        is_rule = isinstance(one.record, FindingRecord)
        is_vague = one.symptom.gist in BY_FORM, not (is_rule or one.symptom.operation)
        verdict, severity = VERDICTS.index(one.record.verdict), ORDER[one.severity]
        return verdict, is_rule, severity, is_vague, order[one.name], one.check

    return min(members, key=rank)


def _text(first: _Red, members: Sequence[_Red]) -> str:
    """What the first record saw; where others say the same with other numbers, with all of these."""
    told = _told(first)
    pattern = _NUMBER.sub("#", told)
    alike = [text for text in map(_told, members) if _NUMBER.sub("#", text) == pattern]
    columns = iter(list(zip(*map(_NUMBER.findall, alike), strict=True)))
    return _NUMBER.sub(lambda match: _spanned(match, next(columns)), told)


def _spanned(match: re.Match[str], column: Iterable[tuple[str, str]]) -> str:
    """A number or a range with all that stands in its place: from the smallest to the largest.

    ``from 7 to 3`` reports a change, which is no range: it stays as it is.
    """
    pairs = [(int(first), int(last or first)) for first, last in column]
    if any(first > last for first, last in pairs):
        return match[0]
    least, most = min(first for first, _ in pairs), max(last for _, last in pairs)
    return match[0] if len(set(pairs)) == 1 else f"{least} to {most}"


def _told(one: _Red) -> str:
    """What a record saw, in one line."""
    record = one.record
    if isinstance(record, FindingRecord):
        text = plain_line(record.observed)
        return f"{record.requirement.gist}: {text}" if record.requirement is not None else text
    if not record.observed:
        return plain_reason(record.reason) or record.heading
    operation = one.symptom.operation
    text = plain_line(deviation(record))
    return f"{operation}: {text}" if operation and operation not in text else text
