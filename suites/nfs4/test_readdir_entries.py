# SPDX-License-Identifier: MIT
"""READDIR (RFC 5661 section 18.23): long names, filehandles, and entries of a directory that changes."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
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
from suites.nfs4.opens import another_client

NAMES_ARE_WHOLE = stated(
    "RFC 5661",
    "18.23.3",
    "an entry has the name of the directory entry, however long it is",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.24.4")},
)
COOKIES_SURVIVE_CHANGES = should(
    # "ideally, the cookie value SHOULD NOT change if the directory is modified"
    "RFC 5661",
    "18.23.3",
    "a cookie that the server takes after a change continues after its entry: no other entry is lost or repeated",
    also={"4.0": ("RFC 7530", "16.24.4")},
)
LISTS_WHAT_IS_THERE = stated(
    "RFC 5661",
    "18.23.3",
    "READDIR retrieves entries of the directory: none that are not there, whatever the cookie",
    also={"4.0": ("RFC 7530", "16.24.4")},
)
FILEHANDLES_ARE_OF_ENTRIES = stated(
    "RFC 5661",
    "5.8.1.13",
    "the attribute filehandle of an entry, primarily for READDIR, is that of the object with this name",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "5.8.1.13")},
)
_MANY = 50
_SMALL = 600
_INVENTED = {"2g": 2**31, "int64max+1": 2**63, "uint64max": 2**64 - 1}


def _page(compounds: Compounds, directory: bytes, cookie: int, verifier: bytes, size: int) -> CompoundReply:
    return compounds.compound(op.putfh(directory), op.readdir(cookie, verifier, maxcount=size, dircount=size))


def _start(compounds: Compounds, scratch: Nfs4Scratch, made: list[bytes]) -> p.Readdir4ResOk:
    """The first of several pages of a directory with these names. UNSUPPORTED if one page has all."""
    for name in made:
        scratch.file(name)
    page: p.Readdir4ResOk = expect(_page(compounds, scratch.handle, 0, bytes(8), _SMALL)).of(p.READDIR).ok()
    if page.reply.eof or len(page.reply.entries) < 2:
        unsupported("the first page has all entries, or fewer than two")
    return page


def _rest(compounds: Compounds, scratch: Nfs4Scratch, page: p.Readdir4ResOk) -> list[bytes] | None:
    """The names on the pages after a page; None if the server refuses to go on, as it may after a change."""
    listed: list[bytes] = []
    for _ in range(2 * _MANY):
        reply = _page(compounds, scratch.handle, page.reply.entries[-1].cookie, page.cookieverf, _SMALL)
        if reply.status in {Nfsstat4.NFS4ERR_BAD_COOKIE, Nfsstat4.NFS4ERR_NOT_SAME}:
            observe("cookie after a change", reply.status)
            return None
        page = expect(reply).of(p.READDIR).ok()
        listed += _names(page)
        if page.reply.eof or not page.reply.entries:
            break
    return listed


@pytest.mark.parametrize("length", [200, 255])
@proves(NAMES_ARE_WHOLE, killed_by="readdir4-lacks-long-names")
def test_long_names(compounds: Compounds, scratch: Nfs4Scratch, length: int) -> None:
    """READDIR lists long names in full."""
    most = scratch.attributes(None, "maxname").maxname
    if most is not None and most < length:
        unsupported(f"maxname is {most}, below {length}")
    name = b"n" * length
    scratch.file(name)
    expect_names(scratch.names(), [name])


def _names(page: p.Readdir4ResOk) -> list[bytes]:
    """The names on a page, without those that a server should not list (section 18.23.3)."""
    return [bytes(entry.name) for entry in page.reply.entries if entry.name not in {b".", b".."}]


@proves(COOKIES_SURVIVE_CHANGES, killed_by="readdir4-skips-an-entry-after-removal")
def test_remove_between_pages(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READDIR lists the remaining entries once when another one is removed between pages."""
    made = [b"%03d" % number for number in range(_MANY)]
    page = _start(compounds, scratch, made)
    listed = _names(page)
    if not listed:
        skip("the first page has no entry but . and ..")
    gone = listed[0]
    expect(compounds.compound(op.putfh(scratch.handle), op.remove(gone))).ok()
    rest = _rest(compounds, scratch, page)
    if rest is not None:
        expect_once([*listed[1:], *rest], [name for name in made if name != gone])


