# SPDX-License-Identifier: MIT
"""LOOKUP (RFC 1094 section 2.2.5): handle and attributes of one name in a directory."""

from __future__ import annotations

import pytest

from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import MAXNAMLEN, Ftype, Nfsstat2
from nfsjudge import Level, Requirement, expect, observe, proves
from suites.nfs2 import wide
from suites.nfs2.objects import KINDS, NOT_DIRECTORIES, TYPES, expect_same, make

FINDS = Requirement(
    rfc="RFC 1094",
    section="2.2.5",
    gist="file and attributes are handle and attributes of the file of that name in the directory",
)
NOENT_IS_MEANT = Requirement(
    rfc="RFC 1094", section="2.3.1", level=Level.SHOULD, gist="NOENT says that a file does not exist"
)
IN_A_DIRECTORY = Requirement(
    rfc="RFC 1094",
    section="2.3.10",
    gist="dir is the directory in which to find the file: nothing else has names",
)
NOTDIR_IS_MEANT = Requirement(
    rfc="RFC 1094",
    section="2.3.1",
    level=Level.SHOULD,
    gist="NOTDIR says that what is no directory was given to a directory operation",
)
ONE_COMPONENT = Requirement(
    rfc="RFC 1094",
    section="2.1",
    level=Level.SHOULD,
    gist="NFS looks up one component of a pathname at a time, and does not follow whole paths",
)
ALIASES = Requirement(
    rfc="RFC 1094",
    section="3.2",
    level=Level.SHOULD,
    gist='".." means the parent of a directory, where it means anything, and "." the directory',
)
ILLEGAL = Requirement(
    rfc="RFC 1094",
    section="2.2.5",
    level=Level.SHOULD,  # the text has no word on empty names and NUL
    gist="the file that is found is that of the name, not of a part of it",
)
LINKS_ARE_THE_CLIENTS = Requirement(
    rfc="RFC 1094",
    section="2.2.14",
    gist="a symbolic link is for the client to interpret: a LOOKUP of it gives the link",
)


@pytest.mark.parametrize("kind", KINDS)
@proves(FINDS, killed_by="lookup2-finds-the-directory")
def test_finds_what_has_the_name(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    known = scratch2.attributes(make(scratch2, kind))
    found = expect(nfs2.lookup(scratch2.handle, b"object")).ok()
    reached = scratch2.attributes(found.file)
    expect(reached.type, "the type of what the handle reaches").equals(TYPES[kind])
    expect_same(reached, known)


@pytest.mark.parametrize("kind", KINDS)
@proves(FINDS, killed_by="lookup2-has-attributes-of-the-directory")
def test_gives_the_attributes_of_what_it_finds(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    handle = make(scratch2, kind)
    found = expect(nfs2.lookup(scratch2.handle, b"object")).ok()
    expect_same(found.attributes, scratch2.attributes(handle))
    expect(found.attributes.type, "type").equals(TYPES[kind])


@pytest.mark.parametrize(
    "name",
    [b"missing", b"objec", b"object2", b"n" * MAXNAMLEN],
    ids=["other", "shorter", "longer", "longest"],
)
@proves(NOENT_IS_MEANT, killed_by="lookup2-says-nxio")
def test_a_missing_name_is_noent(nfs2: Nfs2, scratch2: Scratch2, name: bytes) -> None:
    scratch2.file("object")
    reply = nfs2.lookup(scratch2.handle, name)
    allowed = [Nfsstat2.NFSERR_NOENT] + ([Nfsstat2.NFSERR_NAMETOOLONG] if len(name) > 8 else [])
    expect(reply).refused(*allowed, because=NOENT_IS_MEANT)


@pytest.mark.parametrize("kind", NOT_DIRECTORIES)
@proves(IN_A_DIRECTORY, killed_by="lookup2-finds-names-in-anything")
def test_finds_nothing_in_what_is_no_directory(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    expect(nfs2.lookup(make(scratch2, kind), b"name")).refused()


@proves(NOTDIR_IS_MEANT, killed_by="lookup2-says-noent-in-a-file")
def test_a_file_is_notdir(nfs2: Nfs2, scratch2: Scratch2) -> None:
    reply = nfs2.lookup(scratch2.file("f"), b"name")
    expect(reply).refused(Nfsstat2.NFSERR_NOTDIR, because=NOTDIR_IS_MEANT)


@pytest.mark.parametrize("path", [b"sub/inside", b"./object", b"sub/../object", b"object/"])
@proves(ONE_COMPONENT, killed_by="lookup2-follows-paths")
def test_does_not_follow_a_path(second_nfs2: Nfs2, scratch2: Scratch2, path: bytes) -> None:
    scratch2.file("object")
    scratch2.file("inside", directory=scratch2.directory("sub"))
    reply = wide.tolerate(lambda: second_nfs2.lookup(scratch2.handle, path))
    expect(reply is not None and reply.resok is not None, "that the path is followed").is_false()


@pytest.mark.parametrize("name", [b"", b"\0", b"object\0", b"\0object"])
@proves(ILLEGAL, killed_by="lookup2-cuts-names-at-nul")
def test_an_illegal_name_is_no_other_name(second_nfs2: Nfs2, scratch2: Scratch2, name: bytes) -> None:
    # What such a name means is the server's affair; "object" it does not mean.
    known = scratch2.attributes(scratch2.file("object"))
    reply = wide.tolerate(lambda: second_nfs2.lookup(scratch2.handle, name))
    if reply is not None and reply.resok is not None:
        expect(reply.resok.attributes.fileid, "the fileid of what was found").differs_from(known.fileid)


@pytest.mark.parametrize("name", [b".", b".."])
@proves(ALIASES, killed_by="lookup2-takes-dots-for-each-other")
def test_dots_are_the_directory_and_its_parent(nfs2: Nfs2, scratch2: Scratch2, name: bytes) -> None:
    inner = scratch2.directory("d")
    known = scratch2.attributes(inner if name == b"." else scratch2.handle)
    reply = nfs2.lookup(inner, name)
    observe("answer", reply.status)
    if reply.resok is not None:
        expect(reply.resok.attributes.fileid, f"the fileid of {name.decode()}").equals(known.fileid)


@proves(LINKS_ARE_THE_CLIENTS, killed_by="lookup2-follows-links", needs="symlink2")
def test_does_not_follow_a_link(nfs2: Nfs2, scratch2: Scratch2) -> None:
    scratch2.file("f")
    scratch2.symlink("l", b"f")
    reply = nfs2.lookup(scratch2.handle, b"l")
    expect(reply).ok()
    expect(reply).field("diropok.attributes.type").equals(Ftype.NFLNK)
