# SPDX-License-Identifier: MIT
"""LOOKUP (RFC 1094 section 2.2.5) returns handle and attributes of a name in a directory."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import MAXNAMLEN, Ftype, Nfsstat2
from nfsjudge import Harm, expect, expect_that, observe, proves, should, show, stated
from suites.nfs2 import oversized
from suites.nfs2.clauses import LONG_NAME_IS_REFUSED, ONLY_DIRECTORIES_HAVE_NAMES, RETURNS_NOENT
from suites.nfs2.objects import KINDS, NOT_DIRECTORIES, TYPES, expect_same, make

LOOKUP_FINDS_NAME = stated(
    "RFC 1094",
    "2.2.5",
    "LOOKUP returns handle and attributes of the file with the given name in the directory",
    harm=Harm.DATA,
)
RETURNS_NOTDIR = should(
    "RFC 1094",
    "2.3.1",
    "NOTDIR means that a directory operation was called on an object that is not a directory",
)
LOOKUP_FOLLOWS_NO_PATH = should(
    "RFC 1094", "2.1", "NFS looks up one component of a pathname at a time and does not follow whole paths"
)
DOTS_ARE_ALIASES = should(
    "RFC 1094",
    "3.2",
    'the alias "." is the directory, and ".." is its parent, if the server gives them a meaning',
)
LOOKUP_MATCHES_WHOLE_NAME = should(  # the text does not mention empty names and NUL
    "RFC 1094", "2.2.5", "LOOKUP finds the file with the given name, not with a part of that name"
)
LOOKUP_FOLLOWS_NO_SYMLINK = stated(
    "RFC 1094", "2.2.14", "the client interprets symbolic links: LOOKUP returns the link itself"
)


@pytest.mark.parametrize("kind", KINDS)
@proves(LOOKUP_FINDS_NAME, killed_by="lookup2-finds-the-directory")
def test_returns_handle(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """LOOKUP returns the handle of the object with that name."""
    known = scratch.attributes(make(scratch, kind))
    found = expect(nfs2.lookup(scratch.handle, b"object")).ok()
    reached = scratch.attributes(found.file)
    expect(reached).field("type", "type of the object that the handle reaches").equals(TYPES[kind])
    expect_same(reached, known)


@pytest.mark.parametrize("kind", KINDS)
@proves(LOOKUP_FINDS_NAME, killed_by="lookup2-returns-attributes-of-the-directory")
def test_returns_attributes(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """LOOKUP returns the attributes of the object with that name."""
    handle = make(scratch, kind)
    found = expect(nfs2.lookup(scratch.handle, b"object")).ok()
    expect_same(found.attributes, scratch.attributes(handle))
    expect(found.attributes).field("type").equals(TYPES[kind])


@pytest.mark.parametrize(
    "name",
    [b"missing", b"objec", b"object2", b"n" * MAXNAMLEN],
    ids=["other", "shorter", "longer", "longest"],
)
@proves(RETURNS_NOENT, killed_by="lookup2-missing-name-is-nxio")
def test_missing_name(nfs2: Nfs2, scratch: Nfs2Scratch, name: bytes) -> None:
    """LOOKUP of a missing name returns NOENT."""
    scratch.file("object")
    reply = nfs2.lookup(scratch.handle, name)
    allowed = [Nfsstat2.NFSERR_NOENT] + ([Nfsstat2.NFSERR_NAMETOOLONG] if len(name) > 8 else [])
    expect(reply).refused(*allowed, because=RETURNS_NOENT)


@pytest.mark.parametrize("kind", NOT_DIRECTORIES)
@proves(ONLY_DIRECTORIES_HAVE_NAMES, killed_by="lookup2-finds-names-in-files")
def test_not_a_directory(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """LOOKUP refuses an object that is not a directory."""
    expect(nfs2.lookup(make(scratch, kind), b"name")).refused()


@proves(RETURNS_NOTDIR, killed_by="lookup2-file-is-noent")
def test_file_is_notdir(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """LOOKUP in a regular file returns NOTDIR."""
    reply = nfs2.lookup(scratch.file("f"), b"name")
    expect(reply).refused(Nfsstat2.NFSERR_NOTDIR, because=RETURNS_NOTDIR)


@pytest.mark.parametrize(
    "path",
    [b"sub/inside", b"./object", b"sub/../object", b"object/"],
    ids=["subdirectory", "dot", "dotdot", "trailing-slash"],
)
@proves(LOOKUP_FOLLOWS_NO_PATH, killed_by="lookup2-follows-paths")
def test_path_not_followed(second_client: Nfs2, scratch: Nfs2Scratch, path: bytes) -> None:
    """LOOKUP does not follow a path of several components."""
    scratch.file("object")
    scratch.file("inside", directory=scratch.directory("sub"))
    reply = oversized.tolerate(lambda: second_client.lookup(scratch.handle, path))
    found = None if reply is None else reply.resok
    expect_that(found is None, "an error", "success", f"LOOKUP of {show(path)}", reply=reply, field="status")


@pytest.mark.parametrize(
    "name",
    [b"", b"\0", b"object\0", b"\0object"],
    ids=["empty", "only-nul", "nul-at-end", "nul-at-start"],
)
@proves(LOOKUP_MATCHES_WHOLE_NAME, killed_by="lookup2-cuts-names-at-nul")
def test_illegal_name(second_client: Nfs2, scratch: Nfs2Scratch, name: bytes) -> None:
    """LOOKUP of an empty name or a name with NUL does not find another name."""
    # The server decides what such a name means, but it is not "object".
    known = scratch.attributes(scratch.file("object"))
    reply = oversized.tolerate(lambda: second_client.lookup(scratch.handle, name))
    if reply is not None and reply.resok is not None:
        expect(reply.resok.attributes).field(
            "fileid", f"fileid of the object that LOOKUP of {show(name)} found"
        ).differs_from(known.fileid)


@pytest.mark.parametrize("name", [b".", b".."], ids=["dot", "dotdot"])
@proves(DOTS_ARE_ALIASES, killed_by="lookup2-swaps-the-dots")
def test_dots(nfs2: Nfs2, scratch: Nfs2Scratch, name: bytes) -> None:
    """LOOKUP of "." and ".." finds the directory and its parent, or is refused."""
    inner = scratch.directory("d")
    known = scratch.attributes(inner if name == b"." else scratch.handle)
    reply = nfs2.lookup(inner, name)
    observe("answer", reply.status)
    if reply.resok is not None:
        expect(reply.resok.attributes).field(
            "fileid", f"fileid that LOOKUP returns for '{name.decode()}'"
        ).equals(known.fileid)


@proves(LOOKUP_FOLLOWS_NO_SYMLINK, killed_by="lookup2-follows-links", needs="nfs2_symlink")
def test_symlink_not_followed(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """LOOKUP of a symbolic link finds the link, not its target."""
    scratch.file("f")
    scratch.symlink("l", b"f")
    reply = nfs2.lookup(scratch.handle, b"l")
    expect(reply).ok()
    expect(reply).field("diropok.attributes.type").equals(Ftype.NFLNK)


@pytest.mark.parametrize("length", [MAXNAMLEN + 1, 1024, 10_000])
@proves(LONG_NAME_IS_REFUSED, killed_by="nfs2-cuts-long-names")
def test_too_long_name(second_client: Nfs2, scratch: Nfs2Scratch, length: int) -> None:
    """LOOKUP finds nothing under a name of more than 255 bytes."""
    scratch.file(b"n" * MAXNAMLEN)
    reply = oversized.attempt(
        second_client, oversized.LOOKUP, oversized.WideDiropargs(scratch.handle, b"n" * length)
    )
    found = None if reply is None else reply.resok
    what = f"LOOKUP of a name of {length} bytes"
    expect_that(found is None, "an error", "success", what, reply=reply, field="status")
