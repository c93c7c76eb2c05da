# SPDX-License-Identifier: MIT
"""A baseline: which checks one server is known to fail, with reasons. Read from TOML.

Every mistake in a file is reported with its line and its field.
"""

from __future__ import annotations

import datetime as dt
import functools
import typing as t
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from nfsjudge.verdict import VERDICTS
from reports.baseline.symptoms import BadPattern, Patience, require_pattern
from reports.places import Places

CATEGORIES = {
    "proto": "the server deviates from the RFC",
    "feature": "the server lacks a feature that the check needs, and does not report that as the RFC says",
    "env": "the environment of the run: privilege, disk space, the machine",
    "bug": "a bug of the server without a clause: a crash, a leak, a call that is never answered",
    "suite": "a bug of nfsproof",
}
UNEXPLAINED = "TODO: compare with the text of the RFC"
"""How the reason of an entry begins that nobody has looked at yet."""
MOST_BYTES = 4 * 2**20
"""Of a file. An entry for each check there is would be a tenth of it."""
_ENTRY = "entry"
_HEAD = "baseline"


class BadBaseline(ValueError):
    """A file that is no baseline; the text names line and field."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is expected of some checks, and why."""

    ids: tuple[str, ...]
    """Stable ids of checks, or of rules of the lint (``lint/nfs3/readdir-count``); ``*`` is any text.

    Empty: whatever shows the cause.
    """
    verdict: str = "FAIL"
    category: str = "proto"
    reason: str = ""
    link: str = ""
    cause: str = ""
    """The signature of a cause (`reports.causes.signature`): the only one that is expected; without ids of all
    that show it."""
    symptom: str = ""
    """A regular expression that is found in what was seen; empty: anything."""
    expires: dt.date | None = None
    """The first day on which it counts no more."""
    sometimes: bool = False
    """Of a server that does not do the same each time: the checks may pass as well, and fail where VOID is expected."""
    line: int = 0
    """Where it stands."""
    patience: Patience = field(default_factory=Patience, compare=False, repr=False)
    """The time for the symptoms of its file."""

    @property
    def is_explained(self) -> bool:
        """Whether somebody wrote a reason."""
        return bool(self.reason.strip()) and not self.reason.startswith(UNEXPLAINED)

    def __str__(self) -> str:
        if not self.ids:
            return self.cause
        return self.ids[0] if len(self.ids) == 1 else f"{self.ids[0]} and {len(self.ids) - 1} more"


@dataclass(slots=True)
class Baseline:
    """A file."""

    target: str = ""
    server: str = ""
    """Name and version of the server, as reports call it."""
    floor: int = 0
    """At least this many checks must be executed: judged as something else than SKIP or UNSUPPORTED."""
    unlisted: tuple[str, ...] = ("PASS", "NONSTRICT", "SKIP", "UNSUPPORTED")
    """The verdicts that a check without an entry may have."""
    entries: list[Entry] = field(default_factory=list)
    name: str = ""
    """The name of the file."""


def load_baseline(path: Path) -> Baseline:
    """Read a file. Raises OSError and `BadBaseline`."""
    return parse_baseline(read_text(path), str(path))


def read_text(path: Path) -> str:
    """The text of a file, its line ends as ``\\n``. Raises OSError and `BadBaseline`."""
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise BadBaseline(f"{path}: expected at most {MOST_BYTES} bytes")
    try:
        # Editors of Windows begin a file with a byte order mark, which TOML does not know.
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise BadBaseline(f"{path}:{line}: expected text in UTF-8: {error.reason}") from error
    return text.replace("\r\n", "\n")


