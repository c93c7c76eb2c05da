# SPDX-License-Identifier: MIT
"""CLOSE: which opens it ends (sections 3.1 and 4.3.4)."""

from __future__ import annotations

from nfsjudge import expect, proves
from suites.snfs.clauses import CLOSE_ENDS_ONE_OPEN, CLOSE_IN_ANOTHER_MODE, NO_EARLY_CLOSE, STATES
from suites.snfs.players import Table, expect_state


@proves(NO_EARLY_CLOSE, killed_by="snfs-first-close-is-final")
def test_reader_of_two(table: Table) -> None:
    """A CLOSE that leaves the client another open for reading changes no state."""
    table.a.open(table.file)
    table.a.open(table.file)
    table.a.close(table.file)
    expect_state(table, "ONE_READER", NO_EARLY_CLOSE)


@proves(NO_EARLY_CLOSE, killed_by="snfs-first-close-is-final")
def test_writer_of_two(table: Table) -> None:
    """A CLOSE that leaves the client another open for writing changes no state."""
    table.a.open(table.file, write=True)
    table.a.open(table.file, write=True)
    table.a.close(table.file, write=True)
    expect_state(table, "ONE_WRITER", NO_EARLY_CLOSE)


@proves(
    NO_EARLY_CLOSE,
    killed_by=("snfs-close-by-a-reader-ends-sharing", "snfs-close-by-one-of-many-is-ignored"),
)
def test_third_reader(table: Table) -> None:
    """A CLOSE that leaves two readers changes no state."""
    for player in (table.a, table.b, table.c):
        player.open(table.file)
    table.c.close(table.file)
    expect_state(table, "MULT_READERS", NO_EARLY_CLOSE, having="ab")


@proves(CLOSE_ENDS_ONE_OPEN, killed_by="snfs-close-ends-that-of-another")
def test_whose(table: Table) -> None:
    """A CLOSE by one of two readers ends its own open, and not that of the other one."""
    table.a.open(table.file)
    table.b.open(table.file)
    table.b.close(table.file)
    expect_state(table, "ONE_READER", CLOSE_ENDS_ONE_OPEN, having="a")


@proves(STATES, killed_by="snfs-first-writer-stays-the-last")
def test_last_writer(table: Table) -> None:
    """The last writer of a closed file is the client that wrote last, not one before it."""
    table.a.makes_dirty(table.file)
    table.b.makes_dirty(table.file)
    expect_state(table, "CLOSED_DIRTY", STATES, having="b")


@proves(CLOSE_ENDS_ONE_OPEN, killed_by="snfs-close-ignores-the-mode")
def test_mode(table: Table) -> None:
    """A CLOSE of an open for reading leaves the client its open for writing."""
    table.a.open(table.file, write=True)
    table.a.open(table.file)
    table.a.close(table.file)
    expect_state(table, "ONE_WRITER", CLOSE_ENDS_ONE_OPEN)


@proves(CLOSE_ENDS_ONE_OPEN, killed_by="snfs-close-of-nothing-ends-something")
def test_of_nothing(table: Table) -> None:
    """A CLOSE by a client that has nothing open ends no open of another one."""
    table.a.open(table.file, write=True)
    table.b.snfs.close(table.file, write_mode=True)  # whatever it answers
    expect_state(table, "ONE_WRITER", CLOSE_ENDS_ONE_OPEN)


@proves(CLOSE_IN_ANOTHER_MODE, killed_by="snfs-counts-go-below-zero")
def test_wrong_mode(table: Table) -> None:
    """A CLOSE in a mode in which the client has nothing open has no effect on an open that comes later."""
    table.a.open(table.file)
    table.a.snfs.close(table.file, write_mode=True)  # whatever it answers
    table.a.open(table.file, write=True)
    expect_state(table, "ONE_WRITER", CLOSE_IN_ANOTHER_MODE)


@proves(CLOSE_IN_ANOTHER_MODE, killed_by="snfs-close-of-nothing-ends-something-else")
def test_other_mode(table: Table) -> None:
    """A CLOSE in a mode in which the client has nothing open ends no open of the other mode."""
    table.a.open(table.file)
    table.a.snfs.close(table.file, write_mode=True)  # whatever it answers
    expect_state(table, "ONE_READER", CLOSE_IN_ANOTHER_MODE)


@proves(CLOSE_ENDS_ONE_OPEN, killed_by="snfs-close-forgets-the-data")
def test_data_stays(table: Table) -> None:
    """What was written before a CLOSE is read after it."""
    table.a.open(table.file, write=True)
    table.a.write(table.file, b"written")
    table.a.close(table.file, write=True)
    table.b.open(table.file)
    found = table.b.snfs.read(table.file, 0, 100)
    expect(bytes(expect(found).ok().data), "data", of=found, field="readok.data").equals(b"written")
