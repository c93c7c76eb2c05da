# SPDX-License-Identifier: MIT
"""CREATE, MKDIR, SYMLINK and MKNOD (RFC 1813 sections 3.3.8 to 3.3.11)."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import (
    Create3Args,
    Create3Res,
    Create3ResFail,
    Create3ResOk,
    CreateMode3,
    Ftype3,
    Mkdir3Args,
    Mkdir3Res,
    Mkdir3ResFail,
    Mkdir3ResOk,
    Mknod3Args,
    Mknod3Res,
    Mknod3ResFail,
    Mknod3ResOk,
    Mknoddata3,
    Nfsstat3,
    Sattr3,
    Symlink3Args,
    Symlink3Res,
    Symlink3ResFail,
    Symlink3ResOk,
)
from nfsclient.rpc.service import CallContext
from nfsserver.fs import Caller, FsError, Inode, Kind, create_unchecked
from nfsserver.handlers import ServerApi
from nfsserver.nfs3.common import REFUSALS, Nfs3Error, Watched, changes_of, fattr3, status_of


def create3(server: ServerApi, context: CallContext, args: Create3Args) -> Create3Res:
    """CREATE in its three modes."""
    directory = Watched(server, args.where.dir)
    try:
        inode = _create(server.backend.caller(context), directory.inode, args)
    except FsError as refusal:
        return Create3Res(status_of(refusal), resfail=Create3ResFail(directory.wcc()))
    resok = Create3ResOk(server.backend.handle_of(inode), fattr3(inode), directory.wcc())
    return Create3Res(Nfsstat3.NFS3_OK, resok)


def _create(caller: Caller, directory: Inode, args: Create3Args) -> Inode:
    if args.how.verf is not None:
        return directory.fs.create_exclusive(caller, directory, args.where.name, args.how.verf)
    changes = changes_of(args.how.obj_attributes or Sattr3())
    make = create_unchecked if args.how.mode == CreateMode3.UNCHECKED else directory.fs.create
    return make(caller, directory, args.where.name, changes)


def mkdir3(server: ServerApi, context: CallContext, args: Mkdir3Args) -> Mkdir3Res:
    directory = Watched(server, args.where.dir)
    try:
        parent = directory.inode
        changes = changes_of(args.attributes)
        inode = parent.fs.mkdir(server.backend.caller(context), parent, args.where.name, changes)
    except FsError as refusal:
        return Mkdir3Res(status_of(refusal), resfail=Mkdir3ResFail(directory.wcc()))
    return Mkdir3Res(
        Nfsstat3.NFS3_OK, Mkdir3ResOk(server.backend.handle_of(inode), fattr3(inode), directory.wcc())
    )


def symlink3(server: ServerApi, context: CallContext, args: Symlink3Args) -> Symlink3Res:
    """SYMLINK; the link and its data appear in one step."""
    directory = Watched(server, args.where.dir)
    try:
        parent = directory.inode
        changes = changes_of(args.symlink.symlink_attributes)
        target = args.symlink.symlink_data
        inode = parent.fs.symlink(server.backend.caller(context), parent, args.where.name, target, changes)
    except FsError as refusal:
        return Symlink3Res(status_of(refusal), resfail=Symlink3ResFail(directory.wcc()))
    resok = Symlink3ResOk(server.backend.handle_of(inode), fattr3(inode), directory.wcc())
    return Symlink3Res(Nfsstat3.NFS3_OK, resok)


def mknod3(server: ServerApi, context: CallContext, args: Mknod3Args) -> Mknod3Res:
    """MKNOD; REG, DIR and LNK, and types outside ftype3, are BADTYPE."""
    directory = Watched(server, args.where.dir)
    try:
        parent = directory.inode
        kind, attributes, rdev = _special(args.what)
        changes = changes_of(attributes)
        inode = parent.fs.mknod(server.backend.caller(context), parent, args.where.name, kind, rdev, changes)
    except REFUSALS as refusal:
        return Mknod3Res(status_of(refusal), resfail=Mknod3ResFail(directory.wcc()))
    return Mknod3Res(
        Nfsstat3.NFS3_OK, Mknod3ResOk(server.backend.handle_of(inode), fattr3(inode), directory.wcc())
    )


def _special(what: Mknoddata3) -> tuple[Kind, Sattr3, tuple[int, int]]:
    if what.device is not None:
        spec = what.device.spec
        return Kind(what.type), what.device.dev_attributes, (spec.specdata1, spec.specdata2)
    if what.type in (Ftype3.NF3SOCK, Ftype3.NF3FIFO):
        return Kind(what.type), what.pipe_attributes or Sattr3(), (0, 0)
    raise Nfs3Error(Nfsstat3.NFS3ERR_BADTYPE)
