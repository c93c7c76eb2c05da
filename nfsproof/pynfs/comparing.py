# SPDX-License-Identifier: MIT
"""`nfsproof pynfs --compare`: where a run of pynfs and a run of nfsproof on one target disagree, by topic.

| line | pynfs | nfsproof |
| --- | --- | --- |
| both red | FAIL | a check that tests the same is FAIL |
| only pynfs | FAIL | such checks pass, were not judged, or do not exist: with the clause or the reason |
| only nfsproof | no failed test tests the same | FAIL |
"""

from __future__ import annotations

import typing as t
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nfsjudge.records import BadRecord, CheckRecord, deviation
from nfsjudge.wording import count
from nfsproof.exits import Trouble
from nfsproof.pynfs.mapping import IN_WORDS, Counterpart, mapping_of, matches
from nfsproof.pynfs.verdicts import text
from reports import Run, load
from reports.idlist import function_of, is_second_opinion
from reports.order import natural

_OF_NFS4: t.Final = frozenset({"nfs4"})
"""Checks of these protocols are compared, and those of others only if the mapping names them."""
_NO_TOPIC: t.Final = "not tested by pynfs"
_UNKNOWN_TOPIC: t.Final = "not in the mapping"
_GREEN: t.Final = frozenset({"PASS", "NONSTRICT"})
_MOST_IDS: t.Final = 6
"""Ids in one line."""
_LONG: t.Final = 200


@dataclass(slots=True)
class _Topic:
    """The disagreements of a topic, in lines."""

    both: list[str] = field(default_factory=list)
    theirs: list[str] = field(default_factory=list)
    ours: list[str] = field(default_factory=list)


def require_run(folder: Path) -> Run:
    """A run that can be read. Raises `Trouble`."""
    try:
        return load(folder)
    except FileNotFoundError as error:
        raise Trouble(f"expected the records of a run: {error.filename} is not there") from error
    except OSError as error:
        raise Trouble(f"cannot read {error.filename or folder}: {error.strerror}") from error
    except BadRecord as error:
        raise Trouble(text(str(error))) from error


def compare_folders(ours: Path, theirs: Path) -> list[str]:
    """The comparison of two runs, as lines. Raises `Trouble`."""
    left, right = require_run(ours), require_run(theirs)
    if not any(is_second_opinion(check.id) for check in right.checks):
        raise Trouble(f"{theirs} is no run of pynfs: none of its checks is one of pynfs")
    if any(is_second_opinion(check.id) for check in left.checks):
        raise Trouble(f"{ours} is a run of pynfs; --compare names a run of nfsproof")
    return list(comparison(left, right))


def comparison(ours: Run, theirs: Run) -> Iterator[str]:
    """Lines: what was compared, the counts, and the disagreements by topic. Raises `Trouble`."""
    protocol = theirs.protocols[0]
    mapping = mapping_of(protocol)
    if not mapping:
        raise Trouble(f"nfsproof has no mapping of the tests of {protocol} to its checks yet")
    names = [text(_target_of(run)) for run in (ours, theirs)]
    if len(set(names)) > 1:
        yield f"warning: the runs are of two targets: {names[0]}, and {names[1]} by pynfs"
    made = _Comparison(ours, theirs, mapping)
    yield made.head()
    for name, topic in sorted(
        made.topics.items(), key=lambda item: (item[0] in {_NO_TOPIC, _UNKNOWN_TOPIC}, item[0])
    ):
        yield ""
        yield name
        for title, lines in (
            ("both red", topic.both),
            ("only pynfs", topic.theirs),
            ("only nfsproof", topic.ours),
        ):
            for line in lines:
                yield f"      {line[1:]}" if line.startswith("\t") else f"  {title:14}{line}"


def _target_of(run: Run) -> str:
    return "" if run.about is None else run.about.label or run.about.target


