# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_room.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import CREATE, MKDIR, MKNOD, SYMLINK, WRITE, Nfsstat3, Write3Res
from nfsmutants.bending import amend, inode_of, restate
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import directory_of, refuse_write
from nfsmutants.nfs3.calls import Write
from nfsserver.fs import Changes
from nfsserver.fs.pages import PagedData

# ---------------------------------------------------------------- the largest file


@mutant(WRITE)
def write3_full_is_io(call: Write) -> Write3Res:
    """WRITE to a full disk answers IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_NOSPC, Nfsstat3.NFS3ERR_IO)


@mutant(WRITE)
def write3_over_quota_is_io(call: Write) -> Write3Res:
    """WRITE beyond the quota answers IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_DQUOT, Nfsstat3.NFS3ERR_IO)


_REFUSALS: t.Final = {
    Nfsstat3.NFS3ERR_FBIG,
    Nfsstat3.NFS3ERR_NOSPC,
    Nfsstat3.NFS3ERR_DQUOT,
    Nfsstat3.NFS3ERR_ROFS,
}


@mutant(WRITE)
def write3_refused_clears_the_beginning(call: Write) -> Write3Res:
    """WRITE that is refused for lack of space or permission clears the first byte of the file"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.file)
    if reply.status in _REFUSALS and inode is not None and inode.data is not None and call.args.offset:
        _overwrite(inode.data)
    return reply


def _overwrite(content: PagedData) -> None:
    """Set the first byte to zero in both versions of the file, if it has a first page."""
    if content.read(0, 1):
        content.write(0, b"\0", stable=True)


@mutant(WRITE)
def write3_full_counts_all(call: Write) -> Write3Res:
    """WRITE that writes only a part of its data returns the count of all of it"""
    reply = call.proceed()
    if reply.resok is None or reply.resok.count in {0, len(call.args.data)}:
        return reply
    return amend(reply, count=len(call.args.data))


@mutant(WRITE)
def write3_stays_full(call: Write) -> Write3Res:
    """WRITE to a file that once found no space answers NOSPC from then on"""
    full: set[bytes] = call.state.setdefault("full", set())
    if call.args.file in full:
        return refuse_write(call, Nfsstat3.NFS3ERR_NOSPC)
    reply = call.proceed()
    if reply.status == Nfsstat3.NFS3ERR_NOSPC:
        full.add(bytes(call.args.file))
    return reply


_CREATING: t.Final = (CREATE, MKDIR, SYMLINK, MKNOD)


@mutant(_CREATING)
def creations3_no_room_is_io(call: AnyCall) -> t.Any:
    """Creation without free space is refused with IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_NOSPC, Nfsstat3.NFS3ERR_IO)


@mutant(_CREATING)
def creations3_no_room_leaves_a_file(call: AnyCall) -> t.Any:
    """Creation without free space is refused, but leaves an empty file with the name"""
    reply = call.proceed()
    directory = directory_of(call.server, call.args.where.dir)
    if reply.status == Nfsstat3.NFS3ERR_NOSPC and directory is not None:
        file_system = directory.fs
        file_system.leave_free(None, None)
        file_system.create(call.caller, directory, call.args.where.name, Changes())
        file_system.leave_free(None, 0)
    return reply
