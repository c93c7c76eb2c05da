# SPDX-License-Identifier: MIT
"""READDIR (RFC 1094 section 2.2.17): every entry once, within count, and further ones from any cookie."""

from __future__ import annotations

import typing as t
from collections import Counter

import pytest

from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsclient.clients.nfs2 import START
from nfsclient.protocol.nfs2 import MAXDATA, Entry, Readdirok, Readdirres
from nfsjudge import Level, Requirement, expect, observe, proves, skip, unsupported
from suites.nfs2 import wide
from suites.nfs2.objects import KINDS, NOT_DIRECTORIES, make
from suites.nfs3.listing import DOTS, many_names, only

LISTS = Requirement(
    rfc="RFC 1094",
    section="2.2.17",
    gist="READDIR returns the entries of a directory, each with its name, and further ones by the cookie of the last",
)
COUNT_BOUNDS = Requirement(
    rfc="RFC 1094", section="2.2.17", gist="the entries have a total size of up to count bytes"
)
RESUMES = Requirement(
    rfc="RFC 1094",
    section="2.2.17",
    gist="the cookie of an entry points to the next entry of the directory, and can be used to go on there",
)
BEGINNING = Requirement(
    rfc="RFC 1094",
    section="2.2.17",
    gist="the cookie of all zero bits gets the entries from the beginning of the directory",
)
EOF = Requirement(
    rfc="RFC 1094", section="2.2.17", gist="eof is TRUE if there are no more entries in the directory"
)
PROGRESS = Requirement(
    rfc="RFC 1094",
    section="2.2.17",
    level=Level.SHOULD,
    gist="a page that is not the last has an entry, whose cookie leads on",
)
FILEID = Requirement(
    rfc="RFC 1094",
    section="2.2.17",
    level=Level.SHOULD,
    gist="fileid should be the same number as fileid in the attributes of the file",
)
OF_A_DIRECTORY = Requirement(
    rfc="RFC 1094", section="2.2.17", gist="entries are those of a directory: nothing else has any"
)
SURVIVES_CHANGE = Requirement(
    rfc="RFC 1094",
    section="2.2.17",
    level=Level.SHOULD,
    gist="entries that are there from the first page to the last come once, whatever happens to others",
)
SANE = Requirement(
    rfc="RFC 1094",
    section="2.2.17",
    gist="what is returned for any cookie are entries of the directory",
)

_MOST_PAGES = 2000
"""More than the entries of any directory here: a page may hold one."""
SMALL = 512
FEW = 12


class Listing(t.NamedTuple):
    """What paging through a directory gave."""

    entries: list[Entry]
    ended: bool

    @property
    def names(self) -> list[bytes]:
        """The names without ``.`` and ``..``."""
        return [entry.name for entry in self.entries if entry.name not in DOTS]


def _page(nfs2: Nfs2, directory: bytes, cookie: bytes = START, count: int = MAXDATA) -> Readdirok:
    return expect(nfs2.readdir(directory, cookie, count)).ok()


def _read_all(nfs2: Nfs2, directory: bytes, cookie: bytes = START, count: int = SMALL) -> Listing:
    """Page to the end, or to a page that brings neither entries nor eof. A refused page fails the check."""
    entries: list[Entry] = []
    for _ in range(_MOST_PAGES):
        page = _page(nfs2, directory, cookie, count)
        entries += page.entries
        if page.eof or not page.entries:
            return Listing(entries, page.eof)
        cookie = page.entries[-1].cookie
    return Listing(entries, ended=False)


def _fill(scratch: Scratch2, names: list[bytes]) -> list[bytes]:
    for name in names:
        scratch.file(name)
    return names


@pytest.mark.parametrize("count", [SMALL, 1024, 4096, MAXDATA])
@proves(LISTS, killed_by="readdir2-skips-an-entry")
def test_lists_every_entry(nfs2: Nfs2, scratch2: Scratch2, count: int) -> None:
    names = _fill(scratch2, many_names())
    found = _read_all(nfs2, scratch2.handle, count=count).names
    expect(sorted(set(names) - set(found)), "the names that are missing").equals([])


