# SPDX-License-Identifier: MIT
"""REMOVE, RMDIR, RENAME and LINK (RFC 1813 sections 3.3.12 to 3.3.15)."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import (
    Link3Args,
    Link3Res,
    Link3ResFail,
    Link3ResOk,
    Nfsstat3,
    Remove3Args,
    Remove3Res,
    Remove3ResFail,
    Remove3ResOk,
    Rename3Args,
    Rename3Res,
    Rename3ResFail,
    Rename3ResOk,
    Rmdir3Args,
    Rmdir3Res,
    Rmdir3ResFail,
    Rmdir3ResOk,
)
from nfsclient.rpc.service import CallContext
from nfsserver.fs import FsError
from nfsserver.handlers import ServerApi
from nfsserver.nfs3.common import Watched, status_of


def remove3(server: ServerApi, context: CallContext, args: Remove3Args) -> Remove3Res:
    """REMOVE; directories are refused (ISDIR)."""
    directory = Watched(server, args.object.dir)
    try:
        directory.inode.fs.remove(server.backend.caller(context), directory.inode, args.object.name)
    except FsError as refusal:
        return Remove3Res(status_of(refusal), resfail=Remove3ResFail(directory.wcc()))
    return Remove3Res(Nfsstat3.NFS3_OK, Remove3ResOk(directory.wcc()))


def rmdir3(server: ServerApi, context: CallContext, args: Rmdir3Args) -> Rmdir3Res:
    """RMDIR; only empty directories."""
    directory = Watched(server, args.object.dir)
    try:
        directory.inode.fs.rmdir(server.backend.caller(context), directory.inode, args.object.name)
    except FsError as refusal:
        return Rmdir3Res(status_of(refusal), resfail=Rmdir3ResFail(directory.wcc()))
    return Rmdir3Res(Nfsstat3.NFS3_OK, Rmdir3ResOk(directory.wcc()))


def rename3(server: ServerApi, context: CallContext, args: Rename3Args) -> Rename3Res:
    source = Watched(server, args.from_.dir)
    target = Watched(server, args.to.dir)
    try:
        file_system = source.inode.fs
        file_system.rename(
            server.backend.caller(context), source.inode, args.from_.name, target.inode, args.to.name
        )
    except FsError as refusal:
        return Rename3Res(status_of(refusal), resfail=Rename3ResFail(source.wcc(), target.wcc()))
    return Rename3Res(Nfsstat3.NFS3_OK, Rename3ResOk(source.wcc(), target.wcc()))


def link3(server: ServerApi, context: CallContext, args: Link3Args) -> Link3Res:
    """LINK; directories have one name only (ISDIR)."""
    file = Watched(server, args.file)
    directory = Watched(server, args.link.dir)
    try:
        file_system = file.inode.fs
        file_system.link(server.backend.caller(context), file.inode, directory.inode, args.link.name)
    except FsError as refusal:
        return Link3Res(status_of(refusal), resfail=Link3ResFail(file.attributes(), directory.wcc()))
    return Link3Res(Nfsstat3.NFS3_OK, Link3ResOk(file.attributes(), directory.wcc()))
