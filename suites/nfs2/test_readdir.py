# SPDX-License-Identifier: MIT
"""READDIR (RFC 1094 section 2.2.17) lists each entry once, within count, and continues at any cookie."""

from __future__ import annotations

import functools
import typing as t

import pytest

from fixtures.checks.announcing import Announced
from fixtures.checks.budget import Budget
from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.clients.nfs2 import START
from nfsclient.protocol.nfs2 import MAXDATA, Entry, Readdirok, Readdirres, Sattr
from nfsjudge import (
    Harm,
    expect,
    expect_names,
    expect_once,
    expect_that,
    observe,
    proves,
    should,
    skip,
    stated,
    unsupported,
)
from nfsjudge.requirement import COUNTS_ARE_CHECKED
from suites.nfs2 import oversized
from suites.nfs2.objects import KINDS, NOT_DIRECTORIES, make, size_id
from suites.nfs3.listing import DOTS, many_names

READDIR_LISTS_ENTRIES = stated(
    "RFC 1094",
    "2.2.17",
    "READDIR returns the named entries of a directory and continues after the cookie of the last one",
    harm=Harm.DATA,
)
READDIR_RETURNS_UP_TO_COUNT = stated(
    "RFC 1094", "2.2.17", "the entries have a total size of at most count bytes"
)
COOKIE_LEADS_TO_NEXT = stated(
    "RFC 1094",
    "2.2.17",
    "the cookie of an entry points to the next entry, and READDIR can continue there",
    harm=Harm.DATA,
)
COOKIE_ZERO_IS_START = stated(
    "RFC 1094", "2.2.17", "a cookie of all zero bits starts at the beginning of the directory"
)
EOF_MARKS_END = stated("RFC 1094", "2.2.17", "eof is TRUE if the directory has no more entries")
READDIR_MAKES_PROGRESS = should(
    "RFC 1094",
    "2.2.17",
    "a page before the last one has at least one entry, and its cookie leads to the next page",
)
READDIR_FILEID_MATCHES = should(
    "RFC 1094", "2.2.17", "fileid of an entry is the fileid in the attributes of the file"
)
READDIR_NEEDS_DIRECTORY = stated(
    "RFC 1094", "2.2.17", "READDIR lists directories: no other object has entries"
)
STABLE_ENTRIES_COME_ONCE = should(
    "RFC 1094",
    "2.2.17",
    "an entry that exists during the whole listing is listed once, even if other entries change",
)
READDIR_INVENTS_NO_ENTRY = stated(
    "RFC 1094", "2.2.17", "whatever the cookie is, READDIR returns only entries of the directory"
)
MOST_PAGES = 2000
"""More than the entries of any directory in this file: a page may have a single entry."""
SMALL = 512
"""Bytes: a page of some of the names of `many_names`."""
SMALLEST = 24
"""Bytes of an entry of the shortest of these names."""
FEW = 12
"""Names that need no second page of `MAXDATA` bytes."""


class Listing(t.NamedTuple):
    """The entries of all pages of a directory, and whether eof was reached."""

    entries: list[Entry]
    ended: bool

    @property
    def names(self) -> list[bytes]:
        """The names without `.` and `..`."""
        return [entry.name for entry in self.entries if entry.name not in DOTS]


def _page(nfs2: Nfs2, directory: bytes, cookie: bytes = START, count: int = MAXDATA) -> Readdirok:
    return expect(nfs2.readdir(directory, cookie, count)).ok()


def _read_all(nfs2: Nfs2, directory: bytes, cookie: bytes = START, count: int = SMALL) -> Listing:
    """Read pages until eof, or until a page has neither entries nor eof. A refused page fails the check."""
    entries: list[Entry] = []
    for _ in range(MOST_PAGES):
        page = _page(nfs2, directory, cookie, count)
        entries += page.entries
        if page.eof or not page.entries:
            return Listing(entries, page.eof)
        cookie = page.entries[-1].cookie
    return Listing(entries, ended=False)


def _fill(scratch: Nfs2Scratch, names: list[bytes]) -> list[bytes]:
    for name in names:
        scratch.file(name)
    return names


@pytest.mark.parametrize("count", [SMALL, 1024, 4096, MAXDATA])
@proves(READDIR_LISTS_ENTRIES, killed_by="readdir2-omits-the-last-entry")
def test_all_entries(nfs2: Nfs2, scratch: Nfs2Scratch, count: int) -> None:
    """READDIR lists every entry of the directory."""
    names = _fill(scratch, many_names())
    found = _read_all(nfs2, scratch.handle, count=count).names
    expect_names(found, names, "names in READDIR", others=True)


