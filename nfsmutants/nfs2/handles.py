# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_handles.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.mount import MNT1, DirpathArgs, Mnt1Res
from nfsclient.protocol.nfs2 import (
    CREATE,
    FHSIZE,
    GETATTR,
    LINK,
    LOOKUP,
    MKDIR,
    NFS2,
    NULL,
    READ,
    REMOVE,
    RENAME,
    ROOT,
    SYMLINK,
    WRITECACHE,
    Attrstat,
    Nfsstat2,
    Readdirok,
    Readdirres,
    Readlinkres,
    Readok,
    Readres,
    Renameargs,
    Statfsinfo,
    Statfsres,
)
from nfsclient.xdr import replace
from nfsmutants.bending import child_of
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs2.bending import place_of, success
from nfsmutants.nfs2.calls import Getattr
from nfsserver.nfs2.common import fattr

_WITH_HANDLES: t.Final = tuple(
    procedure for procedure in NFS2.procedures if procedure not in (NULL, ROOT, WRITECACHE)
)


@mutant(_WITH_HANDLES)
def nfs2_accepts_an_invalid_handle(call: AnyCall) -> t.Any:
    """The server accepts a handle of 32 bytes 255 as the handle of the root"""
    reply = call.proceed()
    if reply.status != Nfsstat2.NFSERR_STALE or b"\xff" * FHSIZE not in call.args.to_xdr():
        return reply
    root, kind = call.backend.fs.root, call.operation.res
    empty: dict[object, object] = {
        Attrstat: fattr(root),
        Readlinkres: b"",
        Readres: Readok(fattr(root), b""),
        Readdirres: Readdirok([], eof=True),
        Statfsres: Statfsinfo(1, 1, 0, 0, 0),
    }
    return kind(Nfsstat2.NFS_OK, empty[kind]) if kind in empty else success(call.server, call.operation, root)


@mutant((CREATE, MKDIR, LOOKUP, SYMLINK, LINK, RENAME))
def nfs2_uses_removed_directories(call: AnyCall) -> t.Any:
    """Removed directories still accept and find names"""
    reply = call.proceed()
    gone = reply.status == Nfsstat2.NFSERR_STALE and place_of(call.args).dir != b"\xff" * FHSIZE
    return success(call.server, call.operation, call.backend.fs.root) if gone else reply


@mutant(GETATTR)
def nfs2_altered_handle_is_the_root(call: Getattr) -> Attrstat:
    """An altered handle refers to the root"""
    reply: Attrstat = call.proceed()
    altered = reply.status == Nfsstat2.NFSERR_STALE and call.args.file != b"\xff" * FHSIZE
    return Attrstat(Nfsstat2.NFS_OK, fattr(call.backend.fs.root)) if altered else reply


@mutant((RENAME, GETATTR))
def nfs2_renamed_handle_refers_to_directory(call: AnyCall) -> t.Any:
    """After RENAME the handle of an object refers to its directory"""
    args = call.args
    astray: dict[bytes, bytes] = call.state
    if isinstance(args, Renameargs):
        inode = child_of(call.server, args.from_.dir, args.from_.name)
        if inode is not None:
            astray[call.backend.handle_of(inode)] = args.from_.dir
        return call.proceed()
    return call.proceed(replace(args, file=astray.get(args.file, args.file)))


@mutant(MNT1, kills_many="whatever is mounted by these versions begins with MNT")
def mnt1_returns_a_handle_that_nfs2_refuses(call: Call[DirpathArgs, Mnt1Res]) -> Mnt1Res:
    """MNT of version 1 returns a handle that NFSv2 refuses"""
    reply = call.proceed()
    return reply if reply.directory is None else replace(reply, directory=reply.directory[::-1])


# ---------------------------------------------------------------- REMOVE


@mutant((REMOVE, CREATE, READ))
def nfs2_removed_handle_refers_to_next_file(call: AnyCall) -> t.Any:
    """The handle of a removed file refers to the file that is created next"""
    state = call.state
    if call.operation is REMOVE:
        inode = child_of(call.server, call.args.dir, call.args.name)
        state["old"] = None if inode is None else call.backend.handle_of(inode)
    elif call.operation is READ and call.args.file == state.get("old") and "new" in state:
        return call.proceed_with(file=state["new"])
    reply = call.proceed()
    if call.operation is CREATE and "old" in state and reply.resok is not None:
        state["new"] = reply.resok.file
    return reply