@pytest.mark.parametrize("change", ["removed", "added"])
@proves(
    COOKIES_SURVIVE_CHANGES,
    killed_by=("readdir4-ends-after-a-change", "readdir4-skips-an-entry-after-a-change"),
)
def test_change_between_pages(compounds: Compounds, scratch: Nfs4Scratch, change: str) -> None:
    """READDIR lists the entries that stay once, when the last listed one is removed, or others are made."""
    made = [b"%03d" % number for number in range(_MANY)]
    page = _start(compounds, scratch, made)
    listed = _names(page)
    if not listed:
        skip("the first page has no entry but . and ..")
    if change == "removed":
        expect(compounds.compound(op.putfh(scratch.handle), op.remove(listed[-1]))).ok()
    else:
        for name in (b"!", b"025-and-a-half", b"~"):
            scratch.file(name)
    rest = _rest(compounds, scratch, page)
    if rest is not None:
        expect_once([*listed, *rest], made)


@pytest.mark.parametrize("cookie", _INVENTED)
@proves(LISTS_WHAT_IS_THERE, killed_by="readdir4-invents-an-entry-for-unknown-cookies")
def test_bad_cookie(compounds: Compounds, scratch: Nfs4Scratch, cookie: str) -> None:
    """READDIR returns no invented entries for an invented cookie."""
    made = [b"a", b"b", b"c"]
    for name in made:
        scratch.file(name)
    verifier = expect(_page(compounds, scratch.handle, 0, bytes(8), 8192)).of(p.READDIR).ok().cookieverf
    reply = _page(compounds, scratch.handle, _INVENTED[cookie], verifier, 8192)
    observe("READDIR with an invented cookie", reply.status)
    if reply.status != Nfsstat4.NFS4_OK:
        expect(reply).refused()
        return
    names = {entry.name for entry in expect(reply).of(p.READDIR).ok().reply.entries}
    expect_names(sorted(names - {*made, b".", b".."}), [], "listed names that nobody made")


@proves(FILEHANDLES_ARE_OF_ENTRIES, killed_by="readdir4-remembers-filehandles-by-name")
def test_filehandle_of_now(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """The filehandle of an entry that was removed and made again is that of the new object."""
    other = another_client(v4)
    for data in (b"first", b"second"):
        scratch.file("file", data)
        for client in (compounds, other):
            _expect_data_by_entry(client, scratch, data)
        if data == b"first":
            expect(compounds.compound(op.putfh(scratch.handle), op.remove(b"file"))).ok()


def _expect_data_by_entry(compounds: Compounds, scratch: Nfs4Scratch, data: bytes) -> None:
    """READ by the filehandle of the entry returns the data of the file that has the name now."""
    __tracebackhide__ = True
    listing = op.readdir(maxcount=8192, dircount=8192, attributes=("filehandle", "rdattr_error"))
    page = expect(compounds.compound(op.putfh(scratch.handle), listing)).of(p.READDIR).ok()
    entry = next((entry for entry in page.reply.entries if entry.name == b"file"), None)
    expect_that(entry is not None, "an entry 'file'", "none", because=LISTS_WHAT_IS_THERE)
    if entry is None or entry.attrs.filehandle is None:
        skip("the entry has no filehandle")
    reply = compounds.compound(op.putfh(entry.attrs.filehandle), op.read(op.ANONYMOUS, 0, 100))
    if reply.status == Nfsstat4.NFS4ERR_FHEXPIRED:
        skip("filehandles expire by themselves")
    seen = bytes(expect(reply).of(p.READ).ok().data)
    expect(seen, "data by the filehandle of the entry", field="data").satisfies(
        lambda it: bool(it) and data.startswith(it), f"a beginning of {data!r}"
    )
