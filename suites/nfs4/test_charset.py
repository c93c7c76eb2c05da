# SPDX-License-Identifier: MIT
"""Characters in names and in the texts of symbolic links (RFC 5661 section 14): UTF-8, normalisation, NUL."""

from __future__ import annotations

import typing as t
import unicodedata
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch, new_state_owner, through_grace
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import (
    Harm,
    expect,
    expect_data,
    expect_names,
    must,
    observe,
    proves,
    should,
    skip,
    stated,
    unsupported,
)
from suites.nfs4.handles import expect_same_object
from suites.nfs4.opens import BOTH, READ

ONLY_UTF8_IS_ACCEPTED = stated(
    "RFC 5661",
    "14.4",
    "where FSCHARSET_CAP4_ALLOWS_ONLY_UTF8 is set, the server accepts names in UTF-8 only",
)
BAD_UTF8_IS_INVALID = should("RFC 5661", "14.5", "an invalid UTF-8 string gets NFS4ERR_INVAL")
LINKS_ARE_UTF8 = must(
    "RFC 5661",
    "18.4.3",
    "where FSCHARSET_CAP4_ALLOWS_ONLY_UTF8 is set, the content of a new symbolic link is in UTF-8",
)
TEXTS_ARE_NOT_CONVERTED = stated(
    "RFC 5661",
    "14.4",
    "where FSCHARSET_CAP4_CONTAINS_NON_UTF8 is set, READLINK returns what is no UTF-8 as it is",
)
NAMES_ARE_KEPT = (
    should(  # "the implementation must normalize" for an operating environment that requires that
        "RFC 5661", "14.1.4", "a name in UTF-8 is listed as it was made, or in a normalized form of it"
    )
)
SECOND_NAME_DIFFERS = stated(
    "RFC 5661",
    "14.1.1",
    "of two names that are the same to the server, the second one is not created, or is another name",
    harm=Harm.OBJECT,
)
NUL_ENDS_NO_NAME = stated(
    "RFC 5661",
    "18.13.3",
    "a name is one component, with all of its bytes: it is not another name up to a NUL",
    harm=Harm.OBJECT,
)
OVERLONG_IS_NO_SLASH = should(
    "RFC 5661",
    "14.5",
    "a character in more bytes than it needs is no UTF-8, and does not stand for that character",
)
_BAD: t.Final = {
    "byte": b"n\xffm",
    "cut": b"na\xc3",
    "surrogate": b"n\xed\xa0\x80m",
    "overlong": b"n\xc1\xa1m",
    "beyond": b"n\xf4\x90\x80\x80m",
}
"""What is no UTF-8 (RFC 3629 section 3)."""
_GOOD: t.Final = {
    "latin": "für-Ünsinn",
    "cjk": "薄い名前",
    "emoji": "\U0001f600-name",
    "rtl": "שם",
    "dotless": "ıİ",
}
Naming: t.TypeAlias = Callable[[bytes, bytes, bytes], list[XdrType]]
"""(directory, file in it, name) -> operations."""
_OPERATIONS: t.Final[dict[str, Naming]] = {
    "lookup": lambda here, _, name: [op.putfh(here), op.lookup(name)],
    "open": lambda here, _, name: [op.putfh(here), op.open(name, READ, owner=new_state_owner())],
    "open-create": lambda here, _, name: [
        op.putfh(here),
        op.open(name, BOTH, owner=new_state_owner(), how=op.guarded()),
    ],
    "create": lambda here, _, name: [op.putfh(here), op.mkdir(name)],
    "remove": lambda here, _, name: [op.putfh(here), op.remove(name)],
    "rename-from": lambda here, _, name: [op.putfh(here), op.savefh(), op.rename(name, b"moved")],
    "rename-to": lambda here, _, name: [op.putfh(here), op.savefh(), op.rename(b"file", name)],
    "link": lambda here, file, name: [op.putfh(file), op.savefh(), op.putfh(here), op.link(name)],
}


def _cap(scratch: Nfs4Scratch) -> int:
    cap = scratch.attributes(None, "fs_charset_cap").fs_charset_cap
    if cap is None:
        unsupported("the server does not support fs_charset_cap")
    return int(cap)


