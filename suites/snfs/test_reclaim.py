# SPDX-License-Identifier: MIT
"""A state table without room (section 4.3.1): only a server whose table can be made small shows it."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.snfs import SnfsScratch
from fixtures.checks.target import KnobsView
from nfsjudge import expect, expect_that, proves
from suites.snfs.clauses import ENTRY_IS_LOCKED, OPEN_FILES_STAY, TABLE_IS_RECLAIMED
from suites.snfs.players import Table, expect_state, still_waits


def _make_small(table: Table, knobs: KnobsView, entries: int) -> None:
    """Let the table have this many entries. A server may have some of removed files, whose clients have gone."""
    for player in table.players:
        player.excuse = "the server waits for clients of before this check, which have gone"
    knobs.set(snfs_entries=entries)


@pytest.mark.exclusive
@proves(TABLE_IS_RECLAIMED, killed_by=("snfs-reclaims-without-a-callback", "snfs-refuses-when-full"))
def test_callback(table: Table, scratch: SnfsScratch, knobs: KnobsView) -> None:
    """An OPEN that finds the table full of closed files has one of them written back, and succeeds."""
    _make_small(table, knobs, 2)
    for name in ("first", "second"):
        table.a.makes_dirty(scratch.file(name))
    expect(table.b.try_open(table.file)).ok()
    seen = [mode.name for mode in table.a.called]
    expect_that(seen == ["SNFS_CBWRITE"], "SNFS_CBWRITE", " ".join(seen) or "none", operation="CALLBACK")


@pytest.mark.exclusive
@proves(ENTRY_IS_LOCKED, killed_by="snfs-reclaims-before-the-write-back")
def test_waits(table: Table, scratch: SnfsScratch, knobs: KnobsView) -> None:
    """An OPEN of a file that is being written back for another one's entry waits for the write-back."""
    _make_small(table, knobs, 2)
    files = scratch.file("first"), scratch.file("second")
    for file in files:
        table.a.makes_dirty(file)
    table.a.callbacks.holds = True
    first = table.b.start(table.file)
    second = table.c.start(bytes(table.a.await_call().file))
    still_waits(second, table.viewer, table.file)
    table.a.callbacks.holds = False
    table.a.callbacks.release()
    table.b.end_or_skip(first)
    table.c.end_or_skip(second)


@pytest.mark.exclusive
@proves(OPEN_FILES_STAY, killed_by="snfs-forgets-open-files")
def test_open_files(table: Table, scratch: SnfsScratch, knobs: KnobsView) -> None:
    """A file that is open keeps its entry, whatever becomes of an OPEN that finds no room."""
    _make_small(table, knobs, 1)
    table.a.open(table.file, write=True)
    table.b.try_open(scratch.file("second"))
    expect_state(table, "ONE_WRITER", OPEN_FILES_STAY)
