# SPDX-License-Identifier: MIT
"""MKDIR (RFC 1094 section 2.2.15) makes an empty directory with the given attributes."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Ftype, Sattr, Timeval
from nfsjudge import Harm, expect, expect_names, proves, should, stated
from suites.nfs2.objects import expect_same, mode_id

MKDIR_MAKES_DIRECTORY = stated(
    "RFC 1094",
    "2.2.15",
    "MKDIR creates the directory under the given name and returns its handle and attributes",
    harm=Harm.SUCCESS,
)
MKDIR_SETS_ATTRIBUTES = should(  # a server may mask them
    "RFC 1094", "2.2.15", "attributes are the initial attributes of the new directory"
)
_ROUGHLY = 10
"""Seconds: file systems round times, most of them by less than two."""


@proves(MKDIR_MAKES_DIRECTORY, killed_by="mkdir2-makes-a-file")
def test_makes_directory(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """MKDIR makes a directory."""
    expect(nfs2.mkdir(scratch.handle, b"new", Sattr(mode=0o755))).ok()
    found = expect(nfs2.lookup(scratch.handle, b"new")).ok()
    expect(found.attributes).field("type").equals(Ftype.NFDIR)


@proves(MKDIR_MAKES_DIRECTORY, killed_by="mkdir2-creates-a-file-inside")
def test_new_directory_empty(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """MKDIR makes an empty directory."""
    made = expect(nfs2.mkdir(scratch.handle, b"new", Sattr(mode=0o755))).ok()
    expect_names(scratch.names(made.file), [], "names in the new directory")


@proves(MKDIR_MAKES_DIRECTORY, killed_by="mkdir2-returns-the-handle-of-the-parent")
def test_returns_handle_and_attributes(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """MKDIR returns the handle and attributes of the new directory."""
    made = expect(nfs2.mkdir(scratch.handle, b"new", Sattr(mode=0o755))).ok()
    found = expect(nfs2.lookup(scratch.handle, b"new")).ok()
    expect_same(scratch.attributes(made.file), found.attributes)
    expect_same(made.attributes, found.attributes)


@pytest.mark.parametrize("mode", [0o500, 0o700, 0o755, 0o777], ids=mode_id)
@proves(MKDIR_SETS_ATTRIBUTES, killed_by="mkdir2-inverts-group-write")
def test_sets_mode(nfs2: Nfs2, scratch: Nfs2Scratch, mode: int) -> None:
    """MKDIR gives the new directory the permission bits of the call."""
    made = expect(nfs2.mkdir(scratch.handle, b"new", Sattr(mode=mode))).ok()
    expect(scratch.attributes(made.file).mode & 0o777, "permission bits of mode", field="mode").equals(mode)


@proves(MKDIR_SETS_ATTRIBUTES, killed_by="mkdir2-swaps-times")
def test_initial_times(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """MKDIR gives the new directory the two times of the call."""
    asked = Sattr(mode=0o755, atime=Timeval(1_000_000_000), mtime=Timeval(1_100_000_000, 500_000))
    made = expect(nfs2.mkdir(scratch.handle, b"new", asked)).ok()
    known = scratch.attributes(made.file)
    for which in ("atime", "mtime"):
        apart = abs(getattr(known, which).seconds - getattr(asked, which).seconds)
        expect(apart, f"seconds between {which} of the call and of the new directory").at_most(_ROUGHLY)
