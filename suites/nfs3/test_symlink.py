# SPDX-License-Identifier: MIT
"""SYMLINK (RFC 1813 section 3.3.10)."""

from __future__ import annotations

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Ftype3, Nfsstat3
from nfsjudge import Requirement, expect, proves
from suites.nfs3.creating import (
    RETURNS_EXIST,
    expect_kept,
    expect_not_a_directory,
    expect_own_attributes,
    expect_own_handle,
    expect_type,
)

SYMLINK_CREATES_A_SYMLINK = Requirement(
    rfc="RFC 1813", section="3.3.10", gist="SYMLINK creates a new symbolic link"
)
SYMLINK_RETURNS_ATTRIBUTES = Requirement(
    rfc="RFC 1813", section="3.3.10", gist="obj_attributes are the attributes of the new symbolic link"
)
SYMLINK_RETURNS_HANDLE = Requirement(
    rfc="RFC 1813", section="3.3.10", gist="obj is the file handle of the new symbolic link"
)
SYMLINK_REPLACES_NOTHING = Requirement(
    rfc="RFC 1813",
    section="3.3.10",
    gist="SYMLINK fails if the name exists, and leaves the existing object unchanged",
)
SYMLINK_NEEDS_A_DIRECTORY = Requirement(
    rfc="RFC 1813", section="3.3.10", gist="SYMLINK creates the link in a directory, not in another object"
)


@proves(SYMLINK_CREATES_A_SYMLINK, killed_by="symlink3-creates-nothing", needs="symlink")
def test_creates_a_symbolic_link(nfs3: Nfs3, scratch: Scratch) -> None:
    """SYMLINK creates a symbolic link."""
    expect(nfs3.symlink(scratch.handle, b"link", b"target")).ok()
    expect_type(nfs3, scratch, b"link", Ftype3.NF3LNK)


@proves(SYMLINK_RETURNS_ATTRIBUTES, killed_by="symlink3-attributes-of-the-directory", needs="symlink")
def test_attributes_are_those_of_the_link(nfs3: Nfs3, scratch: Scratch) -> None:
    """SYMLINK returns the attributes of the new symbolic link."""
    expect_own_attributes(nfs3, scratch, b"link", nfs3.symlink(scratch.handle, b"link", b"target"))


@proves(SYMLINK_RETURNS_HANDLE, killed_by="symlink3-handle-of-the-directory", needs="symlink")
def test_handle_is_that_of_the_link(nfs3: Nfs3, scratch: Scratch) -> None:
    """SYMLINK returns the handle of the new symbolic link."""
    expect_own_handle(nfs3, scratch, b"handle", nfs3.symlink(scratch.handle, b"handle", b"target"))


@proves(SYMLINK_REPLACES_NOTHING, killed_by="symlink3-replaces-files", needs="symlink")
def test_keeps_an_existing_file(nfs3: Nfs3, scratch: Scratch) -> None:
    """SYMLINK does not replace an existing file."""
    scratch.file("there", b"precious")
    reply = nfs3.symlink(scratch.handle, b"there", b"target")
    expect_kept(scratch, b"there", b"precious")
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=RETURNS_EXIST)


@proves(SYMLINK_NEEDS_A_DIRECTORY, killed_by="symlink3-creates-in-files", needs="symlink")
def test_refuses_a_file_as_the_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    """SYMLINK with a regular file as the directory fails with NFS3ERR_NOTDIR."""
    expect_not_a_directory(nfs3.symlink(scratch.file("file"), b"link", b"target"))
