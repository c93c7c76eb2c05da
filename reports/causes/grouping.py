# SPDX-License-Identifier: MIT
"""Groups the failures and findings of a run by cause: two records that share a key (`reports.causes.keys`) are of one.

A rule of the lint then joins the cause of the checks that show it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence

from nfsjudge.records import AnyRecord, CheckRecord, FindingRecord
from nfsjudge.verdict import VERDICTS
from reports.causes.keys import keys_of
from reports.causes.model import Cause
from reports.causes.severity import rank_of
from reports.causes.symptom import RED, Red
from reports.causes.wording import cause_of
from reports.run import Run


def causes(records: Iterable[AnyRecord]) -> list[Cause]:
    """The causes in records of one run, what does most harm and is most frequent first."""
    red = [
        Red(record)
        for record in records
        if isinstance(record, CheckRecord | FindingRecord) and record.verdict in RED
    ]
    groups = _Groups(red)
    _join_findings(red, groups)
    found = [cause_of([red[number] for number in members]) for members in groups.members()]
    found.sort(key=_rank)
    times: Counter[str] = Counter()
    for cause in found:  # no key twice, though two causes may look alike
        times[cause.key] += 1
        cause.key += f"-{times[cause.key]}" if times[cause.key] > 1 else ""
    return found


def causes_of(run: Run) -> list[Cause]:
    """The causes in a run."""
    return causes([*run.checks, *run.findings])


def _rank(cause: Cause) -> tuple[tuple[bool, int], int, int, str]:
    shown = len(cause.checks) or max(map(len, cause.findings.values()), default=0)
    return rank_of(cause.verdict, cause.severity), RED.index(cause.verdict), -shown, cause.first


class NewCauses:
    """Tells records of new causes from those of causes that were there before, one after the other.

    A later record may join two causes; what was printed of them stands.
    """

    def __init__(self) -> None:
        self._keys: set[Hashable] = set()

    def add(self, record: CheckRecord | FindingRecord) -> bool:
        """Whether nothing that was added before shows the same."""
        red = Red(record)
        # A field with its section: `_join_findings` knows all records, and looks closer.
        keys = {*keys_of(red), *_key_of_field(red)}
        is_new = self._keys.isdisjoint(keys)
        self._keys |= keys
        return is_new


def _key_of_field(red: Red) -> Iterator[Hashable]:
    if red.field:
        yield "field of section", red.record.verdict, red.clause, red.field


class _Groups:
    """Sets of records, by their numbers; those that share a key are in one set."""

    def __init__(self, records: Sequence[Red]) -> None:
        self._parent = list(range(len(records)))
        owner: dict[Hashable, int] = {}
        for number, record in enumerate(records):
            for key in keys_of(record):
                self.join(owner.setdefault(key, number), number)

    def of(self, number: int) -> int:
        """The set of a record, by the number of one that stands for all."""
        while self._parent[number] != number:
            self._parent[number] = self._parent[self._parent[number]]
            number = self._parent[number]
        return number

    def join(self, first_number: int, other: int) -> None:
        first, second = sorted((self.of(first_number), self.of(other)))
        self._parent[second] = first

    def members(self) -> list[list[int]]:
        found: dict[int, list[int]] = {}
        for number in range(len(self._parent)):
            found.setdefault(self.of(number), []).append(number)
        return list(found.values())


def _join_findings(records: Sequence[Red], groups: _Groups) -> None:
    """A rule of the lint joins the cause of the checks that show it, if both are about one section.

    It joins one cause at most, of the same verdict if there is one: a rule must not make one cause of two.
    """
    shown: dict[str, set[str]] = {}
    first_of: dict[str, int] = {}
    for number, record in enumerate(records):
        if not record.is_check:
            shown.setdefault(record.record.id, set()).add(record.check)
            first_of.setdefault(record.record.id, number)
    if not shown:
        return
    sets = [[records[number] for number in members] for members in groups.members()]
    places = [_Place(members) for members in sets if any(member.is_check for member in members)]
    number_of = {id(record): number for number, record in enumerate(records)}
    for rule, number in first_of.items():
        place = _place_of(records[number], shown[rule], places)
        if place is not None:
            groups.join(number_of[id(place.members[0])], number)


class _Place:
    """A set of records that a rule of the lint may belong to."""

    def __init__(self, members: Sequence[Red]) -> None:
        clauses = {member.clause for member in members}
        self.members = members
        self.clause = clauses.pop() if len(clauses) == 1 else ""
        """The section; empty if they are about several."""
        self.verdict = min((member.record.verdict for member in members), key=VERDICTS.index)
        self.rules = {member.record.id for member in members if not member.is_check}
        self.fields = {member.field for member in members if member.is_check}
        self.answers = {member.answer for member in members if member.is_check}
        self.ids = {member.check for member in members}

    def has_answer(self, found: Red) -> bool:
        """Whether checks saw the answer that a rule of any section is about."""
        return found.answer is not None and found.answer in self.answers

    def is_shown_in(self, shown: set[str]) -> bool:
        """Whether a rule of the same section that some checks have shown sees what this is."""
        return self.ids <= shown or 2 * len(self.ids & shown) >= len(shown)


def _place_of(found: Red, shown: set[str], places: Sequence[_Place]) -> _Place | None:
    """Where a rule belongs: to what has the same field, else to what it was seen with, or to the same answer."""
    near = [place for place in places if place.clause and place.clause == found.clause]
    alike = [
        near for near in near if near.verdict == found.record.verdict and found.field in near.fields - {""}
    ]
    if len(alike) == 1:
        return alike[0]
    others = [place for place in places if found.record.id not in place.rules]
    fitting = [
        other for other in others if (other in near and other.is_shown_in(shown)) or other.has_answer(found)
    ]
    same = [fitting for fitting in fitting if fitting.verdict == found.record.verdict] or fitting
    return same[0] if len(same) == 1 else None
