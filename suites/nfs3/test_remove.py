# SPDX-License-Identifier: MIT
"""REMOVE (RFC 1813 section 3.3.12): a name goes, and nothing but it."""

from __future__ import annotations

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Nfsstat3, Sattr3
from nfsjudge import Level, Requirement, expect, observe, proves, unsupported
from suites.nfs3.creating import NOTDIR_IS_MEANT, expect_kept
from suites.nfs3.naming import NLINK_COUNTS, NO_EMPTY_NAME, NOENT_IS_MEANT, expect_name_refused, heard

REMOVES_THE_ENTRY = Requirement(
    rfc="RFC 1813", section="3.3.12", gist="REMOVE removes the entry from the directory"
)
ONLY_THE_ENTRY = Requirement(
    rfc="RFC 1813",
    section="3.3.12",
    gist="REMOVE removes one entry: the object goes with its last name, other entries stay",
)
ONLY_WHAT_IS_THERE = Requirement(
    rfc="RFC 1813", section="3.3.12", gist="what does not stand in the directory cannot be removed from it"
)
STATUS_TELLS = Requirement(
    rfc="RFC 1813",
    section="3.3.12",
    level=Level.SHOULD,  # dir_wcc is returned just because a REMOVE that failed may have changed the directory
    gist="REMOVE of a directory removes it, or refuses and leaves it as it is",
)
OF_A_DIRECTORY = Requirement(
    rfc="RFC 1813", section="3.3.12", gist="an entry is removed from a directory, not from another object"
)


@proves(REMOVES_THE_ENTRY, killed_by="remove3-removes-nothing")
def test_the_name_is_gone(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("file", b"data")
    expect(nfs3.remove(scratch.handle, b"file")).ok()
    expect(nfs3.lookup(scratch.handle, b"file")).refused(Nfsstat3.NFS3ERR_NOENT, because=NOENT_IS_MEANT)


@proves(ONLY_THE_ENTRY, killed_by="remove3-removes-a-neighbour")
def test_other_names_stay(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("file", b"data")
    scratch.file("neighbour", b"precious")
    expect(nfs3.remove(scratch.handle, b"file")).ok()
    expect_kept(scratch, b"neighbour", b"precious")


@proves(ONLY_THE_ENTRY, killed_by="remove3-destroys-linked-files", needs="hardlink")
def test_a_file_stays_under_its_other_name(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.link(scratch.file("file", b"precious"), "other")
    expect(nfs3.remove(scratch.handle, b"file")).ok()
    expect_kept(scratch, b"other", b"precious")


@proves(NLINK_COUNTS, killed_by="remove3-forgets-to-count", needs="hardlink")
def test_nlink_is_one_less(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("file")
    scratch.link(file, "other")
    before = scratch.attributes(file).nlink
    expect(nfs3.remove(scratch.handle, b"file")).ok()
    found = expect(nfs3.lookup(scratch.handle, b"other")).ok()
    expect(scratch.attributes(found.object).nlink, "nlink").equals(before - 1)


@proves(ONLY_THE_ENTRY, killed_by="remove3-follows-symlinks", needs="symlink")
def test_a_symbolic_link_goes_without_what_it_points_to(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("target", b"precious")
    scratch.symlink("link", b"target")
    expect(nfs3.remove(scratch.handle, b"link")).ok()
    expect_kept(scratch, b"target", b"precious")


@proves(ONLY_WHAT_IS_THERE, killed_by="remove3-removes-what-is-not-there")
def test_refuses_a_name_that_does_not_exist(nfs3: Nfs3, scratch: Scratch) -> None:
    reply = nfs3.remove(scratch.handle, b"nobody-made-this")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOENT, because=NOENT_IS_MEANT)


@proves(OF_A_DIRECTORY, killed_by="remove3-removes-from-files")
def test_refuses_a_file_as_the_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    reply = nfs3.remove(scratch.file("file"), b"name")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=NOTDIR_IS_MEANT)


@proves(REMOVES_THE_ENTRY, killed_by="remove3-keeps-fifos", needs="mknod")
def test_removes_a_fifo(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.fifo("fifo")
    expect(nfs3.remove(scratch.handle, b"fifo")).ok()
    expect(scratch.names(), "the names in the directory").equals([])


@proves(REMOVES_THE_ENTRY, killed_by="remove3-keeps-names-taken")
def test_the_name_can_be_given_again(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("again", b"old")
    expect(nfs3.remove(scratch.handle, b"again")).ok()
    expect(nfs3.create(scratch.handle, b"again", CreateMode3.GUARDED, Sattr3(mode=0o644))).ok()
    expect_kept(scratch, b"again", b"")


@proves(STATUS_TELLS, killed_by="remove3-refuses-and-removes-directories")
def test_a_directory_is_removed_or_refused(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.directory("directory")
    reply = nfs3.remove(scratch.handle, b"directory")
    observe("REMOVE of a directory", reply.status)
    removed = reply.status == Nfsstat3.NFS3_OK
    if not removed:
        expect(reply).refused()
    expect(scratch.lookup("directory") is None, "whether the directory is gone").equals(removed)


@proves(STATUS_TELLS, killed_by="remove3-empties-directories")
def test_a_refused_directory_keeps_what_is_in_it(nfs3: Nfs3, scratch: Scratch) -> None:
    directory = scratch.directory("directory")
    scratch.file("inside", directory=directory)
    reply = nfs3.remove(scratch.handle, b"directory")
    observe("REMOVE of a directory that is not empty", reply.status)
    if reply.status == Nfsstat3.NFS3_OK:
        unsupported("the server removes directories that are not empty, as it may")
    expect(reply).refused()
    expect(scratch.names(directory), "the names in the directory").equals([b"inside"])


@proves(NO_EMPTY_NAME, killed_by="remove3-takes-the-empty-name")
def test_refuses_the_empty_name(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("file")
    what = "REMOVE of the empty name"
    reply = heard(nfs3, lambda: nfs3.remove(scratch.handle, b""), what)
    expect(scratch.names(), "the names in the directory").equals([b"file"])
    expect_name_refused(reply, what)