class _Comparison:
    """The disagreements of two runs."""

    def __init__(self, ours: Run, theirs: Run, mapping: Mapping[str, Counterpart]) -> None:
        self._mapping = mapping
        self._theirs = {check.id.rpartition("/")[2]: check for check in theirs.checks}
        self._ours: dict[str, list[CheckRecord]] = defaultdict(list)
        for check in ours.checks:
            self._ours[function_of(check.id)].append(check)
        self._explained: set[str] = set()
        """Ids of our failed checks that a failed test of pynfs confirms."""
        self.topics: defaultdict[str, _Topic] = defaultdict(_Topic)
        self._counts: Counter[str] = Counter()
        for code in sorted(self._theirs, key=natural):
            self._add_theirs(code, self._theirs[code])
        self._topics_of = self._topics_by_check()
        self._add_ours()

    def head(self) -> str:
        """What was compared, and the counts."""
        checks = sum(len(checks) for name, checks in self._ours.items() if name.partition("/")[0] in _OF_NFS4)
        silent = sum(1 for check in self._theirs.values() if check.verdict in {"VOID", "SKIP", "UNSUPPORTED"})
        return (
            f"{count(len(self._theirs), 'test')} of pynfs ({silent} not judged), {count(checks, 'check')} of nfsproof: "
            f"{count(self._counts['both'], 'test')} red in both, {self._counts['theirs']} only in pynfs, "
            f"{count(self._counts['ours'], 'check')} only in nfsproof"
        )

    def _ours_of(self, known: Counterpart) -> list[CheckRecord]:
        return [
            check
            for wanted in known.ids
            for check in self._ours.get(function_of(wanted), ())
            if matches(wanted, check.id)
        ]

    def _add_theirs(self, code: str, record: CheckRecord) -> None:
        if record.verdict != "FAIL":
            return
        known = self._mapping.get(code)
        line = f"{code}: {text(deviation(record), _LONG)}"
        if known is None:
            self._counts["theirs"] += 1
            self.topics[_UNKNOWN_TOPIC].theirs += [
                line,
                "\tthe mapping has no such code: is this a later pynfs?",
            ]
            return
        topic = self.topics[known.topic]
        checks = self._ours_of(known)
        red = [check for check in checks if check.verdict == "FAIL"]
        if red:
            self._counts["both"] += 1
            self._explained |= {check.id for check in red}
            topic.both += [line, *(f"\t{text(_ours_line(check), _LONG)}" for check in red[:_MOST_IDS])]
            return
        self._counts["theirs"] += 1
        topic.theirs += [line, *(f"\t{answer}" for answer in _answers(known, checks))]

    def _topics_by_check(self) -> dict[str, str]:
        """Function of a check, and subject of checks -> the topic under which pynfs tests it."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for known in self._mapping.values():
            for wanted in known.ids:
                name = function_of(wanted)
                found[name][known.topic] += 1
                found[name.rpartition("/")[0]][known.topic] += 1
        return {name: topics.most_common(1)[0][0] for name, topics in found.items()}

    def _add_ours(self) -> None:
        for name in sorted(self._ours, key=natural):
            is_named = name in self._topics_of
            red = [
                check
                for check in self._ours[name]
                if check.verdict == "FAIL" and check.id not in self._explained
            ]
            if not red or not (is_named or name.partition("/")[0] in _OF_NFS4):
                continue
            self._counts["ours"] += len(red)
            topic = self._topics_of.get(name) or self._topics_of.get(name.rpartition("/")[0]) or _NO_TOPIC
            others = [
                f"{code} {self._theirs[code].verdict}"
                for code, known in self._mapping.items()
                if code in self._theirs
                and any(matches(wanted, check.id) for wanted in known.ids for check in red)
            ]
            self.topics[topic].ours += [
                text(_ours_line(red[0]), _LONG),
                *([f"\tand {count(len(red) - 1, 'other')} of its parameters"] if len(red) > 1 else []),
                f"\tpynfs: {_some(others)}" if others else "\tpynfs has no test of it",
            ]


def _ours_line(check: CheckRecord) -> str:
    clause = f" ({check.requirement.citation})" if check.requirement is not None else ""
    return f"{check.id}: {deviation(check)}{clause}"


def _answers(known: Counterpart, checks: Sequence[CheckRecord]) -> Iterator[str]:
    """Why nfsproof does not fail as well."""
    if known.absence is not None:
        yield f"{IN_WORDS[known.absence]}: {known.why}{f' ({known.clause})' if known.clause else ''}"
        return
    if known.why:
        yield f"we think otherwise: {known.why}{f' ({known.clause})' if known.clause else ''}"
    green = [check for check in checks if check.verdict in _GREEN]
    other = [check for check in checks if check.verdict not in _GREEN]
    if green:
        clauses = sorted(
            {check.requirement.citation for check in green if check.requirement is not None}, key=natural
        )
        yield f"passes in nfsproof: {_some(_functions(green))}{f' ({_some(clauses)})' if clauses else ''}"
    if other:
        reasons = _some(sorted({text(check.reason, 80) for check in other if check.reason}))
        yield f"not judged by nfsproof: {_some(_functions(other))}{f': {reasons}' if reasons else ''}"
    if not checks:
        yield f"not in the run of nfsproof: {_some(known.ids)}"
    if known.part:
        yield f"pynfs also tests: {known.part}"


def _functions(checks: Iterable[CheckRecord]) -> list[str]:
    return sorted({function_of(check.id) for check in checks})


def _some(words: Sequence[str]) -> str:
    shown = ", ".join(words[:_MOST_IDS])
    return f"{shown} and {len(words) - _MOST_IDS} more" if len(words) > _MOST_IDS else shown
