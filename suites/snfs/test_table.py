# SPDX-License-Identifier: MIT
"""Table 1 (section 4.3.4), row by row: `a` has what the row begins with, and the row happens.

`same` in a parameter: `a` opens, which has the file open or was its last writer. Elsewhere `c` does, which has nothing.
"""

from __future__ import annotations

import typing as t

import pytest

from nfsjudge import expect, expect_that, proves
from suites.snfs.clauses import CACHING, CALLS, CALLS_NOBODY, STATES
from suites.snfs.players import Player, Table, arrange, expect_state, in_words

_NAMES: t.Final = {
    "closed": "CLOSED",
    "dirty": "CLOSED_DIRTY",
    "reader": "ONE_READER",
    "rdrdirty": "ONE_RDRDIRTY",
    "readers": "MULT_READERS",
    "writer": "ONE_WRITER",
    "shared": "WRITE_SHARED",
}
_AFTER: t.Final = {
    "closed-read": "ONE_READER",
    "closed-write": "ONE_WRITER",
    "dirty-read-same": "ONE_RDRDIRTY",
    "dirty-read": "ONE_READER",
    "dirty-write-same": "ONE_WRITER",
    "dirty-write": "ONE_WRITER",
    "reader-read": "MULT_READERS",
    "rdrdirty-read": "MULT_READERS",
    "reader-write-same": "ONE_WRITER",
    "rdrdirty-write-same": "ONE_WRITER",
    "reader-write": "WRITE_SHARED",
    "readers-write": "WRITE_SHARED",
    "readers-write-same": "WRITE_SHARED",
    "rdrdirty-write": "WRITE_SHARED",
    "readers-read": "MULT_READERS",
    "writer-read": "WRITE_SHARED",
    "writer-write": "WRITE_SHARED",
    "shared-read": "WRITE_SHARED",
    "shared-write": "WRITE_SHARED",
    "shared-read-same": "WRITE_SHARED",
    "shared-write-same": "WRITE_SHARED",
}
"""The opens of table 1 -> the state after them; and of a shared file, which stays shared."""
_HAVING: t.Final = {
    "closed-read": "c",
    "closed-write": "c",
    "dirty-read": "c",
    "dirty-write": "c",
    "reader-read": "ac",
    "rdrdirty-read": "ac",
    "readers-read": "abc",
}
"""Those after which others than `a` have something that they are called for -> who."""
_CALLED: t.Final[dict[str, dict[str, list[str]]]] = {
    "dirty-read": {"a": ["SNFS_CBWRITE"]},
    "dirty-write": {"a": ["SNFS_WRINVAL"]},
    "rdrdirty-read": {"a": ["SNFS_CBWRITE"]},
    "reader-write": {"a": ["SNFS_CBINVAL"]},
    "readers-write": {"a": ["SNFS_CBINVAL"], "b": ["SNFS_CBINVAL"]},
    "readers-write-same": {"b": ["SNFS_CBINVAL"]},
    "rdrdirty-write": {"a": ["SNFS_WRINVAL"]},
    "writer-read": {"a": ["SNFS_WRINVAL"]},
    "writer-write": {"a": ["SNFS_WRINVAL"]},
}
"""Those with a callback -> who is called for what."""
_ENABLED: t.Final = [row for row, state in _AFTER.items() if state != "WRITE_SHARED"]
_DISABLED: t.Final = [row for row, state in _AFTER.items() if state == "WRITE_SHARED"]
_QUIET: t.Final = [row for row in _AFTER if row not in _CALLED]


def _begin(table: Table, row: str) -> tuple[Player, bool]:
    """Who opens, and whether for writing, when the state of before is there."""
    words = row.split("-")
    arrange(table, _NAMES[words[0]])
    return (table.a if words[-1] == "same" else table.c), words[1] == "write"


@pytest.mark.parametrize("row", _ENABLED)
@proves(CACHING, killed_by="snfs-never-caches")
def test_enabled(table: Table, row: str) -> None:
    """An OPEN after which clients that write do not share the file enables caching."""
    player, writes = _begin(table, row)
    opened = player.open(table.file, write=writes)
    expect(opened).field("cache_enabled").equals(True)


@pytest.mark.parametrize("row", _DISABLED)
@proves(CACHING, killed_by="snfs-always-caches")
def test_disabled(table: Table, row: str) -> None:
    """An OPEN after which a client that writes shares the file with others disables caching."""
    player, writes = _begin(table, row)
    opened = player.open(table.file, write=writes)
    expect(opened).field("cache_enabled").equals(False)


