# SPDX-License-Identifier: MIT
"""OPEN: versions, attributes, and opens that change no state (sections 3.1 and 4.3.4)."""

from __future__ import annotations

import pytest

from nfsjudge import expect, expect_that, proves
from suites.snfs.clauses import (
    ATTRIBUTES_ARE_GETATTRS,
    NO_TRANSITION,
    SAYS_NO_MORE,
    VERSION_GROWS,
    VERSIONS_FIT,
    VERSIONS_KEEP,
)
from suites.snfs.players import Table, expect_state

# ---------------------------------------------------------------- versions


@proves(VERSION_GROWS, killed_by="snfs-version-stays")
def test_version_grows(table: Table) -> None:
    """Each OPEN for writing returns a larger version than the one before it."""
    first = table.a.open(table.file, write=True).cache_version
    second = table.a.open(table.file, write=True)
    expect(second).field("cache_version").at_least(first + 1)


@proves(VERSION_GROWS, killed_by="snfs-version-grows-for-one-client")
def test_grows_for_others(table: Table) -> None:
    """An OPEN for writing by another client returns a larger version than that of the first one."""
    first = table.a.makes_dirty(table.file)
    opened = table.b.open(table.file, write=True)
    expect(opened).field("cache_version").at_least(first + 1)


@proves(VERSION_GROWS, killed_by="snfs-version-begins-again")
def test_grows_when_forgotten(table: Table) -> None:
    """The version grows, too, after a time in which the file was closed and nobody had dirty blocks of it."""
    first = table.a.makes_dirty(table.file)
    table.b.open(table.file)
    table.b.close(table.file)
    opened = table.a.open(table.file, write=True)
    expect(opened).field("cache_version").at_least(first + 1)


@proves(VERSIONS_KEEP, killed_by="snfs-old-version-is-zero")
def test_own_data_is_kept(table: Table) -> None:
    """A reader that opens the file for writing gets the version of its data as one of the two."""
    known = table.a.open(table.file).cache_version
    opened = table.a.open(table.file, write=True)
    both = opened.cache_version, opened.old_cache_vers
    expect_that(known in both, f"version {known} among the two", f"versions {both}", reply=opened)


@proves(VERSIONS_KEEP, killed_by="snfs-version-grows-at-each-open")
def test_last_writer_keeps(table: Table) -> None:
    """The last writer that opens the file again gets the version of its data as one of the two."""
    known = table.a.makes_dirty(table.file)
    opened = table.a.open(table.file)
    both = opened.cache_version, opened.old_cache_vers
    expect_that(known in both, f"version {known} among the two", f"versions {both}", reply=opened)


@proves(VERSIONS_FIT, killed_by="snfs-old-version-is-one-less")
def test_data_is_old(table: Table) -> None:
    """A reader that opens the file again after another client wrote it gets the version of its data as neither."""
    known = table.a.open(table.file).cache_version
    table.a.close(table.file)
    table.b.makes_dirty(table.file)
    opened = table.a.open(table.file)
    both = opened.cache_version, opened.old_cache_vers
    expect_that(known not in both, f"versions other than {known}", f"versions {both}", reply=opened)


@proves(VERSIONS_FIT, killed_by="snfs-old-version-never-changes")
def test_data_is_older(table: Table) -> None:
    """A writer that opens the file again after another client wrote it gets the version of its data as neither."""
    known = table.a.makes_dirty(table.file)
    table.b.makes_dirty(table.file)
    opened = table.a.open(table.file, write=True)
    both = opened.cache_version, opened.old_cache_vers
    expect_that(known not in both, f"versions other than {known}", f"versions {both}", reply=opened)


@proves(VERSIONS_FIT, killed_by="snfs-readers-get-an-old-version")
def test_latest(table: Table) -> None:
    """An OPEN for reading returns the version that the last OPEN for writing has returned."""
    known = table.a.makes_dirty(table.file)
    opened = table.b.open(table.file)
    expect(opened).field("cache_version").equals(known)


@proves(VERSIONS_FIT, killed_by="snfs-versions-in-the-wrong-order")
def test_order(table: Table) -> None:
    """The latest version in a reply is not smaller than the previous one."""
    table.a.makes_dirty(table.file)
    opened = table.a.open(table.file, write=True)
    expect(opened).field("cache_version").at_least(opened.old_cache_vers)


# ---------------------------------------------------------------- statuses


@proves(SAYS_NO_MORE, killed_by="snfs-always-inconsistent")
def test_nothing_lost(table: Table) -> None:
    """An OPEN for which nobody has to be called does not say that the file may be inconsistent."""
    expect(table.a.try_open(table.file, write=True)).granted()


# ---------------------------------------------------------------- attributes


@proves(ATTRIBUTES_ARE_GETATTRS, killed_by="snfs-open-returns-first-attributes")
def test_attributes(table: Table) -> None:
    """OPEN returns the attributes that GETATTR returns: after a WRITE the new size."""
    table.a.open(table.file, write=True)
    table.a.write(table.file, b"eight by")
    opened = table.a.open(table.file)
    expect(opened).field("attributes.size").equals(8)


# ---------------------------------------------------------------- opens that change nothing


@pytest.mark.parametrize("first", ["read", "write"])
@pytest.mark.parametrize("second", ["read", "write"])
@proves(NO_TRANSITION, killed_by="snfs-second-open-disables-caching")
def test_again(table: Table, first: str, second: str) -> None:
    """An OPEN by the only client that has the file open enables caching, and calls nobody."""
    table.a.open(table.file, write=first == "write")
    opened = table.a.open(table.file, write=second == "write")
    expect(opened).field("cache_enabled").equals(True)
    expect_that(not table.called, "no callbacks", str(table.called), operation="CALLBACK")


@proves(NO_TRANSITION, killed_by="snfs-reader-again-is-a-writer")
def test_reader_again(table: Table) -> None:
    """After a second OPEN for reading by one of several readers, they still may cache."""
    table.a.open(table.file)
    table.b.open(table.file)
    table.a.open(table.file)
    expect_state(table, "MULT_READERS", NO_TRANSITION, having="ab")


@proves(NO_TRANSITION, killed_by="snfs-shared-ends-early")
def test_shared_stays(table: Table) -> None:
    """A file that was shared with a writer stays uncachable until its final close."""
    table.a.open(table.file, write=True)
    table.b.open(table.file)
    table.a.close(table.file, write=True)
    expect_state(table, "WRITE_SHARED", NO_TRANSITION)
