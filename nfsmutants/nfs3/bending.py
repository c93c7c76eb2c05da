# SPDX-License-Identifier: MIT
"""Arguments, names and replies of NFSv3 for its mutants."""

from __future__ import annotations

import contextlib
import dataclasses
import typing as t

from nfsclient.protocol.nfs3 import (
    CREATE,
    FSINFO,
    FSSTAT,
    LINK,
    LOOKUP,
    MKDIR,
    MKNOD,
    PATHCONF,
    READDIR,
    READDIRPLUS,
    REMOVE,
    RENAME,
    RMDIR,
    SYMLINK,
    Create3Res,
    Create3ResOk,
    Diropargs3,
    Fattr3,
    Link3Res,
    Link3ResOk,
    Lookup3Res,
    Lookup3ResOk,
    Mkdir3Res,
    Mkdir3ResOk,
    Mknod3Res,
    Mknod3ResOk,
    Nfsstat3,
    Read3Args,
    Read3Res,
    Read3ResFail,
    Remove3Res,
    Remove3ResOk,
    Rename3Res,
    Rename3ResOk,
    Rmdir3Res,
    Rmdir3ResOk,
    Setattr3Args,
    Setattr3Res,
    Setattr3ResFail,
    Symlink3Res,
    Symlink3ResOk,
    WccAttr,
    WccData,
    Write3Args,
    Write3Res,
    Write3ResFail,
)
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsmutants.bending import amend, change, child_of, inode_of
from nfsmutants.form import A, AnyCall, Call, R
from nfsserver.fs import FsError, Inode, Kind
from nfsserver.handlers import ServerApi
from nfsserver.nfs3.common import Watched

TAKEN: t.Final[dict[t.Any, str]] = {LOOKUP: "what", REMOVE: "object", RMDIR: "object", RENAME: "from_"}
"""Operation -> the argument with a name that must exist."""
MADE: t.Final[dict[t.Any, str]] = {
    CREATE: "where",
    MKDIR: "where",
    SYMLINK: "where",
    MKNOD: "where",
    LINK: "link",
    RENAME: "to",
}
"""Operation -> the argument with the name of a new object."""
OF_NAMES: t.Final = (LOOKUP, CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK)


# ---------------------------------------------------------------- names in arguments


def name_fields(procedure: t.Any) -> list[str]:
    """The directory and name in the arguments; that of the new object, if there are two."""
    return [table[procedure] for table in (MADE, TAKEN) if procedure in table]


def rewrite_names(
    call: AnyCall,
    rewrite: t.Callable[[ServerApi, Diropargs3], Diropargs3],
    *,
    made: bool = True,
    taken: bool = True,
) -> t.Any:
    """Proceed with other names: those of new objects, of existing ones, or both."""
    tables = (MADE if made else {}), (TAKEN if taken else {})
    fields = [table[call.operation] for table in tables if call.operation in table]
    bent = {
        field: rewrite(call.server, getattr(call.args, field))
        for field in fields
        if directory_of(call.server, getattr(call.args, field).dir) is not None
    }
    return call.proceed_with(**bent)


def directory_of(server: ServerApi, handle: bytes) -> Inode | None:
    """The directory of a handle; None if the handle is invalid, or that of another object."""
    inode = inode_of(server, handle)
    return None if inode is None or inode.directory is None else inode


def find(server: ServerApi, where: Diropargs3) -> Inode | None:
    """The object of a name; None if it does not exist."""
    return child_of(server, where.dir, where.name)


def handle_of_same_fileid(server: ServerApi, handle: bytes) -> bytes:
    """The handle of the object that now has the file number of a removed one; else the same handle."""
    try:
        identity = server.backend.codec.decode(handle)
    except FsError:
        return handle
    for file_system in server.backend.exports.values():
        if file_system.fsid == identity.export:
            for inode in file_system.inodes():
                if inode.fileid == identity.fileid:
                    return server.backend.handle_of(inode)
    return handle


# ---------------------------------------------------------------- changes in directories


def remove(call: Call[t.Any, t.Any], where: Diropargs3) -> None:
    """Remove a file or an empty directory, as the caller."""
    directory, inode = call.backend.resolve(where.dir), find(call.server, where)
    act = directory.fs.remove if inode is None or inode.directory is None else directory.fs.rmdir
    act(call.caller, directory, where.name)


def remove_all(call: Call[t.Any, t.Any], directory: Inode) -> None:
    """Remove the files in a directory, as the caller."""
    if directory.directory is None:
        return
    for name in directory.directory.names():
        entry = directory.directory.get(name)
        if entry is not None and entry.directory is None:
            directory.fs.remove(call.caller, directory, name)


REMOVED: t.Final = Remove3Res(Nfsstat3.NFS3_OK, Remove3ResOk(WccData()))
RMDIRED: t.Final = Rmdir3Res(Nfsstat3.NFS3_OK, Rmdir3ResOk(WccData()))
RENAMED: t.Final = Rename3Res(Nfsstat3.NFS3_OK, Rename3ResOk(WccData(), WccData()))
LINKED: t.Final = Link3Res(Nfsstat3.NFS3_OK, Link3ResOk(None, WccData()))
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


# ---------------------------------------------------------------- replies


def success(call: AnyCall) -> t.Any:
    """A success that changes nothing and omits everything optional; LOOKUP finds the directory itself."""
    if call.operation is LOOKUP:
        return Lookup3Res(Nfsstat3.NFS3_OK, Lookup3ResOk(call.args.what.dir, None, None))
    return _SUCCESS[call.operation]


