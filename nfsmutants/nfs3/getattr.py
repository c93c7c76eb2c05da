# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_getattr.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import GETATTR, WRITE, Ftype3, Getattr3Res, Getattr3ResOk, Nfstime3, Specdata3
from nfsclient.rpc.sockets import Address
from nfsclient.xdr import replace
from nfsmutants.bending import amend
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.calls import Getattr
from nfsserver.fs import Inode, Kind
from nfsserver.nfs3.common import fattr3

_SECOND: t.Final = 1_000_000_000
_S_IFREG: t.Final = 0o100000


def _is_subdirectory(inode: Inode) -> bool:
    """A directory other than the root: GETATTR of the root shows a run whether the server works."""
    return inode.directory is not None and inode is not inode.fs.root


@mutant(GETATTR)
def getattr3_wrong_type(call: Getattr) -> Getattr3Res:
    """GETATTR reports every directory below the root as a regular file"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(call.args.object)
    return amend(reply, "obj_attributes", type=Ftype3.NF3REG) if _is_subdirectory(inode) else reply


@mutant(GETATTR)
def getattr3_reports_empty_files_as_fifos(call: Getattr) -> Getattr3Res:
    """GETATTR reports a regular file without data as a FIFO"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(call.args.object)
    is_empty = inode.kind is Kind.REGULAR and inode.size == 0
    return amend(reply, "obj_attributes", type=Ftype3.NF3FIFO) if is_empty else reply


def _target(link: Inode) -> Inode | None:
    """The target of a symbolic link, if it is in the same directory."""
    for directory in link.fs.inodes():
        entries = directory.directory
        if entries is not None and any(entries.get(name) is link for name in entries.names()):
            return entries.get(link.target)
    return None


@mutant(GETATTR)
def getattr3_follows_symlinks(call: Getattr) -> Getattr3Res:
    """GETATTR of a symbolic link returns the attributes of its target"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(call.args.object)
    target = _target(inode) if inode.kind is Kind.SYMLINK else None
    return reply if target is None else amend(reply, obj_attributes=fattr3(target))


@mutant(GETATTR)
def getattr3_returns_an_unknown_type(call: Getattr) -> Getattr3Res:
    """GETATTR of a FIFO returns the type 8, which ftype3 does not define"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(call.args.object)
    return amend(reply, "obj_attributes", type=Ftype3(8)) if inode.kind is Kind.FIFO else reply


@mutant(GETATTR)
def getattr3_mode_includes_the_type(call: Getattr) -> Getattr3Res:
    """GETATTR adds the type bits of st_mode to the mode of files"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(call.args.object)
    attributes = reply.resok.obj_attributes
    if inode.kind is not Kind.REGULAR or inode.size:
        return reply
    return amend(reply, "obj_attributes", mode=attributes.mode | _S_IFREG)


@mutant(GETATTR)
def getattr3_rounds_small_sizes_up(call: Getattr) -> Getattr3Res:
    """GETATTR returns size 8 for a file of 1 to 3 bytes"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(call.args.object)
    is_small = inode.kind is Kind.REGULAR and 1 <= inode.size <= 3
    return amend(reply, "obj_attributes", size=8) if is_small else reply


@mutant(GETATTR)
def getattr3_truncates_size(call: Getattr) -> Getattr3Res:
    """GETATTR returns only the lower 32 bits of a size"""
    return amend(call.proceed(), "obj_attributes", size=lambda it: it.size & 0xFFFF_FFFF)


@mutant(GETATTR)
def getattr3_returns_a_billion_nanoseconds(call: Getattr) -> Getattr3Res:
    """GETATTR returns the atime of a directory with one second less and a billion nanoseconds more"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(call.args.object)
    attributes = reply.resok.obj_attributes
    if not _is_subdirectory(inode):
        return reply
    atime = attributes.atime
    return amend(reply, "obj_attributes", atime=Nfstime3(atime.seconds - 1, atime.nseconds + _SECOND))


@mutant(GETATTR)
def getattr3_fileid_of_the_parent(call: Getattr) -> Getattr3Res:
    """GETATTR of a directory returns the fileid of its parent"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(call.args.object)
    parent = None if inode.directory is None else inode.directory.parent
    if parent is None or parent is inode.fs.root:
        return reply
    return amend(reply, "obj_attributes", fileid=parent.fileid)


@mutant(GETATTR)
def getattr3_fileid_changes_with_nlink(call: Getattr) -> Getattr3Res:
    """The fileid of a file changes with the number of its names"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(call.args.object)
    attributes = reply.resok.obj_attributes
    if inode.directory is not None:
        return reply
    return amend(reply, "obj_attributes", fileid=attributes.fileid + (inode.nlink - 1 << 32))


@mutant(GETATTR)
def getattr3_nlink_is_always_1(call: Getattr) -> Getattr3Res:
    """GETATTR returns nlink 1 for every file"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(call.args.object)
    return reply if inode.directory is not None else amend(reply, "obj_attributes", nlink=1)


@mutant(GETATTR)
def getattr3_changes_mtime(call: Getattr) -> Getattr3Res:
    """GETATTR of an empty directory changes its mtime"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(call.args.object)
    if inode.directory is None or len(inode.directory) or inode is inode.fs.root:
        return reply
    inode.mtime = inode.fs.stamp()
    return amend(reply, obj_attributes=fattr3(inode))


# ---------------------------------------------------------------- GETATTR: clients and users


@mutant((GETATTR, WRITE))
def getattr3_caches_files_by_connection(call: AnyCall) -> t.Any:
    """GETATTR repeats its last answer on this connection after another connection has written"""
    state = call.state
    writers: dict[bytes, Address] = state.setdefault("writers", {})
    replies: dict[tuple[Address, bytes], Getattr3Res] = state.setdefault("replies", {})
    if call.operation is WRITE:
        writers[call.args.file] = call.peer
        return call.proceed()
    known = replies.get((call.peer, call.args.object))
    if known is not None and writers.get(call.args.object, call.peer) != call.peer:
        return known
    reply = replies[call.peer, call.args.object] = call.proceed()
    return reply


@mutant(GETATTR)
def getattr3_owner_is_the_caller(call: Getattr) -> Getattr3Res:
    """GETATTR returns the caller as the owner of a file, unless the caller is root"""
    reply = call.proceed()
    uid = call.caller.uid
    if reply.resok is None or uid == 0 or reply.resok.obj_attributes.type != Ftype3.NF3REG:
        return reply
    return replace(reply, resok=Getattr3ResOk(replace(reply.resok.obj_attributes, uid=uid)))


_DEVICES: t.Final = frozenset({Ftype3.NF3BLK, Ftype3.NF3CHR})


# ---------------------------------------------------------------- GETATTR, LOOKUP, ACCESS, READLINK


def _amend_types(call: Getattr, types: t.Collection[Ftype3], **changes: t.Any) -> Getattr3Res:
    """Change the attributes of objects of some types."""
    reply = call.proceed()
    if reply.resok is None or reply.resok.obj_attributes.type not in types:
        return reply
    return amend(reply, "obj_attributes", **changes)


@mutant(GETATTR)
def getattr3_reports_special_files_as_regular(call: Getattr) -> Getattr3Res:
    """GETATTR reports devices and sockets as regular files"""
    return _amend_types(call, _DEVICES | {Ftype3.NF3SOCK}, type=Ftype3.NF3REG)


@mutant(GETATTR)
def getattr3_omits_device_numbers(call: Getattr) -> Getattr3Res:
    """GETATTR omits the numbers of devices"""
    return _amend_types(call, _DEVICES, rdev=Specdata3(0, 0))
