# SPDX-License-Identifier: MIT
"""Arguments, replies and messages of NFSv2 for its mutants."""

from __future__ import annotations

import contextlib
import typing as t

from nfsclient.errors import XdrError
from nfsclient.protocol.nfs2 import LOOKUP, Diropargs, Diropok, Diropres, Nfsstat2, StatRes
from nfsclient.rpc.messages import CallHeader
from nfsclient.rpc.program import AnyOperation
from nfsclient.xdr import Void, replace, u32
from nfsmutants.form import AnyCall
from nfsserver.fs import SUPERUSER, FsError, Inode
from nfsserver.handlers import ServerApi
from nfsserver.nfs2.common import fattr


def place_of(args: t.Any) -> Diropargs:
    """The directory and name in the arguments; for two of them, the new ones."""
    for field in ("where", "to", "from_"):
        found = getattr(args, field, None)
        if isinstance(found, Diropargs):
            return found
    assert isinstance(args, Diropargs)
    return args


def with_place(args: t.Any, **changes: object) -> t.Any:
    """The arguments with another directory or name."""
    for field in ("where", "to", "from_"):
        found = getattr(args, field, None)
        if isinstance(found, Diropargs):
            return replace(args, **{field: replace(found, **changes)})
    return replace(args, **changes)


def found(server: ServerApi, inode: Inode) -> Diropres:
    """Success with an object."""
    return Diropres(Nfsstat2.NFS_OK, Diropok(server.backend.handle_of(inode), fattr(inode)))


def success(server: ServerApi, operation: AnyOperation, inode: Inode) -> t.Any:
    """The result of an operation that succeeds and returns an object."""
    return found(server, inode) if operation.res is Diropres else StatRes(Nfsstat2.NFS_OK)


def refuse(call: AnyCall, status: Nfsstat2) -> t.Any:
    """Refuse a call without effect."""
    return call.operation.res(status)


# ---------------------------------------------------------------- oversized strings


def cut_name(message: bytes, at: int, limit: int) -> bytes:
    """The message with the string whose length is at `at` cut to `limit` bytes."""
    length = int.from_bytes(message[at : at + 4], "big")
    if length <= limit:
        return message
    end = at + 4 + (length + 3) // 4 * 4
    kept = message[at + 4 : at + 4 + limit] + bytes(-limit % 4)
    return message[:at] + limit.to_bytes(4, "big") + kept + message[end:]


def _arguments_of(message: bytes) -> tuple[int, int]:
    """The procedure and the offset of the arguments, if this is a call of NFSv2; else (-1, 0)."""
    try:
        header, end = CallHeader.unpack_from(message)
    except XdrError:
        return -1, 0
    called = (header.prog, header.vers)
    return (header.proc, end) if called == (LOOKUP.program, LOOKUP.version) else (-1, 0)


class _Word(Void):
    """The results of a procedure that has no results."""

    word: u32 = 0


_DOTS: t.Final = (b".", b"..")


def done() -> StatRes:
    """A reply that says NFS_OK."""
    return StatRes(Nfsstat2.NFS_OK)


def empty_directory(directory: Inode | None) -> None:
    """Remove the files in a directory."""
    if directory is None or directory.directory is None:
        return
    for name in directory.directory.names():
        remove_tree(directory, name)


def remove_tree(directory: Inode, name: bytes) -> None:
    """Remove a name and everything below it."""
    with contextlib.suppress(FsError):
        inode = directory.fs.lookup(SUPERUSER, directory, name)
        empty_directory(inode)
        (directory.fs.remove if inode.directory is None else directory.fs.rmdir)(SUPERUSER, directory, name)