@pytest.mark.parametrize("row", list(_CALLED))
@proves(CALLS, killed_by=("snfs-calls-nobody", "snfs-calls-in-another-mode"))
def test_callback(table: Table, row: str) -> None:
    """Before an OPEN succeeds, each other client is called for what table 1 says."""
    player, writes = _begin(table, row)
    player.open(table.file, write=writes)
    seen = table.called
    if row.endswith("-same") and seen.get("a") == ["SNFS_CBINVAL"]:
        del seen["a"]  # who opens has blocks, too: the reply says that they go, and a callback may
    if row.startswith("dirty") and _CALLED[row] != seen:
        table.allow_reclaiming()
    _expect_called(_CALLED[row], seen)


@pytest.mark.parametrize("row", _QUIET)
@proves(CALLS_NOBODY, killed_by="snfs-calls-everybody")
def test_no_callback(table: Table, row: str) -> None:
    """An OPEN without a callback in table 1 calls nobody."""
    player, writes = _begin(table, row)
    player.open(table.file, write=writes)
    for each in table.players:  # what was sent to it after that reply comes before this one
        expect(each.snfs.getattr(table.file)).ok()
    if row.startswith("dirty"):
        table.allow_reclaiming()
    _expect_called({}, table.called)


@pytest.mark.parametrize("row", list(_AFTER))
@proves(STATES, killed_by="snfs-open-is-not-counted")
def test_after_open(table: Table, row: str) -> None:
    """After an OPEN, the next one by another client finds the state that table 1 says."""
    player, writes = _begin(table, row)
    player.open(table.file, write=writes)
    expect_state(table, _AFTER[row], STATES, having=_HAVING.get(row, ""))


_CLOSES: t.Final = {
    "readers": ("MULT_READERS", "ONE_READER"),
    "reader": ("ONE_READER", "CLOSED"),
    "shared": ("WRITE_SHARED", "CLOSED"),
    "rdrdirty": ("ONE_RDRDIRTY", "CLOSED_DIRTY"),
    "writer": ("ONE_WRITER", "CLOSED_DIRTY"),
    "writer-reads": ("ONE_WRITER", "ONE_RDRDIRTY"),
}
"""The closes of table 1 -> the states before and after."""


@pytest.mark.parametrize("row", list(_CLOSES))
@proves(STATES, killed_by="snfs-close-is-not-counted")
def test_after_close(table: Table, row: str) -> None:
    """After a CLOSE, the next OPEN by another client finds the state that table 1 says."""
    before, after = _CLOSES[row]
    arrange(table, before)
    if row == "writer-reads":
        table.a.open(table.file)
    if row == "shared":
        table.b.close(table.file)
    table.a.close(table.file, write=before in ("ONE_WRITER", "WRITE_SHARED"))
    expect_state(table, after, STATES, having="b" if row == "readers" else "")


@proves(STATES, killed_by=("snfs-close-for-write-is-final", "snfs-open-for-write-ends-reading"))
def test_reader_still_reads(table: Table) -> None:
    """A reader that opens the file for writing, and closes that, still reads it."""
    table.a.open(table.file)
    table.a.open(table.file, write=True)
    table.a.close(table.file, write=True)
    expect_state(table, "ONE_RDRDIRTY", STATES)


@proves(CACHING, killed_by="snfs-shared-opens-again-with-a-cache")
def test_shared_again(table: Table) -> None:
    """An OPEN by a client that shares the file with a writer disables caching, in which mode ever it has it open."""
    arrange(table, "WRITE_SHARED")
    for player, writes in ((table.a, True), (table.a, False), (table.b, False)):
        opened = player.open(table.file, write=writes)
        expect(opened).field("cache_enabled").equals(False)


@proves(CACHING, killed_by="snfs-shared-is-cached-by-newcomers")
def test_shared_newcomer(table: Table) -> None:
    """An OPEN for reading by a client that is new to a shared file disables caching."""
    arrange(table, "WRITE_SHARED")
    opened = table.c.open(table.file)
    expect(opened).field("cache_enabled").equals(False)


def _expect_called(wanted: dict[str, list[str]], seen: dict[str, list[str]]) -> None:
    expect_that(seen == wanted, in_words(wanted), in_words(seen), operation="CALLBACK")
