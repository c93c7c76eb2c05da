# SPDX-License-Identifier: MIT
"""The procedures of Spritely NFS: those of NFSv2 with their numbers, and five more.

The paper gives no numbers. The program is one of those that sites define for themselves (RFC 5531 section 8.1).
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import procedures as nfs2
from nfsclient.protocol.snfs import types as y
from nfsclient.rpc.program import AnyOperation, Procedure, Program
from nfsclient.xdr import Void, XdrType

PROGRAM = 0x2053_4E46
"""The RPC program number: a space and "SNF"."""
VERSION = 2
PORT = nfs2.PORT

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

_SAME: t.Final[dict[AnyOperation, Procedure[t.Any, t.Any]]] = {}


def _same(procedure: Procedure[A, R]) -> Procedure[A, R]:
    """A procedure of NFSv2 in this program."""
    mine = Procedure(
        PROGRAM, VERSION, procedure.number, procedure.name, procedure.args, procedure.res, procedure.bulk
    )
    _SAME[procedure] = mine
    return mine


def _procedure(number: int, name: str, args: type[A], res: type[R]) -> Procedure[A, R]:
    return Procedure(PROGRAM, VERSION, number, name, args, res)


NULL = _same(nfs2.NULL)
GETATTR = _same(nfs2.GETATTR)
SETATTR = _same(nfs2.SETATTR)
ROOT = _same(nfs2.ROOT)
LOOKUP = _same(nfs2.LOOKUP)
READLINK = _same(nfs2.READLINK)
READ = _same(nfs2.READ)
WRITECACHE = _same(nfs2.WRITECACHE)
WRITE = _same(nfs2.WRITE)
CREATE = _same(nfs2.CREATE)
REMOVE = _same(nfs2.REMOVE)
RENAME = _same(nfs2.RENAME)
LINK = _same(nfs2.LINK)
SYMLINK = _same(nfs2.SYMLINK)
MKDIR = _same(nfs2.MKDIR)
RMDIR = _same(nfs2.RMDIR)
READDIR = _same(nfs2.READDIR)
STATFS = _same(nfs2.STATFS)
OPEN = _procedure(18, "OPEN", y.Openargs, y.Openopres)
CLOSE = _procedure(19, "CLOSE", y.Closeargs, y.Closeopres)
CB_NULL = _procedure(0, "CB_NULL", Void, Void)
CALLBACK = _procedure(20, "CALLBACK", y.Callbackargs, y.Cbackopres)
"""Answered by clients; servers make this call."""
REOPEN = _procedure(21, "REOPEN", y.Reopenargs, y.Openopres)
RECOVERED = _procedure(22, "RECOVERED", Void, y.Closeopres)

SNFS = Program(
    PROGRAM,
    VERSION,
    "SNFS",
    (*(_SAME[procedure] for procedure in nfs2.NFS2.procedures), OPEN, CLOSE, REOPEN, RECOVERED),
)
"""Program 0x20534E46, version 2, as servers answer it."""

SNFS_CALLBACK = Program(PROGRAM, VERSION, "SNFS callback", (CB_NULL, CALLBACK), is_callback=True)
"""The same program as clients answer it (section 4.2.4)."""


def in_snfs(procedure: Procedure[A, R]) -> Procedure[A, R]:
    """The same procedure in this program; any other procedure as it is."""
    return _SAME.get(procedure, procedure)
