# SPDX-License-Identifier: MIT
"""READDIR (RFC 5661 section 18.23): attributes of entries, and cookies in the middle of a page."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import ATTRIBUTES, NUMBERS, Fattr4, Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import (
    Harm,
    expect,
    expect_names,
    expect_that,
    must,
    observe,
    proves,
    should,
    skip,
    stated,
    unsupported,
)
from suites.nfs4.attribute_values import made_object, supported_names

ATTRIBUTES_AS_ASKED = stated("RFC 5661", "18.23.3", "each entry has the associated attributes as requested")
LISTS_ENTRIES = stated("RFC 5661", "18.23.3", "READDIR retrieves the entries of the directory")
SET_ONLY_IS_INVALID = must("RFC 5661", "5.5", "to get a set-only attribute gets NFS4ERR_INVAL")
NO_ERROR_IS_NONE = stated(
    "RFC 5661",
    "5.8.1.12",
    "rdattr_error is the error of an attempt to retrieve attributes: of an entry with all of them, there is none",
)
COOKIE_IS_OF_ITS_ENTRY = stated(
    "RFC 5661",
    "18.23.3",
    "the cookie of each entry, whichever it is, continues the listing after that entry",
    harm=Harm.DATA,
)
VERIFIER_IS_OF_THE_COOKIE = must(
    "RFC 5661",
    "18.23.3",
    "a cookieverf that is not that of the cookie continues the listing all the same, or gets NFS4ERR_NOT_SAME",
)
JUNCTION_IS_THE_OTHER_FILE_SYSTEM = should(  # sections 5.8.1.9 and 7.3 do not say which fsid an entry has
    "RFC 5661",
    "7.3",
    "LOOKUP and READDIR browse from one export to another: an entry should have the fsid that LOOKUP of it finds",
)
_PAGE: t.Final = 32768
_KINDS: t.Final = ("file", "directory", "link", "fifo")
_STEADY: t.Final = (
    *("type", "size", "fsid", "fileid", "mode", "numlinks", "owner", "owner_group", "named_attr"),
    *("change", "time_modify", "time_metadata", "mounted_on_fileid", "maxname", "filehandle"),
)
"""Attributes that a quiet object keeps."""


def _page(compounds: Compounds, directory: bytes, reading: XdrType) -> p.Readdir4ResOk:
    page: p.Readdir4ResOk = expect(compounds.compound(op.putfh(directory), reading)).of(p.READDIR).ok()
    return page


def _entry(page: p.Readdir4ResOk, name: bytes) -> p.Entry4:
    entry = next((entry for entry in page.reply.entries if entry.name == name), None)
    expect_that(entry is not None, f"an entry '{name.decode()}'", "none", because=LISTS_ENTRIES)
    assert entry is not None
    return entry


def _names(page: p.Readdir4ResOk) -> list[bytes]:
    return [bytes(entry.name) for entry in page.reply.entries if entry.name not in {b".", b".."}]


@pytest.mark.parametrize("kind", _KINDS)
@proves(ATTRIBUTES_AS_ASKED, killed_by="readdir4-attributes-are-the-directorys")
def test_each_attribute(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """An entry of each type has the attributes that GETATTR of the object returns."""
    made = made_object(scratch, kind)
    names = [name for name in _STEADY if name in supported_names(scratch, made)]
    if not scratch.attributes(made, "unique_handles").unique_handles:
        names = [name for name in names if name != "filehandle"]
    reading = op.readdir(maxcount=_PAGE, dircount=_PAGE, attributes=names)
    for _ in range(3):
        known = scratch.attributes(made, *names)
        seen = _entry(_page(compounds, scratch.handle, reading), kind.encode()).attrs
        if known == scratch.attributes(made, *names):
            break
    else:
        skip("attributes move by themselves")
    for name in names:
        expect(seen).field(name, f"{name} of the entry").equals(getattr(known, name))


@proves(ATTRIBUTES_AS_ASKED, killed_by="readdir4-adds-the-fileid")
def test_no_attributes(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READDIR that asks for no attributes lists the entries without any."""
    scratch.file("file")
    reading = op.readdir(maxcount=_PAGE, dircount=_PAGE)
    entry = _entry(_page(compounds, scratch.handle, reading), b"file")
    expect(p.names_of(entry.attrs.attrmask), "attributes", of=entry, field="attrs").equals([])


