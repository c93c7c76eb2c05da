# SPDX-License-Identifier: MIT
"""LOOKUP, CREATE, MKDIR, SYMLINK, REMOVE, RMDIR, RENAME and LINK (RFC 1094 sections 2.2.5, 2.2.10 to 2.2.16)."""

from __future__ import annotations

import typing as t

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
from nfsserver.nfs2.common import changes_of, fattr, status_of

if t.TYPE_CHECKING:
    from nfsserver.server import Server


def _found(server: Server, inode: Inode) -> Diropres:
    return Diropres(Nfsstat2.NFS_OK, Diropok(server.handle_of(inode), fattr(inode)))


def lookup2(server: Server, context: CallContext, args: Diropargs) -> Diropres:
    """LOOKUP; symbolic links are not followed."""
    try:
        directory = server.resolve(args.dir)
        return _found(server, directory.fs.lookup(server.caller(context), directory, args.name))
    except FsError as refusal:
        return Diropres(status_of(refusal))


def create2(server: Server, context: CallContext, args: Createargs) -> Diropres:
    """CREATE; accepts an existing regular file, and truncates it for a size of 0."""
    try:
        directory = server.resolve(args.where.dir)
        changes = changes_of(args.attributes)
        return _found(server, create_unchecked(server.caller(context), directory, args.where.name, changes))
    except FsError as refusal:
        return Diropres(status_of(refusal))


def mkdir2(server: Server, context: CallContext, args: Createargs) -> Diropres:
    """MKDIR; a size means nothing."""
    try:
        parent = server.resolve(args.where.dir)
        changes = changes_of(args.attributes)
        asked = Changes(changes.mode, changes.uid, changes.gid, atime=changes.atime, mtime=changes.mtime)
        return _found(server, parent.fs.mkdir(server.caller(context), parent, args.where.name, asked))
    except FsError as refusal:
        return Diropres(status_of(refusal))


def symlink2(server: Server, context: CallContext, args: Symlinkargs) -> StatRes:
    """SYMLINK; the attributes are not used, as on UNIX."""
    try:
        parent = server.resolve(args.from_.dir)
        parent.fs.symlink(server.caller(context), parent, args.from_.name, args.to)
    except FsError as refusal:
        return StatRes(status_of(refusal))
    return StatRes(Nfsstat2.NFS_OK)


def remove2(server: Server, context: CallContext, args: Diropargs) -> StatRes:
    """REMOVE; directories are refused (ISDIR)."""
    try:
        directory = server.resolve(args.dir)
        directory.fs.remove(server.caller(context), directory, args.name)
    except FsError as refusal:
        return StatRes(status_of(refusal))
    return StatRes(Nfsstat2.NFS_OK)


def rmdir2(server: Server, context: CallContext, args: Diropargs) -> StatRes:
    """RMDIR; only empty directories."""
    try:
        directory = server.resolve(args.dir)
        directory.fs.rmdir(server.caller(context), directory, args.name)
    except FsError as refusal:
        return StatRes(status_of(refusal))
    return StatRes(Nfsstat2.NFS_OK)


def rename2(server: Server, context: CallContext, args: Renameargs) -> StatRes:
    try:
        source, target = server.resolve(args.from_.dir), server.resolve(args.to.dir)
        source.fs.rename(server.caller(context), source, args.from_.name, target, args.to.name)
    except FsError as refusal:
        return StatRes(status_of(refusal))
    return StatRes(Nfsstat2.NFS_OK)


def link2(server: Server, context: CallContext, args: Linkargs) -> StatRes:
    """LINK; directories have one name only (ISDIR)."""
    try:
        file, directory = server.resolve(args.from_), server.resolve(args.to.dir)
        file.fs.link(server.caller(context), file, directory, args.to.name)
    except FsError as refusal:
        return StatRes(status_of(refusal))
    return StatRes(Nfsstat2.NFS_OK)
