# SPDX-License-Identifier: MIT
"""RENAME (RFC 1813 section 3.3.14): in one step, over what is compatible, and over nothing else."""

from __future__ import annotations

from collections.abc import Callable

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import RENAME, Diropargs3, Nfsstat3, Rename3Args
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Level, Part, Requirement, expect, observe, proves
from suites.nfs3.creating import expect_kept

RENAMES = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    gist="RENAME gives the object of one name another name, in any directory",
)
REPLACES = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    gist="a target that is compatible with the source is removed: its name then stands for the source",
)
COMPATIBLE = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    level=Level.MUST,
    gist="source and target must both be directories or both none, and a target directory must be empty",
)
EXIST_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    level=Level.SHOULD,
    gist="a target that is not compatible, or not empty, is refused with EXIST",
)
ATOMIC = Requirement(
    rfc="RFC 1813", section="3.3.14", level=Level.MUST, gist="RENAME is required to be atomic to the client"
)
SAME_FILE = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="RENAME of a file to another of its own names does nothing, and answers success",
)
ONLY_WHAT_IS_THERE = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    gist="what does not stand in the directory cannot be renamed, nor replace anything",
)
NOENT_IS_MEANT = Requirement(
    rfc="RFC 1813", section="2.6", level=Level.SHOULD, gist="NOENT says that the name does not exist"
)
ONE_TREE = Requirement(
    rfc="RFC 1813",
    section="3.3.3",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="directories form a single-rooted tree: none can be moved below itself",
)

_INCOMPATIBLE = (
    Nfsstat3.NFS3ERR_EXIST,
    Nfsstat3.NFS3ERR_NOTEMPTY,
    Nfsstat3.NFS3ERR_ISDIR,
    Nfsstat3.NFS3ERR_NOTDIR,
)
"""EXIST is what the text asks for; the others stand in the same list for just these cases."""
_ROUNDS = 20


@proves(RENAMES, killed_by="rename3-leaves-the-old-name")
def test_the_old_name_is_gone(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("old")
    expect(nfs3.rename(scratch.handle, b"old", scratch.handle, b"new")).ok()
    expect(scratch.names(), "the names in the directory").equals([b"new"])


@proves(RENAMES, killed_by="rename3-makes-a-new-file")
def test_the_new_name_stands_for_the_object(nfs3: Nfs3, scratch: Scratch) -> None:
    known = scratch.attributes(scratch.file("old", b"data"))
    expect(nfs3.rename(scratch.handle, b"old", scratch.handle, b"new")).ok()
    expect_kept(scratch, b"new", b"data")
    found = expect(nfs3.lookup(scratch.handle, b"new")).ok()
    expect(scratch.attributes(found.object).fileid, "fileid").equals(known.fileid)


@proves(RENAMES, killed_by="rename3-stays-in-its-directory")
def test_moves_to_another_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("file", b"data")
    elsewhere = scratch.directory("elsewhere")
    expect(nfs3.rename(scratch.handle, b"file", elsewhere, b"file")).ok()
    expect(scratch.names(elsewhere), "the names in the other directory").equals([b"file"])


@proves(REPLACES, killed_by="rename3-keeps-the-target")
def test_replaces_a_file(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("source", b"source")
    scratch.file("target", b"target")
    expect(nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")).ok()
    expect_kept(scratch, b"target", b"source")


@proves(REPLACES, killed_by="rename3-replaces-no-directories")
def test_replaces_an_empty_directory_by_a_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    source = scratch.attributes(scratch.directory("source"))
    scratch.directory("target")
    expect(nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")).ok()
    found = expect(nfs3.lookup(scratch.handle, b"target")).ok()
    expect(scratch.attributes(found.object).fileid, "fileid of target").equals(source.fileid)


@proves(COMPATIBLE, killed_by="rename3-replaces-full-directories")
def test_keeps_a_directory_that_is_not_empty(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.directory("source")
    scratch.file("inside", directory=scratch.directory("target"))
    reply = nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")
    found = expect(nfs3.lookup(scratch.handle, b"target")).ok()
    expect(scratch.names(found.object), "the names in target").equals([b"inside"])
    expect(reply).refused(*_INCOMPATIBLE, because=EXIST_IS_MEANT)


@proves(COMPATIBLE, killed_by="rename3-replaces-directories-by-files")
def test_does_not_put_a_file_in_the_place_of_a_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("source", b"precious")
    scratch.directory("target")
    reply = nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")
    expect(sorted(scratch.names()), "the names in the directory").equals([b"source", b"target"])
    expect(reply).refused(*_INCOMPATIBLE, because=EXIST_IS_MEANT)


@proves(COMPATIBLE, killed_by="rename3-replaces-files-by-directories")
def test_does_not_put_a_directory_in_the_place_of_a_file(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.directory("source")
    scratch.file("target", b"precious")
    reply = nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")
    expect_kept(scratch, b"target", b"precious")
    expect(reply).refused(*_INCOMPATIBLE, because=EXIST_IS_MEANT)


@proves(ATOMIC, killed_by="rename3-takes-two-steps")
def test_the_target_is_there_at_every_moment(
    nfs3: Nfs3, scratch: Scratch, rpc_connect: Callable[..., RpcClient]
) -> None:
    other = rpc_connect("nfs")
    scratch.file("target")
    source, target = Diropargs3(scratch.handle, b"source"), Diropargs3(scratch.handle, b"target")
    for _ in range(_ROUNDS):
        scratch.file("source")
        renaming = other.submit(RENAME, Rename3Args(source, target))
        for _ in range(3):
            reply = nfs3.lookup(scratch.handle, b"target")
            expect(reply.status, "status of LOOKUP").differs_from(Nfsstat3.NFS3ERR_NOENT)
        if other.wait(renaming).status == Nfsstat3.NFS3ERR_JUKEBOX:
            observe("RENAME", "JUKEBOX")
            # It may have been done all the same; where it was not, the next round ends this as SKIP.
            nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")


@proves(SAME_FILE, killed_by="rename3-removes-one-of-two-links", needs="hardlink")
def test_two_names_of_one_file_both_stay(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.link(scratch.file("one", b"data"), "other")
    expect(nfs3.rename(scratch.handle, b"one", scratch.handle, b"other")).ok()
    expect(sorted(scratch.names()), "the names in the directory").equals([b"one", b"other"])


@proves(ONLY_WHAT_IS_THERE, killed_by="rename3-removes-the-target-first")
def test_a_source_that_does_not_exist_replaces_nothing(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("target", b"precious")
    reply = nfs3.rename(scratch.handle, b"nobody-made-this", scratch.handle, b"target")
    expect_kept(scratch, b"target", b"precious")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOENT, because=NOENT_IS_MEANT)


@proves(ONE_TREE, killed_by="rename3-loses-directories")
def test_a_directory_is_not_moved_below_itself(nfs3: Nfs3, scratch: Scratch) -> None:
    directory = scratch.directory("directory")
    below = scratch.directory("below", directory=directory)
    reply = nfs3.rename(scratch.handle, b"directory", below, b"directory")
    expect(scratch.names(), "the names above").equals([b"directory"])
    expect(reply).refused()
