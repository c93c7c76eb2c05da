# SPDX-License-Identifier: MIT
"""Mutants that bend READDIR and READDIRPLUS alike: limits, cookies, names, and directories that change."""

from __future__ import annotations

import string
import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import (
    READDIR,
    READDIRPLUS,
    Nfsstat3,
    Readdir3Args,
    Readdir3ResOk,
    Readdirplus3ResOk,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import FsError, Inode
from nfsserver.mutants import Proceed, mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server

AnyProceed: t.TypeAlias = Proceed[t.Any, t.Any]
Bend: t.TypeAlias = "Callable[[Server, CallContext, t.Any, AnyProceed], t.Any]"
BendPage: t.TypeAlias = "Callable[[Server, t.Any, t.Any], list[t.Any]]"

_SECTIONS: t.Final = "RFC 1813 sections 3.3.16 and 3.3.17"
_SMALL: t.Final = 1024
_PLENTY: t.Final = 65_536
_LONG_NAME: t.Final = 200
_TIDY: t.Final = (string.ascii_letters + string.digits + "-.").encode()
_DOTS: t.Final = (b".", b"..")


def _bends(name: str, gist: str) -> Callable[[Bend], Bend]:
    return mutant(name, bends=(READDIR, READDIRPLUS), breaks=_SECTIONS, gist=gist)


def _bends_entries(name: str, gist: str) -> Callable[[BendPage], BendPage]:
    """Register what bends the entries of a page: (server, arguments, resok) -> entries."""

    def register(bend: BendPage) -> BendPage:
        @_bends(name, gist)
        def middleware(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
            reply = proceed(context, args)
            if reply.resok is None:
                return reply
            return replace(reply, resok=replace(reply.resok, entries=bend(server, args, reply.resok)))

        return bend

    return register


def _with_limit(args: t.Any, limit: int) -> t.Any:
    if isinstance(args, Readdir3Args):
        return replace(args, count=limit)
    return replace(args, dircount=limit, maxcount=limit)


def _limit(args: t.Any) -> int:
    """The bound of the whole result."""
    return int(args.count if isinstance(args, Readdir3Args) else args.maxcount)


def _directory(server: Server, handle: bytes) -> Inode | None:
    try:
        inode = server.resolve(handle)
    except FsError:
        return None
    return inode if inode.directory is not None else None


# ---------------------------------------------------------------- limits


@_bends("list3-ignores-small-counts", "a listing that may have 1 KiB at most has up to 64 KiB")
def ignores_small_counts(_server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Take it for a mistake of the client's."""
    return proceed(context, _with_limit(args, _PLENTY) if _limit(args) <= _SMALL else args)


@_bends("list3-refuses-huge-counts", "a listing that may have 64 KiB or more is refused with INVAL")
def refuses_huge_counts(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Demand counts that can be served in full."""
    if _limit(args) < _PLENTY or _directory(server, args.dir) is None:
        return proceed(context, args)
    refused = proceed(context, replace(args, dir=b""))
    return replace(refused, status=Nfsstat3.NFS3ERR_INVAL)


@_bends("list3-over-udp-loses-an-entry", "a listing over UDP lacks its last entry")
def over_udp_loses_an_entry(_server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Lose what did not fit."""
    reply = proceed(context, args)
    if reply.resok is None or context.transport != "udp":
        return reply
    return replace(reply, resok=replace(reply.resok, entries=reply.resok.entries[:-1]))


# ---------------------------------------------------------------- cookies


def _is_issued(server: Server, args: t.Any) -> bool:
    inode = _directory(server, args.dir)
    return inode is None or inode.directory is None or inode.directory.has_issued(args.cookie)


@_bends(
    "list3-invents-for-cookies", "a listing behind a cookie that was never given out has an entry for nothing"
)
def invents_for_cookies(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Read whatever lies there."""
    reply = proceed(context, args)
    if not args.cookie or _is_issued(server, args):
        return reply
    first = proceed(context, replace(args, cookie=0, cookieverf=bytes(8)))
    if first.resok is None:
        return reply
    ghost = replace(first.resok.entries[0], name=b"nobody made me", fileid=0)
    return replace(first, resok=replace(first.resok, entries=[ghost], eof=True))


@_bends(
    "list3-begins-again-for-another-verifier", "a listing with a verifier that was not given out begins again"
)
def begins_again_for_another_verifier(
    _server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Forget the cookie with the verifier."""
    reply = proceed(context, args)
    if reply.status != Nfsstat3.NFS3ERR_BAD_COOKIE:
        return reply
    return proceed(context, replace(args, cookie=0, cookieverf=bytes(8)))


@_bends(
    "list3-begins-again-after-a-change",
    "a listing begins again when the directory was changed since the cookie",
)
def begins_again_after_a_change(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Remember the time of change with each page."""
    changes: dict[bytes, int] = server.mutant_state("list3-begins-again-after-a-change").setdefault(
        "changes", {}
    )
    inode = _directory(server, args.dir)
    if inode is None:
        return proceed(context, args)
    if args.cookie and changes.get(args.dir, inode.mtime) != inode.mtime:
        changes[bytes(args.dir)] = inode.mtime
        return proceed(context, replace(args, cookie=0, cookieverf=bytes(8)))
    changes[bytes(args.dir)] = inode.mtime
    return proceed(context, args)


@_bends(
    "list3-keeps-the-place-itself",
    "a listing goes on where the last one of the directory ended, whoever asks",
)
def keeps_the_place_itself(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
    """Have one position for each directory, as an open directory has."""
    places: dict[bytes, int] = server.mutant_state("list3-keeps-the-place-itself").setdefault("places", {})
    reply = proceed(context, replace(args, cookie=places.get(args.dir, args.cookie)) if args.cookie else args)
    if reply.resok is not None and reply.resok.entries:
        places[bytes(args.dir)] = reply.resok.entries[-1].cookie
    return reply


# ---------------------------------------------------------------- entries


@_bends_entries(
    "list3-tidies-names", "names have `?` for what is no letter, digit, hyphen or dot, and 200 bytes at most"
)
def tidies_names(_server: Server, _args: t.Any, resok: t.Any) -> list[t.Any]:
    """Make them presentable."""
    return [
        replace(entry, name=bytes(byte if byte in _TIDY else 63 for byte in entry.name[:_LONG_NAME]))
        for entry in resok.entries
    ]


@_bends_entries("list3-swaps-the-dots", "`.` and `..` have the fileid of each other")
def swaps_the_dots(_server: Server, _args: t.Any, resok: t.Any) -> list[t.Any]:
    """Mix them up."""
    fileids = {entry.name: entry.fileid for entry in resok.entries if entry.name in _DOTS}
    other = {b".": fileids.get(b".."), b"..": fileids.get(b".")}
    return [
        replace(entry, fileid=other[entry.name]) if other.get(entry.name) is not None else entry
        for entry in resok.entries
    ]


@_bends_entries("list3-skips-a-name-in-a-crowd", "of more than 500 entries in a page one is left out")
def skips_a_name_in_a_crowd(_server: Server, _args: t.Any, resok: t.Any) -> list[t.Any]:
    """Lose what lies across the end of a block."""
    entries = list(resok.entries)
    return entries[:300] + entries[301:] if len(entries) > 500 else entries


@_bends_entries("list3-wrong-fileid", "the entry called `file` has the fileid of nothing")
def wrong_fileid(_server: Server, _args: t.Any, resok: t.Any) -> list[t.Any]:
    """Add to the number."""
    return [
        replace(entry, fileid=entry.fileid + 1_000_000) if entry.name == b"file" else entry
        for entry in resok.entries
    ]


@_bends("list3-lists-what-is-no-directory", "what is neither directory nor regular file has an empty listing")
def lists_what_is_no_directory(
    server: Server, context: CallContext, args: t.Any, proceed: AnyProceed
) -> t.Any:
    """Turn NOTDIR into success."""
    reply = proceed(context, args)
    if reply.status != Nfsstat3.NFS3ERR_NOTDIR or server.resolve(args.dir).data is not None:
        return reply
    resok = Readdir3ResOk if isinstance(args, Readdir3Args) else Readdirplus3ResOk
    return type(reply)(Nfsstat3.NFS3_OK, resok(None, bytes(8), [], eof=True))