@proves(NO_ERROR_IS_NONE, killed_by="readdir4-all-entries-have-errors")
def test_no_error(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """rdattr_error of an entry whose attributes can be read is NFS4_OK, and the attributes are there."""
    scratch.file("file", b"four")
    reading = op.readdir(maxcount=_PAGE, dircount=_PAGE, attributes=("rdattr_error", "type", "size"))
    seen = _entry(_page(compounds, scratch.handle, reading), b"file").attrs
    expect(seen).field("size").equals(4)
    observe("rdattr_error of a readable entry", seen.rdattr_error)
    if seen.rdattr_error is not None:
        expect(seen).field("rdattr_error").equals(Nfsstat4.NFS4_OK)


@proves(ATTRIBUTES_AS_ASKED, killed_by="readdir4-always-has-rdattr-error")
def test_error_when_asked(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Entries have no rdattr_error if the request does not name it."""
    scratch.file("file")
    reading = op.readdir(maxcount=_PAGE, dircount=_PAGE, attributes=("type",))
    entry = _entry(_page(compounds, scratch.handle, reading), b"file")
    expect(p.names_of(entry.attrs.attrmask), "attributes", of=entry, field="attrs").equals(["type"])


@pytest.mark.parametrize("name", ["time_access_set", "time_modify_set"])
@proves(SET_ONLY_IS_INVALID, killed_by="readdir4-set-only-is-left-out")
def test_set_only(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """READDIR that asks for a set-only attribute fails with INVAL."""
    if name not in supported_names(scratch, scratch.file("file")):
        unsupported(f"the server does not support {name}")
    assert not ATTRIBUTES[NUMBERS[name]].about.is_readable
    reading = op.readdir(maxcount=_PAGE, dircount=_PAGE, attributes=("type", name))
    reply = compounds.compound(op.putfh(scratch.handle), reading)
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=SET_ONLY_IS_INVALID)


# ---------------------------------------------------------------- cookies


def _all(compounds: Compounds, scratch: Nfs4Scratch) -> p.Readdir4ResOk:
    for number in range(12):
        scratch.directory(b"%02d" % number)
    page = _page(compounds, scratch.handle, op.readdir(maxcount=_PAGE, dircount=_PAGE))
    if not page.reply.eof:
        unsupported("the first page does not have all 12 entries")
    return page


def _expect_rest(rest: p.Readdir4ResOk, wanted: list[bytes], what: str) -> None:
    """The page has these names; without eof the first of them."""
    __tracebackhide__ = True
    names = _names(rest)
    expect_names(names, wanted if rest.reply.eof else wanted[: max(1, len(names))], what)


@proves(COOKIE_IS_OF_ITS_ENTRY, killed_by="readdir4-odd-cookies-skip-an-entry")
def test_each_cookie(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """With the cookie of each entry, READDIR lists the entries that follow it, and no others."""
    page = _all(compounds, scratch)
    for at, entry in enumerate(page.reply.entries):
        after = [
            bytes(later.name) for later in page.reply.entries[at + 1 :] if later.name not in {b".", b".."}
        ]
        reading = op.readdir(entry.cookie, page.cookieverf, maxcount=_PAGE, dircount=_PAGE)
        rest = _page(compounds, scratch.handle, reading)
        _expect_rest(rest, after, f"names after entry {at + 1}")


@proves(VERIFIER_IS_OF_THE_COOKIE, killed_by="readdir4-other-verifier-is-the-end")
def test_other_verifier(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READDIR with a cookie and another verifier than that of its page lists what follows, or fails with NOT_SAME."""
    page = _all(compounds, scratch)
    entry = page.reply.entries[5]
    other = bytes(byte ^ 0x5A for byte in page.cookieverf)
    reply = compounds.compound(
        op.putfh(scratch.handle), op.readdir(entry.cookie, other, maxcount=_PAGE, dircount=_PAGE)
    )
    observe("another verifier", reply.status)
    if reply.status != Nfsstat4.NFS4_OK:
        # "Not valid any more" may be said of the cookie, too.
        also = Nfsstat4.NFS4ERR_BAD_COOKIE
        expect(reply).refused(Nfsstat4.NFS4ERR_NOT_SAME, also, because=VERIFIER_IS_OF_THE_COOKIE)
        return
    after = [bytes(later.name) for later in page.reply.entries[6:]]
    _expect_rest(expect(reply).of(p.READDIR).ok(), after, "names after the sixth entry")


# ---------------------------------------------------------------- junctions


@proves(JUNCTION_IS_THE_OTHER_FILE_SYSTEM, killed_by="readdir4-junctions-are-of-the-pseudo-root")
def test_junction(v4: Nfs4Dialect, compounds: Compounds) -> None:
    """The entry of an export, in the directory above it, has the type and the fsid that LOOKUP of its name finds."""
    path = v4.connections.address.export.encode("utf-8", "surrogateescape")
    names = [name for name in path.split(b"/") if name]
    if not names:
        unsupported("the export is the root of the server")
    above = [op.putrootfh(), *(op.lookup(name) for name in names[:-1])]
    asked = ("type", "fsid", "rdattr_error")
    page = expect(compounds.compound(*above, op.readdir(maxcount=_PAGE, attributes=asked))).of(p.READDIR).ok()
    looking = (*above, op.lookup(names[-1]), op.getattr("type", "fsid"))
    wanted: Fattr4 = expect(compounds.compound(*looking)).ok().attributes
    entry = next((entry for entry in page.reply.entries if entry.name == names[-1]), None)
    if entry is None or entry.attrs.fsid is None:
        unsupported("the directory above the export does not list it with its fsid")
    expect(entry.attrs).field("type").equals(wanted.type)
    expect(entry.attrs).field("fsid").equals(wanted.fsid)
