# SPDX-License-Identifier: MIT
"""READDIRPLUS (RFC 1813 section 3.3.17): READDIR with attributes and file handles."""

from __future__ import annotations

from collections import Counter

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Entryplus3, Nfsstat3
from nfsjudge import Level, Requirement, expect, observe, proves, unsupported
from suites.nfs3.listing import DOTS, SMALL_PLUS_PAGE, many_names, page, plus_page, read_all, single_page

LISTS_ENTRIES = Requirement(
    rfc="RFC 1813",
    section="3.3.17",
    gist="READDIRPLUS returns the entries of a directory in sequence, and further ones by cookie",
)
MAXCOUNT_BOUNDS = Requirement(
    rfc="RFC 1813",
    section="3.3.17",
    gist="maxcount is the most bytes of READDIRPLUS3resok, all XDR overhead included",
)
EOF_IS_THE_END = Requirement(
    rfc="RFC 1813",
    section="3.3.17",
    gist="eof is TRUE when the last entry returned is the last of the directory, or nothing is left behind the cookie",
)
COOKIE_RESUMES = Requirement(
    rfc="RFC 1813",
    section="3.3.17",
    gist="the cookie of an entry, with its verifier, continues behind that entry",
)
ATTRIBUTES = Requirement(
    rfc="RFC 1813", section="3.3.17", gist="the attributes in an entry are those of the object that it names"
)
HANDLE = Requirement(
    rfc="RFC 1813", section="3.3.17", gist="the file handle in an entry is one of the object that it names"
)
SAME_AS_READDIR = Requirement(
    rfc="RFC 1813",
    section="3.3.17",
    gist="READDIRPLUS differs from READDIR only in how much it says of each entry",
)
OF_A_DIRECTORY = Requirement(
    rfc="RFC 1813",
    section="3.3.17",
    gist="READDIRPLUS is for directories: another object has no entries to return",
)
NOTDIR_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NOTDIR is the error for a directory operation on an object that is no directory",
)


def _entry(nfs3: Nfs3, scratch: Scratch, name: bytes) -> Entryplus3:
    """The entry of `name` in the scratch directory."""
    listing = read_all(plus_page, nfs3, scratch.handle)
    found = next((entry for entry in listing.entries if entry.name == name), None)
    expect(found, f"the entry of {name.decode()}", because=LISTS_ENTRIES).is_present()
    assert isinstance(found, Entryplus3)
    return found


@proves(LISTS_ENTRIES, killed_by="readdirplus3-skips-an-entry", needs="readdirplus")
def test_lists_every_entry(nfs3: Nfs3, scratch: Scratch) -> None:
    names = many_names()
    for name in names:
        scratch.file(name)
    listing = read_all(plus_page, nfs3, scratch.handle, count=SMALL_PLUS_PAGE)
    expect(sorted(set(names) - set(listing.names)), "the names that are missing").equals([])


@proves(LISTS_ENTRIES, killed_by="readdirplus3-repeats-an-entry", needs="readdirplus")
def test_lists_no_entry_twice(nfs3: Nfs3, scratch: Scratch) -> None:
    for name in many_names():
        scratch.file(name)
    listing = read_all(plus_page, nfs3, scratch.handle, count=SMALL_PLUS_PAGE)
    repeated = sorted(
        name for name, times in Counter(entry.name for entry in listing.entries).items() if times > 1
    )
    expect(repeated, "the names that come more than once").equals([])


@proves(MAXCOUNT_BOUNDS, killed_by="readdirplus3-exceeds-maxcount", needs="readdirplus")
def test_result_fits_into_maxcount(nfs3: Nfs3, scratch: Scratch) -> None:
    for name in many_names():
        scratch.file(name)
    resok = expect(plus_page(nfs3, scratch.handle, count=SMALL_PLUS_PAGE)).ok()
    expect(len(resok.to_xdr()), "the size of resok in bytes").at_most(SMALL_PLUS_PAGE)


