# SPDX-License-Identifier: MIT
"""READDIRPLUS (RFC 1813 section 3.3.17): READDIR with attributes and file handles."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Entryplus3, Nfsstat3, Sattr3
from nfsjudge import (
    Harm,
    expect,
    expect_data,
    expect_names,
    expect_once,
    expect_unchanged,
    observe,
    proves,
    show,
    stated,
    unsupported,
)
from suites.nfs3 import file_types
from suites.nfs3.attributes import expect_same_attributes
from suites.nfs3.clauses import READDIR_LISTS_ENTRIES, RETURNS_NOTDIR
from suites.nfs3.common import CommonNfs3
from suites.nfs3.listing import (
    DOTS,
    SMALL_PLUS_PAGE,
    Fill,
    find_entry,
    many_names,
    page,
    plus_page,
    read_all,
    single_page,
)
from suites.replies import need_done

READDIRPLUS_LISTS_ENTRIES = stated(
    "RFC 1813",
    "3.3.17",
    "READDIRPLUS lists each entry of the directory once, and nothing else",
    harm=Harm.DATA,
)
READDIRPLUS_MAXCOUNT_IS_LIMIT = stated(
    "RFC 1813", "3.3.17", "the result is at most maxcount bytes, including all XDR overhead"
)
READDIRPLUS_EOF_AT_END = stated(
    "RFC 1813", "3.3.17", "eof is TRUE if and only if no entries are left after this page"
)
READDIRPLUS_COOKIE_RESUMES = stated(
    "RFC 1813", "3.3.17", "a cookie with its verifier resumes the listing after its entry", harm=Harm.DATA
)
READDIRPLUS_MATCHES_READDIR = stated(
    "RFC 1813", "3.3.17", "READDIRPLUS differs from READDIR only in how much it returns for each entry"
)
READDIRPLUS_NEEDS_DIRECTORY = stated(
    "RFC 1813", "3.3.17", "READDIRPLUS works on directories only: other objects have no entries"
)
READDIRPLUS_RETURNS_ATTRIBUTES = stated(
    "RFC 1813", "3.3.17", "name_attributes are the attributes of the object that the entry names"
)
READDIRPLUS_RETURNS_HANDLES = stated(
    "RFC 1813", "3.3.17", "name_handle is a handle of the object that the entry names", harm=Harm.DATA
)
MOST_PAGES = 2000
"""Limit of pages per listing: more than a directory has entries, since a page may hold one."""


def _entry(nfs3: Nfs3, scratch: Nfs3Scratch, name: bytes) -> Entryplus3:
    """The READDIRPLUS entry of `name` in the scratch directory."""
    listing = read_all(plus_page, nfs3, scratch.handle)
    found = next((entry for entry in listing.entries if entry.name == name), None)
    expect(found, f"entry {name.decode()!r}", because=READDIRPLUS_LISTS_ENTRIES).is_present()
    assert isinstance(found, Entryplus3)
    return found


@proves(READDIRPLUS_LISTS_ENTRIES, killed_by="readdirplus3-skips-an-entry", needs="readdirplus")
def test_all_entries(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIRPLUS lists every entry of the directory."""
    names = many_names()
    for name in names:
        scratch.file(name)
    listing = read_all(plus_page, nfs3, scratch.handle, count=SMALL_PLUS_PAGE)
    expect_names(listing.names, names, others=True)