@pytest.mark.parametrize("count", [SMALL, 4096])
@proves(LISTS, killed_by="readdir2-repeats-an-entry")
def test_lists_no_entry_twice(nfs2: Nfs2, scratch2: Scratch2, count: int) -> None:
    _fill(scratch2, many_names())
    counted = Counter(entry.name for entry in _read_all(nfs2, scratch2.handle, count=count).entries)
    expect(sorted(name for name, times in counted.items() if times > 1), "the names that come twice").equals(
        []
    )


@proves(LISTS, killed_by="readdir2-invents-an-entry")
def test_lists_nothing_that_is_not_there(nfs2: Nfs2, scratch2: Scratch2) -> None:
    scratch2.file("only")
    # What a server adds to every directory can be looked up.
    found = _read_all(nfs2, scratch2.handle).names
    others = [name for name in found if name != b"only" and scratch2.lookup(name) is None]
    expect(others, "the names of nothing").equals([])


@proves(LISTS, killed_by="readdir2-lists-removed-entries")
def test_does_not_list_what_was_removed(nfs2: Nfs2, scratch2: Scratch2) -> None:
    _fill(scratch2, [b"kept", b"removed"])
    expect(nfs2.remove(scratch2.handle, b"removed")).ok()
    expect(_read_all(nfs2, scratch2.handle).names, "the names").lacks(b"removed")


