# SPDX-License-Identifier: MIT
"""The procedures of NFSv2 and the program they make up (RFC 1094 section 2.2)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import types as y
from nfsclient.rpc.program import BulkResult, Procedure, Program
from nfsclient.xdr import Buffer, Void, XdrType

PROGRAM = 100003
"""The RPC program number of NFS (section 2.2)."""
VERSION = 2
PORT = 2049
"""Where NFS is normally found (section 3.4)."""

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)


def _procedure(
    number: int, name: str, args: type[A], res: type[R], bulk: BulkResult[A, R] | None = None
) -> Procedure[A, R]:
    return Procedure(PROGRAM, VERSION, number, name, args, res, bulk)


def _place_read_data(reply: y.Readres, data: Buffer) -> None:
    if reply.readok is not None:
        reply.readok.data = data


_READ_DATA: BulkResult[y.Readargs, y.Readres] = BulkResult(
    at=4 + 68,  # status, attributes
    asked=lambda args: args.count,
    data=lambda reply: None if reply.readok is None else reply.readok.data,
    place=_place_read_data,
)


NULL = _procedure(0, "NULL", Void, Void)
GETATTR = _procedure(1, "GETATTR", y.FhandleArgs, y.Attrstat)
SETATTR = _procedure(2, "SETATTR", y.Sattrargs, y.Attrstat)
ROOT = _procedure(3, "ROOT", Void, Void)
LOOKUP = _procedure(4, "LOOKUP", y.Diropargs, y.Diropres)
READLINK = _procedure(5, "READLINK", y.FhandleArgs, y.Readlinkres)
READ = _procedure(6, "READ", y.Readargs, y.Readres, _READ_DATA)
WRITECACHE = _procedure(7, "WRITECACHE", Void, Void)
WRITE = _procedure(8, "WRITE", y.Writeargs, y.Attrstat)
CREATE = _procedure(9, "CREATE", y.Createargs, y.Diropres)
REMOVE = _procedure(10, "REMOVE", y.Diropargs, y.StatRes)
RENAME = _procedure(11, "RENAME", y.Renameargs, y.StatRes)
LINK = _procedure(12, "LINK", y.Linkargs, y.StatRes)
SYMLINK = _procedure(13, "SYMLINK", y.Symlinkargs, y.StatRes)
MKDIR = _procedure(14, "MKDIR", y.Createargs, y.Diropres)
RMDIR = _procedure(15, "RMDIR", y.Diropargs, y.StatRes)
READDIR = _procedure(16, "READDIR", y.Readdirargs, y.Readdirres)
STATFS = _procedure(17, "STATFS", y.FhandleArgs, y.Statfsres)

NFS2 = Program(
    PROGRAM,
    VERSION,
    "NFS",
    (
        NULL,
        GETATTR,
        SETATTR,
        ROOT,
        LOOKUP,
        READLINK,
        READ,
        WRITECACHE,
        WRITE,
        CREATE,
        REMOVE,
        RENAME,
        LINK,
        SYMLINK,
        MKDIR,
        RMDIR,
        READDIR,
        STATFS,
    ),
)
"""Program 100003, version 2."""
