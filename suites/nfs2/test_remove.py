# SPDX-License-Identifier: MIT
"""REMOVE (RFC 1094 section 2.2.11) removes one name of a file."""

from __future__ import annotations

import pytest

from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Nfsstat2
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from suites.nfs2.objects import NOT_DIRECTORIES, make

REMOVE_REMOVES_ENTRY = Requirement(
    rfc="RFC 1094", section="2.2.11", gist="NFS_OK means that the entry was removed from the directory"
)
REMOVE_REMOVES_ONE_NAME = Requirement(
    rfc="RFC 1094",
    section="2.2.11",
    gist="REMOVE removes one entry: other names of the file and other files stay",
)
NLINK_COUNTS_NAMES = Requirement(
    rfc="RFC 1094", section="2.3.5", gist="nlink is the number of different names of the file"
)
REFUSED_REMOVE_KEEPS_DIRECTORY = Requirement(
    rfc="RFC 1094", section="2.2.11", gist="a directory that REMOVE refuses stays with everything in it"
)
RETURNS_NOENT = Requirement(
    rfc="RFC 1094", section="2.3.1", level=Level.SHOULD, gist="NOENT means that the file does not exist"
)
HANDLE_IS_NEVER_REUSED = Requirement(
    rfc="RFC 1094",
    section="2.3.1",
    gist="the handle of a removed file is STALE and never refers to another file",
)


@pytest.mark.parametrize("kind", NOT_DIRECTORIES)
@proves(REMOVE_REMOVES_ENTRY, killed_by="remove2-does-nothing")
def test_removes_the_name(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    """REMOVE removes the name from the directory."""
    make(scratch2, kind)
    expect(nfs2.remove(scratch2.handle, b"object")).ok()
    expect(scratch2.names(), "the names that are left").equals([])
    expect(nfs2.lookup(scratch2.handle, b"object")).refused()


@proves(REMOVE_REMOVES_ONE_NAME, killed_by="remove2-takes-a-neighbour-along")
def test_leaves_other_files(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """REMOVE keeps the other files of the directory."""
    for name in ("a", "b", "c"):
        scratch2.file(name)
    expect(nfs2.remove(scratch2.handle, b"b")).ok()
    expect(sorted(scratch2.names()), "the names that are left").equals([b"a", b"c"])


@proves(REMOVE_REMOVES_ONE_NAME, killed_by="remove2-empties-other-names", needs="hardlink2")
def test_leaves_other_names_of_the_file(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """REMOVE of one name keeps the data under the other name of the file."""
    file = scratch2.file("first", b"data")
    scratch2.link(file, "second")
    expect(nfs2.remove(scratch2.handle, b"first")).ok()
    found = expect(nfs2.lookup(scratch2.handle, b"second")).ok()
    expect(scratch2.read(found.file), "the data by the other name").equals(b"data")


@proves(NLINK_COUNTS_NAMES, killed_by="remove2-keeps-nlink", needs="hardlink2")
def test_nlink_is_one_less(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """REMOVE of one name decreases nlink by one."""
    file = scratch2.file("first")
    scratch2.link(file, "second")
    scratch2.link(file, "third")
    expect(nfs2.remove(scratch2.handle, b"second")).ok()
    expect(scratch2.attributes(file).nlink, "nlink").equals(2)


@proves(RETURNS_NOENT, killed_by="nfs2-removes-what-is-missing")
def test_a_missing_name_is_noent(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """REMOVE of a missing name returns NOENT."""
    reply = nfs2.remove(scratch2.handle, b"missing")
    expect(reply).refused(Nfsstat2.NFSERR_NOENT, because=RETURNS_NOENT)


@proves(REFUSED_REMOVE_KEEPS_DIRECTORY, killed_by="remove2-empties-directories")
def test_a_directory_is_removed_or_stays(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """REMOVE keeps the contents of a directory that it refuses to remove."""
    directory = scratch2.directory("d")
    scratch2.file("inside", directory=directory)
    reply = nfs2.remove(scratch2.handle, b"d")
    observe("answer", reply.status)
    if reply.status != Nfsstat2.NFS_OK:
        expect(scratch2.names(directory), "the names in the directory").equals([b"inside"])


@pytest.mark.parametrize("name", [b".", b".."], ids=["dot", "dotdot"])
@proves(REFUSED_REMOVE_KEEPS_DIRECTORY, killed_by="remove2-empties-directories")
def test_dots_remove_nothing(nfs2: Nfs2, scratch2: Scratch2, name: bytes) -> None:
    """REMOVE of "." or ".." removes nothing."""
    directory = scratch2.directory("d")
    scratch2.file("inside", directory=directory)
    observe("answer", nfs2.remove(directory, name).status)
    expect(scratch2.names(), "the names that are left").contains(b"d")
    expect(scratch2.names(directory), "the names in the directory").equals([b"inside"])


@proves(HANDLE_IS_NEVER_REUSED, killed_by="nfs2-handles-go-to-the-next-file")
def test_an_old_handle_reaches_no_new_file(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """The file handle of a removed file does not reach a new file."""
    # The old handle may still work for a while; the server then reads the removed file.
    old = scratch2.file("f", b"old data")
    expect(nfs2.remove(scratch2.handle, b"f")).ok()
    for number in range(5):
        scratch2.file(f"new{number}", b"new data")
    reply = nfs2.read(old, 0, 100)
    observe("answer", reply.status)
    if reply.resok is None:
        return
    if not len(reply.resok.data):
        skip("the handle works, and reads nothing")
    expect(bytes(reply.resok.data), "the data by the old handle").differs_from(b"new data")
