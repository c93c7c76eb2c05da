# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_readdir_cookies.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import READDIR, READDIRPLUS, Nfsstat3
from nfsclient.xdr import replace
from nfsmutants.bending import change
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import directory_of
from nfsserver.handlers import ServerApi

# ---------------------------------------------------------------- cookies


def _is_issued(server: ServerApi, args: t.Any) -> bool:
    inode = directory_of(server, args.dir)
    return inode is None or inode.directory is None or inode.directory.has_issued(args.cookie)


@mutant((READDIR, READDIRPLUS))
def list3_invents_an_entry_for_unknown_cookies(call: AnyCall) -> t.Any:
    """A listing from an invented cookie has an entry that does not exist"""
    reply = call.proceed()
    if not call.args.cookie or _is_issued(call.server, call.args):
        return reply
    first = call.proceed_with(cookie=0, cookieverf=bytes(8))
    if first.resok is None:
        return reply
    ghost = replace(first.resok.entries[0], name=b"nobody made me", fileid=0)
    return change(first, "resok", entries=[ghost], eof=True)


@mutant((READDIR, READDIRPLUS))
def list3_restarts_for_an_unknown_verifier(call: AnyCall) -> t.Any:
    """A listing with an invented verifier starts again"""
    reply = call.proceed()
    if reply.status != Nfsstat3.NFS3ERR_BAD_COOKIE:
        return reply
    return call.proceed_with(cookie=0, cookieverf=bytes(8))


@mutant((READDIR, READDIRPLUS))
def list3_ignores_cookies(call: AnyCall) -> t.Any:
    """A listing continues where the last listing of the directory ended, for any client"""
    places: dict[bytes, int] = call.state.setdefault("places", {})
    reply = (
        call.proceed_with(cookie=places.get(call.args.dir, call.args.cookie))
        if call.args.cookie
        else call.proceed()
    )
    if reply.resok is not None and reply.resok.entries:
        places[bytes(call.args.dir)] = reply.resok.entries[-1].cookie
    return reply


@mutant((READDIR, READDIRPLUS))
def list3_restarts_after_a_change(call: AnyCall) -> t.Any:
    """A listing starts again if the directory has changed since the cookie"""
    args = call.args
    changes: dict[bytes, int] = call.state.setdefault("changes", {})
    inode = directory_of(call.server, args.dir)
    if inode is None:
        return call.proceed()
    if args.cookie and changes.get(args.dir, inode.mtime) != inode.mtime:
        changes[bytes(args.dir)] = inode.mtime
        return call.proceed(replace(args, cookie=0, cookieverf=bytes(8)))
    changes[bytes(args.dir)] = inode.mtime
    return call.proceed()


@mutant((READDIR, READDIRPLUS))
def list3_resumes_an_entry_too_late(call: AnyCall) -> t.Any:
    """A listing that is resumed from a cookie lacks the entry that comes next"""
    reply = call.proceed()
    if reply.resok is None or not call.args.cookie or not reply.resok.entries:
        return reply
    return change(reply, "resok", entries=reply.resok.entries[1:])