def before_of(after: Fattr3) -> WccAttr:
    """These attributes in the form of wcc_data.before."""
    return WccAttr(after.size, after.mtime, after.ctime)


def with_old_times(wcc: WccData) -> WccData:
    """The same wcc_data with the times of `before` in `after`, too."""
    before = wcc.before
    return wcc if before is None else change(wcc, "after", mtime=before.mtime, ctime=before.ctime)


_HANDLES: t.Final = (
    *("object", "file", "symlink", "dir", "fsroot"),
    *("what.dir", "where.dir", "object.dir", "from_.dir", "link.dir"),
)
"""Where arguments have the handle that a call is about."""


def proceed_by(call: AnyCall, handle: bytes) -> t.Any:
    """The answer to the same call with another handle instead of the first one."""
    for path in _HANDLES:
        parent, _, name = path.rpartition(".")
        found = getattr(call.args, parent, None) if parent else call.args
        if isinstance(getattr(found, name, None), bytes):
            return call.proceed_with(parent, **{name: handle})
    raise LookupError(f"the arguments of {call.operation.name} have no handle")


def refuse(call: AnyCall, status: Nfsstat3) -> t.Any:
    """Refuse a call without effect, and without attributes: the refusal of an invalid handle with another status."""
    return replace(proceed_by(call, b""), status=status)


def refuse_read(call: Call[Read3Args, Read3Res], status: Nfsstat3) -> Read3Res:
    """Refuse a READ, with the attributes of its object."""
    return Read3Res(status, resfail=Read3ResFail(Watched(call.server, call.args.file).attributes()))


def refuse_write(call: Call[Write3Args, Write3Res], status: Nfsstat3) -> Write3Res:
    """Refuse a WRITE, with the attributes of its object."""
    return Write3Res(status, resfail=Write3ResFail(Watched(call.server, call.args.file).wcc()))


def refuse_setattr(call: Call[Setattr3Args, Setattr3Res], status: Nfsstat3) -> Setattr3Res:
    """Refuse a SETATTR, with the attributes of its object."""
    return Setattr3Res(status, resfail=Setattr3ResFail(Watched(call.server, call.args.object).wcc()))


DIRECTORY_CHANGES: t.Final = (CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK)


CREATING: t.Final = (CREATE, MKDIR, SYMLINK, MKNOD)


def with_handle_of_the_directory(call: AnyCall) -> t.Any:
    """Only for the name `handle`: for every name, hardly any check could create the objects that it needs."""
    reply = call.proceed()
    return amend(reply, obj=call.args.where.dir) if call.args.where.name == b"handle" else reply


BLOCK: t.Final = 512


def size_of(server: ServerApi, handle: bytes) -> int:
    """The size of a regular file; 0 for anything else."""
    inode = inode_of(server, handle)
    return inode.size if inode is not None and inode.kind is Kind.REGULAR else 0


def with_data(args: Write3Args, data: bytes, offset: int | None = None) -> Write3Args:
    """The arguments with other data and its length."""
    return replace(args, data=data, count=len(data), offset=args.offset if offset is None else offset)


DOTS: t.Final = (b".", b"..")
LISTINGS: t.Final = (READDIR, READDIRPLUS)


HANDLE_OF: t.Final = {FSSTAT: "fsroot", FSINFO: "fsroot", PATHCONF: "object"}


def is_not_directory(server: ServerApi, handle: bytes) -> bool:
    return server.backend.resolve(handle).directory is None


def is_unprivileged(context: CallContext) -> bool:
    return isinstance(context.credential, AuthSys) and context.credential.uid != 0


FAR: t.Final = 2**31 - 9
"""Offsets from here on may exceed 31 bits within a small range."""
LARGE: t.Final = 2**16
"""Transfers of at least this many bytes count as large."""


def is_special_file(server: ServerApi, handle: bytes) -> bool:
    """Whether a handle is that of a device, a socket or a FIFO."""
    inode = inode_of(server, handle)
    return inode is not None and inode.kind not in {Kind.REGULAR, Kind.DIRECTORY, Kind.SYMLINK}


# ---------------------------------------------------------------- REMOVE


def remove_another(call: AnyCall, handle: bytes) -> None:
    """Remove the first remaining file or empty directory."""
    directory = call.backend.resolve(handle)
    for name in directory.directory.names() if directory.directory is not None else ():
        with contextlib.suppress(FsError):
            remove(call, Diropargs3(handle, name))
            return


NAME_CHANGES: t.Final = tuple(procedure for procedure in OF_NAMES if procedure is not LOOKUP)


def proceed_without(call: Call[A, R], **settings: t.Any) -> R:
    """The answer of a server that ignores some knobs."""
    server = call.server
    known = [(file_system, file_system.read_only) for file_system in server.backend.exports.values()]
    now = server.knobs.now
    server.knobs.now = dataclasses.replace(now, **settings)
    for file_system, _ in known:
        file_system.read_only = server.knobs.now.read_only
    try:
        return call.proceed()
    finally:
        server.knobs.now = now
        for file_system, read_only in known:
            file_system.read_only = read_only


SPECIAL: t.Final = frozenset({Kind.BLOCK, Kind.CHARACTER, Kind.SOCKET, Kind.FIFO})
FILE_OR_DIRECTORY: t.Final = frozenset({Kind.REGULAR, Kind.DIRECTORY})


def is_special(inode: Inode | None) -> bool:
    return inode is not None and inode.kind in SPECIAL
