# SPDX-License-Identifier: MIT
"""CREATE (RFC 1094 section 2.2.10): a regular file, with the attributes that were asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Ftype, Nfsstat2, Sattr
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from suites.nfs2.objects import expect_same, stranger_to

CREATES = Requirement(
    rfc="RFC 1094",
    section="2.2.10",
    gist="the file of that name is created: file and attributes in the reply are its handle and attributes",
)
INITIAL = Requirement(
    rfc="RFC 1094",
    section="2.2.10",
    level=Level.SHOULD,  # a server may mask them
    gist="attributes are the initial attributes of the new file",
)
NEEDS_NONE = Requirement(
    rfc="RFC 1094",
    section="2.3.6",
    level=Level.SHOULD,  # a server may insist on a mode: nothing says what it is without one
    gist="fields of attributes that are -1 are ignored: a file may be created without any",
)
MINUS_1 = Requirement(
    rfc="RFC 1094",
    section="2.3.6",
    level=Level.SHOULD,
    gist="a value of -1 should be ignored: a size of -1 cuts nothing",
)
TRUNCATES = Requirement(
    rfc="RFC 1094",
    section="2.3.6",
    level=Level.SHOULD,
    gist="a size of zero means that the file is truncated, also one that CREATE finds",
)
EXPECTED_PERMISSIONS = Requirement(
    rfc="RFC 1094",
    section="3.3",
    level=Level.SHOULD,
    gist="a server is expected to check permissions as its operating system does",
)


@proves(CREATES, killed_by="create2-makes-something-else")
def test_makes_a_regular_file(nfs2: Nfs2, scratch2: Scratch2) -> None:
    expect(nfs2.create(scratch2.handle, b"new", Sattr(mode=0o644))).ok()
    found = expect(nfs2.lookup(scratch2.handle, b"new")).ok()
    expect((found.attributes.type, found.attributes.size), "type and size").equals((Ftype.NFREG, 0))


@proves(CREATES, killed_by="create2-gives-the-handle-of-the-directory")
def test_gives_the_handle_of_the_file(nfs2: Nfs2, scratch2: Scratch2) -> None:
    made = expect(nfs2.create(scratch2.handle, b"new", Sattr(mode=0o644))).ok()
    expect(nfs2.write(made.file, 0, b"data")).ok()
    found = expect(nfs2.lookup(scratch2.handle, b"new")).ok()
    expect(scratch2.read(found.file), "the data of the file by name").equals(b"data")


@proves(CREATES, killed_by="create2-has-attributes-of-the-directory")
def test_gives_the_attributes_of_the_file(nfs2: Nfs2, scratch2: Scratch2) -> None:
    made = expect(nfs2.create(scratch2.handle, b"new", Sattr(mode=0o644))).ok()
    expect_same(made.attributes, scratch2.attributes(made.file))


@pytest.mark.parametrize("mode", [0o400, 0o600, 0o644, 0o755], ids=oct)
@proves(INITIAL, killed_by="create2-has-a-mode-of-its-own")
def test_gives_the_file_the_mode(nfs2: Nfs2, scratch2: Scratch2, mode: int) -> None:
    made = expect(nfs2.create(scratch2.handle, b"new", Sattr(mode=mode))).ok()
    expect(scratch2.attributes(made.file).mode & 0o777, "the permission bits").equals(mode)


@proves(NEEDS_NONE, killed_by="create2-wants-every-attribute")
def test_needs_no_attributes(nfs2: Nfs2, scratch2: Scratch2) -> None:
    made = expect(nfs2.create(scratch2.handle, b"new", Sattr())).granted()
    expect(scratch2.names(), "the names in the directory").equals([b"new"])
    expect(expect(nfs2.getattr(made.file)).ok().type, "type").equals(Ftype.NFREG)


@proves(CREATES, killed_by="create2-makes-something-else")
def test_takes_a_mode_with_the_type_of_a_file(nfs2: Nfs2, scratch2: Scratch2) -> None:
    # As clients on UNIX do it: fields of sattr are those of fattr, whose mode has the type.
    made = expect(nfs2.create(scratch2.handle, b"new", Sattr(mode=0o100644))).ok()
    expect(scratch2.attributes(made.file).type, "type").equals(Ftype.NFREG)


@proves(MINUS_1, killed_by="create2-truncates-what-it-finds")
def test_keeps_the_data_of_a_file_that_is_there(nfs2: Nfs2, scratch2: Scratch2) -> None:
    file = scratch2.file("f", b"data")
    observe("answer", nfs2.create(scratch2.handle, b"f", Sattr(mode=0o644)).status)
    expect(scratch2.read(file), "the data").equals(b"data")


@proves(TRUNCATES, killed_by="create2-never-truncates")
def test_cuts_a_file_that_it_finds_when_asked(nfs2: Nfs2, scratch2: Scratch2) -> None:
    file = scratch2.file("f", b"data")
    reply = nfs2.create(scratch2.handle, b"f", Sattr(mode=0o644, size=0))
    if reply.status != Nfsstat2.NFS_OK:
        skip(f"CREATE does not take a file that is there: it answers {reply.status}")
    expect(scratch2.attributes(file).size, "size").equals(0)


@proves(EXPECTED_PERMISSIONS, killed_by="create2-lets-anybody-in", needs="other_users")
def test_a_stranger_may_not_create(nfs2_as: Callable[..., Nfs2], scratch2: Scratch2) -> None:
    directory = scratch2.directory("d", mode=0o755)
    stranger = stranger_to(nfs2_as, scratch2)
    expect(stranger.create(directory, b"new", Sattr(mode=0o644))).refused()