def _need_only_utf8(scratch: Nfs4Scratch) -> None:
    if not _cap(scratch) & p.FSCHARSET_CAP4_ALLOWS_ONLY_UTF8:
        unsupported("fs_charset_cap does not say that there is only UTF-8")


@pytest.mark.parametrize("operation", _OPERATIONS)
@proves(
    ONLY_UTF8_IS_ACCEPTED,
    BAD_UTF8_IS_INVALID,
    killed_by=("charset4-bad-utf8-is-replaced", "charset4-bad-utf8-is-badname"),
)
def test_only_utf8(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """Where there is only UTF-8 (fs_charset_cap), an operation with a name that is none fails with INVAL."""
    _need_only_utf8(scratch)
    file = scratch.file("file")
    for what, name in _BAD.items():
        reply = through_grace(compounds, *_OPERATIONS[operation](scratch.handle, file, name))
        observe(f"{operation} of {what}", reply.status)
        expect_names(scratch.names(), [b"file"], because=ONLY_UTF8_IS_ACCEPTED)
        expect(reply, because=ONLY_UTF8_IS_ACCEPTED).refused(
            Nfsstat4.NFS4ERR_INVAL, because=BAD_UTF8_IS_INVALID
        )


@proves(LINKS_ARE_UTF8, killed_by="create4-texts-are-any-bytes")
def test_link_only_utf8(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Where there is only UTF-8 (fs_charset_cap), no symbolic link with another text is made."""
    _need_only_utf8(scratch)
    for what, text in _BAD.items():
        reply = compounds.compound(op.putfh(scratch.handle), op.symlink(b"link", text))
        observe(f"text that is {what}", reply.status)
        expect(reply).refused()
        expect_names(scratch.names(), [])


@pytest.mark.parametrize("which", _BAD)
@proves(TEXTS_ARE_NOT_CONVERTED, killed_by="readlink4-repairs-texts")
def test_link_kept(compounds: Compounds, scratch: Nfs4Scratch, which: str) -> None:
    """The text of a symbolic link that is no UTF-8 is refused, or READLINK returns the same bytes."""
    reply = compounds.compound(op.putfh(scratch.handle), op.symlink(b"link", _BAD[which]), op.getfh())
    observe("text that is no UTF-8", reply.status)
    if reply.status != Nfsstat4.NFS4_OK:
        expect_names(scratch.names(), [])
        return
    if not _cap(scratch) & p.FSCHARSET_CAP4_CONTAINS_NON_UTF8:
        unsupported("fs_charset_cap does not say that there is anything but UTF-8")
    link = expect(reply).ok().handle
    result = expect(compounds.compound(op.putfh(link), op.readlink())).of(p.READLINK).ok()
    expect(bytes(result.link), "link", of=result, field="link").equals(_BAD[which])


def _forms(name: str) -> set[bytes]:
    return {
        name.encode(),
        *(unicodedata.normalize(form, name).encode() for form in ("NFC", "NFD", "NFKC", "NFKD")),
    }


def _made(compounds: Compounds, scratch: Nfs4Scratch, name: bytes) -> CompoundReply:
    """An attempt to make a file, which does not stay open."""
    opening = op.open(name, BOTH, owner=new_state_owner(), how=op.guarded())
    reply = through_grace(compounds, op.putfh(scratch.handle), opening, op.getfh())
    if reply.status == Nfsstat4.NFS4_OK:
        expect(compounds.compound(op.putfh(reply.handle), op.close(reply.stateid))).ok()
    return reply


_REFUSALS: t.Final = {Nfsstat4.NFS4ERR_BADCHAR, Nfsstat4.NFS4ERR_BADNAME, Nfsstat4.NFS4ERR_INVAL}


@pytest.mark.parametrize("which", _GOOD)
@proves(NAMES_ARE_KEPT, killed_by="open4-drops-what-is-not-ascii")
def test_listed(compounds: Compounds, scratch: Nfs4Scratch, which: str) -> None:
    """A name in UTF-8 is found as it was made, and is listed as such, or in a normalized form."""
    name = _GOOD[which].encode()
    reply = _made(compounds, scratch, name)
    observe(f"name ({which})", reply.status)
    if reply.status in _REFUSALS:
        skip(f"the server does not take this name: {reply.status}", reply)
    made = expect(reply).ok().handle
    found = expect(compounds.compound(op.putfh(scratch.handle), op.lookup(name), op.getfh())).ok().handle
    expect_same_object(scratch, found, made, "file that the name finds")
    names = scratch.names()
    folded = {form.decode().lower().encode() for form in _forms(_GOOD[which])}
    accepted = _forms(_GOOD[which]) | (folded if _folds(scratch) else set())
    expect(names[0] if len(names) == 1 else b"", "the name that is listed", field="entries").satisfies(
        lambda seen: seen in accepted, f"{_GOOD[which]!r}, in some normalized form"
    )


def _folds(scratch: Nfs4Scratch) -> bool:
    return scratch.attributes(None, "case_preserving").case_preserving is not True


@pytest.mark.parametrize("first", ["nfc", "nfd"])
@proves(SECOND_NAME_DIFFERS, killed_by="names4-are-normalized-in-lookup-only")
def test_normalisation(compounds: Compounds, scratch: Nfs4Scratch, first: str) -> None:
    """A composed and a decomposed name are of two files, or of one: to OPEN, LOOKUP, READ, READDIR and REMOVE alike."""
    composed, decomposed = "ärger".encode(), unicodedata.normalize("NFD", "ärger").encode()
    sent, two = (composed, decomposed) if first == "nfc" else (decomposed, composed)
    reply = _made(compounds, scratch, sent)
    if reply.status in _REFUSALS:
        skip(f"the server does not take this name: {reply.status}", reply)
    made = expect(reply).ok().handle
    scratch.write(made, b"first")
    second = _made(compounds, scratch, two)
    observe("second name", second.status)
    if second.status in _REFUSALS:
        skip(f"the server takes one of the two forms only: {second.status}", second)
    found = compounds.compound(op.putfh(scratch.handle), op.lookup(two), op.getfh())
    if second.status == Nfsstat4.NFS4ERR_EXIST:
        expect_same_object(scratch, expect(found).ok().handle, made, "file by the other form of its name")
        expect(len(scratch.names()), "number of names").equals(1)
        expect(compounds.compound(op.putfh(scratch.handle), op.remove(two))).ok()
        expect_names(scratch.names(), [])
        return
    other = expect(second).ok().handle
    expect(len(scratch.names()), "number of names").equals(2)
    scratch.write(other, b"other")
    for name, data in ((sent, b"first"), (two, b"other")):
        expect_data(scratch.read(scratch.lookup(name) or b""), data)
    expect(compounds.compound(op.putfh(scratch.handle), op.remove(two))).ok()
    expect(scratch.lookup(sent), "the first file").is_present()
    expect_data(scratch.read(made), b"first")


@pytest.mark.parametrize("operation", _OPERATIONS)
@proves(NUL_ENDS_NO_NAME, killed_by="names4-end-at-a-nul")
def test_nul(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """A name with a NUL is refused, or is that of another entry than the name up to there."""
    file = scratch.file("file")
    scratch.file("name")
    name = b"name\0more" if operation in {"lookup", "open", "remove", "rename-from"} else b"new\0more"
    reply = through_grace(compounds, *_OPERATIONS[operation](scratch.handle, file, name))
    observe(f"{operation} of a name with NUL", reply.status)
    names = set(scratch.names())
    expect(b"name" in names, "the name up to the NUL, listed", field="entries").is_true()
    expect(names & {b"new", b"moved"}, "names that nobody made", field="entries").equals(set())
    if operation in {"lookup", "open", "remove", "rename-from"}:
        expect(reply).refused()


@pytest.mark.parametrize("operation", ["lookup", "open", "remove", "rename-from"])
@proves(OVERLONG_IS_NO_SLASH, killed_by="names4-decode-overlong-characters")
def test_overlong(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """A name of two dots and a slash, each in two bytes, finds nothing."""
    here = scratch.directory("here")
    file = scratch.file("inner", directory=here)
    scratch.file("file")
    name = b"\xc0\xae\xc0\xae\xc0\xaffile"
    reply = through_grace(compounds, *_OPERATIONS[operation](here, file, name))
    observe(f"{operation} of overlong characters", reply.status)
    expect_names(scratch.names(), [b"file", b"here"])
    expect_names(scratch.names(here), [b"inner"])
    expect(reply).refused()
