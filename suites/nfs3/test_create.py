# SPDX-License-Identifier: MIT
"""CREATE (RFC 1813 section 3.3.8): UNCHECKED, GUARDED, EXCLUSIVE."""

from __future__ import annotations

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Ftype3, Nfsstat3, Sattr3
from nfsjudge import Level, Part, Requirement, expect, observe, proves
from suites.nfs3.creating import (
    EXIST_IS_MEANT,
    expect_kept,
    expect_not_a_directory,
    expect_own_attributes,
    expect_own_handle,
    expect_type,
)
from suites.nfs3.naming import NO_EMPTY_NAME, expect_name_refused, heard

CREATES_A_FILE = Requirement(
    rfc="RFC 1813", section="3.3.8", gist="CREATE creates a regular file under the name"
)
ATTRIBUTES = Requirement(
    rfc="RFC 1813", section="3.3.8", gist="obj_attributes are those of the regular file just created"
)
HANDLE = Requirement(
    rfc="RFC 1813", section="3.3.8", gist="obj is the file handle of the regular file just created"
)
INITIAL_ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,  # a server's access control lists may give a new file another mode (section 4.4)
    gist="obj_attributes of the arguments are the initial attributes of the file",
)
UNCHECKED_IS_NO_TRUNCATION = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    gist="UNCHECKED without a size says nothing about existing data: it is kept",
)
GUARDED_REFUSES = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,
    gist="GUARDED fails with EXIST when the name exists",
)
GUARDED_CREATES_ONLY = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,  # the text says that the server should check, and should fail
    gist="GUARDED does not touch a file that exists: the create is not performed",
)
EXCLUSIVE_IS_EXCLUSIVE = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    gist="EXCLUSIVE creates, with the verifier as the proof of it: a file that exists for another reason is not taken",
)
EXCLUSIVE_REPLAY = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="EXCLUSIVE with the verifier of the file that exists is a repeated request, and succeeds",
)
OF_A_DIRECTORY = Requirement(
    rfc="RFC 1813", section="3.3.8", gist="a file is created in a directory, not in another object"
)
_VERIFIER = b"\x11\x22\x33\x44\x55\x66\x77\x01"
_OTHER = b"\xee\xdd\xcc\xbb\xaa\x99\x88\x7e"
"""Differs in every byte: verifiers may be stored with fewer bits."""


@proves(CREATES_A_FILE, killed_by="create3-creates-nothing")
def test_creates_a_regular_file(nfs3: Nfs3, scratch: Scratch) -> None:
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.UNCHECKED, Sattr3(mode=0o644))).ok()
    expect_type(nfs3, scratch, b"file", Ftype3.NF3REG)


@proves(CREATES_A_FILE, killed_by="create3-fills-the-file")
def test_a_new_file_is_empty(nfs3: Nfs3, scratch: Scratch) -> None:
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.UNCHECKED, Sattr3(mode=0o644))).ok()
    expect_kept(scratch, b"file", b"")


@proves(ATTRIBUTES, killed_by="create3-attributes-of-the-directory")
def test_attributes_are_those_of_the_file(nfs3: Nfs3, scratch: Scratch) -> None:
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.UNCHECKED, Sattr3(mode=0o640))
    expect_own_attributes(nfs3, scratch, b"file", reply)


@proves(HANDLE, killed_by="create3-handle-of-the-directory")
def test_handle_is_that_of_the_file(nfs3: Nfs3, scratch: Scratch) -> None:
    reply = nfs3.create(scratch.handle, b"handle", CreateMode3.UNCHECKED, Sattr3(mode=0o640))
    expect_own_handle(nfs3, scratch, b"handle", reply)


@proves(INITIAL_ATTRIBUTES, killed_by="create3-ignores-mode")
def test_mode_grants_no_more_than_was_asked(nfs3: Nfs3, scratch: Scratch) -> None:
    mode = scratch.attributes(scratch.file("file", mode=0o640)).mode
    observe("mode asked 0o640", f"{mode & 0o777:#o}")
    expect(oct(mode & 0o777 & ~0o640), "permission bits that were not asked for").equals("0o0")


@proves(UNCHECKED_IS_NO_TRUNCATION, killed_by="create3-unchecked-truncates")
def test_unchecked_keeps_the_data_of_an_existing_file(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("file", b"precious")
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.UNCHECKED, Sattr3())
    observe("UNCHECKED on an existing file", reply.status)
    expect_kept(scratch, b"file", b"precious")


@proves(GUARDED_REFUSES, killed_by="create3-guarded-takes-existing")
def test_guarded_refuses_an_existing_file(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("file", b"precious")
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.GUARDED, Sattr3(mode=0o644))
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=GUARDED_REFUSES)


@proves(GUARDED_CREATES_ONLY, killed_by="create3-guarded-truncates")
def test_guarded_keeps_the_data_of_an_existing_file(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("file", b"precious")
    nfs3.create(scratch.handle, b"file", CreateMode3.GUARDED, Sattr3(size=0))
    expect_kept(scratch, b"file", b"precious")


@proves(GUARDED_REFUSES, killed_by="create3-guarded-takes-directories")
def test_guarded_refuses_an_existing_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.directory("directory")
    reply = nfs3.create(scratch.handle, b"directory", CreateMode3.GUARDED, Sattr3(mode=0o644))
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=GUARDED_REFUSES)


@proves(EXCLUSIVE_REPLAY, killed_by="create3-exclusive-forgets-verifier", needs="exclusive_create")
def test_exclusive_is_repeated_with_the_same_verifier(nfs3: Nfs3, scratch: Scratch) -> None:
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_VERIFIER)).ok()
    first = scratch.attributes(scratch.lookup("file")).fileid
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_VERIFIER)).ok()
    expect(scratch.attributes(scratch.lookup("file")).fileid, "fileid after the repeated CREATE").equals(
        first
    )


@proves(EXCLUSIVE_IS_EXCLUSIVE, killed_by="create3-exclusive-takes-any-verifier", needs="exclusive_create")
def test_exclusive_refuses_another_verifier(nfs3: Nfs3, scratch: Scratch) -> None:
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_VERIFIER)).ok()
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_OTHER)
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=EXIST_IS_MEANT)


@proves(EXCLUSIVE_IS_EXCLUSIVE, killed_by="create3-exclusive-takes-existing", needs="exclusive_create")
def test_exclusive_refuses_a_file_that_was_made_otherwise(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("file", b"precious")
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_VERIFIER)
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=EXIST_IS_MEANT)


@proves(OF_A_DIRECTORY, killed_by="create3-creates-in-files")
def test_refuses_a_file_as_the_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    expect_not_a_directory(
        nfs3.create(scratch.file("file"), b"name", CreateMode3.GUARDED, Sattr3(mode=0o644))
    )


@proves(NO_EMPTY_NAME, killed_by="create3-takes-the-empty-name")
def test_refuses_the_empty_name(nfs3: Nfs3, scratch: Scratch) -> None:
    what = "CREATE of the empty name"
    reply = heard(
        nfs3, lambda: nfs3.create(scratch.handle, b"", CreateMode3.GUARDED, Sattr3(mode=0o644)), what
    )
    expect_name_refused(reply, what)