def parse_baseline(text: str, name: str, patience: Patience | None = None) -> Baseline:
    """A baseline of the text of a file. Raises `BadBaseline`.

    `patience`: if the file is read several times, its symptoms have the time of one file in all.
    """
    reader = _Reader(text, name, BadBaseline)
    if patience is not None:
        reader.patience = patience
    plain = reader.parse()
    reader.only(plain, (_HEAD, _ENTRY), 0, "the file")
    head = plain.get(_HEAD, {})
    if not isinstance(head, dict):
        raise reader.bad(0, _HEAD, "expected a table [baseline]")
    entries = plain.get(_ENTRY, [])
    if not (isinstance(entries, list) and all(isinstance(item, dict) for item in entries)):
        raise reader.bad(0, _ENTRY, "expected tables [[entry]]")
    baseline = reader.head(head)
    baseline.name = Path(name).name
    baseline.entries = [reader.entry(plain_entry, number) for number, plain_entry in enumerate(entries)]
    reader.refuse_twice(baseline.entries)
    return baseline


class _Reader(Places):
    """Checks plain values field by field, and knows in which line they stand."""

    def head(self, table: dict[str, t.Any]) -> Baseline:
        start = self.table(_HEAD)
        self.only(table, ("target", "server", "floor", "unlisted"), start, "[baseline]")
        floor = self.number(table, "floor", 0, start, "a number of checks")
        unlisted = table.get("unlisted", list(Baseline().unlisted))
        if not (isinstance(unlisted, list) and unlisted and all(verdict in VERDICTS for verdict in unlisted)):
            raise self.bad(start, "unlisted", f"expected a list of verdicts ({', '.join(VERDICTS)})")
        return Baseline(
            self.text(table, "target", start), self.text(table, "server", start), floor, tuple(unlisted)
        )

    @functools.cached_property
    def _starts(self) -> list[int]:
        return self.tables(_ENTRY)

    @functools.cached_property
    def patience(self) -> Patience:
        return Patience()

    def entry(self, table: dict[str, t.Any], number: int) -> Entry:
        start = self._starts[number] if number < len(self._starts) else 0
        names = "id ids cause verdict category reason link symptom expires sometimes"
        self.only(table, names.split(), start, "[[entry]]")
        expires = table.get("expires")
        if expires is not None and (not isinstance(expires, dt.date) or isinstance(expires, dt.datetime)):
            raise self.bad(start, "expires", f"expected a date such as 2027-01-31, seen {expires!r}")
        return Entry(
            ids=self._ids(table, start),
            verdict=self.one_of(table, "verdict", VERDICTS, "FAIL", start),
            category=self.one_of(table, "category", tuple(CATEGORIES), "proto", start),
            reason=self.text(table, "reason", start),
            link=self.text(table, "link", start),
            cause=self.text(table, "cause", start),
            symptom=self._pattern(table, start),
            expires=expires,
            sometimes=self.flag(table, "sometimes", False, start),
            line=start,
            patience=self.patience,
        )

    def _ids(self, table: dict[str, t.Any], start: int) -> tuple[str, ...]:
        if "cause" in table and not {"id", "ids"} & set(table):
            if not self.text(table, "cause", start).strip():
                raise self.bad(
                    start, "cause", "expected the text of a cause, as `nfsproof report --causes` has it"
                )
            return ()
        if ("id" in table) == ("ids" in table):
            raise self.bad(start, "id", "expected either id (a text) or ids (a list of texts), or cause")
        key = "id" if "id" in table else "ids"
        ids = [table["id"]] if key == "id" else table["ids"]
        if not (
            isinstance(ids, list) and ids and all(isinstance(text, str) and text.strip() for text in ids)
        ):
            raise self.bad(start, key, "expected ids of checks, such as nfs3/READ/*")
        return tuple(ids)

    def _pattern(self, table: dict[str, t.Any], start: int) -> str:
        value = self.text(table, "symptom", start)
        try:
            require_pattern(value, self.patience)
        except BadPattern as error:
            raise self.bad(start, "symptom", str(error)) from error
        return value

    def refuse_twice(self, entries: Iterable[Entry]) -> None:
        seen: dict[str, int] = {}
        for entry in entries:
            for pattern in entry.ids:
                if pattern in seen:
                    raise self.bad(entry.line, "id", f"{pattern} is already at line {seen[pattern]}")
                seen[pattern] = entry.line
