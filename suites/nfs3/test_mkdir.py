# SPDX-License-Identifier: MIT
"""MKDIR (RFC 1813 section 3.3.9)."""

from __future__ import annotations

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Ftype3, Nfsstat3, Sattr3
from nfsjudge import Requirement, expect, proves
from suites.nfs3.creating import (
    EXIST_IS_MEANT,
    expect_kept,
    expect_not_a_directory,
    expect_own_attributes,
    expect_own_handle,
    expect_type,
)

CREATES_A_DIRECTORY = Requirement(rfc="RFC 1813", section="3.3.9", gist="MKDIR creates a new subdirectory")
ATTRIBUTES = Requirement(
    rfc="RFC 1813", section="3.3.9", gist="obj_attributes are those of the newly created subdirectory"
)
HANDLE = Requirement(
    rfc="RFC 1813", section="3.3.9", gist="obj is the file handle of the newly created directory"
)
NEW_ONLY = Requirement(
    rfc="RFC 1813",
    section="3.3.9",
    gist="MKDIR creates: it does not succeed on a name that exists, nor harm it",
)
OF_A_DIRECTORY = Requirement(
    rfc="RFC 1813", section="3.3.9", gist="a subdirectory is created in a directory, not in another object"
)


@proves(CREATES_A_DIRECTORY, killed_by="mkdir3-creates-nothing")
def test_creates_a_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    expect(nfs3.mkdir(scratch.handle, b"new", Sattr3(mode=0o755))).ok()
    expect_type(nfs3, scratch, b"new", Ftype3.NF3DIR)


@proves(CREATES_A_DIRECTORY, killed_by="mkdir3-fills-the-directory")
def test_a_new_directory_is_empty(nfs3: Nfs3, scratch: Scratch) -> None:
    expect(nfs3.mkdir(scratch.handle, b"new", Sattr3(mode=0o755))).ok()
    found = expect(nfs3.lookup(scratch.handle, b"new")).ok()
    # Some servers add entries of their own to every directory, such as .snapshot.
    names = [name for name in scratch.names(found.object) if not name.startswith(b".")]
    expect(names, "the names in the new directory").equals([])


@proves(ATTRIBUTES, killed_by="mkdir3-attributes-of-the-parent")
def test_attributes_are_those_of_the_new_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    expect_own_attributes(nfs3, scratch, b"new", nfs3.mkdir(scratch.handle, b"new", Sattr3(mode=0o750)))


@proves(HANDLE, killed_by="mkdir3-handle-of-the-parent")
def test_handle_is_that_of_the_new_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    expect_own_handle(nfs3, scratch, b"handle", nfs3.mkdir(scratch.handle, b"handle", Sattr3(mode=0o750)))


@proves(NEW_ONLY, killed_by="mkdir3-takes-an-existing-directory")
def test_refuses_an_existing_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.directory("there")
    reply = nfs3.mkdir(scratch.handle, b"there", Sattr3(mode=0o755))
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=EXIST_IS_MEANT)


@proves(NEW_ONLY, killed_by="mkdir3-replaces-files")
def test_keeps_an_existing_file(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("there", b"precious")
    nfs3.mkdir(scratch.handle, b"there", Sattr3(mode=0o755))
    expect_kept(scratch, b"there", b"precious")


@proves(OF_A_DIRECTORY, killed_by="mkdir3-creates-in-files")
def test_refuses_a_file_as_the_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    expect_not_a_directory(nfs3.mkdir(scratch.file("file"), b"new", Sattr3(mode=0o755)))
