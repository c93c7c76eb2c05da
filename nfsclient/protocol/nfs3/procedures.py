# SPDX-License-Identifier: MIT
"""The procedures of NFSv3 and the program they make up (RFC 1813 section 3)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import directories as d
from nfsclient.protocol.nfs3 import files as f
from nfsclient.protocol.nfs3 import filesystem as s
from nfsclient.rpc.program import BulkResult, Procedure, Program
from nfsclient.xdr import Buffer, Void, XdrType

PROGRAM = 100003
"""The RPC program number of NFS (section 2.2)."""
VERSION = 3
PORT = 2049
"""Where NFS is normally found; rpcbind knows better (section 2.3)."""

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)


def _procedure(
    number: int, name: str, args: type[A], res: type[R], bulk: BulkResult[A, R] | None = None
) -> Procedure[A, R]:
    return Procedure(PROGRAM, VERSION, number, name, args, res, bulk)


def _place_read_data(reply: f.Read3Res, data: Buffer) -> None:
    if reply.resok is not None:
        reply.resok.data = data


_READ_DATA: BulkResult[f.Read3Args, f.Read3Res] = BulkResult(
    at=4 + (4 + 84) + 4 + 4,  # status, file_attributes that are there, count, eof
    asked=lambda args: args.count,
    data=lambda reply: None if reply.resok is None else reply.resok.data,
    place=_place_read_data,
)


NULL = _procedure(0, "NULL", Void, Void)
GETATTR = _procedure(1, "GETATTR", f.Getattr3Args, f.Getattr3Res)
SETATTR = _procedure(2, "SETATTR", f.Setattr3Args, f.Setattr3Res)
LOOKUP = _procedure(3, "LOOKUP", d.Lookup3Args, d.Lookup3Res)
ACCESS = _procedure(4, "ACCESS", f.Access3Args, f.Access3Res)
READLINK = _procedure(5, "READLINK", f.Readlink3Args, f.Readlink3Res)
READ = _procedure(6, "READ", f.Read3Args, f.Read3Res, _READ_DATA)
WRITE = _procedure(7, "WRITE", f.Write3Args, f.Write3Res)
CREATE = _procedure(8, "CREATE", d.Create3Args, d.Create3Res)
MKDIR = _procedure(9, "MKDIR", d.Mkdir3Args, d.Mkdir3Res)
SYMLINK = _procedure(10, "SYMLINK", d.Symlink3Args, d.Symlink3Res)
MKNOD = _procedure(11, "MKNOD", d.Mknod3Args, d.Mknod3Res)
REMOVE = _procedure(12, "REMOVE", d.Remove3Args, d.Remove3Res)
RMDIR = _procedure(13, "RMDIR", d.Rmdir3Args, d.Rmdir3Res)
RENAME = _procedure(14, "RENAME", d.Rename3Args, d.Rename3Res)
LINK = _procedure(15, "LINK", d.Link3Args, d.Link3Res)
READDIR = _procedure(16, "READDIR", d.Readdir3Args, d.Readdir3Res)
READDIRPLUS = _procedure(17, "READDIRPLUS", d.Readdirplus3Args, d.Readdirplus3Res)
FSSTAT = _procedure(18, "FSSTAT", s.Fsstat3Args, s.Fsstat3Res)
FSINFO = _procedure(19, "FSINFO", s.Fsinfo3Args, s.Fsinfo3Res)
PATHCONF = _procedure(20, "PATHCONF", s.Pathconf3Args, s.Pathconf3Res)
COMMIT = _procedure(21, "COMMIT", f.Commit3Args, f.Commit3Res)

NFS3 = Program(
    PROGRAM,
    VERSION,
    "NFS",
    (
        NULL,
        GETATTR,
        SETATTR,
        LOOKUP,
        ACCESS,
        READLINK,
        READ,
        WRITE,
        CREATE,
        MKDIR,
        SYMLINK,
        MKNOD,
        REMOVE,
        RMDIR,
        RENAME,
        LINK,
        READDIR,
        READDIRPLUS,
        FSSTAT,
        FSINFO,
        PATHCONF,
        COMMIT,
    ),
)
"""Program 100003, version 3."""
