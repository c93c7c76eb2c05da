# SPDX-License-Identifier: MIT
"""Rules for a single NFSv3 reply: they compare it with its own call only (RFC 1813)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Fattr3, Ftype3, Nfsstat3
from nfsclient.protocol.nfs3.errors import is_expected
from nfsclient.rpc.core import USUAL_REPLY_SIZE
from nfsclient.rpc.program import AnyOperation
from nfsjudge.lint.case import Case
from nfsjudge.lint.nfs3_views import BILLION, MAKERS, every_attributes
from nfsjudge.lint.rule import Breach, rule
from nfsjudge.requirement import CLOSED_STATUS, Part, may, should, stated

ALL: t.Final = tuple(procedure for procedure in nfs3.NFS3.procedures if procedure is not nfs3.NULL)


def _all_but(*procedures: AnyOperation) -> tuple[AnyOperation, ...]:
    return tuple(procedure for procedure in ALL if procedure not in procedures)


UNLIMITED: t.Final = 2**64 - 1
"""What file systems without a limit return for the number of file slots."""


# ---------------------------------------------------------------- statuses


@rule("nfs3/status-defined", CLOSED_STATUS, of=ALL, killed_by="readlink3-fifo-is-eopnotsupp", when="refused")
def status_defined(case: Case) -> Breach | None:
    """A status that nfsstat3 does not define."""
    if case.status is None or case.status.is_known:
        return None
    return Breach("a status of nfsstat3", f"status {int(case.status)}", "status")


STATUS_IS_LISTED = may("RFC 1813", "3", "the statuses listed for a procedure are the common ones")


@rule("nfs3/status-listed", STATUS_IS_LISTED, of=ALL, killed_by="write3-answers-isdir", when="refused")
def status_listed(case: Case) -> Breach | None:
    """A status that is defined, and not listed for the procedure nor for all: legal, and rare."""
    operation, status = case.operation, case.status
    if operation is None or status is None or not status.is_known or is_expected(operation, status):
        return None
    return Breach("a status of the procedure's list", f"{status.name}", "status")


def _is_status(case: Case, status: Nfsstat3, definition: str) -> Breach | None:
    return Breach(definition, f"{status.name}", "status") if case.status is status else None


NOT_SYNC = should("RFC 1813", "3.3.2", "without a guard the server does not check ctime: NOT_SYNC is of it")
BAD_COOKIE = should(
    "RFC 1813", "2.6", "BAD_COOKIE says that a cookie of READDIR or READDIRPLUS is stale; cookie 0 begins"
)
BADTYPE = should("RFC 1813", "2.6", "BADTYPE is for an attempt to create an object of a type")
XDEV = should("RFC 1813", "2.6", "XDEV is for a hard link, or a new name, across devices")


@rule("nfs3/not-sync-unguarded", NOT_SYNC, of=ALL, killed_by="setattr3-no-guard-is-not-sync", when="refused")
def not_sync_unguarded(case: Case) -> Breach | None:
    """NOT_SYNC from what has no guard."""
    if case.operation is nfs3.SETATTR and (case.args is None or case.args.guard is not None):
        return None
    return _is_status(case, Nfsstat3.NFS3ERR_NOT_SYNC, "NOT_SYNC with a guard only")


@rule("nfs3/bad-cookie", BAD_COOKIE, of=ALL, killed_by="access3-answers-bad-cookie", when="refused")
def bad_cookie(case: Case) -> Breach | None:
    """BAD_COOKIE where no cookie was given, or the one for the beginning."""
    if case.status is not Nfsstat3.NFS3ERR_BAD_COOKIE:
        return None
    args = case.args
    if case.operation in {nfs3.READDIR, nfs3.READDIRPLUS} and (
        args is None or args.cookie or any(args.cookieverf)
    ):
        return None
    return Breach("BAD_COOKIE for a cookie only", "NFS3ERR_BAD_COOKIE", "status")


@rule(
    "nfs3/badtype",
    BADTYPE,
    of=_all_but(*MAKERS, nfs3.LINK),
    killed_by="write3-answers-badtype",
    when="refused",
)
def badtype(case: Case) -> Breach | None:
    """BADTYPE where nothing is created."""
    return _is_status(case, Nfsstat3.NFS3ERR_BADTYPE, "BADTYPE where something is created only")


@rule(
    "nfs3/xdev", XDEV, of=_all_but(nfs3.LINK, nfs3.RENAME), killed_by="remove3-answers-xdev", when="refused"
)
def xdev(case: Case) -> Breach | None:
    """XDEV where no second name is given."""
    return _is_status(case, Nfsstat3.NFS3ERR_XDEV, "XDEV from LINK and RENAME only")


# ---------------------------------------------------------------- attributes

ENUMS = stated("RFC 4506", "4.3", "an enum is encoded as one of the numbers that its declaration gives it")
NSECONDS = should(
    "RFC 1813", "2.5", "nseconds are the part of a time that is less than a second: below 1,000,000,000"
)
TYPE_THAT_WAS_MADE = stated(
    "RFC 1813",
    "3.3.8",
    "CREATE makes a regular file, MKDIR a directory, SYMLINK a symbolic link, MKNOD the requested type",
)


@rule(
    "nfs3/enum-values",
    ENUMS,
    of=ALL,
    killed_by=("getattr3-returns-an-unknown-type", "write3-returns-unknown-committed"),
)
def enum_values(case: Case) -> Breach | None:
    """A type of file, or a commitment, that is not defined."""
    for path, attributes in every_attributes(case.step):
        if not attributes.type.is_known:
            return Breach("a type of ftype3", f"type {int(attributes.type)}", f"{path}.type")
    if case.operation is nfs3.WRITE and case.ok is not None and not case.ok.committed.is_known:
        return Breach("a value of stable_how", f"committed {int(case.ok.committed)}", "resok.committed")
    return None


@rule("nfs3/nseconds", NSECONDS, of=ALL, killed_by="getattr3-returns-a-billion-nanoseconds", when="shown")
def nseconds(case: Case) -> Breach | None:
    """More nanoseconds than a second has."""
    if case.world.odd_times or case.args is None:
        return None
    is_exclusive = case.operation is nfs3.CREATE and case.args.how.mode is CreateMode3.EXCLUSIVE
    for view in case.views:
        if view.after is None or case.world.is_any(view.handle, "undefined"):
            continue
        if is_exclusive and view.path == "resok.obj_attributes":
            continue
        for name in ("atime", "mtime", "ctime"):
            value = getattr(view.after, name).nseconds
            if value >= BILLION:
                return Breach(
                    "at most 999,999,999", f"{name}.nseconds is {value}", f"{view.path}.{name}.nseconds"
                )
    return None


@rule("nfs3/type-made", TYPE_THAT_WAS_MADE, of=MAKERS, killed_by="mknod3-accepts-regular-files")
def type_made(case: Case) -> Breach | None:
    """A new object of a different type than requested."""
    attributes: Fattr3 | None = case.ok.obj_attributes if case.ok is not None else None
    if attributes is None or case.args is None:
        return None
    match case.operation:
        case nfs3.MKDIR:
            wanted = Ftype3.NF3DIR
        case nfs3.SYMLINK:
            wanted = Ftype3.NF3LNK
        case nfs3.MKNOD:
            wanted = case.args.what.type
        case _ if case.args.how.mode is CreateMode3.GUARDED:
            wanted = Ftype3.NF3REG
        case _:
            return None
    if attributes.type == wanted:
        return None
    return Breach(f"type {wanted.name}", f"type {attributes.type}", "resok.obj_attributes.type")


# ---------------------------------------------------------------- READ and WRITE

WRITE_COUNT = stated(
    "RFC 1813", "3.3.7", "count is the number of bytes written, which is at most what was sent"
)
COMMITTED = stated(
    "RFC 1813", "3.3.7", "committed is at least the requested stability: less is a violation of the protocol"
)
WRITE_NOTHING = should(
    "RFC 1813",
    "3.3.7",
    "a server should not answer that it wrote no data at all: that is an error",
    part=Part.IMPLEMENTATION,
)
READ_COUNT = stated(
    "RFC 1813", "3.3.6", "count is the number of bytes of data returned, at most the requested count"
)
READ_NOTHING = should(
    "RFC 1813",
    "3.3.6",
    "a READ of some bytes before the end of the file returns some",
    part=Part.IMPLEMENTATION,
)
READ_EOF = stated(
    "RFC 1813", "3.3.6", "eof is TRUE if offset and count make the size of the file, otherwise FALSE"
)


@rule("nfs3/write-count", WRITE_COUNT, of=(nfs3.WRITE,), killed_by="write3-reports-more-than-sent")
def write_count(case: Case) -> Breach | None:
    """More bytes written than sent."""
    if case.ok is None or case.args is None or case.args.count != len(case.args.data):
        return None  # no text says what such a call means
    sent = case.args.count
    if case.ok.count <= sent:
        return None
    return Breach(f"count is at most {sent}", f"count is {case.ok.count}, {sent} were sent", "resok.count")


@rule("nfs3/write-committed", COMMITTED, of=(nfs3.WRITE,), killed_by="write3-file-sync-is-unstable")
def write_committed(case: Case) -> Breach | None:
    """A weaker commitment than requested."""
    if case.ok is None or case.args is None or not case.ok.committed.is_known:
        return None
    asked = case.args.stable
    if not asked.is_known or case.ok.committed >= asked:
        return None
    seen = f"committed is {case.ok.committed.name}, {asked.name} was requested"
    return Breach(f"committed is {asked.name} or firmer", seen, "resok.committed")


@rule("nfs3/write-nothing", WRITE_NOTHING, of=(nfs3.WRITE,), killed_by="write3-accepts-nothing")
def write_nothing(case: Case) -> Breach | None:
    """OK, but no byte was written."""
    if case.ok is None or case.args is None or case.ok.count or not min(case.args.count, len(case.args.data)):
        return None
    return Breach("some bytes, or an error", f"OK with count 0 of {case.args.count}", "resok.count")


@rule(
    "nfs3/read-count",
    READ_COUNT,
    of=(nfs3.READ,),
    killed_by=("read3-count-echoes-request", "read3-returns-more-than-count"),
)
def read_count(case: Case) -> Breach | None:
    """A count that is not that of the data, or more data than asked for."""
    if case.ok is None:
        return None
    size = len(case.ok.data)
    if case.ok.count != size:
        return Breach(
            f"count is {size}", f"count is {case.ok.count}, and there are {size} bytes", "resok.count"
        )
    if case.args is not None and size > case.args.count:
        return Breach(f"at most {case.args.count} bytes", f"{size} bytes", "resok.count")
    return None


@rule("nfs3/read-nothing", READ_NOTHING, of=(nfs3.READ,), killed_by="read3-returns-nothing")
def read_nothing(case: Case) -> Breach | None:
    """OK without data and without eof."""
    if case.ok is None or case.ok.eof or case.ok.count or len(case.ok.data):
        return None
    if case.args is None or not case.args.count:
        return None
    return Breach("some bytes, or eof", f"no bytes of {case.args.count}, and eof FALSE", "resok.eof")


@rule(
    "nfs3/read-eof",
    READ_EOF,
    of=(nfs3.READ,),
    killed_by=("read3-eof-before-the-end", "read3-attributes-have-another-size"),
)
def read_eof(case: Case) -> Breach | None:
    """An eof that the size in the same reply contradicts."""
    ok, args = case.ok, case.args
    if ok is None or args is None or not args.count or ok.file_attributes is None or ok.count != len(ok.data):
        return None
    attributes: Fattr3 = ok.file_attributes
    if attributes.type is not Ftype3.NF3REG or not case.is_alone(args.file):
        return None
    end = args.offset + ok.count
    if ok.count and end > attributes.size:
        return Breach(
            "data within the size", f"bytes up to {end} of a file of {attributes.size}", "resok.count"
        )
    if ok.eof == (end >= attributes.size):
        return None
    seen = f"eof is {str(ok.eof).upper()} at {end} of {attributes.size} bytes"
    return Breach(f"eof is {str(not ok.eof).upper()}", seen, "resok.eof")


# ---------------------------------------------------------------- FSSTAT

FREE_IS_PART = should(
    "RFC 1813",
    "3.3.18",
    "free space is a part of all space, and what the user may use is a part of what is free",
)


@rule("nfs3/fsstat-order", FREE_IS_PART, of=(nfs3.FSSTAT,), killed_by="fsstat3-frees-more-than-all")
def fsstat_order(case: Case) -> Breach | None:
    """More available than free, or more free than there is in all."""
    if case.ok is None:
        return None
    for what in ("bytes", "files"):
        total, free, usable = (getattr(case.ok, f"{name}{what}") for name in ("t", "f", "a"))
        if what == "files" and free == UNLIMITED:
            continue
        if usable > free:
            return Breach(
                f"at most {free} (f{what})", f"a{what} is {usable}, f{what} {free}", f"resok.a{what}"
            )
        if free > total:
            return Breach(
                f"at most {total} (t{what})", f"f{what} is {free}, t{what} {total}", f"resok.f{what}"
            )
    return None


# ---------------------------------------------------------------- READDIR and READDIRPLUS

_LISTING: t.Final = (nfs3.READDIR, nfs3.READDIRPLUS)
_FITS_ANY: t.Final = {nfs3.READDIR: 512, nfs3.READDIRPLUS: 1024}
"""Bytes into which any entry fits, with 255 bytes of name, and for READDIRPLUS with attributes and handle."""
_NO_ENTRIES: t.Final = "no entries, and eof FALSE"
COUNT_BOUNDS = stated(
    "RFC 1813",
    "3.3.16",
    "the results of READDIR and READDIRPLUS are at most count (maxcount) bytes, with all overhead of XDR",
)
LISTING_PROGRESSES = should(
    "RFC 1813",
    "3.3.16",
    "a page that does not end the listing has entries, and its last cookie leads past it",
)
TOO_SMALL_IS_SAID = may("RFC 1813", "2.6", "TOOSMALL reports a request into which not one entry fits")
COOKIES_DIFFER = should(
    "RFC 1813",
    "3.3.16",
    "a cookie is a point in the directory from which a listing goes on: each entry of a page has its own",
    part=Part.IMPLEMENTATION,
)
NAMES_DIFFER = should("RFC 1813", "3.3.16", "a page has the entries of a directory, each once")


@rule(
    "nfs3/readdir-count",
    COUNT_BOUNDS,
    of=_LISTING,
    killed_by=("readdir3-exceeds-count", "readdirplus3-exceeds-maxcount"),
)
def readdir_count(case: Case) -> Breach | None:
    """A page larger than requested."""
    reply = case.exchange.reply
    if case.ok is None or case.args is None or reply is None or not case.ok.entries:
        return None  # too little for an empty page is the client's fault
    limit = case.args.count if case.operation is nfs3.READDIR else case.args.maxcount
    if len(reply) - USUAL_REPLY_SIZE - 4 <= limit:
        return None
    size = len(case.ok.to_xdr())
    if size <= limit:
        return None
    return Breach(f"at most {limit} bytes", f"the results are {size} bytes, {limit} were requested", "resok")


@rule(
    "nfs3/readdir-progress", LISTING_PROGRESSES, of=_LISTING, killed_by="readdir3-empty-directory-lacks-eof"
)
def readdir_progress(case: Case) -> Breach | None:
    """A page after which the listing makes no progress."""
    if case.ok is None or case.args is None or case.ok.eof:
        return None
    if not case.ok.entries:
        # No clause forbids an empty page if not one entry fits: see `readdir_too_small`.
        if _is_small(case.args):
            return None
        return Breach("entries, or eof", _NO_ENTRIES, "resok.eof")
    last = case.ok.entries[-1].cookie
    if last not in {case.args.cookie, 0}:
        return None
    seen = f"the last of {len(case.ok.entries)} entries has cookie {last}, {case.args.cookie} was requested"
    return Breach("a last cookie that leads on", seen, f"resok.entries[{len(case.ok.entries) - 1}].cookie")


@rule(
    "nfs3/readdir-too-small", TOO_SMALL_IS_SAID, of=_LISTING, killed_by="readdir3-too-small-returns-nothing"
)
def readdir_too_small(case: Case) -> Breach | None:
    """An empty page without eof in place of TOOSMALL: a client cannot know that its count is too small."""
    if case.ok is None or case.args is None or case.ok.eof or case.ok.entries:
        return None
    if not _is_small(case.args):
        return None
    return Breach("TOOSMALL", f"{_NO_ENTRIES}, for a limit of {_limit_of(case.args)} bytes", "resok.eof")


def _is_small(args: nfs3.Readdir3Args | nfs3.Readdirplus3Args) -> bool:
    """Whether a page may be too small for an entry."""
    is_plain = isinstance(args, nfs3.Readdir3Args)
    return _limit_of(args) < _FITS_ANY[nfs3.READDIR if is_plain else nfs3.READDIRPLUS]


def _limit_of(args: nfs3.Readdir3Args | nfs3.Readdirplus3Args) -> int:
    """The least limit on the size of a page, in bytes: count, or maxcount and dircount."""
    if isinstance(args, nfs3.Readdir3Args):
        return args.count
    return min(args.dircount, args.maxcount)


@rule("nfs3/readdir-cookies", COOKIES_DIFFER, of=_LISTING, killed_by="readdir3-repeats-a-cookie")
def readdir_cookies(case: Case) -> Breach | None:
    """One cookie for two entries."""
    return twice(case, "cookie")


@rule("nfs3/readdir-names", NAMES_DIFFER, of=_LISTING, killed_by="readdir3-lists-a-name-twice")
def readdir_names(case: Case) -> Breach | None:
    """One name twice in a page, of a directory that nobody changes meanwhile."""
    if case.args is None or not case.is_alone(case.args.dir):
        return None
    return twice(case, "name")


def twice(case: Case, field: str) -> Breach | None:
    """Two entries of a page that agree in a field."""
    if case.ok is None:
        return None
    values = [getattr(entry, field) for entry in case.ok.entries]
    if len(set(values)) == len(values):
        return None
    at = next(index for index, value in enumerate(values) if value in values[:index])
    where = values.index(values[at])
    seen = f"entries {where} and {at} both have {field} {values[at]!r}"
    return Breach(f"a separate {field} for each entry", seen, f"resok.entries[{at}].{field}")
