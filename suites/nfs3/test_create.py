# SPDX-License-Identifier: MIT
"""CREATE (RFC 1813 section 3.3.8) in its modes UNCHECKED, GUARDED and EXCLUSIVE."""

from __future__ import annotations

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Ftype3, Nfsstat3, Sattr3
from nfsjudge import Level, Part, Requirement, expect, observe, proves
from suites.nfs3.creating import (
    RETURNS_EXIST,
    expect_kept,
    expect_not_a_directory,
    expect_own_attributes,
    expect_own_handle,
    expect_type,
)
from suites.nfs3.naming import REFUSES_EMPTY_NAMES, expect_name_refused, reply_if_decoded

CREATE_CREATES_A_FILE = Requirement(
    rfc="RFC 1813", section="3.3.8", gist="CREATE creates a regular file with the given name"
)
CREATE_RETURNS_ATTRIBUTES = Requirement(
    rfc="RFC 1813", section="3.3.8", gist="obj_attributes are the attributes of the regular file just created"
)
CREATE_RETURNS_HANDLE = Requirement(
    rfc="RFC 1813", section="3.3.8", gist="obj is the file handle of the regular file just created"
)
SETS_INITIAL_ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,  # access control lists and rules for groups may override them (section 4.4)
    gist="the attributes in the arguments are the initial attributes of the new object",
)
UNCHECKED_KEEPS_DATA = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    gist="UNCHECKED without a size does not change the data of an existing file",
)
GUARDED_RETURNS_EXIST = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,
    gist="GUARDED fails with NFS3ERR_EXIST if the name exists",
)
GUARDED_KEEPS_EXISTING = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,  # the text says that the server should check and should fail
    gist="GUARDED does not change an existing object: the create is not performed",
)
EXCLUSIVE_NEEDS_ITS_VERIFIER = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    gist="EXCLUSIVE succeeds only for a file created with its verifier, never for any other existing object",
)
EXCLUSIVE_MAY_BE_REPEATED = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="EXCLUSIVE with the verifier of the existing file is a retransmission: it succeeds and changes nothing",
)
CREATE_NEEDS_A_DIRECTORY = Requirement(
    rfc="RFC 1813", section="3.3.8", gist="CREATE creates the file in a directory, not in another object"
)
_VERIFIER = b"\x11\x22\x33\x44\x55\x66\x77\x01"
_OTHER = b"\xee\xdd\xcc\xbb\xaa\x99\x88\x7e"
"""Differs from _VERIFIER in every byte: a server may store only some of the bits."""


@proves(CREATE_CREATES_A_FILE, killed_by="create3-creates-nothing")
def test_creates_a_regular_file(nfs3: Nfs3, scratch: Scratch) -> None:
    """CREATE UNCHECKED creates a regular file."""
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.UNCHECKED, Sattr3(mode=0o644))).ok()
    expect_type(nfs3, scratch, b"file", Ftype3.NF3REG)


@proves(CREATE_CREATES_A_FILE, killed_by="create3-fills-the-file")
def test_a_new_file_is_empty(nfs3: Nfs3, scratch: Scratch) -> None:
    """A file created by CREATE UNCHECKED is empty."""
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.UNCHECKED, Sattr3(mode=0o644))).ok()
    expect_kept(scratch, b"file", b"")


@proves(CREATE_RETURNS_ATTRIBUTES, killed_by="create3-attributes-of-the-directory")
def test_attributes_are_those_of_the_file(nfs3: Nfs3, scratch: Scratch) -> None:
    """CREATE UNCHECKED returns the attributes of the new file."""
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.UNCHECKED, Sattr3(mode=0o640))
    expect_own_attributes(nfs3, scratch, b"file", reply)


@proves(CREATE_RETURNS_HANDLE, killed_by="create3-handle-of-the-directory")
def test_handle_is_that_of_the_file(nfs3: Nfs3, scratch: Scratch) -> None:
    """CREATE UNCHECKED returns the handle of the new file."""
    reply = nfs3.create(scratch.handle, b"handle", CreateMode3.UNCHECKED, Sattr3(mode=0o640))
    expect_own_handle(nfs3, scratch, b"handle", reply)


@proves(SETS_INITIAL_ATTRIBUTES, killed_by="create3-ignores-mode")
def test_mode_grants_no_more_than_was_asked(nfs3: Nfs3, scratch: Scratch) -> None:
    """A file created by CREATE UNCHECKED has no permission bit that was not requested."""
    mode = scratch.attributes(scratch.file("file", mode=0o640)).mode
    observe("mode asked 0o640", f"{mode & 0o777:#o}")
    expect(oct(mode & 0o777 & ~0o640), "permission bits that were not asked for").equals("0o0")


