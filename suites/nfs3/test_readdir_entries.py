# SPDX-License-Identifier: MIT
"""READDIR and READDIRPLUS (RFC 1813 sections 3.3.16, 3.3.17): names, fileids, attributes and handles in entries."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Nfsstat3, Sattr3
from nfsjudge import expect, expect_names, observe, proves, should, unsupported
from suites.nfs3 import file_types
from suites.nfs3.clauses import (
    READDIR_NEEDS_DIRECTORY,
    READDIR_RETURNS_FILEID,
    READDIR_RETURNS_NAMES,
    RETURNS_NOTDIR,
)
from suites.nfs3.listing import PROCEDURES, find_entry, read_all

READDIR_KEEPS_NAME_BYTES = should(  # a server may refuse such names, and no RFC forbids it to map them
    "RFC 1813", "3.3.16", "a name that was accepted is listed with exactly the bytes that were given"
)
STRANGE_NAMES: t.Final = {
    "blanks": b" two  blanks ",
    "controls": b"tab\tline\nbell\x07",
    "not-utf8": b"latin \xe4\xf6\xfc",
    "bad-utf8": b"\xc3\x28 \xf0\x28\x8c\xbc",
    "nfc": "\u00e9t\u00e9".encode(),
    "nfd": "e\u0301te\u0301".encode(),
    "4-byte": "\U0001f4c1".encode(),
    "quotes": b"'\"\\`$(x)*?;&|<>",
}
NOT_DIRECTORIES: t.Final = ("symlink", *file_types.SPECIAL)


# ---------------------------------------------------------------- names


@pytest.mark.parametrize("length", [201, 255])
@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_RETURNS_NAMES, killed_by="list3-replaces-special-characters")
def test_long_names(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str, length: int) -> None:
    """READDIR and READDIRPLUS list long names in full."""
    name_max = expect(nfs3.pathconf(scratch.handle)).ok().name_max
    if name_max < length:
        unsupported(f"name_max is {name_max}, below {length}")
    name = b"n" * length
    scratch.file(name)
    expect_names(read_all(PROCEDURES[procedure], nfs3, scratch.handle).names, [name], others=True)


@pytest.mark.parametrize("what", STRANGE_NAMES)
@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_KEEPS_NAME_BYTES, killed_by="list3-replaces-special-characters")
def test_strange_names(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str, what: str) -> None:
    """READDIR and READDIRPLUS return unusual names with the bytes that were given."""
    name = STRANGE_NAMES[what]
    made = nfs3.create(scratch.handle, name, CreateMode3.GUARDED, Sattr3(mode=0o644))
    if made.resok is None:
        unsupported(f"the server refuses this name: CREATE answers {made.status}", made)
    expect_names(read_all(PROCEDURES[procedure], nfs3, scratch.handle).names, [name], others=True)


# ---------------------------------------------------------------- objects


@pytest.mark.parametrize("kind", file_types.ALL)
@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_RETURNS_FILEID, killed_by="list3-wrong-fileid")
def test_fileid_types(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str, kind: str) -> None:
    """READDIR and READDIRPLUS return the fileid of objects of every type."""
    handle = file_types.make(nfs3, scratch, kind, "file")
    fileid = find_entry(nfs3, scratch, procedure, b"file").fileid
    if fileid == 0:
        observe("fileid of the entry", "0, which RFC 1813 discourages")
        return
    expect(fileid, "fileid of entry 'file'", field="fileid").equals(scratch.attributes(handle).fileid)


@pytest.mark.parametrize("dots", [".", ".."], ids=("dot", "dotdot"))
@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_RETURNS_FILEID, killed_by="list3-swaps-the-dots")
def test_dots_fileid(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str, dots: str) -> None:
    """READDIR and READDIRPLUS return the fileids of the directory and its parent for . and .."""
    inner = scratch.directory("inner")
    known = scratch.attributes(inner if dots == "." else scratch.handle).fileid
    listing = read_all(PROCEDURES[procedure], nfs3, inner)
    found = [entry for entry in listing.entries if entry.name == dots.encode()]
    if not found:
        unsupported(f"the server does not list {dots!r}")
    for entry in found:
        expect(entry).field("fileid", f"fileid of entry {dots!r}").equals(known)
    expect(len(found), f"number of entries {dots!r}").equals(1)


# ---------------------------------------------------------------- objects that are not directories


@pytest.mark.parametrize("kind", NOT_DIRECTORIES)
@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_NEEDS_DIRECTORY, killed_by="list3-lists-special-files")
def test_notdir(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str, kind: str) -> None:
    """READDIR and READDIRPLUS refuse an object that is not a directory."""
    reply = PROCEDURES[procedure](nfs3, file_types.make(nfs3, scratch, kind))
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)
