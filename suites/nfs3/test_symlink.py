# SPDX-License-Identifier: MIT
"""SYMLINK (RFC 1813 section 3.3.10). How its data comes back is checked with READLINK."""

from __future__ import annotations

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Ftype3, Nfsstat3
from nfsjudge import Requirement, expect, proves
from suites.nfs3.creating import (
    EXIST_IS_MEANT,
    expect_kept,
    expect_not_a_directory,
    expect_own_attributes,
    expect_own_handle,
    expect_type,
)

CREATES_A_LINK = Requirement(rfc="RFC 1813", section="3.3.10", gist="SYMLINK creates a new symbolic link")
ATTRIBUTES = Requirement(
    rfc="RFC 1813", section="3.3.10", gist="obj_attributes are those of the newly created symbolic link"
)
HANDLE = Requirement(rfc="RFC 1813", section="3.3.10", gist="obj is the file handle of the new symbolic link")
NEW_ONLY = Requirement(
    rfc="RFC 1813",
    section="3.3.10",
    gist="SYMLINK creates: it does not succeed on a name that exists, nor harm it",
)
OF_A_DIRECTORY = Requirement(
    rfc="RFC 1813", section="3.3.10", gist="a symbolic link is created in a directory, not in another object"
)


@proves(CREATES_A_LINK, killed_by="symlink3-creates-nothing", needs="symlink")
def test_creates_a_symbolic_link(nfs3: Nfs3, scratch: Scratch) -> None:
    expect(nfs3.symlink(scratch.handle, b"link", b"target")).ok()
    expect_type(nfs3, scratch, b"link", Ftype3.NF3LNK)


@proves(ATTRIBUTES, killed_by="symlink3-attributes-of-the-directory", needs="symlink")
def test_attributes_are_those_of_the_link(nfs3: Nfs3, scratch: Scratch) -> None:
    expect_own_attributes(nfs3, scratch, b"link", nfs3.symlink(scratch.handle, b"link", b"target"))


@proves(HANDLE, killed_by="symlink3-handle-of-the-directory", needs="symlink")
def test_handle_is_that_of_the_link(nfs3: Nfs3, scratch: Scratch) -> None:
    expect_own_handle(nfs3, scratch, b"handle", nfs3.symlink(scratch.handle, b"handle", b"target"))


@proves(NEW_ONLY, killed_by="symlink3-replaces-files", needs="symlink")
def test_keeps_an_existing_file(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("there", b"precious")
    reply = nfs3.symlink(scratch.handle, b"there", b"target")
    expect_kept(scratch, b"there", b"precious")
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=EXIST_IS_MEANT)


@proves(OF_A_DIRECTORY, killed_by="symlink3-creates-in-files", needs="symlink")
def test_refuses_a_file_as_the_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    expect_not_a_directory(nfs3.symlink(scratch.file("file"), b"link", b"target"))
