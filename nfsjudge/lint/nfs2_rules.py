# SPDX-License-Identifier: MIT
"""Rules for NFSv2 (RFC 1094): those of NFSv3 that its text bears, and what only it has."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs2
from nfsclient.protocol.nfs2 import IGNORED, Fattr, Ftype, Nfsstat2, Timeval
from nfsjudge.harm import Harm
from nfsjudge.lint import nfs3_rules, nfs3_state
from nfsjudge.lint.case import Case
from nfsjudge.lint.nfs2_views import MILLION, WITHOUT_STATUS
from nfsjudge.lint.rule import Breach, rule
from nfsjudge.requirement import should, stated

ALL: t.Final = tuple(procedure for procedure in nfs2.NFS2.procedures if procedure not in WITHOUT_STATUS)
_FITS_ANY: t.Final = 512
"""Bytes into which any entry fits, however it is counted."""
_TYPE_BITS: t.Final = 0o170000
_TYPES: t.Final = {
    0o040000: Ftype.NFDIR,
    0o020000: Ftype.NFCHR,
    0o060000: Ftype.NFBLK,
    0o100000: Ftype.NFREG,
    0o120000: Ftype.NFLNK,
    0o140000: Ftype.NFNON,
}
"""The bits of `mode` that say the type again (section 2.3.5)."""


STATUS = should("RFC 1094", "2.3.1", "a status is one of those that the RFC names: it derives them from UNIX")
TYPE = should("RFC 1094", "2.3.2", "a type is one of ftype; sockets are non-files, FIFOs have no type")
MODE_AND_TYPE = should("RFC 1094", "2.3.5", "mode says the type again, and both should agree")
USECONDS = should("RFC 1094", "2.3.4", "useconds are the part of a time that is less than a second")
UP_TO_COUNT = stated("RFC 1094", "2.2.7", "READ returns up to count bytes")
WRITTEN = stated(
    "RFC 1094",
    "2.2.9",
    "after a WRITE, which is atomic, the file reaches to the end of what was written",
    harm=Harm.DATA,
)
SIZE_IS_SET = stated("RFC 1094", "2.2.3", "SETATTR of a size that succeeds leaves the file with that size")
HANDLE = stated(
    "RFC 1094",
    "2.3.3",
    "a handle distinguishes an individual file: its type, fsid and fileid stay",
    harm=Harm.DATA,
)
ATTRIBUTES = stated(
    "RFC 1094", "2.3.5", "attributes are those of the object: nothing changed them since the last ones"
)
ENTRIES = stated("RFC 1094", "2.2.17", "the entries of READDIR have a total size of up to count bytes")
PROGRESS = should("RFC 1094", "2.2.17", "a cookie leads to the next entry: a page without eof leads on")
COOKIES = should(
    "RFC 1094", "2.2.17", "a cookie is a pointer to the next entry: each entry of a page has its own"
)
NOENT = should("RFC 1094", "2.3.1", "NOENT says that the name does not exist")


@rule("nfs2/status-defined", STATUS, of=ALL, killed_by="readlink2-directory-is-einval", when="refused")
def status_defined(case: Case) -> Breach | None:
    """A status that the RFC does not name."""
    if case.status is None or case.status.is_known:
        return None
    return Breach("a status of the RFC", f"status {int(case.status)}", "status")


def _attributes(case: Case) -> t.Iterator[tuple[str, Fattr]]:
    for view in case.views:
        if isinstance(view.after, Fattr):
            yield view.path, view.after


@rule("nfs2/type-defined", TYPE, of=ALL, killed_by="getattr2-returns-an-unknown-type", when="shown")
def type_defined(case: Case) -> Breach | None:
    """A type that ftype does not have."""
    for path, attributes in _attributes(case):
        if not attributes.type.is_known:
            return Breach("a type of ftype", f"type {int(attributes.type)}", f"{path}.type")
    return None


@rule("nfs2/mode-type", MODE_AND_TYPE, of=ALL, killed_by="getattr2-mode-contradicts-the-type", when="shown")
def mode_type(case: Case) -> Breach | None:
    """A type in `mode` that contradicts `type`."""
    for path, attributes in _attributes(case):
        said = _TYPES.get(attributes.mode & _TYPE_BITS)
        if said is not None and attributes.type.is_known and said is not attributes.type:
            seen = f"mode is 0{attributes.mode:03o}, and type {attributes.type.name}"
            return Breach(f"type {said.name}", seen, f"{path}.mode")
    return None


@rule(
    "nfs2/useconds", USECONDS, of=ALL, killed_by="getattr2-returns-nanoseconds-for-some-files", when="shown"
)
def useconds(case: Case) -> Breach | None:
    """More microseconds than a second has."""
    if case.world.odd_times:
        return None
    for path, attributes in _attributes(case):
        for name in ("atime", "mtime", "ctime"):
            value: Timeval = getattr(attributes, name)
            if value.useconds >= MILLION:
                return Breach(
                    "at most 999,999", f"{name}.useconds is {value.useconds}", f"{path}.{name}.useconds"
                )
    return None


@rule("nfs2/read-count", UP_TO_COUNT, of=(nfs2.READ,), killed_by="read2-returns-twice-the-count")
def read_count(case: Case) -> Breach | None:
    """More data than requested."""
    if case.ok is None or case.args is None or len(case.ok.data) <= case.args.count:
        return None
    seen = f"{len(case.ok.data)} bytes, {case.args.count} were requested"
    return Breach(f"at most {case.args.count} bytes", seen, "readok.data")


@rule("nfs2/write-size", WRITTEN, of=(nfs2.WRITE,), killed_by="write2-returns-the-old-size")
def write_size(case: Case) -> Breach | None:
    """A file that ends before what was written into it."""
    if case.ok is None or case.args is None or not len(case.args.data) or not case.is_alone(case.args.file):
        return None
    end = case.args.offset + len(case.args.data)
    if case.ok.type is not Ftype.NFREG or case.ok.size >= end:
        return None
    return Breach(f"size is at least {end}", f"size is {case.ok.size}", "attributes.size")


@rule("nfs2/setattr-size", SIZE_IS_SET, of=(nfs2.SETATTR,), killed_by="setattr2-returns-a-wrong-size")
def setattr_size(case: Case) -> Breach | None:
    """Another size than was set."""
    if case.ok is None or case.args is None or case.ok.type is not Ftype.NFREG:
        return None
    wanted = case.args.attributes.size
    if wanted in {IGNORED, case.ok.size} or not case.is_alone(case.args.file):
        return None
    return Breach(f"size is {wanted}", f"size is {case.ok.size}, {wanted} was set", "attributes.size")


@rule("nfs2/readdir-count", ENTRIES, of=(nfs2.READDIR,), killed_by="readdir2-overfills-the-page")
def readdir_count(case: Case) -> Breach | None:
    """Entries larger than requested, with any way of counting."""
    if case.ok is None or case.args is None:
        return None
    least = sum(8 + len(entry.name) for entry in case.ok.entries)
    if least <= case.args.count:
        return None
    return Breach(f"at most {case.args.count} bytes", f"entries of {least} bytes and more", "readdirok")


@rule("nfs2/readdir-progress", PROGRESS, of=(nfs2.READDIR,), killed_by="readdir2-returns-cookie-0")
def readdir_progress(case: Case) -> Breach | None:
    """A page after which the listing makes no progress."""
    if case.ok is None or case.args is None or case.ok.eof:
        return None
    if not case.ok.entries:
        # There is no error for a count into which no entry fits.
        if case.args.count < _FITS_ANY:
            return None
        return Breach("entries, or eof", "no entries, and eof FALSE", "readdirok.eof")
    last = bytes(case.ok.entries[-1].cookie)
    if last not in {bytes(case.args.cookie), bytes(4)}:
        return None
    return Breach("a last cookie that leads on", f"cookie {last.hex()} again", "readdirok.entries")


@rule("nfs2/readdir-cookies", COOKIES, of=(nfs2.READDIR,), killed_by="readdir2-repeats-a-cookie")
def readdir_cookies(case: Case) -> Breach | None:
    """One cookie for two entries."""
    return nfs3_rules.twice(case, "cookie")


@rule(
    "nfs2/noent-of-present", NOENT, of=(nfs2.LOOKUP,), killed_by="create2-makes-another-name", when="refused"
)
def noent_of_present(case: Case) -> Breach | None:
    """NOENT of a name that was there just before."""
    if case.status is not Nfsstat2.NFSERR_NOENT or case.args is None:
        return None
    said = nfs3_state.said_of(case, case.args)
    if said is None or not said[0]:
        return None
    return Breach("the name is there", "NOENT of a name that was there", "status", said[1].number)


rule("nfs2/handle-same-object", HANDLE, of=ALL, killed_by="write2-returns-another-fileid", when="shown")(
    nfs3_state.handle_same_object
)
rule("nfs2/attributes-agree", ATTRIBUTES, of=ALL, killed_by="read2-returns-another-owner", when="shown")(
    nfs3_state.attributes_agree
)
