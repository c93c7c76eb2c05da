# SPDX-License-Identifier: MIT
"""RMDIR (RFC 1813 section 3.3.13)."""

from __future__ import annotations

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Level, Part, Requirement, expect, observe, proves, unsupported
from suites.nfs3.creating import NOTDIR_IS_MEANT, expect_kept
from suites.nfs3.naming import NO_EMPTY_NAME, NOENT_IS_MEANT, expect_name_refused, heard

REMOVES_THE_DIRECTORY = Requirement(
    rfc="RFC 1813", section="3.3.13", gist="RMDIR removes a subdirectory from a directory"
)
OF_SUBDIRECTORIES = Requirement(
    rfc="RFC 1813", section="3.3.13", gist="the name that RMDIR takes is that of a subdirectory, nothing else"
)
ONLY_WHAT_IS_THERE = Requirement(
    rfc="RFC 1813", section="3.3.13", gist="what does not stand in the directory cannot be removed from it"
)
NOTEMPTY_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NOTEMPTY says that a directory that is not empty was to be removed (EXIST is as common)",
)
ONLY_THE_DIRECTORY = Requirement(
    rfc="RFC 1813", section="3.3.13", gist="RMDIR removes one subdirectory: other entries stay"
)
OF_A_DIRECTORY = Requirement(
    rfc="RFC 1813",
    section="3.3.13",
    gist="a subdirectory is removed from a directory, not from another object",
)
DISALLOWED_IS_DISALLOWED = Requirement(
    rfc="RFC 1813",
    section="3.3.13",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="where removal of a non-empty directory is disallowed, it stays with what is in it",
)


@proves(REMOVES_THE_DIRECTORY, killed_by="rmdir3-removes-nothing")
def test_the_directory_is_gone(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.directory("directory")
    expect(nfs3.rmdir(scratch.handle, b"directory")).ok()
    expect(nfs3.lookup(scratch.handle, b"directory")).refused(Nfsstat3.NFS3ERR_NOENT, because=NOENT_IS_MEANT)


@proves(DISALLOWED_IS_DISALLOWED, killed_by="rmdir3-empties-before-refusing")
def test_a_refused_directory_keeps_what_is_in_it(nfs3: Nfs3, scratch: Scratch) -> None:
    directory = scratch.directory("directory")
    scratch.file("inside", directory=directory)
    status = nfs3.rmdir(scratch.handle, b"directory").status
    observe("RMDIR of a non-empty directory", status)
    if status == Nfsstat3.NFS3_OK:
        unsupported("the server removes non-empty directories, as it may")
    expect(scratch.lookup("directory"), "the handle of the directory").is_present()
    expect(scratch.names(directory), "the names in the directory").equals([b"inside"])


@proves(NOTEMPTY_IS_MEANT, killed_by="rmdir3-full-is-io")
def test_a_directory_that_is_not_empty_is_refused_as_such(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("inside", directory=scratch.directory("directory"))
    reply = nfs3.rmdir(scratch.handle, b"directory")
    if reply.status == Nfsstat3.NFS3_OK:
        unsupported("the server removes non-empty directories, as it may")
    expect(reply).status(Nfsstat3.NFS3ERR_NOTEMPTY, Nfsstat3.NFS3ERR_EXIST)


@proves(OF_SUBDIRECTORIES, killed_by="rmdir3-removes-files")
def test_keeps_a_file(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("file", b"precious")
    reply = nfs3.rmdir(scratch.handle, b"file")
    expect_kept(scratch, b"file", b"precious")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=NOTDIR_IS_MEANT)


@proves(ONLY_WHAT_IS_THERE, killed_by="rmdir3-removes-what-is-not-there")
def test_refuses_a_name_that_does_not_exist(nfs3: Nfs3, scratch: Scratch) -> None:
    reply = nfs3.rmdir(scratch.handle, b"nobody-made-this")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOENT, because=NOENT_IS_MEANT)


@proves(ONLY_THE_DIRECTORY, killed_by="rmdir3-removes-a-neighbour")
def test_other_names_stay(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.directory("directory")
    scratch.file("neighbour", b"precious")
    expect(nfs3.rmdir(scratch.handle, b"directory")).ok()
    expect_kept(scratch, b"neighbour", b"precious")


@proves(OF_SUBDIRECTORIES, killed_by="rmdir3-follows-symlinks", needs="symlink")
def test_keeps_the_directory_that_a_symbolic_link_points_to(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.directory("directory")
    scratch.symlink("link", b"directory")
    reply = nfs3.rmdir(scratch.handle, b"link")
    expect(sorted(scratch.names()), "the names in the directory").equals([b"directory", b"link"])
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=NOTDIR_IS_MEANT)


@proves(OF_A_DIRECTORY, killed_by="rmdir3-removes-from-files")
def test_refuses_a_file_as_the_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    reply = nfs3.rmdir(scratch.file("file"), b"name")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=NOTDIR_IS_MEANT)


@proves(DISALLOWED_IS_DISALLOWED, killed_by="rmdir3-empties-by-dot")
def test_dot_keeps_what_is_in_the_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    directory = scratch.directory("directory")
    scratch.file("inside", directory=directory)
    status = nfs3.rmdir(directory, b".").status
    observe("RMDIR of .", status)
    if status == Nfsstat3.NFS3_OK and scratch.lookup("directory") is None:
        unsupported("the server removes non-empty directories, as it may")
    expect(scratch.names(directory), "the names in the directory").equals([b"inside"])


@proves(DISALLOWED_IS_DISALLOWED, killed_by="rmdir3-empties-by-dotdot")
def test_dotdot_keeps_what_is_in_the_parent(nfs3: Nfs3, scratch: Scratch) -> None:
    directory = scratch.directory("directory")
    scratch.file("file", b"precious")
    status = nfs3.rmdir(directory, b"..").status
    observe("RMDIR of ..", status)
    if status == Nfsstat3.NFS3_OK and nfs3.getattr(scratch.handle).status != Nfsstat3.NFS3_OK:
        unsupported("the server removes non-empty directories, as it may")
    expect(sorted(scratch.names()), "the names in the parent").equals([b"directory", b"file"])


@proves(NO_EMPTY_NAME, killed_by="rmdir3-takes-the-empty-name")
def test_refuses_the_empty_name(nfs3: Nfs3, scratch: Scratch) -> None:
    what = "RMDIR of the empty name"
    reply = heard(nfs3, lambda: nfs3.rmdir(scratch.directory("directory"), b""), what)
    expect(scratch.names(), "the names in the parent").equals([b"directory"])
    expect_name_refused(reply, what)
