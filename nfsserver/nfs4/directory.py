# SPDX-License-Identifier: MIT
"""READDIR (RFC 5661 section 18.23). Cookies are those of the file system, the verifier is that of the directory."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import Buffer
from nfsserver.fs import Directory, Entry, Inode
from nfsserver.handlers import ServerApi
from nfsserver.nfs4 import values
from nfsserver.nfs4.common import Nfs4Error, compound_of, current
from nfsserver.nfs4.values import View

_RESOK_SIZE: t.Final = p.NFS4_VERIFIER_SIZE + 4 + 4
"""READDIR4resok without entries: verifier, end of the list, eof."""
_RESULT: t.Final = 4 + 4
"""The number of the operation, and the status."""


def _verifier(server: ServerApi, directory: Inode) -> bytes:
    change = (directory.change,) if server.knobs.now.cookies_expire else ()
    identity = (directory.fs.fsid, directory.fileid, directory.generation)
    return server.backend.codec.token(b"readdir", *identity, *change)


def readdir4(server: ServerApi, context: CallContext, args: p.Readdir4Args) -> p.Readdir4Res:
    """READDIR; no entries for ``.`` and ``..``, whose cookies (1 and 2) nobody gets."""
    directory, state = current(context), compound_of(context)
    listing = directory.fs.readdir(state.caller, directory, max(args.cookie, Directory.PARENT_COOKIE))
    verifier = _verifier(server, directory)
    if args.cookie:
        if bytes(args.cookieverf) != verifier:
            raise Nfs4Error(Nfsstat4.NFS4ERR_NOT_SAME)
        assert directory.directory is not None
        if args.cookie <= Directory.PARENT_COOKIE or not directory.directory.has_issued(args.cookie):
            raise Nfs4Error(Nfsstat4.NFS4ERR_BAD_COOKIE)
    room, refusal = args.maxcount, Nfsstat4.NFS4ERR_TOOSMALL
    if state.room is not None and state.room.left - _RESULT < room:
        room, refusal = state.room.left - _RESULT, state.room.refusal
    room = server.backend.transfers(context).of_listing(max(0, room)) - _RESOK_SIZE
    try:
        entries, eof = _page(server, context, listing, args, room)
    except _NoEntryFits:
        raise Nfs4Error(refusal) from None
    return p.Readdir4Res(Nfsstat4.NFS4_OK, p.Readdir4ResOk(verifier, p.Dirlist4(entries, eof)))


class _NoEntryFits(Exception):
    """Not one entry has room in the reply."""


def _page(
    server: ServerApi, context: CallContext, listing: t.Iterator[Entry], args: p.Readdir4Args, room: int
) -> tuple[list[p.Entry4], bool]:
    """(entries, eof). Raises `_NoEntryFits`. `dircount` counts names and cookies, and stops no first entry."""
    minor, cross = compound_of(context).minor, server.backend.pseudo.cross
    dircount = args.dircount or room
    entries: list[p.Entry4] = []
    for entry in listing:
        attributes = values.read_entry(View(server, cross(entry.inode), minor), args.attr_request)
        made = p.Entry4(entry.cookie, entry.name, attributes)
        buffers: list[Buffer] = []
        made.pack(buffers)
        size = 4 + sum(len(memoryview(buffer).cast("B")) for buffer in buffers)
        room -= size
        dircount -= 8 + 4 + (len(entry.name) + 3) // 4 * 4
        if room < 0 or (dircount < 0 and entries):
            if not entries:
                raise _NoEntryFits
            return entries, False
        entries.append(made)
    if room < 0:
        raise _NoEntryFits
    if not entries:
        values.read(
            View(server, current(context), minor), args.attr_request
        )  # INVAL for what can only be set
    return entries, True
