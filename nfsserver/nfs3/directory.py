# SPDX-License-Identifier: MIT
"""READDIR and READDIRPLUS (RFC 1813 sections 3.3.16 and 3.3.17).

Cookies are those of the file system: they stay valid whatever happens to the directory. The verifier identifies
the directory, so only a verifier of another one, and cookies that no reply ever had, get BAD_COOKIE. With the knob
`cookies_expire` the verifier identifies the state of the directory, too.
Both procedures share cookies and verifiers.
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    NFS3_COOKIEVERFSIZE,
    Entry3,
    Entryplus3,
    Nfsstat3,
    Readdir3Args,
    Readdir3Res,
    Readdir3ResFail,
    Readdir3ResOk,
    Readdirplus3Args,
    Readdirplus3Res,
    Readdirplus3ResFail,
    Readdirplus3ResOk,
)
from nfsclient.rpc.service import CallContext
from nfsserver.fs import HANDLE_SIZE, Entry, Inode
from nfsserver.handlers import ServerApi
from nfsserver.nfs3.common import REFUSALS, Nfs3Error, Watched, fattr3, status_of

_WORD = 4
_FATTR3_SIZE = 84
_RESOK_SIZE = (_WORD + _FATTR3_SIZE) + NFS3_COOKIEVERFSIZE + _WORD + _WORD
"""READDIR3resok and READDIRPLUS3resok without entries: attributes, verifier, end of the list, eof."""
_PLUS_SIZE = (_WORD + _FATTR3_SIZE) + (_WORD + _WORD + HANDLE_SIZE)
"""What attributes and handle add to an entry."""


def entry_size(entry: Entry) -> int:
    """Bytes of an entry3 on the wire: "value follows", fileid, name, cookie."""
    return _WORD + 8 + _WORD + (len(entry.name) + 3) // 4 * 4 + 8


class _Page(t.NamedTuple):
    entries: list[Entry]
    eof: bool


def _verifier(server: ServerApi, directory: Inode) -> bytes:
    change = (directory.change,) if server.knobs.now.cookies_expire else ()
    identity = (directory.fs.fsid, directory.fileid, directory.generation)
    return server.backend.codec.token(b"readdir", *identity, *change)


class _Room(t.NamedTuple):
    dircount: int
    maxcount: int
    extra: int
    """Bytes of an entry that only maxcount counts."""


def _page(
    server: ServerApi, context: CallContext, directory: Inode, cookie: int, verifier: bytes, room: _Room
) -> _Page:
    """The entries after `cookie` that fit. TOOSMALL: there is an entry, and not even it fits."""
    dircount, maxcount, extra = room
    listing = directory.fs.readdir(server.backend.caller(context), directory, cookie)
    issued = directory.directory is not None and directory.directory.has_issued(cookie)
    if cookie and (not issued or verifier != _verifier(server, directory)):
        raise Nfs3Error(Nfsstat3.NFS3ERR_BAD_COOKIE)
    maxcount = server.backend.transfers(context).of_listing(maxcount) - _RESOK_SIZE
    entries: list[Entry] = []
    for entry in listing:
        size = entry_size(entry)
        dircount -= size
        maxcount -= size + extra
        if dircount < 0 or maxcount < 0:
            if not entries:
                raise Nfs3Error(Nfsstat3.NFS3ERR_TOOSMALL)
            return _Page(entries, eof=False)
        entries.append(entry)
    if maxcount < 0:
        raise Nfs3Error(Nfsstat3.NFS3ERR_TOOSMALL)
    return _Page(entries, eof=True)


def readdir3(server: ServerApi, context: CallContext, args: Readdir3Args) -> Readdir3Res:
    watched = Watched(server, args.dir)
    try:
        directory = watched.inode
        room = _Room(args.count, args.count, extra=0)
        page = _page(server, context, directory, args.cookie, args.cookieverf, room)
    except REFUSALS as refusal:
        return Readdir3Res(status_of(refusal), resfail=Readdir3ResFail(watched.attributes()))
    entries = [Entry3(entry.inode.fileid, entry.name, entry.cookie) for entry in page.entries]
    resok = Readdir3ResOk(watched.attributes(), _verifier(server, directory), entries, page.eof)
    return Readdir3Res(Nfsstat3.NFS3_OK, resok)


def readdirplus3(server: ServerApi, context: CallContext, args: Readdirplus3Args) -> Readdirplus3Res:
    """READDIRPLUS; every entry with attributes and handle."""
    watched = Watched(server, args.dir)
    try:
        directory = watched.inode
        room = _Room(args.dircount, args.maxcount, extra=_PLUS_SIZE)
        page = _page(server, context, directory, args.cookie, args.cookieverf, room)
    except REFUSALS as refusal:
        return Readdirplus3Res(status_of(refusal), resfail=Readdirplus3ResFail(watched.attributes()))
    entries = [
        Entryplus3(
            entry.inode.fileid,
            entry.name,
            entry.cookie,
            fattr3(entry.inode),
            server.backend.handle_of(entry.inode),
        )
        for entry in page.entries
    ]
    resok = Readdirplus3ResOk(watched.attributes(), _verifier(server, directory), entries, page.eof)
    return Readdirplus3Res(Nfsstat3.NFS3_OK, resok)
