# SPDX-License-Identifier: MIT
"""REMOVE (RFC 1813 section 3.3.12): a name goes, and nothing but it."""

from __future__ import annotations

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Level, Requirement, expect, proves
from suites.nfs3.creating import NOTDIR_IS_MEANT, expect_kept

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
NOENT_IS_MEANT = Requirement(
    rfc="RFC 1813", section="2.6", level=Level.SHOULD, gist="NOENT says that the name does not exist"
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


@proves(ONLY_THE_ENTRY, killed_by="remove3-forgets-to-count", needs="hardlink")
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