@pytest.mark.parametrize("kind", KINDS)
@proves(LISTS, killed_by="readdir2-lists-files-only")
def test_lists_objects_of_every_kind(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    make(scratch2, kind)
    scratch2.directory("d")
    found = _read_all(nfs2, scratch2.handle).names
    expect([name for name in (b"d", b"object") if name not in found], "the names that are missing").equals([])


@proves(LISTS, killed_by="readdir2-invents-an-entry")
def test_an_empty_directory_has_no_names(nfs2: Nfs2, scratch2: Scratch2) -> None:
    listing = _read_all(nfs2, scratch2.handle)
    observe("dots", sorted(entry.name.decode() for entry in listing.entries if entry.name in DOTS))
    others = [name for name in listing.names if scratch2.lookup(name) is None]
    expect(others, "the names of nothing in an empty directory").equals([])


@pytest.mark.parametrize("count", [64, 128, SMALL, 1024, 4096])
@proves(COUNT_BOUNDS, killed_by="readdir2-exceeds-count")
def test_entries_fit_into_count(nfs2: Nfs2, scratch2: Scratch2, count: int) -> None:
    _fill(scratch2, many_names(150))
    reply = nfs2.readdir(scratch2.handle, START, count)
    if reply.resok is None and count < SMALL:
        skip(f"the server wants more room: {reply.status}")
    entries = expect(reply).ok().entries
    # The text leaves open what is counted beside the entries: here are their fields alone.
    size = sum(len(entry.to_xdr()) for entry in entries)
    observe("size of the entries", size)
    expect(size, "the size of the entries in bytes").at_most(count)


@proves(RESUMES, killed_by="readdir2-goes-on-one-too-far")
def test_goes_on_from_every_cookie(nfs2: Nfs2, scratch2: Scratch2) -> None:
    _fill(scratch2, many_names(FEW))
    whole = _read_all(nfs2, scratch2.handle, count=MAXDATA)
    names = [entry.name for entry in whole.entries]
    for at, entry in enumerate(whole.entries):
        rest = [one.name for one in _read_all(nfs2, scratch2.handle, entry.cookie, MAXDATA).entries]
        expect(rest, f"the names behind entry {at + 1}").equals(names[at + 1 :])


@proves(BEGINNING, killed_by="readdir2-goes-on-at-the-beginning")
def test_zero_is_the_beginning_each_time(nfs2: Nfs2, scratch2: Scratch2) -> None:
    _fill(scratch2, many_names(FEW))
    first = _read_all(nfs2, scratch2.handle).names
    second = _read_all(nfs2, scratch2.handle).names
    expect(sorted(second), "the names of a second listing").equals(sorted(first))


@proves(EOF, killed_by="readdir2-never-ends")
def test_the_end_is_told(nfs2: Nfs2, scratch2: Scratch2) -> None:
    _fill(scratch2, many_names(FEW))
    listing = _read_all(nfs2, scratch2.handle)
    if not listing.ended:
        # A server may tell of it in a page of its own, without entries.
        page = _page(nfs2, scratch2.handle, listing.entries[-1].cookie)
        expect(page.eof, "eof behind the last entry").is_true()


@proves(EOF, killed_by="readdir2-ends-early")
def test_the_end_is_not_told_before(nfs2: Nfs2, scratch2: Scratch2) -> None:
    names = _fill(scratch2, many_names())
    page = _page(nfs2, scratch2.handle, count=SMALL)
    listed = {entry.name for entry in page.entries} >= set(names)
    if listed:
        unsupported("the server puts all entries into the first page")
    expect(page.eof, "eof of a page that is not the last").is_false()


@pytest.mark.parametrize("count", [SMALL, 1024])
@proves(PROGRESS, killed_by="readdir2-has-empty-pages")
def test_pages_before_the_last_have_entries(nfs2: Nfs2, scratch2: Scratch2, count: int) -> None:
    _fill(scratch2, many_names())
    expect(_read_all(nfs2, scratch2.handle, count=count).ended, "that eof was reached").is_true()


@pytest.mark.parametrize("kind", KINDS)
@proves(FILEID, killed_by="readdir2-has-fileids-of-its-own")
def test_fileid_is_that_of_the_attributes(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    known = scratch2.attributes(make(scratch2, kind)).fileid
    found = {entry.name: entry.fileid for entry in _read_all(nfs2, scratch2.handle).entries}
    expect(found.get(b"object"), "the fileid in the entry").equals(known)


@pytest.mark.parametrize("name", sorted(DOTS))
@proves(FILEID, killed_by="readdir2-dots-have-no-fileid")
def test_fileids_of_dots(nfs2: Nfs2, scratch2: Scratch2, name: bytes) -> None:
    inner = scratch2.directory("d")
    found = {entry.name: entry.fileid for entry in _read_all(nfs2, inner).entries}
    if name not in found:
        unsupported(f"the server does not list {name.decode()}")
    known = scratch2.attributes(inner if name == b"." else scratch2.handle).fileid
    expect(found[name], f"the fileid of {name.decode()}").equals(known)


@pytest.mark.parametrize("kind", NOT_DIRECTORIES)
@proves(OF_A_DIRECTORY, killed_by="readdir2-lists-anything")
def test_refuses_what_is_no_directory(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    expect(nfs2.readdir(make(scratch2, kind), START, MAXDATA)).refused()


def _are_entries(reply: Readdirres | None, names: set[bytes], scratch: Scratch2) -> None:
    """What was answered, if anything was, are entries of the directory; a server may add some that it finds."""
    __tracebackhide__ = True
    if reply is None or reply.resok is None:
        return
    found = {entry.name for entry in reply.resok.entries}
    wrong = [name for name in sorted(found - names) if scratch.lookup(name) is None]
    expect(wrong, "names that are not there").equals([])


@pytest.mark.parametrize("count", [0, 1, 16, 31])
@proves(SANE, killed_by="readdir2-answers-garbage-to-odd-wishes")
def test_tiny_counts_do_no_damage(second_nfs2: Nfs2, scratch2: Scratch2, count: int) -> None:
    names = {*_fill(scratch2, many_names(FEW)), *DOTS}
    reply = wide.tolerate(lambda: second_nfs2.readdir(scratch2.handle, START, count))
    _are_entries(reply, names, scratch2)


@pytest.mark.parametrize("count", [MAXDATA + 1, 2**31, 2**32 - 1])
@proves(SANE, killed_by="readdir2-answers-garbage-to-odd-wishes")
def test_huge_counts_do_no_damage(second_nfs2: Nfs2, scratch2: Scratch2, count: int) -> None:
    names = {*_fill(scratch2, many_names()), *DOTS}
    reply = wide.tolerate(lambda: second_nfs2.readdir(scratch2.handle, START, count))
    _are_entries(reply, names, scratch2)


@pytest.mark.parametrize(
    "cookie", [b"\xff" * 4, b"\0\0\0\x63", b"\x12\x34\x56\x78", b"\x80\0\0\0"], ids=bytes.hex
)
@proves(SANE, killed_by="readdir2-answers-garbage-to-odd-wishes")
def test_invented_cookies_do_no_damage(nfs2: Nfs2, scratch2: Scratch2, cookie: bytes) -> None:
    names = {*_fill(scratch2, many_names(FEW)), *DOTS}
    reply = nfs2.readdir(scratch2.handle, cookie, MAXDATA)
    observe("answer", reply.status)
    _are_entries(reply, names, scratch2)


@pytest.mark.parametrize("change", ["removes", "adds"])
@proves(SURVIVES_CHANGE, killed_by="readdir2-counts-positions")
def test_a_change_between_pages_hides_nothing(nfs2: Nfs2, scratch2: Scratch2, change: str) -> None:
    names = _fill(scratch2, many_names())
    first = _page(nfs2, scratch2.handle, count=SMALL)
    if first.eof:
        skip("the server puts all entries into the first page")
    seen = [entry.name for entry in first.entries if entry.name not in DOTS]
    gone = seen[:3] if change == "removes" else []
    for name in gone:
        expect(nfs2.remove(scratch2.handle, name)).ok()
    if change == "adds":
        _fill(scratch2, [b"0-added", b"zz-added"])
    reply = nfs2.readdir(scratch2.handle, first.entries[-1].cookie, SMALL)
    if reply.resok is None:
        observe("an old cookie", reply.status)
        return
    seen += _read_all(nfs2, scratch2.handle, first.entries[-1].cookie).names
    counted = Counter(seen)
    wrong = [name for name in names if counted[name] != 1]
    expect(wrong, "names that stayed, and did not come once").equals([])


@proves(SURVIVES_CHANGE, killed_by="readdir2-goes-back-from-a-removed-entry")
def test_the_cookie_of_a_removed_entry_leads_on(nfs2: Nfs2, scratch2: Scratch2) -> None:
    names = _fill(scratch2, many_names())
    first = _page(nfs2, scratch2.handle, count=SMALL)
    last = first.entries[-1]
    if first.eof or last.name in DOTS:
        skip("the server's pages do not end with a file")
    expect(nfs2.remove(scratch2.handle, last.name)).ok()
    reply = nfs2.readdir(scratch2.handle, last.cookie, SMALL)
    if reply.resok is None:
        observe("an old cookie", reply.status)
        return
    seen = Counter(entry.name for entry in first.entries)
    seen += Counter(_read_all(nfs2, scratch2.handle, last.cookie).names)
    wrong = [name for name in names if name != last.name and seen[name] != 1]
    expect(wrong, "names that stayed, and did not come once").equals([])


@proves(LISTS, killed_by="readdir2-skips-an-entry")
def test_lists_a_large_directory(nfs2: Nfs2, scratch2: Scratch2) -> None:
    names = _fill(scratch2, [b"file-%04d" % number for number in range(500)])
    found = _read_all(nfs2, scratch2.handle, count=4096).names
    listed = only(found, names)
    expect(len(listed), "the number of names").equals(len(names))
    expect(set(listed) == set(names), "that the names are those of the files").is_true()
