# SPDX-License-Identifier: MIT
"""MKDIR (RFC 1813 section 3.3.9): creates a directory."""

from __future__ import annotations

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Ftype3, Nfsstat3, Sattr3
from nfsjudge import Harm, expect, expect_names, proves, stated
from suites.nfs3.clauses import RETURNS_EXIST
from suites.nfs3.new_objects import (
    expect_file,
    expect_not_a_directory,
    expect_own_attributes,
    expect_own_handle,
    expect_type,
)

MKDIR_CREATES_A_DIRECTORY = stated("RFC 1813", "3.3.9", "MKDIR creates a new subdirectory", harm=Harm.SUCCESS)
MKDIR_RETURNS_ATTRIBUTES = stated(
    "RFC 1813", "3.3.9", "obj_attributes are the attributes of the new subdirectory"
)
MKDIR_RETURNS_HANDLE = stated("RFC 1813", "3.3.9", "obj is the file handle of the new subdirectory")
MKDIR_REPLACES_NOTHING = stated(
    "RFC 1813",
    "3.3.9",
    "MKDIR fails if the name exists, and leaves the existing object unchanged",
    harm=Harm.OBJECT,
)
MKDIR_NEEDS_A_DIRECTORY = stated(
    "RFC 1813",
    "3.3.9",
    "MKDIR creates the subdirectory in a directory, not in another object",
    harm=Harm.OBJECT,
)


@proves(MKDIR_CREATES_A_DIRECTORY, killed_by="mkdir3-creates-nothing")
def test_creates_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """MKDIR creates a directory."""
    expect(nfs3.mkdir(scratch.handle, b"new", Sattr3(mode=0o755))).ok()
    expect_type(nfs3, scratch, b"new", Ftype3.NF3DIR)


@proves(MKDIR_CREATES_A_DIRECTORY, killed_by="mkdir3-creates-a-file-inside")
def test_new_directory_empty(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """A directory created by MKDIR is empty."""
    expect(nfs3.mkdir(scratch.handle, b"new", Sattr3(mode=0o755))).ok()
    found = expect(nfs3.lookup(scratch.handle, b"new")).ok()
    # Some servers add entries such as .snapshot to every directory.
    names = [name for name in scratch.names(found.object) if not name.startswith(b".")]
    expect_names(names, [], "names in the new directory")


@proves(MKDIR_RETURNS_ATTRIBUTES, killed_by="mkdir3-attributes-of-the-parent")
def test_attributes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """MKDIR returns the attributes of the new directory."""
    expect_own_attributes(nfs3, scratch, b"new", nfs3.mkdir(scratch.handle, b"new", Sattr3(mode=0o750)))


@proves(MKDIR_RETURNS_HANDLE, killed_by="mkdir3-returns-the-handle-of-the-parent")
def test_handle(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """MKDIR returns the handle of the new directory."""
    expect_own_handle(nfs3, scratch, b"handle", nfs3.mkdir(scratch.handle, b"handle", Sattr3(mode=0o750)))


@proves(MKDIR_REPLACES_NOTHING, killed_by="mkdir3-accepts-an-existing-directory")
def test_existing_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """MKDIR of an existing directory fails with NFS3ERR_EXIST."""
    scratch.directory("there")
    reply = nfs3.mkdir(scratch.handle, b"there", Sattr3(mode=0o755))
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=RETURNS_EXIST)


@proves(MKDIR_REPLACES_NOTHING, killed_by="mkdir3-replaces-files")
def test_existing_file_kept(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """MKDIR does not replace an existing file."""
    scratch.file("there", b"precious")
    nfs3.mkdir(scratch.handle, b"there", Sattr3(mode=0o755))
    expect_file(scratch, b"there", b"precious")


@proves(MKDIR_NEEDS_A_DIRECTORY, killed_by="mkdir3-creates-in-files")
def test_file_as_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """MKDIR with a regular file as the parent fails with NFS3ERR_NOTDIR."""
    expect_not_a_directory(nfs3.mkdir(scratch.file("file"), b"new", Sattr3(mode=0o755)))
