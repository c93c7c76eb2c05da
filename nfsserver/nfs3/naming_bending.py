# SPDX-License-Identifier: MIT
"""What mutants of every procedure that takes a name are made with."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import (
    CREATE,
    LINK,
    LOOKUP,
    MKDIR,
    MKNOD,
    REMOVE,
    RENAME,
    RMDIR,
    SYMLINK,
    Create3Res,
    Create3ResOk,
    Diropargs3,
    Lookup3Res,
    Lookup3ResOk,
    Mkdir3Res,
    Mkdir3ResOk,
    Mknod3Res,
    Mknod3ResOk,
    Nfsstat3,
    Symlink3Res,
    Symlink3ResOk,
    WccData,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import FsError, Inode
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.removal_bending import LINKED, REMOVED, RENAMED, RMDIRED

if t.TYPE_CHECKING:
    from nfsserver.server import Server

AnyProceed: t.TypeAlias = Proceed[t.Any, t.Any]
Rewrite: t.TypeAlias = "Callable[[Server, Diropargs3], Diropargs3]"

TAKEN: t.Final[dict[t.Any, str]] = {LOOKUP: "what", REMOVE: "object", RMDIR: "object", RENAME: "from_"}
"""Where the arguments have a name that is to be found."""
MADE: t.Final[dict[t.Any, str]] = {
    CREATE: "where",
    MKDIR: "where",
    SYMLINK: "where",
    MKNOD: "where",
    LINK: "link",
    RENAME: "to",
}
"""Where they have one that is to be made."""
OF_NAMES: t.Final = (LOOKUP, CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK)
_BY_ARGS: t.Final = {procedure.args: procedure for procedure in OF_NAMES}


def procedure_of(args: t.Any) -> t.Any:
    """The procedure that has these arguments."""
    return _BY_ARGS[type(args)]


def success(args: t.Any) -> t.Any:
    """Success with nothing done, and no word more than needs be; LOOKUP finds the directory itself."""
    if (procedure := procedure_of(args)) is LOOKUP:
        return Lookup3Res(Nfsstat3.NFS3_OK, Lookup3ResOk(args.what.dir, None, None))
    return _SUCCESS[procedure]


_SUCCESS: t.Final[dict[t.Any, t.Any]] = {
    CREATE: Create3Res(Nfsstat3.NFS3_OK, Create3ResOk(None, None, WccData())),
    MKDIR: Mkdir3Res(Nfsstat3.NFS3_OK, Mkdir3ResOk(None, None, WccData())),
    SYMLINK: Symlink3Res(Nfsstat3.NFS3_OK, Symlink3ResOk(None, None, WccData())),
    MKNOD: Mknod3Res(Nfsstat3.NFS3_OK, Mknod3ResOk(None, None, WccData())),
    REMOVE: REMOVED,
    RMDIR: RMDIRED,
    RENAME: RENAMED,
    LINK: LINKED,
}


def directory_of(server: Server, where: Diropargs3) -> Inode | None:
    """The directory of a name; None for a handle of something else, or of nothing."""
    try:
        inode = server.resolve(where.dir)
    except FsError:
        return None
    return None if inode.directory is None else inode


def rewrites(
    name: str, gist: str, *, breaks: str, made: bool = True, taken: bool = True
) -> Callable[[Rewrite], Rewrite]:
    """Register what takes one (directory, name) for another: those that are to be made, to be found, or both."""
    fields: dict[t.Any, list[str]] = {}
    for table in (MADE if made else {}), (TAKEN if taken else {}):
        for procedure, field in table.items():
            fields.setdefault(procedure, []).append(field)

    def register(rewrite: Rewrite) -> Rewrite:
        @mutant(name, bends=tuple(fields), breaks=breaks, gist=gist)
        def middleware(server: Server, context: CallContext, args: t.Any, proceed: AnyProceed) -> t.Any:
            bent = {
                field: rewrite(server, getattr(args, field))
                for field in fields[procedure_of(args)]
                if directory_of(server, getattr(args, field)) is not None
            }
            return proceed(context, replace(args, **bent))

        return rewrite

    return register
