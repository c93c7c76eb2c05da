# SPDX-License-Identifier: MIT
"""A state table without room (section 4.3.1): only a server whose table can be made small shows it."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.snfs import SnfsScratch
from fixtures.checks.target import KnobsView
from nfsjudge import expect, expect_that, proves
from suites.snfs.clauses import OPEN_FILES_STAY, TABLE_IS_RECLAIMED
from suites.snfs.players import Table, expect_state


@pytest.mark.exclusive
@proves(TABLE_IS_RECLAIMED, killed_by=("snfs-reclaims-without-a-callback", "snfs-refuses-when-full"))
def test_callback(table: Table, scratch: SnfsScratch, knobs: KnobsView) -> None:
    """An OPEN that finds the table full of closed files has one of them written back, and succeeds."""
    knobs.set(snfs_entries=2)
    for name in ("first", "second"):
        table.a.makes_dirty(scratch.file(name))
    expect(table.b.try_open(table.file)).ok()
    seen = [mode.name for mode in table.a.called]
    expect_that(seen == ["SNFS_CBWRITE"], "SNFS_CBWRITE", " ".join(seen) or "none", operation="CALLBACK")


@pytest.mark.exclusive
@proves(OPEN_FILES_STAY, killed_by="snfs-forgets-open-files")
def test_open_files(table: Table, scratch: SnfsScratch, knobs: KnobsView) -> None:
    """A file that is open keeps its entry, whatever becomes of an OPEN that finds no room."""
    knobs.set(snfs_entries=1)
    table.a.open(table.file, write=True)
    table.b.try_open(scratch.file("second"))
    expect_state(table, "ONE_WRITER", OPEN_FILES_STAY)
