# SPDX-License-Identifier: MIT
"""What servers have shown: few causes more than people have found, and none that mixes two of theirs."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

from nfsjudge.records import CheckRecord, FindingRecord
from reports.baseline import shipped_names
from reports.causes import Cause, causes
from reports.causes.seen import load_seen
from reports.globs import glob

HERE = Path(__file__).parent
SEEN = HERE.parents[2] / "baselines" / "seen"
BY_HAND: dict[str, dict[str, list[str]]] = tomllib.loads((HERE / "by_hand.toml").read_text(encoding="utf-8"))
AT_MOST = 1.3
"""Causes that are found, for each that people have found."""
NOT_SEEN = {"embedded", "knfsd-6.1-tmpfs", "knfsd-v2-6.1-ext4", "knfsd-qemu-6.12-ext4"}
"""Baselines without an extract of a run: their entries alone say what is known."""
ALSO = "also-"
"""How names begin of what the page does not list."""


def name_by_hand(rows: dict[str, list[str]], record: CheckRecord | FindingRecord) -> str:
    heading = f"{record.verdict} {record.id}"
    for name, patterns in rows.items():
        if any(glob(pattern).fullmatch(text) for pattern in patterns for text in (record.id, heading)):
            return name
    return f"no row has {heading}"


def members_of(cause: Cause, known: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    ids = {*cause.checks, *cause.findings}
    return [(verdict, name) for verdict, name in known if name in ids]


@pytest.mark.parametrize("server", BY_HAND)
def test_causes_are_those_that_people_found(server: str) -> None:
    rows = BY_HAND[server]
    records = load_seen(SEEN / f"{server}.json")
    name_of = {(record.verdict, record.id): name_by_hand(rows, record) for record in records}
    assert sorted(name for name in name_of.values() if name.startswith("no row")) == []
    found = causes(records)
    names = {cause.line: {name_of[record] for record in members_of(cause, name_of)} for cause in found}
    mixed = {line: sorted(several) for line, several in names.items() if len(several) > 1}
    assert mixed == {}
    assert len(found) <= AT_MOST * len(set(name_of.values()))
    listed = {name for name in name_of.values() if not name.startswith(ALSO)}
    of_page = [line for line, several in names.items() if not min(several).startswith(ALSO)]
    assert len(of_page) <= AT_MOST * len(listed)


def test_each_shipped_baseline_has_what_was_seen() -> None:
    assert {file.stem for file in SEEN.glob("*.json")} == set(BY_HAND) == set(shipped_names()) - NOT_SEEN