@proves(READDIRPLUS_LISTS_ENTRIES, killed_by="readdirplus3-repeats-an-entry", needs="readdirplus")
def test_no_duplicates(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIRPLUS lists no entry twice."""
    for name in many_names():
        scratch.file(name)
    listing = read_all(plus_page, nfs3, scratch.handle, count=SMALL_PLUS_PAGE)
    expect_once([entry.name for entry in listing.entries])


@proves(READDIRPLUS_MAXCOUNT_IS_LIMIT, killed_by="readdirplus3-exceeds-maxcount", needs="readdirplus")
def test_maxcount_limit(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIRPLUS returns a result no larger than maxcount."""
    for name in many_names():
        scratch.file(name)
    resok = expect(plus_page(nfs3, scratch.handle, count=SMALL_PLUS_PAGE)).ok()
    expect(len(resok.to_xdr()), "size of READDIRPLUS3resok in bytes", of=resok).at_most(SMALL_PLUS_PAGE)


@proves(READDIRPLUS_EOF_AT_END, killed_by="readdirplus3-claims-eof-early", needs="readdirplus")
def test_no_early_eof(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIRPLUS leaves eof FALSE while entries are left."""
    names = many_names()
    for name in names:
        scratch.file(name)
    reply = plus_page(nfs3, scratch.handle, count=SMALL_PLUS_PAGE)
    resok = expect(reply).ok()
    if set(names) - {entry.name for entry in resok.entries}:
        expect(reply).field("resok.eof").is_false()


@proves(READDIRPLUS_EOF_AT_END, killed_by="readdirplus3-never-returns-eof", needs="readdirplus")
def test_eof_at_end(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIRPLUS sets eof at the end of the directory."""
    for name in many_names(5):
        scratch.file(name)
    listing = read_all(plus_page, nfs3, scratch.handle, most_pages=100)
    expect(listing.ended, "eof at the end of the directory", field="eof").is_true()


@proves(
    READDIRPLUS_COOKIE_RESUMES, killed_by="readdirplus3-skips-the-entry-after-the-cookie", needs="readdirplus"
)
def test_resume_every_cookie(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIRPLUS resumes after the entry of each cookie."""
    for name in many_names(12):
        scratch.file(name)
    whole = single_page(plus_page(nfs3, scratch.handle))
    for index, entry in enumerate(whole.entries):
        rest = read_all(
            plus_page, nfs3, scratch.handle, cookie=entry.cookie, verf=whole.cookieverf, most_pages=4
        )
        expect_names(
            [later.name for later in rest.entries],
            [later.name for later in whole.entries[index + 1 :]],
            f"names after the cookie of {show(entry.name)} (entry {index})",
        )


@proves(READDIRPLUS_RETURNS_ATTRIBUTES, killed_by="readdirplus3-attributes-of-another", needs="readdirplus")
def test_attributes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIRPLUS returns the attributes of a file in its entry."""
    handle = scratch.file("file", b"some data", mode=0o640)
    entry = _entry(nfs3, scratch, b"file")
    if entry.name_attributes is None:
        unsupported("the entry has no name_attributes, which are optional")
    fields = ("type", "mode", "nlink", "uid", "gid", "size", "fsid", "fileid")
    expect_unchanged(scratch.attributes(handle), entry.name_attributes, fields, "entry 'file'")


@proves(
    READDIRPLUS_RETURNS_ATTRIBUTES, killed_by="readdirplus3-fileid-unlike-attributes", needs="readdirplus"
)
def test_fileid_matches_attributes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIRPLUS returns the same fileid in an entry and in its attributes."""
    scratch.file("file")
    entry = _entry(nfs3, scratch, b"file")
    if entry.name_attributes is None:
        unsupported("the entry has no name_attributes, which are optional")
    if entry.fileid == 0:
        observe("fileid of the entry", "0, which RFC 1813 discourages")
        return
    expect(entry).field("fileid", "fileid of the entry, compared with name_attributes").equals(
        entry.name_attributes.fileid
    )


@proves(READDIRPLUS_RETURNS_HANDLES, killed_by="readdirplus3-handle-of-another", needs="readdirplus")
def test_handle(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIRPLUS returns a handle of the file that an entry names."""
    known = scratch.attributes(scratch.file("file", b"data"))
    scratch.directory("directory")
    entry = _entry(nfs3, scratch, b"file")
    if entry.name_handle is None:
        unsupported("the entry has no name_handle, which is optional")
    reached = expect(nfs3.getattr(entry.name_handle)).ok().obj_attributes
    expect(reached).field("fileid", "fileid that GETATTR returns for name_handle").equals(known.fileid)


@proves(READDIRPLUS_MATCHES_READDIR, killed_by="readdirplus3-omits-directories", needs="readdirplus")
def test_same_names_as_readdir(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIRPLUS lists the same names as READDIR."""
    scratch.file("file")
    scratch.directory("directory")
    plain = {entry.name for entry in read_all(page, nfs3, scratch.handle).entries} - DOTS
    plus = {entry.name for entry in read_all(plus_page, nfs3, scratch.handle).entries} - DOTS
    expect_names(plus, plain, "names in READDIRPLUS, compared with READDIR")


@proves(READDIRPLUS_NEEDS_DIRECTORY, killed_by="readdirplus3-lists-a-file", needs="readdirplus")
def test_regular_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIRPLUS refuses a regular file."""
    reply = plus_page(nfs3, scratch.file("file", b"no directory"))
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)


# ---------------------------------------------------------------- objects of every type


@pytest.mark.parametrize("kind", file_types.ALL)
@proves(READDIRPLUS_RETURNS_ATTRIBUTES, killed_by="readdirplus3-attributes-of-another", needs="readdirplus")
def test_attribute_types(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """READDIRPLUS returns the attributes of objects of every type."""
    handle = file_types.make(nfs3, scratch, kind, "file")
    # Otherwise the attributes could equal those of the directory by chance.
    nfs3.setattr(handle, Sattr3(mode=0o640))
    known = scratch.attributes(handle)
    attributes = find_entry(nfs3, scratch, "READDIRPLUS", b"file").name_attributes
    if attributes is None:
        unsupported("the entry has no name_attributes, which are optional")
    expect_same_attributes(attributes, known)


@pytest.mark.parametrize("kind", file_types.ALL)
@proves(READDIRPLUS_RETURNS_HANDLES, killed_by="readdirplus3-handle-of-another", needs="readdirplus")
def test_handle_types(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """READDIRPLUS returns handles of objects of every type."""
    known = scratch.attributes(file_types.make(nfs3, scratch, kind, "file"))
    handle = find_entry(nfs3, scratch, "READDIRPLUS", b"file").name_handle
    if handle is None:
        unsupported("the entry has no name_handle, which is optional")
    reply = nfs3.getattr(handle)
    expect(reply).ok()
    expect(reply).field("resok.obj_attributes.fileid").equals(known.fileid)
    expect(reply).field("resok.obj_attributes.type").equals(known.type)


# ---------------------------------------------------------------- sizes of pages


@pytest.mark.parametrize("dircount", [0, 1, 512, 2**32 - 1], ids=("0", "1", "512", "4g-1"))
@proves(READDIR_LISTS_ENTRIES, killed_by="readdirplus3-skips-an-entry")
def test_dircount(nfs3: Nfs3, scratch: Nfs3Scratch, fill: Fill, dircount: int) -> None:
    """READDIRPLUS lists every entry whatever dircount is."""
    names = many_names()
    fill(names)
    found: list[bytes] = []
    cookie, verf, maxcount = 0, bytes(8), 4096
    for _ in range(MOST_PAGES):
        reply = nfs3.readdirplus(scratch.handle, cookie, verf, dircount, maxcount)
        nothing = reply.resok is None or not (reply.resok.entries or reply.resok.eof)
        if nothing and dircount < 512:
            # No name fits into so small a dircount: the server may say so in any way.
            observe(f"READDIRPLUS with dircount {dircount}", reply.status)
            dircount = 512
            continue
        resok = expect(reply).ok()
        found += [entry.name for entry in resok.entries if entry.name not in DOTS]
        if resok.eof or not resok.entries:
            break
        cookie, verf = resok.entries[-1].cookie, resok.cookieverf
    expect_once(found, names)


# ---------------------------------------------------------------- a name of two files, one after the other


@proves(
    READDIRPLUS_RETURNS_HANDLES,
    READDIRPLUS_RETURNS_ATTRIBUTES,
    killed_by=("readdirplus3-remembers-handles-by-name", "readdirplus3-remembers-attributes-by-name"),
    needs="readdirplus",
)
def test_object_of_now(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch) -> None:
    """The handle and the attributes of an entry that was removed and made again are those of the new file."""
    common, seen = CommonNfs3(nfs3), 0
    for data in (b"first", b"the second"):
        known = scratch.attributes(scratch.file("file", data))
        for client in (nfs3, second_client):
            entry = _entry(client, scratch, b"file")
            if entry.name_attributes is not None:
                because, what = READDIRPLUS_RETURNS_ATTRIBUTES, "the entry of the new file"
                expect_unchanged(known, entry.name_attributes, ("size", "fileid"), what, because=because)
            if entry.name_handle is not None:
                reply = nfs3.read(entry.name_handle, 0, 100)
                found = bytes(expect(reply).ok().data)
                expect_data(found, data[: max(1, len(found))], "data by name_handle")
            seen += entry.name_attributes is not None or entry.name_handle is not None
        if data == b"first":
            need_done(common, lambda: common.remove(scratch.handle, b"file"), "REMOVE")
    if not seen:
        unsupported("entries have neither name_handle nor name_attributes, which are optional")
