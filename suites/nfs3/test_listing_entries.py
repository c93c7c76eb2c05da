# SPDX-License-Identifier: MIT
"""READDIR and READDIRPLUS (RFC 1813 sections 3.3.16, 3.3.17): names, fileids, attributes and handles in entries."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Nfsstat3, Sattr3
from nfsjudge import Level, Requirement, expect, observe, proves, unsupported
from suites.nfs3 import kinds
from suites.nfs3.agreement import expect_same_attributes
from suites.nfs3.listing import PROCEDURES, read_all

READDIR_RETURNS_NAMES = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    gist="an entry has the name of the object as it is stored in the directory",
)
READDIR_KEEPS_NAME_BYTES = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    level=Level.SHOULD,  # a server may refuse such names, and no RFC forbids it to map them
    gist="a name that was accepted is listed with exactly the bytes that were given",
)
READDIR_RETURNS_FILEID = Requirement(
    rfc="RFC 1813", section="3.3.16", gist="an entry has the fileid of the object that it names"
)
READDIRPLUS_RETURNS_ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.17",
    gist="name_attributes are the attributes of the object that the entry names",
)
READDIRPLUS_RETURNS_HANDLES = Requirement(
    rfc="RFC 1813", section="3.3.17", gist="name_handle is a handle of the object that the entry names"
)
READDIR_NEEDS_DIRECTORY = Requirement(
    rfc="RFC 1813",
    section="3.3.16",
    gist="READDIR works on directories only: other objects have no entries",
)
RETURNS_NOTDIR = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="a directory operation on an object that is not a directory returns NFS3ERR_NOTDIR",
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
NOT_DIRECTORIES: t.Final = ("symlink", *kinds.SPECIAL)


def _entry(nfs3: Nfs3, scratch: Scratch, procedure: str, name: bytes) -> t.Any:
    """The entry of `name` in the scratch directory."""
    entries = read_all(PROCEDURES[procedure], nfs3, scratch.handle).entries
    found = next((entry for entry in entries if entry.name == name), None)
    return expect(found, f"the entry of {name.decode()}", because=READDIR_RETURNS_NAMES).is_present()


# ---------------------------------------------------------------- names


@pytest.mark.parametrize("length", [201, 255])
@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_RETURNS_NAMES, killed_by="list3-tidies-names")
def test_long_names_are_listed(nfs3: Nfs3, scratch: Scratch, procedure: str, length: int) -> None:
    """READDIR and READDIRPLUS list long names in full."""
    if expect(nfs3.pathconf(scratch.handle)).ok().name_max < length:
        unsupported("names may not be so long")
    name = b"n" * length
    scratch.file(name)
    expect(read_all(PROCEDURES[procedure], nfs3, scratch.handle).names, "the names").contains(name)


@pytest.mark.parametrize("what", STRANGE_NAMES)
@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_KEEPS_NAME_BYTES, killed_by="list3-tidies-names")
def test_strange_names_are_listed_as_they_are(
    nfs3: Nfs3, scratch: Scratch, procedure: str, what: str
) -> None:
    """READDIR and READDIRPLUS return unusual names with the bytes that were given."""
    name = STRANGE_NAMES[what]
    made = nfs3.create(scratch.handle, name, CreateMode3.GUARDED, Sattr3(mode=0o644))
    if made.resok is None:
        unsupported(f"the server does not take such a name: CREATE answers {made.status}")
    expect(read_all(PROCEDURES[procedure], nfs3, scratch.handle).names, "the names").contains(name)


# ---------------------------------------------------------------- objects


@pytest.mark.parametrize("kind", kinds.ALL)
@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_RETURNS_FILEID, killed_by="list3-wrong-fileid")
def test_fileid_is_that_of_a(nfs3: Nfs3, scratch: Scratch, procedure: str, kind: str) -> None:
    """READDIR and READDIRPLUS return the fileid of objects of every type."""
    handle = kinds.make(nfs3, scratch, kind, "file")
    fileid = _entry(nfs3, scratch, procedure, b"file").fileid
    if fileid == 0:
        observe("fileid", "0, which is discouraged")
        return
    expect(fileid, "fileid of the entry").equals(scratch.attributes(handle).fileid)


@pytest.mark.parametrize("kind", kinds.ALL)
@proves(READDIRPLUS_RETURNS_ATTRIBUTES, killed_by="readdirplus3-attributes-of-another", needs="readdirplus")
def test_attributes_are_those_of_a(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """READDIRPLUS returns the attributes of objects of every type."""
    handle = kinds.make(nfs3, scratch, kind, "file")
    # Otherwise the attributes could equal those of the directory by chance.
    nfs3.setattr(handle, Sattr3(mode=0o640))
    known = scratch.attributes(handle)
    attributes = _entry(nfs3, scratch, "READDIRPLUS", b"file").name_attributes
    if attributes is None:
        unsupported("the server withholds the attributes")
    expect_same_attributes(attributes, known)


@pytest.mark.parametrize("kind", kinds.ALL)
@proves(READDIRPLUS_RETURNS_HANDLES, killed_by="readdirplus3-handle-of-another", needs="readdirplus")
def test_handle_leads_to_the(nfs3: Nfs3, scratch: Scratch, kind: str) -> None:
    """READDIRPLUS returns handles of objects of every type."""
    known = scratch.attributes(kinds.make(nfs3, scratch, kind, "file"))
    handle = _entry(nfs3, scratch, "READDIRPLUS", b"file").name_handle
    if handle is None:
        unsupported("the server withholds the handle")
    reply = nfs3.getattr(handle)
    expect(reply).ok()
    expect(reply).field("resok.obj_attributes.fileid").equals(known.fileid)
    expect(reply).field("resok.obj_attributes.type").equals(known.type)


@pytest.mark.parametrize("dots", [".", ".."], ids=("dot", "dotdot"))
@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_RETURNS_FILEID, killed_by="list3-swaps-the-dots")
def test_dots_have_the_fileids_of_the_directories(
    nfs3: Nfs3, scratch: Scratch, procedure: str, dots: str
) -> None:
    """READDIR and READDIRPLUS return the fileids of the directory and its parent for . and .."""
    inner = scratch.directory("inner")
    known = scratch.attributes(inner if dots == "." else scratch.handle).fileid
    listing = read_all(PROCEDURES[procedure], nfs3, inner)
    found = [entry.fileid for entry in listing.entries if entry.name == dots.encode()]
    if not found:
        unsupported(f"the server does not list {dots}")
    expect(found, f"fileid of {dots}").equals([known])


# ---------------------------------------------------------------- other types of object


@pytest.mark.parametrize("kind", NOT_DIRECTORIES)
@pytest.mark.parametrize("procedure", PROCEDURES, ids=str.lower)
@proves(READDIR_NEEDS_DIRECTORY, killed_by="list3-lists-what-is-no-directory")
def test_what_is_no_directory_is_refused(nfs3: Nfs3, scratch: Scratch, procedure: str, kind: str) -> None:
    """READDIR and READDIRPLUS refuse an object that is not a directory."""
    reply = PROCEDURES[procedure](nfs3, kinds.make(nfs3, scratch, kind))
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)
