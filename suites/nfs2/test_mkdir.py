# SPDX-License-Identifier: MIT
"""MKDIR and RMDIR (RFC 1094 sections 2.2.15 and 2.2.16): directories, which end when they are empty."""

from __future__ import annotations

import pytest

from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Ftype, Nfsstat2, Sattr
from nfsjudge import Level, Requirement, expect, observe, proves
from suites.nfs2.objects import NOT_DIRECTORIES, expect_same, make

CREATES = Requirement(
    rfc="RFC 1094",
    section="2.2.15",
    gist="the directory of that name is created: file and attributes in the reply are its handle and attributes",
)
INITIAL = Requirement(
    rfc="RFC 1094",
    section="2.2.15",
    level=Level.SHOULD,  # a server may mask them
    gist="attributes are the initial attributes of the new directory",
)
REMOVES = Requirement(
    rfc="RFC 1094",
    section="2.2.16",
    gist="the empty directory of that name is removed when the answer is NFS_OK",
)
NOTEMPTY_IS_MEANT = Requirement(
    rfc="RFC 1094",
    section="2.3.1",
    level=Level.SHOULD,
    gist="NOTEMPTY says that a directory was to be removed that is not empty",
)
REFUSED_KEEPS = Requirement(
    rfc="RFC 1094", section="2.2.16", gist="a directory that is not removed stays, with all that is in it"
)
OF_A_DIRECTORY = Requirement(
    rfc="RFC 1094", section="2.2.16", gist="RMDIR removes directories: another object of that name stays"
)
NOENT_IS_MEANT = Requirement(
    rfc="RFC 1094", section="2.3.1", level=Level.SHOULD, gist="NOENT says that a file does not exist"
)


@proves(CREATES, killed_by="mkdir2-makes-a-file")
def test_makes_a_directory(nfs2: Nfs2, scratch2: Scratch2) -> None:
    expect(nfs2.mkdir(scratch2.handle, b"new", Sattr(mode=0o755))).ok()
    found = expect(nfs2.lookup(scratch2.handle, b"new")).ok()
    expect(found.attributes.type, "type").equals(Ftype.NFDIR)


@proves(CREATES, killed_by="mkdir2-is-not-empty")
def test_a_new_directory_is_empty(nfs2: Nfs2, scratch2: Scratch2) -> None:
    made = expect(nfs2.mkdir(scratch2.handle, b"new", Sattr(mode=0o755))).ok()
    expect(scratch2.names(made.file), "the names in a new directory").equals([])


@proves(CREATES, killed_by="mkdir2-gives-the-handle-of-the-parent")
def test_gives_handle_and_attributes(nfs2: Nfs2, scratch2: Scratch2) -> None:
    made = expect(nfs2.mkdir(scratch2.handle, b"new", Sattr(mode=0o755))).ok()
    found = expect(nfs2.lookup(scratch2.handle, b"new")).ok()
    expect_same(scratch2.attributes(made.file), found.attributes)
    expect_same(made.attributes, found.attributes)


@pytest.mark.parametrize("mode", [0o500, 0o700, 0o755, 0o777], ids=oct)
@proves(INITIAL, killed_by="mkdir2-has-a-mode-of-its-own")
def test_gives_the_directory_the_mode(nfs2: Nfs2, scratch2: Scratch2, mode: int) -> None:
    made = expect(nfs2.mkdir(scratch2.handle, b"new", Sattr(mode=mode))).ok()
    expect(scratch2.attributes(made.file).mode & 0o777, "the permission bits").equals(mode)


@proves(REMOVES, killed_by="rmdir2-does-nothing")
def test_removes_an_empty_directory(nfs2: Nfs2, scratch2: Scratch2) -> None:
    scratch2.directory("d")
    expect(nfs2.rmdir(scratch2.handle, b"d")).ok()
    expect(scratch2.names(), "the names that are left").lacks(b"d")
    expect(nfs2.lookup(scratch2.handle, b"d")).refused()


@pytest.mark.parametrize("inside", ["file", "directory", "symlink"])
@proves(NOTEMPTY_IS_MEANT, killed_by="rmdir2-removes-what-is-not-empty")
def test_a_directory_that_is_not_empty_is_notempty(nfs2: Nfs2, scratch2: Scratch2, inside: str) -> None:
    directory = scratch2.directory("d")
    if inside == "file":
        scratch2.file("inside", directory=directory)
    elif inside == "directory":
        scratch2.directory("inside", directory=directory)
    else:
        scratch2.symlink("inside", b"text", directory=directory)
    reply = nfs2.rmdir(scratch2.handle, b"d")
    allowed = (Nfsstat2.NFSERR_NOTEMPTY, Nfsstat2.NFSERR_EXIST)
    expect(reply).refused(*allowed, because=NOTEMPTY_IS_MEANT)


@proves(REFUSED_KEEPS, killed_by="rmdir2-empties-before-it-refuses")
def test_a_refusal_leaves_what_is_inside(nfs2: Nfs2, scratch2: Scratch2) -> None:
    directory = scratch2.directory("d")
    file = scratch2.file("inside", b"data", directory=directory)
    reply = nfs2.rmdir(scratch2.handle, b"d")
    observe("answer", reply.status)
    if reply.status != Nfsstat2.NFS_OK:
        expect(scratch2.names(directory), "the names in the directory").equals([b"inside"])
        expect(scratch2.read(file), "the data of the file in it").equals(b"data")


@pytest.mark.parametrize("kind", NOT_DIRECTORIES)
@proves(OF_A_DIRECTORY, killed_by="rmdir2-removes-anything")
def test_removes_nothing_but_directories(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    make(scratch2, kind)
    reply = nfs2.rmdir(scratch2.handle, b"object")
    expect(scratch2.names(), "the names that are left").contains(b"object")
    expect(reply).refused()


@pytest.mark.parametrize("name", [b".", b".."])
@proves(REFUSED_KEEPS, killed_by="rmdir2-takes-dots-for-the-directory")
def test_dots_remove_no_directory_in_use(nfs2: Nfs2, scratch2: Scratch2, name: bytes) -> None:
    # Which error it is, if any, is the server's affair.
    directory = scratch2.directory("d")
    scratch2.file("inside", directory=directory)
    observe("answer", nfs2.rmdir(directory, name).status)
    expect(scratch2.names(), "the names that are left").contains(b"d")
    expect(scratch2.names(directory), "the names in the directory").equals([b"inside"])


@proves(NOENT_IS_MEANT, killed_by="nfs2-removes-what-is-missing")
def test_a_missing_directory_is_noent(nfs2: Nfs2, scratch2: Scratch2) -> None:
    reply = nfs2.rmdir(scratch2.handle, b"missing")
    expect(reply).refused(Nfsstat2.NFSERR_NOENT, because=NOENT_IS_MEANT)
