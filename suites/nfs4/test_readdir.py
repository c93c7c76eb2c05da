# SPDX-License-Identifier: MIT
"""READDIR (RFC 5661 section 18.23)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import (
    Harm,
    Level,
    expect,
    expect_all,
    expect_names,
    expect_once,
    expect_that,
    must,
    proves,
    should,
    stated,
)
from suites.nfs4.minors import MINORS

LISTS_ENTRIES = stated(
    "RFC 5661",
    "18.23.3",
    "READDIR retrieves the entries of the directory",
    also={"4.0": ("RFC 7530", "16.24.4")},
)
COOKIE_CONTINUES = stated(
    "RFC 5661",
    "18.23.3",
    "a cookie of an earlier READDIR continues the listing after its entry; eof tells its end",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.24.4")},
)
HAS_NO_DOTS = should(
    "RFC 5661", "18.23.3", '"." and ".." should not be returned', also={"4.0": ("RFC 7530", "16.24.4")}
)
COOKIES_ARE_NOT_RESERVED = should(
    "RFC 5661",
    "18.23.3",
    "the cookies 0, 1 and 2 should not be returned",
    also={"4.0": ("RFC 7530", "16.24.4", Level.MUST)},
)
ATTRIBUTES_AS_ASKED = stated(
    "RFC 5661",
    "18.23.3",
    "each entry has the associated attributes as requested",
    also={"4.0": ("RFC 7530", "16.24.4")},
)
NO_ENTRY_IS_TOOSMALL = must(
    "RFC 5661",
    "18.23.3",
    "if not one entry fits within maxcount, READDIR returns NFS4ERR_TOOSMALL",
    also={"4.0": ("RFC 7530", "16.24.4", Level.STATED)},
)
MAXCOUNT_IS_A_LIMIT = stated(
    "RFC 5661",
    "18.23.3",
    "maxcount is the maximum size of READDIR4resok, with the overhead of XDR",
    also={"4.0": ("RFC 7530", "16.24.4")},
)
NEEDS_A_DIRECTORY = stated(
    "RFC 5661",
    "15.1.2.6",
    "NFS4ERR_NOTDIR: the filehandle designates no directory where one is required",
    also={"4.0": ("RFC 7530", "13.1.2.6")},
)
DIRCOUNT_IS_A_HINT = should(
    # "of the maximum number of bytes of directory information that should be returned"
    "RFC 5661",
    "18.23.3",
    "dircount is a hint: where maxcount has room for an entry, a page has entries or eof",
    also={"4.0": ("RFC 7530", "16.24.4")},
)
_PAGE = 32768


def _entries(compounds: Compounds, directory: bytes, maxcount: int = _PAGE, **more: object) -> list[p.Entry4]:
    """All entries of a directory, page by page."""
    found: list[p.Entry4] = []
    cookie, verifier = 0, bytes(p.NFS4_VERIFIER_SIZE)
    for _ in range(1000):
        reading = op.readdir(cookie, verifier, maxcount=maxcount, dircount=maxcount, **more)  # type: ignore[arg-type]
        page = expect(compounds.compound(op.putfh(directory), reading)).of(p.READDIR).ok()
        found += page.reply.entries
        if page.reply.eof:
            return found
        expect_that(bool(page.reply.entries), "entries or eof", "neither", because=COOKIE_CONTINUES)
        cookie, verifier = page.reply.entries[-1].cookie, page.cookieverf
    expect_that(False, "an end of the listing", "1000 pages without eof", because=COOKIE_CONTINUES)
    return found


@MINORS
@proves(LISTS_ENTRIES, killed_by="readdir4-skips-the-last")
def test_lists_all(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READDIR lists every entry once."""
    scratch.file("1")
    scratch.directory("2")
    names = [entry.name for entry in _entries(compounds, scratch.handle)]
    expect_names([name for name in names if name not in {b".", b".."}], [b"1", b"2"])