@proves(EOF_IS_THE_END, killed_by="readdirplus3-claims-eof-early", needs="readdirplus")
def test_eof_is_not_claimed_before_the_last_entry(nfs3: Nfs3, scratch: Scratch) -> None:
    names = many_names()
    for name in names:
        scratch.file(name)
    reply = plus_page(nfs3, scratch.handle, count=SMALL_PLUS_PAGE)
    resok = expect(reply).ok()
    if set(names) - {entry.name for entry in resok.entries}:
        expect(reply).field("resok.eof").is_false()


@proves(EOF_IS_THE_END, killed_by="readdirplus3-never-says-eof", needs="readdirplus")
def test_eof_comes_with_or_behind_the_last_entry(nfs3: Nfs3, scratch: Scratch) -> None:
    for name in many_names(5):
        scratch.file(name)
    listing = read_all(plus_page, nfs3, scratch.handle, most_pages=100)
    expect(listing.ended, "eof at the end of the directory").is_true()


@proves(COOKIE_RESUMES, killed_by="readdirplus3-resumes-one-late", needs="readdirplus")
def test_resumes_behind_every_cookie(nfs3: Nfs3, scratch: Scratch) -> None:
    for name in many_names(12):
        scratch.file(name)
    whole = single_page(plus_page(nfs3, scratch.handle))
    for index, entry in enumerate(whole.entries):
        rest = read_all(
            plus_page, nfs3, scratch.handle, cookie=entry.cookie, verf=whole.cookieverf, most_pages=4
        )
        expected = sorted(later.name for later in whole.entries[index + 1 :])
        expect(sorted(later.name for later in rest.entries), f"the names behind entry {index}").equals(
            expected
        )


@proves(ATTRIBUTES, killed_by="readdirplus3-attributes-of-another", needs="readdirplus")
def test_attributes_are_those_of_the_object(nfs3: Nfs3, scratch: Scratch) -> None:
    handle = scratch.file("file", b"some data", mode=0o640)
    entry = _entry(nfs3, scratch, b"file")
    if entry.name_attributes is None:
        unsupported("the server withholds the attributes of entries")
    seen, known = entry.name_attributes, scratch.attributes(handle)
    for name in ("type", "mode", "nlink", "uid", "gid", "size", "fsid", "fileid"):
        expect(getattr(seen, name), f"{name} in the entry").equals(getattr(known, name))


@proves(ATTRIBUTES, killed_by="readdirplus3-fileid-unlike-attributes", needs="readdirplus")
def test_fileid_is_that_of_the_attributes(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("file")
    entry = _entry(nfs3, scratch, b"file")
    if entry.name_attributes is None:
        unsupported("the server withholds the attributes of entries")
    if entry.fileid == 0:
        observe("fileid", "0, which is discouraged")
        return
    expect(entry.fileid, "fileid of the entry").equals(entry.name_attributes.fileid)


@proves(HANDLE, killed_by="readdirplus3-handle-of-another", needs="readdirplus")
def test_handle_leads_to_the_object(nfs3: Nfs3, scratch: Scratch) -> None:
    known = scratch.attributes(scratch.file("file", b"data"))
    scratch.directory("directory")
    entry = _entry(nfs3, scratch, b"file")
    if entry.name_handle is None:
        unsupported("the server withholds the handles of entries")
    reached = expect(nfs3.getattr(entry.name_handle)).ok().obj_attributes
    expect(reached.fileid, "fileid behind the handle").equals(known.fileid)


@proves(SAME_AS_READDIR, killed_by="readdirplus3-hides-directories", needs="readdirplus")
def test_has_the_names_of_readdir(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("file")
    scratch.directory("directory")
    plain = {entry.name for entry in read_all(page, nfs3, scratch.handle).entries} - DOTS
    plus = {entry.name for entry in read_all(plus_page, nfs3, scratch.handle).entries} - DOTS
    expect(sorted(plus), "the names").equals(sorted(plain))


@proves(OF_A_DIRECTORY, killed_by="readdirplus3-lists-a-file", needs="readdirplus")
def test_refuses_a_file(nfs3: Nfs3, scratch: Scratch) -> None:
    reply = plus_page(nfs3, scratch.file("file", b"no directory"))
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=NOTDIR_IS_MEANT)
