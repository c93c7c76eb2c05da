# SPDX-License-Identifier: MIT
"""MKDIR and RMDIR (RFC 1094 sections 2.2.15 and 2.2.16) make and remove directories."""

from __future__ import annotations

import pytest

from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Ftype, Nfsstat2, Sattr
from nfsjudge import Level, Requirement, expect, observe, proves
from suites.nfs2.objects import NOT_DIRECTORIES, expect_same, make, mode_id

MKDIR_MAKES_DIRECTORY = Requirement(
    rfc="RFC 1094",
    section="2.2.15",
    gist="MKDIR creates the directory under the given name and returns its handle and attributes",
)
MKDIR_SETS_ATTRIBUTES = Requirement(
    rfc="RFC 1094",
    section="2.2.15",
    level=Level.SHOULD,  # a server may mask them
    gist="attributes are the initial attributes of the new directory",
)
RMDIR_REMOVES_DIRECTORY = Requirement(
    rfc="RFC 1094",
    section="2.2.16",
    gist="NFS_OK means that the empty directory was removed",
)
RETURNS_NOTEMPTY = Requirement(
    rfc="RFC 1094",
    section="2.3.1",
    level=Level.SHOULD,
    gist="NOTEMPTY means that the directory to remove is not empty",
)
REFUSED_RMDIR_KEEPS_DIRECTORY = Requirement(
    rfc="RFC 1094", section="2.2.16", gist="a directory that is not removed stays with everything in it"
)
RMDIR_NEEDS_DIRECTORY = Requirement(
    rfc="RFC 1094",
    section="2.2.16",
    gist="RMDIR removes directories only: any other object of that name stays",
)
RETURNS_NOENT = Requirement(
    rfc="RFC 1094", section="2.3.1", level=Level.SHOULD, gist="NOENT means that the file does not exist"
)


@proves(MKDIR_MAKES_DIRECTORY, killed_by="mkdir2-makes-a-file")
def test_makes_a_directory(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """MKDIR makes a directory."""
    expect(nfs2.mkdir(scratch2.handle, b"new", Sattr(mode=0o755))).ok()
    found = expect(nfs2.lookup(scratch2.handle, b"new")).ok()
    expect(found.attributes.type, "type").equals(Ftype.NFDIR)


@proves(MKDIR_MAKES_DIRECTORY, killed_by="mkdir2-is-not-empty")
def test_a_new_directory_is_empty(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """MKDIR makes an empty directory."""
    made = expect(nfs2.mkdir(scratch2.handle, b"new", Sattr(mode=0o755))).ok()
    expect(scratch2.names(made.file), "the names in a new directory").equals([])


@proves(MKDIR_MAKES_DIRECTORY, killed_by="mkdir2-gives-the-handle-of-the-parent")
def test_gives_handle_and_attributes(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """MKDIR returns the handle and attributes of the new directory."""
    made = expect(nfs2.mkdir(scratch2.handle, b"new", Sattr(mode=0o755))).ok()
    found = expect(nfs2.lookup(scratch2.handle, b"new")).ok()
    expect_same(scratch2.attributes(made.file), found.attributes)
    expect_same(made.attributes, found.attributes)


@pytest.mark.parametrize("mode", [0o500, 0o700, 0o755, 0o777], ids=mode_id)
@proves(MKDIR_SETS_ATTRIBUTES, killed_by="mkdir2-has-a-mode-of-its-own")
def test_gives_the_directory_the_mode(nfs2: Nfs2, scratch2: Scratch2, mode: int) -> None:
    """MKDIR gives the new directory the permission bits of the call."""
    made = expect(nfs2.mkdir(scratch2.handle, b"new", Sattr(mode=mode))).ok()
    expect(scratch2.attributes(made.file).mode & 0o777, "the permission bits").equals(mode)


@proves(RMDIR_REMOVES_DIRECTORY, killed_by="rmdir2-does-nothing")
def test_removes_an_empty_directory(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """RMDIR removes an empty directory."""
    scratch2.directory("d")
    expect(nfs2.rmdir(scratch2.handle, b"d")).ok()
    expect(scratch2.names(), "the names that are left").lacks(b"d")
    expect(nfs2.lookup(scratch2.handle, b"d")).refused()


@pytest.mark.parametrize("inside", ["file", "directory", "symlink"])
@proves(RETURNS_NOTEMPTY, killed_by="rmdir2-removes-what-is-not-empty")
def test_a_directory_that_is_not_empty_is_notempty(nfs2: Nfs2, scratch2: Scratch2, inside: str) -> None:
    """RMDIR of a directory that is not empty returns NOTEMPTY or EXIST."""
    directory = scratch2.directory("d")
    if inside == "file":
        scratch2.file("inside", directory=directory)
    elif inside == "directory":
        scratch2.directory("inside", directory=directory)
    else:
        scratch2.symlink("inside", b"text", directory=directory)
    reply = nfs2.rmdir(scratch2.handle, b"d")
    allowed = (Nfsstat2.NFSERR_NOTEMPTY, Nfsstat2.NFSERR_EXIST)
    expect(reply).refused(*allowed, because=RETURNS_NOTEMPTY)


@proves(REFUSED_RMDIR_KEEPS_DIRECTORY, killed_by="rmdir2-empties-before-it-refuses")
def test_a_refusal_leaves_what_is_inside(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """A refused RMDIR keeps the contents of the directory."""
    directory = scratch2.directory("d")
    file = scratch2.file("inside", b"data", directory=directory)
    reply = nfs2.rmdir(scratch2.handle, b"d")
    observe("answer", reply.status)
    if reply.status != Nfsstat2.NFS_OK:
        expect(scratch2.names(directory), "the names in the directory").equals([b"inside"])
        expect(scratch2.read(file), "the data of the file in it").equals(b"data")


@pytest.mark.parametrize("kind", NOT_DIRECTORIES)
@proves(RMDIR_NEEDS_DIRECTORY, killed_by="rmdir2-removes-anything")
def test_removes_nothing_but_directories(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    """RMDIR refuses an object that is not a directory, and keeps it."""
    make(scratch2, kind)
    reply = nfs2.rmdir(scratch2.handle, b"object")
    expect(scratch2.names(), "the names that are left").contains(b"object")
    expect(reply).refused()


@pytest.mark.parametrize("name", [b".", b".."], ids=["dot", "dotdot"])
@proves(REFUSED_RMDIR_KEEPS_DIRECTORY, killed_by="rmdir2-takes-dots-for-the-directory")
def test_dots_remove_no_directory_in_use(nfs2: Nfs2, scratch2: Scratch2, name: bytes) -> None:
    """RMDIR of "." or ".." removes no directory that is not empty."""
    # Any error is right, and so is success.
    directory = scratch2.directory("d")
    scratch2.file("inside", directory=directory)
    observe("answer", nfs2.rmdir(directory, name).status)
    expect(scratch2.names(), "the names that are left").contains(b"d")
    expect(scratch2.names(directory), "the names in the directory").equals([b"inside"])


@proves(RETURNS_NOENT, killed_by="nfs2-removes-what-is-missing")
def test_a_missing_directory_is_noent(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """RMDIR of a missing name returns NOENT."""
    reply = nfs2.rmdir(scratch2.handle, b"missing")
    expect(reply).refused(Nfsstat2.NFSERR_NOENT, because=RETURNS_NOENT)
