# SPDX-License-Identifier: MIT
"""The duplicate-request profile of a run: what the server does with calls that come again, from observations.

Nothing red comes from it: NFSv2 and NFSv3 promise no exactly-once (RFC 1813 section 4.5).
"""

from __future__ import annotations

import typing as t
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from nfsjudge.duplicates import (
    ALIKE,
    ANSWERS,
    CACHED,
    DROPPED,
    ENTRIES,
    EXECUTED,
    REFUSED,
    WAYS,
    Bound,
    bound_of,
    cell_of,
)
from reports.run import Run

_VERBS: t.Final = {
    EXECUTED: "is executed as a new call",
    CACHED: "gets the reply of the first one",
    DROPPED: "gets no answer",
    REFUSED: "is refused",
    ALIKE: "gets a success that does not tell whether it was executed again",
}
SHORT: t.Final = {EXECUTED: "again", CACHED: "cache", DROPPED: "dropped", REFUSED: "refused", ALIKE: "?"}
"""Words for a cell of a table."""
_MOST_OTHERS: t.Final = 2
"""Of more exceptions the calls are named instead."""
LEGEND: t.Final = "; ".join(
    (
        f"{SHORT[EXECUTED]}: executed as a new call",
        f"{SHORT[CACHED]}: it gets the reply of the first one",
        f"{SHORT[DROPPED]}: no answer",
        f"{SHORT[REFUSED]}: an error",
        f"{SHORT[ALIKE]}: success, which either may be",
    )
)


@dataclass(slots=True)
class Profile:
    """What was observed in a run; cells whose checks were not executed are absent."""

    cells: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """(version, procedure) -> way -> answer."""
    bounds: dict[Bound, str] = field(default_factory=dict)

    @property
    def rows(self) -> list[tuple[str, str]]:
        """(version, procedure) of each row of a table, in order."""
        return sorted(self.cells)

    @property
    def ways(self) -> list[str]:
        """The ways that have a cell, in the order of `WAYS`."""
        found = {way for row in self.cells.values() for way in row}
        return [way for way in WAYS if way in found]


def profile_of(run: Run) -> Profile:
    """The profile of a run; without cells if its checks were not executed."""
    profile = Profile()
    for _, key, value in run.observations:
        cell, bound = cell_of(key), bound_of(key)
        if cell is not None and value in ANSWERS:
            profile.cells.setdefault((cell.version, cell.procedure), {})[cell.way] = value
        elif bound is not None:
            profile.bounds[bound] = value
    return profile


def sentences(profile: Profile) -> Iterator[str]:
    """The profile in plain words: what this server protects, and what it executes again.

    Ways with the same answer to the same calls share a sentence.
    """
    for version in sorted({version for version, _ in profile.cells}):
        ways: dict[tuple[str, str], list[str]] = {}
        for way in profile.ways:
            for answer, subject in _of_way(profile, version, way):
                ways.setdefault((answer, subject), []).append(WAYS[way])
        order = sorted(ways, key=lambda cell: (ANSWERS.index(cell[0]), cell[1]))
        for answer, subject in order:
            yield f"NFS{version}: {subject} {_VERBS[answer]} when it is {_or(ways[answer, subject])}."
    yield from dict.fromkeys(_of_bound(bound, value) for bound, value in sorted(profile.bounds.items()))


def _of_way(profile: Profile, version: str, way: str) -> Iterator[tuple[str, str]]:
    """The answers to this kind of duplicate, and which calls got each."""
    asked = {
        name: row[way]
        for (cell_version, name), row in sorted(profile.cells.items())
        if cell_version == version and way in row
    }
    for answer in ANSWERS:
        names = [name for name, found in asked.items() if found == answer]
        if names:
            yield answer, _subject(names, asked)


def _subject(names: Sequence[str], asked: Collection[str]) -> str:
    """In words which of the calls these are: all, all but a few, or their names."""
    others = [name for name in asked if name not in names]
    if not others and len(names) > 1:
        return "each change"
    if 0 < len(others) < min(len(names), _MOST_OTHERS + 1):
        return f"each change but {' and '.join(others)}"
    listed = _or(names)
    return f"{'an' if listed[0] in 'AEIOU' else 'a'} {listed}"


def _or(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _of_bound(bound: Bound, value: str) -> str:
    where = f"NFS{bound.version} over {bound.proto.upper()}"
    if value == "none":
        return f"{where}: no reply is kept."
    if bound.unit == ENTRIES:
        return f"{where}: the reply to a MKDIR is {value}."
    return f"{where}: the reply to a MKDIR stays for {value}."