@MINORS
@proves(LISTS_ENTRIES, killed_by="readdir4-empty-has-no-end")
def test_empty(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READDIR of an empty directory returns no entries, and eof."""
    empty = scratch.directory("empty")
    reading = op.readdir(maxcount=_PAGE, dircount=_PAGE)
    page = expect(compounds.compound(op.putfh(empty), reading)).of(p.READDIR).ok()
    expect(page.reply).field("eof").is_true()
    expect(
        [entry.name for entry in page.reply.entries if entry.name not in {b".", b".."}],
        "names",
        of=page,
        field="reply.entries",
    ).equals([])


@MINORS
@proves(COOKIE_CONTINUES, killed_by="readdir4-ignores-cookies")
def test_pages(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A listing in small pages has every entry exactly once."""
    made = [b"%03d" % number for number in range(50)]
    for name in made:
        scratch.directory(name)
    expect_once([entry.name for entry in _entries(compounds, scratch.handle, 600)], made)


@MINORS
@proves(HAS_NO_DOTS, killed_by="readdir4-lists-dots")
def test_dots(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READDIR returns neither "." nor ".."."""
    scratch.file("file")
    names = [entry.name for entry in _entries(compounds, scratch.handle)]
    expect([name for name in names if name in {b".", b".."}], "special names").equals([])


@MINORS
@proves(COOKIES_ARE_NOT_RESERVED, killed_by="readdir4-counts-cookies-from-one")
def test_cookies(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """No entry has one of the reserved cookies 0, 1 and 2."""
    for name in ("a", "b", "c"):
        scratch.file(name)
    cookies = [entry.cookie for entry in _entries(compounds, scratch.handle)]
    expect_all(cookies, lambda cookie: cookie > 2, "cookies", "above 2")


@MINORS
@proves(ATTRIBUTES_AS_ASKED, killed_by="readdir4-all-sizes-are-zero")
def test_attributes(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Entries have the attributes that GETATTR gives."""
    file = scratch.file("1", b"four")
    known = scratch.attributes(file, "type", "size", "fileid")  # the last one is not REQUIRED
    listed = _entries(compounds, scratch.handle, attributes=("type", "size", "fileid"))
    entry = next((entry for entry in listed if entry.name == b"1"), None)
    expect_that(entry is not None, "an entry '1'", "none", because=LISTS_ENTRIES)
    assert entry is not None
    expect(p.names_of(entry.attrs.attrmask), "attributes", of=entry, field="attrs").equals(
        p.names_of(known.attrmask)
    )
    expect(entry.attrs).field("type").equals(known.type)
    expect(entry.attrs).field("size").equals(4)
    expect(entry.attrs).field("fileid").equals(known.fileid)


@MINORS
@proves(ATTRIBUTES_AS_ASKED, killed_by="readdir4-unknown-bit-is-an-error")
def test_unknown_bit(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A bit that no attribute has is left out of the attributes of entries, without an error."""
    scratch.file("1")
    asked = [*p.bitmap("type", "mode"), 1 << 31]
    reading = p.Readdir4Args(0, bytes(p.NFS4_VERIFIER_SIZE), _PAGE, _PAGE, asked)
    page = expect(compounds.compound(op.putfh(scratch.handle), reading)).of(p.READDIR).ok()
    entry = next((entry for entry in page.reply.entries if entry.name == b"1"), None)
    expect_that(entry is not None, "an entry '1'", "none", because=LISTS_ENTRIES)
    assert entry is not None
    expect(set(p.names_of(entry.attrs.attrmask)) - {"mode"}, "attributes", of=entry, field="attrs").equals(
        {"type"}
    )


@MINORS
@pytest.mark.parametrize("maxcount", [0, 20])
@proves(NO_ENTRY_IS_TOOSMALL, killed_by="readdir4-small-pages-are-empty")
def test_too_small(compounds: Compounds, scratch: Nfs4Scratch, maxcount: int) -> None:
    """READDIR with a maxcount that no entry fits in fails with TOOSMALL."""
    scratch.file("a-name-of-a-file-that-is-long")
    reply = compounds.compound(op.putfh(scratch.handle), op.readdir(maxcount=maxcount, dircount=maxcount))
    expect(reply).status(Nfsstat4.NFS4ERR_TOOSMALL)


@MINORS
@pytest.mark.parametrize("attributes", [(), ("type", "size", "change")], ids=["names", "attributes"])
@proves(MAXCOUNT_IS_A_LIMIT, killed_by="readdir4-exceeds-maxcount")
def test_maxcount(compounds: Compounds, scratch: Nfs4Scratch, attributes: tuple[str, ...]) -> None:
    """A page is not larger than maxcount."""
    for number in range(50):
        scratch.directory(b"%03d" % number)
    reading = op.readdir(maxcount=600, dircount=600, attributes=attributes)
    page = expect(compounds.compound(op.putfh(scratch.handle), reading)).of(p.READDIR).ok()
    expect(len(page.to_xdr()), "bytes of READDIR4resok", of=page).at_most(600)


@MINORS
@proves(DIRCOUNT_IS_A_HINT, killed_by="readdir4-dircount-is-a-limit")
def test_dircount_zero(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READDIR with a dircount of 0 makes progress."""
    scratch.file("file")
    reading = op.readdir(maxcount=_PAGE, dircount=0)
    reply = compounds.compound(op.putfh(scratch.handle), reading)
    expect(reply).status(Nfsstat4.NFS4_OK)
    page = expect(reply).of(p.READDIR).ok()
    expect_that(bool(page.reply.entries) or page.reply.eof, "entries or eof", "neither")


@MINORS
@proves(NEEDS_A_DIRECTORY, killed_by="readdir4-of-a-file-is-empty")
def test_of_file(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READDIR of a regular file fails with NOTDIR."""
    reply = compounds.compound(op.putfh(scratch.file("file")), op.readdir(maxcount=_PAGE, dircount=_PAGE))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOTDIR, because=NEEDS_A_DIRECTORY)
