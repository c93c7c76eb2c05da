# SPDX-License-Identifier: MIT
"""LOOKUP and READLINK (RFC 1813 sections 3.3.3 and 3.3.5)."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import (
    Lookup3Args,
    Lookup3Res,
    Lookup3ResFail,
    Lookup3ResOk,
    Nfsstat3,
    Readlink3Args,
    Readlink3Res,
    Readlink3ResFail,
    Readlink3ResOk,
)
from nfsclient.rpc.service import CallContext
from nfsserver.fs import FsError
from nfsserver.handlers import ServerApi
from nfsserver.nfs3.common import Watched, fattr3, status_of


def lookup3(server: ServerApi, context: CallContext, args: Lookup3Args) -> Lookup3Res:
    """LOOKUP; symbolic links are not followed."""
    directory = Watched(server, args.what.dir)
    try:
        found = directory.inode.fs.lookup(server.backend.caller(context), directory.inode, args.what.name)
    except FsError as refusal:
        return Lookup3Res(status_of(refusal), resfail=Lookup3ResFail(directory.attributes()))
    resok = Lookup3ResOk(server.backend.handle_of(found), fattr3(found), directory.attributes())
    return Lookup3Res(Nfsstat3.NFS3_OK, resok)


def readlink3(server: ServerApi, _context: CallContext, args: Readlink3Args) -> Readlink3Res:
    link = Watched(server, args.symlink)
    try:
        target = link.inode.fs.readlink(link.inode)
    except FsError as refusal:
        return Readlink3Res(status_of(refusal), resfail=Readlink3ResFail(link.attributes()))
    return Readlink3Res(Nfsstat3.NFS3_OK, Readlink3ResOk(link.attributes(), target))
