# SPDX-License-Identifier: MIT
"""READDIR (RFC 1813 section 3.3.16): entries, size of the result, eof, cookies."""

from __future__ import annotations

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import (
    expect,
    expect_names,
    expect_once,
    observe,
    proves,
    show,
    stated,
    unsupported,
)
from suites.nfs3.clauses import (
    READDIR_COOKIE_RESUMES,
    READDIR_COUNT_IS_LIMIT,
    READDIR_EOF_AT_END,
    READDIR_LISTS_ENTRIES,
    READDIR_NEEDS_DIRECTORY,
    READDIR_RETURNS_FILEID,
    READDIR_SURVIVES_CHANGES,
    RETURNS_NOTDIR,
    RETURNS_TOOSMALL,
)
from suites.nfs3.listing import DOTS, SMALL_PAGE, many_names, page, read_all, single_page

READDIR_RETURNS_DIR_ATTRIBUTES = stated(
    "RFC 1813", "3.3.16", "dir_attributes are the attributes of the directory"
)


@proves(READDIR_LISTS_ENTRIES, killed_by="readdir3-skips-an-entry")
def test_all_entries(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIR lists every entry of the directory."""
    names = many_names()
    for name in names:
        scratch.file(name)
    listing = read_all(page, nfs3, scratch.handle, count=SMALL_PAGE)
    expect_names(listing.names, names, others=True)


@proves(READDIR_LISTS_ENTRIES, killed_by="readdir3-repeats-an-entry")
def test_no_duplicates(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIR lists no entry twice."""
    for name in many_names():
        scratch.file(name)
    listing = read_all(page, nfs3, scratch.handle, count=SMALL_PAGE)
    expect_once([entry.name for entry in listing.entries])


@proves(READDIR_LISTS_ENTRIES, killed_by="readdir3-invents-an-entry")
def test_no_invented_entries(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIR lists only names that exist."""
    scratch.file("only")
    listing = read_all(page, nfs3, scratch.handle)
    # Some servers add entries to every directory; LOOKUP finds these.
    others = [name for name in listing.names if name != b"only" and scratch.lookup(name) is None]
    expect_names(others, [], "listed names that LOOKUP does not find")


@proves(READDIR_LISTS_ENTRIES, killed_by="readdir3-lists-removed-entries")
def test_removed_entry(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIR does not list a removed entry."""
    scratch.file("kept")
    scratch.file("removed")
    expect(nfs3.remove(scratch.handle, b"removed")).ok()
    expect(read_all(page, nfs3, scratch.handle).names, "names after REMOVE", field="entries").lacks(
        b"removed"
    )


@proves(READDIR_COUNT_IS_LIMIT, killed_by="readdir3-exceeds-count")
def test_count_limit(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIR returns a result no larger than count."""
    for name in many_names():
        scratch.file(name)
    resok = expect(page(nfs3, scratch.handle, count=SMALL_PAGE)).ok()
    expect(len(resok.to_xdr()), "size of READDIR3resok in bytes", of=resok).at_most(SMALL_PAGE)


@proves(READDIR_EOF_AT_END, killed_by="readdir3-claims-eof-early")
def test_no_early_eof(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIR leaves eof FALSE while entries are left."""
    names = many_names()
    for name in names:
        scratch.file(name)
    reply = page(nfs3, scratch.handle, count=SMALL_PAGE)
    resok = expect(reply).ok()
    if set(names) - {entry.name for entry in resok.entries}:
        expect(reply).field("resok.eof").is_false()


@proves(READDIR_EOF_AT_END, killed_by="readdir3-never-returns-eof")
def test_eof_at_end(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIR sets eof at the end of the directory."""
    for name in many_names(5):
        scratch.file(name)
    listing = read_all(page, nfs3, scratch.handle, most_pages=100)
    expect(listing.ended, "eof at the end of the directory", field="eof").is_true()


@proves(READDIR_EOF_AT_END, killed_by="readdir3-empty-directory-lacks-eof")
def test_empty_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIR of an empty directory lists no invented names and sets eof."""
    empty = scratch.directory("empty")
    listing = read_all(page, nfs3, empty, most_pages=10)
    # Some servers add entries to every directory; LOOKUP finds these.
    strange = [name for name in listing.names if scratch.lookup(name, directory=empty) is None]
    expect_names(strange, [], "listed names that LOOKUP does not find")
    expect(listing.ended, "eof of an empty directory", field="eof").is_true()
    observe("dots", show(sorted(entry.name for entry in listing.entries if entry.name in DOTS)))


@proves(READDIR_EOF_AT_END, killed_by="readdir3-restarts-after-the-end")
def test_after_last_cookie(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIR after the last cookie returns an empty page with eof."""
    for name in many_names(5):
        scratch.file(name)
    whole = single_page(page(nfs3, scratch.handle))
    reply = page(nfs3, scratch.handle, whole.entries[-1].cookie, whole.cookieverf)
    resok = expect(reply).ok()
    expect_names([entry.name for entry in resok.entries], [], "names after the last cookie")
    expect(reply).field("resok.eof").is_true()


@proves(READDIR_COOKIE_RESUMES, killed_by="readdir3-skips-the-entry-after-the-cookie")
def test_resume_every_cookie(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIR resumes after the entry of each cookie."""
    for name in many_names(12):
        scratch.file(name)
    whole = single_page(page(nfs3, scratch.handle))
    for index, entry in enumerate(whole.entries):
        rest = read_all(page, nfs3, scratch.handle, cookie=entry.cookie, verf=whole.cookieverf, most_pages=4)
        expect_names(
            [later.name for later in rest.entries],
            [later.name for later in whole.entries[index + 1 :]],
            f"names after the cookie of {show(entry.name)} (entry {index})",
        )


@proves(READDIR_SURVIVES_CHANGES, killed_by="readdir3-skips-an-entry-after-removal")
def test_remove_between_pages(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIR lists the remaining entries once when another is removed between pages."""
    names = many_names()
    for name in names:
        scratch.file(name)
    first = expect(page(nfs3, scratch.handle, count=SMALL_PAGE)).ok()
    listed = [entry.name for entry in first.entries if entry.name not in DOTS]
    if first.eof or len(listed) < 2:
        unsupported("the first page has all entries, or fewer than two")
    expect(nfs3.remove(scratch.handle, listed[0])).ok()
    reply = page(nfs3, scratch.handle, first.entries[-1].cookie, first.cookieverf)
    if reply.status == Nfsstat3.NFS3ERR_BAD_COOKIE:
        observe("cookie after a change", "NFS3ERR_BAD_COOKIE")
        return
    observe("cookie after a change", "accepted")
    rest = read_all(page, nfs3, scratch.handle, cookie=first.entries[-1].cookie, verf=first.cookieverf)
    expect_names([*listed[1:], *rest.names], set(names) - {listed[0]}, "names that were not removed")


@proves(
    READDIR_COUNT_IS_LIMIT,
    READDIR_EOF_AT_END,
    RETURNS_TOOSMALL,
    killed_by=("readdir3-too-small-returns-eof", "readdir3-too-small-returns-nothing"),
)
def test_count_too_small(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIR with too small a count does not look like the end of the directory."""
    scratch.file("a-name-that-needs-some-room")
    reply = page(nfs3, scratch.handle, count=16)
    if reply.resok is None:
        observe("READDIR with count 16", expect(reply).refused())
        return
    observe("READDIR with count 16", f"a page of {len(reply.resok.entries)} entries")
    expect(
        len(reply.resok.entries), "number of entries with count 16", of=reply, field="resok.entries"
    ).equals(0)
    expect(reply, because=READDIR_EOF_AT_END).field("resok.eof").is_false()
    expect(reply, because=RETURNS_TOOSMALL).status(Nfsstat3.NFS3ERR_TOOSMALL)


@proves(READDIR_RETURNS_FILEID, killed_by="readdir3-wrong-fileid")
def test_fileid(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIR returns the fileid of a file."""
    handle = scratch.file("file")
    entries = read_all(page, nfs3, scratch.handle).entries
    found = next((entry for entry in entries if entry.name == b"file"), None)
    expect(found, "entry 'file'", because=READDIR_LISTS_ENTRIES).is_present()
    assert found is not None
    if found.fileid == 0:
        observe("fileid of the entry", "0, which RFC 1813 discourages")
        return
    expect(found).field("fileid", "fileid of entry 'file'").equals(scratch.attributes(handle).fileid)


@proves(READDIR_NEEDS_DIRECTORY, killed_by="readdir3-lists-a-file")
def test_regular_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIR refuses a regular file."""
    reply = page(nfs3, scratch.file("file", b"no directory"))
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)


@proves(READDIR_RETURNS_DIR_ATTRIBUTES, killed_by="readdir3-attributes-of-another")
def test_dir_attributes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIR returns the attributes of the directory."""
    directory = scratch.directory("directory")
    before = scratch.attributes(directory)
    reply = page(nfs3, directory)
    attributes = expect(reply).ok().dir_attributes
    if attributes is None:
        unsupported("READDIR returned no dir_attributes, which are optional")
    expect(reply).field("resok.dir_attributes.type").equals(before.type)
    expect(reply).field("resok.dir_attributes.fileid").equals(before.fileid)
    expect(reply).field("resok.dir_attributes.fsid").equals(before.fsid)