@pytest.mark.parametrize("count", [SMALL, 4096])
@proves(READDIR_LISTS_ENTRIES, killed_by="readdir2-repeats-an-entry")
def test_no_duplicates(nfs2: Nfs2, scratch: Nfs2Scratch, count: int) -> None:
    """READDIR lists no entry twice."""
    _fill(scratch, many_names())
    entries = _read_all(nfs2, scratch.handle, count=count).entries
    expect_once((entry.name for entry in entries), what="names in READDIR")


@proves(READDIR_LISTS_ENTRIES, killed_by="readdir2-invents-an-entry")
def test_no_invented_names(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """READDIR lists only names that LOOKUP finds."""
    scratch.file("only")
    # A server may add entries to every directory; then LOOKUP finds them.
    found = _read_all(nfs2, scratch.handle).names
    others = [name for name in found if name != b"only" and scratch.lookup(name) is None]
    expect_names(others, [], "names in READDIR that LOOKUP does not find")


@proves(READDIR_LISTS_ENTRIES, killed_by="readdir2-lists-removed-entries")
def test_removed_entry(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """READDIR does not list a removed entry."""
    _fill(scratch, [b"kept", b"removed"])
    expect(nfs2.remove(scratch.handle, b"removed")).ok()
    expect(_read_all(nfs2, scratch.handle).names, "names in READDIR", field="entries").lacks(b"removed")


@pytest.mark.parametrize("kind", KINDS)
@proves(READDIR_LISTS_ENTRIES, killed_by="readdir2-omits-names-before-a-directory")
def test_all_types(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """READDIR lists objects of every type."""
    make(scratch, kind)
    scratch.directory("d")
    found = _read_all(nfs2, scratch.handle).names
    expect_names(found, [b"d", b"object"], "names in READDIR", others=True)


@proves(READDIR_LISTS_ENTRIES, killed_by="readdir2-invents-an-entry")
def test_empty_directory(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """READDIR lists no file in an empty directory."""
    listing = _read_all(nfs2, scratch.handle)
    observe("dots", sorted(entry.name.decode() for entry in listing.entries if entry.name in DOTS))
    others = [name for name in listing.names if scratch.lookup(name) is None]
    expect_names(others, [], "names in READDIR of an empty directory")


@pytest.mark.parametrize("count", [64, 128, SMALL, 1024, 4096])
@proves(READDIR_RETURNS_UP_TO_COUNT, killed_by="readdir2-exceeds-count")
def test_count_limit(nfs2: Nfs2, scratch: Nfs2Scratch, count: int) -> None:
    """READDIR returns at most count bytes of entries."""
    _fill(scratch, many_names(min(150, count // SMALLEST + FEW)))  # more than `count` bytes
    reply = nfs2.readdir(scratch.handle, START, count)
    if reply.resok is None and count < SMALL:
        skip(f"READDIR with a count of {count} bytes is refused: it answers {reply.status}", reply)
    entries = expect(reply).ok().entries
    # The text does not say what else count includes: count only the fields of the entries.
    size = sum(len(entry.to_xdr()) for entry in entries)
    observe("size of the entries", f"{size} bytes")
    expect(size, "bytes of entries").at_most(count)


@proves(COOKIE_LEADS_TO_NEXT, killed_by="readdir2-skips-the-fourth-entry")
def test_resume_at_cookie(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """READDIR continues after the entry whose cookie it gets."""
    _fill(scratch, many_names(FEW))
    whole = _read_all(nfs2, scratch.handle, count=MAXDATA)
    names = [entry.name for entry in whole.entries]
    for at, entry in enumerate(whole.entries):
        rest = [entry.name for entry in _read_all(nfs2, scratch.handle, entry.cookie, MAXDATA).entries]
        expect(rest, f"names after the cookie of entry {at + 1}", field="entries").equals(names[at + 1 :])


@proves(COOKIE_ZERO_IS_START, killed_by="readdir2-lists-a-directory-only-once")
def test_cookie_zero(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """READDIR with a zero cookie starts at the beginning each time."""
    _fill(scratch, many_names(FEW))
    first = _read_all(nfs2, scratch.handle).names
    second = _read_all(nfs2, scratch.handle).names
    expect_names(second, first, "names in the second READDIR with cookie 0")


@proves(EOF_MARKS_END, killed_by="readdir2-never-returns-eof")
def test_eof_at_end(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """READDIR sets eof at the end of the directory."""
    _fill(scratch, many_names(FEW))
    listing = _read_all(nfs2, scratch.handle)
    if not listing.ended:
        # A server may return eof in an extra page without entries.
        page = _page(nfs2, scratch.handle, listing.entries[-1].cookie)
        expect(page).field("eof", "eof after the last entry").is_true()


@proves(EOF_MARKS_END, killed_by="readdir2-returns-eof-early")
def test_no_early_eof(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """READDIR does not set eof before the last entry."""
    names = _fill(scratch, many_names())
    page = _page(nfs2, scratch.handle, count=SMALL)
    listed = {entry.name for entry in page.entries} >= set(names)
    if listed:
        unsupported("the server returns all entries in the first page")
    expect(page).field("eof", "eof before the last entry").is_false()


@pytest.mark.parametrize("count", [SMALL, 1024])
@proves(READDIR_MAKES_PROGRESS, killed_by="readdir2-returns-empty-pages")
def test_progress(nfs2: Nfs2, scratch: Nfs2Scratch, count: int) -> None:
    """READDIR returns entries in every page until it sets eof."""
    _fill(scratch, many_names())
    listing = _read_all(nfs2, scratch.handle, count=count)
    seen = f"neither entries nor eof after {len(listing.entries)} entries"
    expect_that(listing.ended, "entries or eof in every page", seen, "READDIR")


@pytest.mark.parametrize("kind", KINDS)
@proves(READDIR_FILEID_MATCHES, killed_by="readdir2-returns-other-fileids")
def test_fileid(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """READDIR lists the fileid that GETATTR returns."""
    known = scratch.attributes(make(scratch, kind)).fileid
    found = {entry.name: entry.fileid for entry in _read_all(nfs2, scratch.handle).entries}
    expect(found.get(b"object"), "fileid in READDIR", field="fileid").equals(known)


@pytest.mark.parametrize("name", sorted(DOTS), ids=["dot", "dotdot"])
@proves(READDIR_FILEID_MATCHES, killed_by="readdir2-dots-have-no-fileid")
def test_dot_fileids(nfs2: Nfs2, scratch: Nfs2Scratch, name: bytes) -> None:
    """READDIR lists the right fileids for "." and ".."."""
    inner = scratch.directory("d")
    found = {entry.name: entry.fileid for entry in _read_all(nfs2, inner).entries}
    if name not in found:
        unsupported(f"READDIR does not list '{name.decode()}'")
    known = scratch.attributes(inner if name == b"." else scratch.handle).fileid
    expect(found[name], f"fileid of '{name.decode()}' in READDIR", field="fileid").equals(known)


@pytest.mark.parametrize("kind", NOT_DIRECTORIES)
@proves(READDIR_NEEDS_DIRECTORY, killed_by="readdir2-lists-non-directories")
def test_not_a_directory(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """READDIR refuses an object that is not a directory."""
    expect(nfs2.readdir(make(scratch, kind), START, MAXDATA)).refused()


def _expect_entries(reply: Readdirres | None, names: set[bytes], scratch: Nfs2Scratch) -> None:
    """Expect only entries of the directory, if there is a reply. A server may add names that LOOKUP finds."""
    __tracebackhide__ = True
    if reply is None or reply.resok is None:
        return
    found = {entry.name for entry in reply.resok.entries}
    wrong = [name for name in sorted(found - names) if scratch.lookup(name) is None]
    expect_names(wrong, [], "names in READDIR that LOOKUP does not find")


@pytest.mark.parametrize("count", [MAXDATA + 1, 2**31, 2**32 - 1], ids=size_id)
@proves(READDIR_INVENTS_NO_ENTRY, killed_by="readdir2-invents-names-for-odd-arguments")
def test_huge_count(second_client: Nfs2, scratch: Nfs2Scratch, announced: Announced, count: int) -> None:
    """READDIR with a count above 8192 returns no invented entries."""
    names = {*_fill(scratch, many_names()), *DOTS}
    for each in announced(count, because=COUNTS_ARE_CHECKED):
        reply = oversized.tolerate(functools.partial(second_client.readdir, scratch.handle, START, each))
        _expect_entries(reply, names, scratch)


@pytest.mark.parametrize(
    "cookie", [b"\xff" * 4, b"\0\0\0\x63", b"\x12\x34\x56\x78", b"\x80\0\0\0"], ids=bytes.hex
)
@proves(READDIR_INVENTS_NO_ENTRY, killed_by="readdir2-invents-names-for-odd-arguments")
def test_invented_cookie(nfs2: Nfs2, scratch: Nfs2Scratch, cookie: bytes) -> None:
    """READDIR with an invented cookie returns no invented entries."""
    names = {*_fill(scratch, many_names(FEW)), *DOTS}
    reply = nfs2.readdir(scratch.handle, cookie, MAXDATA)
    observe("answer", reply.status)
    _expect_entries(reply, names, scratch)


@pytest.mark.parametrize("change", ["remove", "add"])
@proves(STABLE_ENTRIES_COME_ONCE, killed_by="readdir2-treats-cookies-as-positions")
def test_stable_entries(nfs2: Nfs2, scratch: Nfs2Scratch, change: str) -> None:
    """READDIR lists unchanged entries once while others are added or removed."""
    names = _fill(scratch, many_names())
    first = _page(nfs2, scratch.handle, count=SMALL)
    if first.eof:
        skip("the server returns all entries in the first page")
    seen = [entry.name for entry in first.entries if entry.name not in DOTS]
    gone = seen[:3] if change == "remove" else []
    for name in gone:
        expect(nfs2.remove(scratch.handle, name)).ok()
    if change == "add":
        _fill(scratch, [b"0-added", b"zz-added"])
    reply = nfs2.readdir(scratch.handle, first.entries[-1].cookie, SMALL)
    if reply.resok is None:
        observe("cookie from before the change", reply.status)
        return
    seen += _read_all(nfs2, scratch.handle, first.entries[-1].cookie).names
    expect_once(seen, names, "unchanged names in READDIR")


@proves(STABLE_ENTRIES_COME_ONCE, killed_by="readdir2-restarts-after-a-removal")
def test_removed_entry_cookie(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """READDIR continues from the cookie of a removed entry, or refuses it."""
    names = _fill(scratch, many_names())
    first = _page(nfs2, scratch.handle, count=SMALL)
    last = first.entries[-1]
    if first.eof or last.name in DOTS:
        skip("the first page of READDIR has all entries, or does not end with a file")
    expect(nfs2.remove(scratch.handle, last.name)).ok()
    reply = nfs2.readdir(scratch.handle, last.cookie, SMALL)
    if reply.resok is None:
        observe("cookie from before the change", reply.status)
        return
    seen = [entry.name for entry in first.entries] + _read_all(nfs2, scratch.handle, last.cookie).names
    expect_once(seen, [name for name in names if name != last.name], "unchanged names in READDIR")


@proves(READDIR_LISTS_ENTRIES, killed_by="readdir2-omits-the-last-entry")
def test_large_directory(nfs2: Nfs2, scratch: Nfs2Scratch, budget: Budget) -> None:
    """READDIR lists all entries of a large directory."""
    names = _fill(scratch, [b"file-%04d" % number for number in range(budget.of(500, ours=150))])
    found = _read_all(nfs2, scratch.handle, count=4096).names
    expect_once(found, names, "names in READDIR")


@pytest.mark.parametrize("length", [200, 255])
@proves(READDIR_LISTS_ENTRIES, killed_by=("readdir2-lacks-long-names", "readdir2-cuts-long-names"))
def test_long_names(nfs2: Nfs2, scratch: Nfs2Scratch, length: int) -> None:
    """READDIR lists long names in full."""
    name = b"n" * length
    made = nfs2.create(scratch.handle, name, Sattr(mode=0o644))
    observe(f"CREATE with a name of {length} bytes", made.status)
    whole = scratch.lookup(name) if made.resok is not None else None
    if whole is None:
        skip(f"the server does not keep a name of {length} bytes")
    listed = scratch.names()
    if len(listed) == 1 and listed[0] != name and name.startswith(listed[0]):
        short = scratch.lookup(listed[0])
        if short is not None and scratch.attributes(whole).fileid == scratch.attributes(short).fileid:
            skip(f"the server cuts names to {len(listed[0])} bytes")
    expect_names(listed, [name])
