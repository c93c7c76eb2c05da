# SPDX-License-Identifier: MIT
"""The list of ids, `suites/ids.txt`: the checks of this version, and the names that checks had before.

A line ``# gone: OLD -> NEW`` says that a check was renamed, ``# gone: OLD`` that it was removed. OLD and NEW name a
check with its parameters, or without: then the line applies to all of its parameters without a separate
line. Lines may follow each other: OLD -> MIDDLE and MIDDLE -> NEW.

Only ids of a release stay in the list when they are gone: until the line ``# released: VERSION`` is there, nobody can
have a baseline or a record of a release that names them.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from reports.minors import left_out

_GONE = "# gone: "
_ARROW = " -> "
_RELEASED = "# released: "
_HEAD = """\
# The ids of all checks. Written by `nfsproof regenerate`, checked in CI. Baselines name ids: so from the first release
# on, a removed one stays here as "# gone: OLD", and a renamed one as "# gone: OLD -> NEW". Baselines, records and the
# command line follow these lines.
"""


OF_CLIENTS = "clients"
"""The folder of the checks of clients, which the run of a server does not have, and that of a client has alone."""
CLIENT = "client:"
"""What the name of a target begins with that is a client."""


SECOND_OPINIONS = frozenset({"pynfs40", "pynfs41"})
"""The protocols of records that another suite has judged (`nfsproof pynfs`)."""


def is_second_opinion(check_id: str) -> bool:
    """Whether an id is that of a test of another suite."""
    return check_id.partition("/")[0] in SECOND_OPINIONS


def is_of_client(check_id: str) -> bool:
    """Whether a check is about a client."""
    return check_id.partition("/")[0] == OF_CLIENTS


def function_of(check_id: str) -> str:
    """The id without its parameters: that of the test function."""
    return check_id.partition("[")[0]


def _parameters_of(check_id: str) -> str:
    """The parameters with their brackets; empty if there are none."""
    return check_id[len(function_of(check_id)) :]


@dataclass
class IdList:
    """What `ids.txt` says."""

    present: set[str] = field(default_factory=set)
    """The ids of this version, with parameters."""
    gone: set[str] = field(default_factory=set)
    """Ids of checks that were removed."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Old id -> the id that replaced it, which may have been replaced or removed itself."""
    released: str = ""
    """The version of the last release; empty before the first."""
    _fitted: dict[re.Pattern[str], bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def read(cls, path: Path) -> IdList:
        """The list in a file; empty when there is no file."""
        return cls.parse(path.read_text(encoding="utf-8") if path.exists() else "")

    @classmethod
    def parse(cls, text: str) -> IdList:
        """The list in a text."""
        found = cls()
        for line in text.splitlines():
            if line.startswith(_RELEASED):
                found.released = line.removeprefix(_RELEASED).strip()
            elif line.startswith(_GONE):
                old, arrow, new = line.removeprefix(_GONE).rpartition(_ARROW)
                if arrow:
                    found.renamed[old.strip()] = new.strip()
                else:
                    found.gone.add(new.strip())
            elif line.strip() and not line.startswith("#"):
                found.present.add(line.strip())
        return found

    def promised(self, target: str, minor: int = 0) -> set[str]:
        """The ids of the checks that a whole run of a target has: of a server or of a client.

        `minor` is that of the record of the run: it leaves out what `reports.minors` says.
        """
        of_client = target.startswith(CLIENT)
        found = {check_id for check_id in self.present if is_of_client(check_id) is of_client}
        return found - left_out(found, minor)

    def write(self, path: Path) -> None:
        gone = [*self.gone, *(f"{old}{_ARROW}{new}" for old, new in self.renamed.items())]
        lines = [*sorted(self.present), *(_GONE + old for old in sorted(gone))]
        head = _HEAD + (f"{_RELEASED}{self.released}\n" if self.released else "")
        path.write_text(head + "".join(line + "\n" for line in lines), encoding="utf-8")

    # ---- against the checks of the suite

    def differences(self, found: Iterable[str]) -> list[str]:
        """How the list differs from the checks that were `found`, and lines that lead nowhere; empty: it is right."""
        there = set(found)
        return [
            *(f"new, but not listed: {check_id}" for check_id in sorted(there - self.present)),
            *(f"listed, but vanished: {check_id}" for check_id in sorted(self.present - there)),
            *(f"gone: {old} -> {new}: {new} is not in the list" for old, new in self._dangling()),
        ]

    def _dangling(self) -> list[tuple[str, str]]:
        known = self.present | self.functions | self.gone | self.renamed.keys()
        return sorted(pair for pair in self.renamed.items() if not {pair[1], function_of(pair[1])} & known)

    def updated(self, found: Iterable[str]) -> IdList:
        """The list for the checks that were `found`: what vanished is gone, unless a line says where it went.

        Before the first release, what vanished without a line is forgotten.
        """
        there = set(found)
        functions = {function_of(check_id) for check_id in there}
        renamed = {old: new for old, new in self.renamed.items() if old not in there}
        gone = {old for old in self.gone if old not in there}
        for vanished in self.present - there if self.released else ():
            if vanished not in renamed and function_of(vanished) not in renamed:
                gone.add(vanished if function_of(vanished) in functions else function_of(vanished))
        # A line about the whole function says it for each of its parameters.
        kept = {old for old in gone if function_of(old) == old or function_of(old) not in gone}
        return IdList(there, kept, renamed, self.released)

    # ---- old names

    @functools.cached_property
    def functions(self) -> frozenset[str]:
        """The ids of this version without parameters."""
        return frozenset(map(function_of, self.present))

    def current(self, check_id: str) -> str:
        """The name by which a check is known now; `check_id` itself where no line leads further."""
        seen: set[str] = set()
        following: str | None = check_id
        while following is not None and following not in seen:
            check_id = following
            if check_id in self.present:
                break
            seen.add(check_id)
            following = self._next(check_id)
        return check_id

    def _next(self, check_id: str) -> str | None:
        if check_id in self.renamed:
            return self.renamed[check_id]
        if check_id in self.gone:
            return None
        new = self.renamed.get(function_of(check_id))
        return new if new is None or "[" in new else new + _parameters_of(check_id)

    def former(self, check_id: str) -> tuple[str, ...]:
        """The names that a check of this version had before, the latest first."""
        found: list[str] = []
        waiting = [check_id]
        while waiting:
            known = waiting.pop(0)
            names = list(self._replaced.get(known, ()))
            if parameters := _parameters_of(known):
                earlier = self._replaced.get(function_of(known), ())
                names += [name + parameters for name in earlier if "[" not in name]
            for name in names:
                # Another line may lead the same name elsewhere: a line with parameters is stronger.
                if name not in found and name not in self.present and self.current(name) == check_id:
                    found.append(name)
                    waiting.append(name)
        return tuple(found)

    @functools.cached_property
    def _replaced(self) -> dict[str, list[str]]:
        """New id -> the old ones that lines lead to it from."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for old, new in self.renamed.items():
            found[new].append(old)
        return found

    @functools.cached_property
    def old_names(self) -> dict[str, str]:
        """Every old name of a check of this version -> the id that it has now."""
        return {old: new for new in sorted(self.present) for old in self.former(new)}

    def fits_some(self, pattern: re.Pattern[str]) -> bool:
        """Whether a pattern fits an id of this version. Known after the first time: each entry of a baseline asks."""
        if pattern not in self._fitted:
            self._fitted[pattern] = any(map(pattern.fullmatch, self.present))
        return self._fitted[pattern]


@functools.cache
def known_ids() -> IdList:
    """The list that this version of nfsproof has, in the checkout and in the wheel."""
    return IdList.read(Path(__file__).resolve().parents[1] / "suites" / "ids.txt")
