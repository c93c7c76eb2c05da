# SPDX-License-Identifier: MIT
"""What the mutants of REMOVE, RMDIR, RENAME and LINK are made with."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import (
    LINK,
    REMOVE,
    RENAME,
    RMDIR,
    Diropargs3,
    Link3Res,
    Link3ResOk,
    Nfsstat3,
    Remove3Res,
    Remove3ResOk,
    Rename3Res,
    Rename3ResOk,
    Rmdir3Res,
    Rmdir3ResOk,
    WccData,
)
from nfsclient.rpc.service import CallContext
from nfsserver.fs import FsError, Inode
from nfsserver.mutants import Proceed, mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server

Bend: t.TypeAlias = "Callable[[Server, CallContext, t.Any, Proceed[t.Any, t.Any]], t.Any]"

_SECTION: t.Final = {REMOVE: "3.3.12", RMDIR: "3.3.13", RENAME: "3.3.14", LINK: "3.3.15"}
REMOVED: t.Final = Remove3Res(Nfsstat3.NFS3_OK, Remove3ResOk(WccData()))
RMDIRED: t.Final = Rmdir3Res(Nfsstat3.NFS3_OK, Rmdir3ResOk(WccData()))
RENAMED: t.Final = Rename3Res(Nfsstat3.NFS3_OK, Rename3ResOk(WccData(), WccData()))
LINKED: t.Final = Link3Res(Nfsstat3.NFS3_OK, Link3ResOk(None, WccData()))


def bends(procedure: t.Any, suffix: str, gist: str, section: str | None = None) -> Callable[[Bend], Bend]:
    """Register middleware as ``<procedure>3-<suffix>``; `section` is that of the procedure by default."""
    name = f"{procedure.name.lower()}3-{suffix}"
    clause = f"RFC 1813 section {section or _SECTION[procedure]}"
    return mutant(name, bends=(procedure,), breaks=clause, gist=f"{procedure.name} {gist}")


def find(server: Server, where: Diropargs3) -> Inode | None:
    """What stands under a name; None if nothing does, or the directory is none."""
    try:
        directory = server.resolve(where.dir).directory
    except FsError:
        return None
    return None if directory is None else directory.get(where.name)


def is_directory(server: Server, handle: bytes) -> bool:
    """Whether a handle is that of a directory."""
    try:
        return server.resolve(handle).directory is not None
    except FsError:
        return False


def remove_all(server: Server, context: CallContext, directory: Inode) -> None:
    """Remove the files in a directory."""
    if directory.directory is None:
        return
    for name in directory.directory.names():
        entry = directory.directory.get(name)
        if entry is not None and entry.directory is None:
            directory.fs.remove(server.caller(context), directory, name)
