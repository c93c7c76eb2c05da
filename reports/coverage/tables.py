# SPDX-License-Identifier: MIT
"""The declared tables: sections of RFCs, which of them no check can cover, and the errors of each operation."""

from __future__ import annotations

import csv
import tomllib
import typing as t
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

_DATA: t.Final = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Section:
    """A section, and how often it has a normative word; None where nobody counted."""

    rfc: str
    number: str
    title: str
    must: int | None = None
    should: int | None = None
    may: int | None = None

    @property
    def words(self) -> int:
        return (self.must or 0) + (self.should or 0) + (self.may or 0)

    @property
    def is_counted(self) -> bool:
        """Whether its words are known."""
        return self.must is not None

    @property
    def chapter(self) -> str:
        """The number of the section at the top that it is in."""
        return self.number.partition(".")[0]


@dataclass(slots=True)
class Document:
    """One RFC of the page."""

    name: str
    title: str
    sections: list[Section] = field(default_factory=list)


@dataclass(slots=True)
class Tables:
    """All of them."""

    documents: list[Document]
    same: dict[tuple[str, str], tuple[str, str]]
    """(RFC, section) -> the one that counts for it."""
    same_numbers: dict[str, str]
    """RFC -> the RFC whose sections have the same numbers."""
    outside: dict[str, dict[str, str]]
    """RFC -> section, or section and all below it (``4.*``) -> why no check can cover it."""

    def place_of(self, rfc: str, section: str) -> tuple[str, str]:
        """Where a clause counts."""
        rfc = self.same_numbers.get(rfc, rfc)
        return self.same.get((rfc, section), (rfc, section))

    def reason(self, section: Section) -> str:
        """Why no check can cover a section; empty: one could."""
        reasons = self.outside.get(section.rfc, {})
        parts = section.number.split(".")
        above = (".".join([*parts[:depth], "*"]) for depth in range(len(parts), 0, -1))
        return next((reasons[key] for key in (section.number, *above) if key in reasons), "")


def read_tables() -> Tables:
    declared = _toml("documents.toml")["document"]
    documents = {plain["name"]: Document(plain["name"], plain["title"]) for plain in declared}
    for section in _sections():
        documents[section.rfc].sections.append(section)
    same = {
        (" ".join(clause.split()[:2]), clause.split()[2]): (plain["name"], here)
        for plain in declared
        for clause, here in plain.get("same", {}).items()
    }
    same_numbers = {other: plain["name"] for plain in declared for other in plain.get("same_numbers", ())}
    return Tables(list(documents.values()), same, same_numbers, _toml("outside.toml"))


def _toml(name: str) -> dict[str, t.Any]:
    with (_DATA / name).open("rb") as file:
        return tomllib.load(file)


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (_DATA / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _sections() -> Iterator[Section]:
    for row in _rows("sections.csv"):
        counts = (int(row["must"]), int(row["should"]), int(row["may"]))
        yield Section(row["rfc"], row["section"], row["title"], *counts)
    for row in _rows("sections-uncounted.csv"):
        yield Section(row["rfc"], row["section"], row["title"])


# ---------------------------------------------------------------- operations and errors


@dataclass(frozen=True, slots=True)
class Reason:
    """Why no check provokes an error: "outside" (nobody can), or "server" (not with the reference server)."""

    kind: str
    text: str
    is_general: bool = False
    """It is of all operations, or of all errors of an operation, as far as no check provokes them."""


@dataclass(slots=True)
class ErrorTable:
    """The errors that the RFC lists for the operations of one protocol."""

    protocol: str
    """As in ids, with the minor version: ``nfs3``, ``nfs4.1``."""
    errors: dict[str, list[str]] = field(default_factory=dict)
    """Operation -> errors, without the prefix that all have."""
    reasons: dict[tuple[str, str], Reason] = field(default_factory=dict)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """(operation, error) in the order of the RFC."""
        return [(operation, error) for operation, errors in self.errors.items() for error in errors]


def short_error(name: str) -> str:
    """``STALE`` of ``NFS3ERR_STALE``."""
    return name.partition("ERR_")[2] or name


def read_error_tables() -> list[ErrorTable]:
    tables: dict[str, ErrorTable] = {}
    for row in _rows("errors.csv"):
        table = tables.setdefault(row["protocol"], ErrorTable(row["protocol"]))
        table.errors[row["operation"]] = [short_error(name) for name in row["errors"].split()]
    for protocol, kinds in _toml("errors-outside.toml").items():
        table = tables[protocol]
        declared = {
            tuple(pair.split()): Reason(kind, text) for kind in kinds for pair, text in kinds[kind].items()
        }
        for operation, error in table.pairs:
            reason = declared.get((operation, error))
            general = declared.get((operation, "*")) or declared.get(("*", error))
            if reason is None and general is not None:
                reason = replace(general, is_general=True)
            if reason is not None:
                table.reasons[operation, error] = reason
    return list(tables.values())


def unmatched_reasons() -> list[str]:
    """Declared reasons that are of no section and no pair: faults of the tables."""
    found = []
    tables = read_tables()
    for rfc, reasons in tables.outside.items():
        numbers = [
            section.number for each in tables.documents if each.name == rfc for section in each.sections
        ]
        found += [f"{rfc} {key}" for key in reasons if key.removesuffix(".*") not in numbers]
    pairs = {each.protocol: set(each.pairs) for each in read_error_tables()}
    for protocol, kinds in _toml("errors-outside.toml").items():
        errors = {error for _, error in pairs[protocol]}
        for text in (pair for kind in kinds.values() for pair in kind):
            operation, error = text.split()
            if operation == "*":
                is_there = error in errors
            elif error == "*":
                is_there = any(operation == known for known, _ in pairs[protocol])
            else:
                is_there = (operation, error) in pairs[protocol]
            found += [] if is_there else [f"{protocol} {text}"]
    return found
