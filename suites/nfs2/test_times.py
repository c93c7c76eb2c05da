# SPDX-License-Identifier: MIT
"""Times in attributes (RFC 1094 section 2.3.5): their range, and what moves them."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from fixtures.checks.scratch import need
from nfsclient.clients import Nfs2
from nfsjudge import expect, observe, proves, should, skip, stated
from suites.clauses import DIRECTORY_MTIME_FOLLOWS_ENTRIES
from suites.nfs2.objects import LONG_AGO, set_old_mtime

MICROSECONDS_STAY_IN_RANGE = should(
    "RFC 1094",
    "2.3.4",
    "a time is given in seconds and microseconds, with less than one million microseconds",
)
MTIME_IS_LAST_WRITE = stated(
    "RFC 1094", "2.3.5", "mtime is the time when the data of the file was last written"
)
CTIME_CHANGES_WITH_SIZE = stated(
    "RFC 1094", "2.3.5", "a write that changes the size of the file changes ctime"
)

CHANGES: t.Final = (
    *("create", "mkdir", "symlink", "link"),
    *("remove", "rmdir", "rename_from", "rename_to"),
)
"""Calls that change the entries of a directory."""


@pytest.mark.parametrize("name", ["atime", "mtime", "ctime"])
@proves(MICROSECONDS_STAY_IN_RANGE, killed_by="getattr2-returns-nanoseconds")
def test_microseconds(nfs2: Nfs2, scratch: Nfs2Scratch, name: str) -> None:
    """Times have less than one million microseconds."""
    reply = nfs2.getattr(scratch.file("f", b"data"))
    expect(reply).ok()
    expect(reply).field(f"attributes.{name}.useconds").at_most(999_999)


@proves(MTIME_IS_LAST_WRITE, killed_by="getattr2-keeps-old-mtime")
def test_write_moves_mtime(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """WRITE changes the mtime of the file."""
    file = scratch.file("f", b"data")
    set_old_mtime(nfs2, scratch, file)
    expect(nfs2.write(file, 0, b"DATA")).ok()
    reply = nfs2.getattr(file)
    expect(reply).ok()
    expect(reply).field("attributes.mtime").differs_from(LONG_AGO)


@proves(CTIME_CHANGES_WITH_SIZE, killed_by="write2-keeps-ctime")
def test_write_moves_ctime(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """WRITE changes the ctime of a file that it extends."""
    file = scratch.file("f", b"data")
    set_old_mtime(nfs2, scratch, file)
    before = scratch.attributes(file).ctime
    expect(nfs2.write(file, 4, b"more data")).ok()
    after = scratch.attributes(file)
    written, changed = after.mtime, before
    observe("granularity", "seconds" if not written.useconds and not changed.useconds else "finer")
    if (written.seconds, written.useconds) <= (changed.seconds, changed.useconds):
        skip("the clock of the server did not move between two operations")
    if written.useconds and not changed.useconds:
        skip("the server may return ctime in coarser units than mtime")
    expect(after).field("ctime", "ctime after a WRITE that extended the file").differs_from(before)


# ---------------------------------------------------------------- directories


def _arranged(nfs2: Nfs2, scratch: Nfs2Scratch, change: str, here: bytes) -> Callable[[], object]:
    """Make what the change of the directory `here` needs; the function that makes it."""
    there, old, new = scratch.directory("there"), b"old", b"new"
    match change:
        case "create":
            return lambda: scratch.file(new, directory=here)
        case "mkdir":
            return lambda: scratch.directory(new, directory=here)
        case "symlink":
            return lambda: scratch.symlink(new, b"text", directory=here)
        case "link":
            file = scratch.file(old, directory=there)
            return lambda: scratch.link(file, new, directory=here)
        case "rmdir":
            scratch.directory(old, directory=here)
            return lambda: need(nfs2.rmdir(here, old), "the change", "RMDIR")
        case "remove":
            scratch.file(old, directory=here)
            return lambda: need(nfs2.remove(here, old), "the change", "REMOVE")
    source, target = (here, there) if change == "rename_from" else (there, here)
    scratch.file(old, directory=source)
    return lambda: need(nfs2.rename(source, old, target, new), "the change", "RENAME")


@pytest.mark.parametrize("change", CHANGES)
@proves(DIRECTORY_MTIME_FOLLOWS_ENTRIES, killed_by="names2-keep-mtime-of-directories")
def test_directory_mtime(nfs2: Nfs2, scratch: Nfs2Scratch, change: str) -> None:
    """A change of the entries of a directory updates its mtime."""
    here = scratch.directory("here")
    act = _arranged(nfs2, scratch, change, here)
    set_old_mtime(nfs2, scratch, here)
    act()
    expect(scratch.attributes(here)).field("mtime", "mtime of the directory").differs_from(LONG_AGO)
