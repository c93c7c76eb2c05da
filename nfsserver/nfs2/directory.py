# SPDX-License-Identifier: MIT
"""READDIR (RFC 1094 section 2.2.17). Cookies are those of the file system, in four bytes."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import (
    COOKIESIZE,
    Entry,
    Nfsstat2,
    Readdirargs,
    Readdirok,
    Readdirres,
)
from nfsclient.rpc.service import CallContext
from nfsserver.fs import FsError
from nfsserver.handlers import ServerApi
from nfsserver.nfs2.common import LARGEST, status_of

_WORD = 4
_END_SIZE = 2 * _WORD
"""The end of the list, and eof."""


def entry_size(name: bytes) -> int:
    """Bytes of an entry on the wire: "value follows", fileid, name, cookie."""
    return _WORD + _WORD + _WORD + (len(name) + 3) // 4 * 4 + COOKIESIZE


def readdir2(server: ServerApi, context: CallContext, args: Readdirargs) -> Readdirres:
    """READDIR. IO if not even one entry fits into `count`: a client could not continue after an empty page."""
    try:
        directory = server.backend.resolve(args.dir)
        cookie = int.from_bytes(args.cookie, "big")
        listing = directory.fs.readdir(server.backend.caller(context), directory, cookie)
    except FsError as refusal:
        return Readdirres(status_of(refusal))
    room = server.backend.transfers(context).of_listing(args.count) - _END_SIZE
    entries: list[Entry] = []
    for entry in listing:
        room -= entry_size(entry.name)
        if room < 0 and not entries:
            return Readdirres(Nfsstat2.NFSERR_IO)
        if room < 0:
            return Readdirres(Nfsstat2.NFS_OK, Readdirok(entries, eof=False))
        cookie_after = (entry.cookie & LARGEST).to_bytes(COOKIESIZE, "big")
        entries.append(Entry(entry.inode.fileid & LARGEST, entry.name, cookie_after))
    return Readdirres(Nfsstat2.NFS_OK, Readdirok(entries, eof=True))