@proves(UNCHECKED_KEEPS_DATA, killed_by="create3-unchecked-truncates")
def test_unchecked_keeps_the_data_of_an_existing_file(nfs3: Nfs3, scratch: Scratch) -> None:
    """CREATE UNCHECKED without a size does not truncate an existing file."""
    scratch.file("file", b"precious")
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.UNCHECKED, Sattr3())
    observe("UNCHECKED on an existing file", reply.status)
    expect_kept(scratch, b"file", b"precious")


@proves(GUARDED_RETURNS_EXIST, killed_by="create3-guarded-takes-existing")
def test_guarded_refuses_an_existing_file(nfs3: Nfs3, scratch: Scratch) -> None:
    """CREATE GUARDED of an existing file fails with NFS3ERR_EXIST."""
    scratch.file("file", b"precious")
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.GUARDED, Sattr3(mode=0o644))
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=GUARDED_RETURNS_EXIST)


@proves(GUARDED_KEEPS_EXISTING, killed_by="create3-guarded-truncates")
def test_guarded_keeps_the_data_of_an_existing_file(nfs3: Nfs3, scratch: Scratch) -> None:
    """CREATE GUARDED does not truncate an existing file."""
    scratch.file("file", b"precious")
    nfs3.create(scratch.handle, b"file", CreateMode3.GUARDED, Sattr3(size=0))
    expect_kept(scratch, b"file", b"precious")


@proves(GUARDED_RETURNS_EXIST, killed_by="create3-guarded-takes-directories")
def test_guarded_refuses_an_existing_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    """CREATE GUARDED of an existing directory fails with NFS3ERR_EXIST."""
    scratch.directory("directory")
    reply = nfs3.create(scratch.handle, b"directory", CreateMode3.GUARDED, Sattr3(mode=0o644))
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=GUARDED_RETURNS_EXIST)


@proves(EXCLUSIVE_MAY_BE_REPEATED, killed_by="create3-exclusive-forgets-verifier", needs="exclusive_create")
def test_exclusive_is_repeated_with_the_same_verifier(nfs3: Nfs3, scratch: Scratch) -> None:
    """A repeated CREATE EXCLUSIVE with the same verifier succeeds and keeps the file."""
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_VERIFIER)).ok()
    first = scratch.attributes(scratch.lookup("file")).fileid
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_VERIFIER)).ok()
    expect(scratch.attributes(scratch.lookup("file")).fileid, "fileid after the repeated CREATE").equals(
        first
    )


@proves(
    EXCLUSIVE_NEEDS_ITS_VERIFIER, killed_by="create3-exclusive-takes-any-verifier", needs="exclusive_create"
)
def test_exclusive_refuses_another_verifier(nfs3: Nfs3, scratch: Scratch) -> None:
    """CREATE EXCLUSIVE fails if the file was created with another verifier."""
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_VERIFIER)).ok()
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_OTHER)
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=RETURNS_EXIST)


@proves(EXCLUSIVE_NEEDS_ITS_VERIFIER, killed_by="create3-exclusive-takes-existing", needs="exclusive_create")
def test_exclusive_refuses_a_file_that_was_made_otherwise(nfs3: Nfs3, scratch: Scratch) -> None:
    """CREATE EXCLUSIVE fails if the file was not created by EXCLUSIVE."""
    scratch.file("file", b"precious")
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_VERIFIER)
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=RETURNS_EXIST)


@proves(CREATE_NEEDS_A_DIRECTORY, killed_by="create3-creates-in-files")
def test_refuses_a_file_as_the_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    """CREATE with a regular file as the directory fails with NFS3ERR_NOTDIR."""
    expect_not_a_directory(
        nfs3.create(scratch.file("file"), b"name", CreateMode3.GUARDED, Sattr3(mode=0o644))
    )


@proves(REFUSES_EMPTY_NAMES, killed_by="create3-takes-the-empty-name")
def test_refuses_the_empty_name(nfs3: Nfs3, scratch: Scratch) -> None:
    """CREATE refuses the empty name."""
    what = "CREATE of the empty name"
    reply = reply_if_decoded(
        nfs3, lambda: nfs3.create(scratch.handle, b"", CreateMode3.GUARDED, Sattr3(mode=0o644)), what
    )
    expect_name_refused(reply, what)
