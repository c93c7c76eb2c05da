# SPDX-License-Identifier: MIT
"""LOOKUP, CREATE, MKDIR, SYMLINK, REMOVE, RMDIR, RENAME and LINK (RFC 1094 sections 2.2.5, 2.2.10 to 2.2.16)."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import (
    Createargs,
    Diropargs,
    Diropok,
    Diropres,
    Linkargs,
    Nfsstat2,
    Renameargs,
    StatRes,
    Symlinkargs,
)
from nfsclient.rpc.service import CallContext
from nfsserver.fs import Changes, FsError, Inode, create_unchecked
from nfsserver.handlers import ServerApi
from nfsserver.nfs2.common import changes_of, fattr, status_of


def _found(server: ServerApi, inode: Inode) -> Diropres:
    return Diropres(Nfsstat2.NFS_OK, Diropok(server.backend.handle_of(inode), fattr(inode)))


def lookup2(server: ServerApi, context: CallContext, args: Diropargs) -> Diropres:
    """LOOKUP; symbolic links are not followed."""
    try:
        directory = server.backend.resolve(args.dir)
        return _found(server, directory.fs.lookup(server.backend.caller(context), directory, args.name))
    except FsError as refusal:
        return Diropres(status_of(refusal))


def create2(server: ServerApi, context: CallContext, args: Createargs) -> Diropres:
    """CREATE; accepts an existing regular file, and truncates it for a size of 0."""
    try:
        directory = server.backend.resolve(args.where.dir)
        changes = changes_of(args.attributes)
        return _found(
            server, create_unchecked(server.backend.caller(context), directory, args.where.name, changes)
        )
    except FsError as refusal:
        return Diropres(status_of(refusal))


def mkdir2(server: ServerApi, context: CallContext, args: Createargs) -> Diropres:
    """MKDIR; a size means nothing."""
    try:
        parent = server.backend.resolve(args.where.dir)
        changes = changes_of(args.attributes)
        asked = Changes(changes.mode, changes.uid, changes.gid, atime=changes.atime, mtime=changes.mtime)
        return _found(server, parent.fs.mkdir(server.backend.caller(context), parent, args.where.name, asked))
    except FsError as refusal:
        return Diropres(status_of(refusal))


def symlink2(server: ServerApi, context: CallContext, args: Symlinkargs) -> StatRes:
    """SYMLINK; the attributes are not used, as on UNIX."""
    try:
        parent = server.backend.resolve(args.from_.dir)
        parent.fs.symlink(server.backend.caller(context), parent, args.from_.name, args.to)
    except FsError as refusal:
        return StatRes(status_of(refusal))
    return StatRes(Nfsstat2.NFS_OK)


def remove2(server: ServerApi, context: CallContext, args: Diropargs) -> StatRes:
    """REMOVE; directories are refused (ISDIR)."""
    try:
        directory = server.backend.resolve(args.dir)
        directory.fs.remove(server.backend.caller(context), directory, args.name)
    except FsError as refusal:
        return StatRes(status_of(refusal))
    return StatRes(Nfsstat2.NFS_OK)


def rmdir2(server: ServerApi, context: CallContext, args: Diropargs) -> StatRes:
    """RMDIR; only empty directories."""
    try:
        directory = server.backend.resolve(args.dir)
        directory.fs.rmdir(server.backend.caller(context), directory, args.name)
    except FsError as refusal:
        return StatRes(status_of(refusal))
    return StatRes(Nfsstat2.NFS_OK)


def rename2(server: ServerApi, context: CallContext, args: Renameargs) -> StatRes:
    try:
        source, target = server.backend.resolve(args.from_.dir), server.backend.resolve(args.to.dir)
        source.fs.rename(server.backend.caller(context), source, args.from_.name, target, args.to.name)
    except FsError as refusal:
        return StatRes(status_of(refusal))
    return StatRes(Nfsstat2.NFS_OK)


def link2(server: ServerApi, context: CallContext, args: Linkargs) -> StatRes:
    """LINK; directories have one name only (ISDIR)."""
    try:
        file, directory = server.backend.resolve(args.from_), server.backend.resolve(args.to.dir)
        file.fs.link(server.backend.caller(context), file, directory, args.to.name)
    except FsError as refusal:
        return StatRes(status_of(refusal))
    return StatRes(Nfsstat2.NFS_OK)
