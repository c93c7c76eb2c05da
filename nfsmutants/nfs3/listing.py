# SPDX-License-Identifier: MIT
"""Mutants that bend READDIR and READDIRPLUS alike: limits, cookies, names, and directories that change."""

from __future__ import annotations

import string
import typing as t

from nfsclient.protocol.nfs3 import (
    READDIR,
    READDIRPLUS,
    Nfsstat3,
    Readdir3Args,
    Readdir3ResOk,
    Readdirplus3ResOk,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend, change
from nfsmutants.form import AnyCall, mutant
from nfsmutants.rules import RFC1813_LISTINGS
from nfsserver.fs import FsError, Inode
from nfsserver.server import Server

_SMALL: t.Final = 1024
_PLENTY: t.Final = 65_536
_LONG_NAME: t.Final = 200
_TIDY: t.Final = (string.ascii_letters + string.digits + "-.").encode()
_DOTS: t.Final = (b".", b"..")


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


@mutant((READDIR, READDIRPLUS), RFC1813_LISTINGS)
def list3_ignores_small_counts(call: AnyCall) -> t.Any:
    """A listing that may have 1 KiB at most has up to 64 KiB"""
    return call.proceed(_with_limit(call.args, _PLENTY)) if _limit(call.args) <= _SMALL else call.proceed()


@mutant((READDIR, READDIRPLUS), RFC1813_LISTINGS)
def list3_refuses_huge_counts(call: AnyCall) -> t.Any:
    """A listing that may have 64 KiB or more is refused with INVAL"""
    if _limit(call.args) < _PLENTY or _directory(call.server, call.args.dir) is None:
        return call.proceed()
    refused = call.proceed_with(dir=b"")
    return replace(refused, status=Nfsstat3.NFS3ERR_INVAL)


@mutant((READDIR, READDIRPLUS), RFC1813_LISTINGS)
def list3_over_udp_loses_an_entry(call: AnyCall) -> t.Any:
    """A listing over UDP lacks its last entry"""
    reply = call.proceed()
    if reply.resok is None or call.context.transport != "udp":
        return reply
    return amend(reply, entries=reply.resok.entries[:-1])


# ---------------------------------------------------------------- cookies


def _is_issued(server: Server, args: t.Any) -> bool:
    inode = _directory(server, args.dir)
    return inode is None or inode.directory is None or inode.directory.has_issued(args.cookie)


@mutant((READDIR, READDIRPLUS), RFC1813_LISTINGS)
def list3_invents_for_cookies(call: AnyCall) -> t.Any:
    """A listing from a cookie that was never given out has an entry that does not exist"""
    reply = call.proceed()
    if not call.args.cookie or _is_issued(call.server, call.args):
        return reply
    first = call.proceed_with(cookie=0, cookieverf=bytes(8))
    if first.resok is None:
        return reply
    ghost = replace(first.resok.entries[0], name=b"nobody made me", fileid=0)
    return change(first, "resok", entries=[ghost], eof=True)


@mutant((READDIR, READDIRPLUS), RFC1813_LISTINGS)
def list3_begins_again_for_another_verifier(call: AnyCall) -> t.Any:
    """A listing with a verifier that was not given out begins again"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_BAD_COOKIE:
        return reply
    return call.proceed_with(cookie=0, cookieverf=bytes(8))


@mutant((READDIR, READDIRPLUS), RFC1813_LISTINGS)
def list3_begins_again_after_a_change(call: AnyCall) -> t.Any:
    """A listing begins again when the directory was changed since the cookie"""
    args = call.args
    changes: dict[bytes, int] = call.state.setdefault("changes", {})
    inode = _directory(call.server, args.dir)
    if inode is None:
        return call.proceed()
    if args.cookie and changes.get(args.dir, inode.mtime) != inode.mtime:
        changes[bytes(args.dir)] = inode.mtime
        return call.proceed(replace(args, cookie=0, cookieverf=bytes(8)))
    changes[bytes(args.dir)] = inode.mtime
    return call.proceed()


@mutant((READDIR, READDIRPLUS), RFC1813_LISTINGS)
def list3_keeps_the_place_itself(call: AnyCall) -> t.Any:
    """A listing goes on where the last one of the directory ended, whoever asks"""
    places: dict[bytes, int] = call.state.setdefault("places", {})
    reply = (
        call.proceed_with(cookie=places.get(call.args.dir, call.args.cookie))
        if call.args.cookie
        else call.proceed()
    )
    if reply.resok is not None and reply.resok.entries:
        places[bytes(call.args.dir)] = reply.resok.entries[-1].cookie
    return reply


# ---------------------------------------------------------------- entries


@mutant((READDIR, READDIRPLUS), RFC1813_LISTINGS)
def list3_tidies_names(call: AnyCall) -> t.Any:
    """Names have `?` for what is no letter, digit, hyphen or dot, and 200 bytes at most"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    resok = reply.resok
    return amend(
        reply,
        entries=[
            replace(entry, name=bytes(byte if byte in _TIDY else 63 for byte in entry.name[:_LONG_NAME]))
            for entry in resok.entries
        ],
    )


@mutant((READDIR, READDIRPLUS), RFC1813_LISTINGS)
def list3_swaps_the_dots(call: AnyCall) -> t.Any:
    """`.` and `..` have the fileid of each other"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    resok = reply.resok
    fileids = {entry.name: entry.fileid for entry in resok.entries if entry.name in _DOTS}
    other = {b".": fileids.get(b".."), b"..": fileids.get(b".")}
    return amend(
        reply,
        entries=[
            replace(entry, fileid=other[entry.name]) if other.get(entry.name) is not None else entry
            for entry in resok.entries
        ],
    )


@mutant((READDIR, READDIRPLUS), RFC1813_LISTINGS)
def list3_skips_a_name_in_a_crowd(call: AnyCall) -> t.Any:
    """Of more than 500 entries in a page one is left out"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    resok = reply.resok
    entries = list(resok.entries)
    return (
        amend(reply, entries=entries[:300] + entries[301:])
        if len(entries) > 500
        else amend(reply, entries=entries)
    )


@mutant((READDIR, READDIRPLUS), RFC1813_LISTINGS)
def list3_wrong_fileid(call: AnyCall) -> t.Any:
    """Entries have the fileid of nothing"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    resok = reply.resok
    return amend(
        reply,
        entries=[
            replace(entry, fileid=entry.fileid + 1_000_000) if entry.name not in _DOTS else entry
            for entry in resok.entries
        ],
    )


@mutant((READDIR, READDIRPLUS), RFC1813_LISTINGS)
def list3_lists_what_is_no_directory(call: AnyCall) -> t.Any:
    """What is neither directory nor regular file has an empty listing"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_NOTDIR or call.server.resolve(call.args.dir).data is not None:
        return reply
    resok = Readdir3ResOk if isinstance(call.args, Readdir3Args) else Readdirplus3ResOk
    return type(reply)(Nfsstat3.NFS3_OK, resok(None, bytes(8), [], eof=True))
