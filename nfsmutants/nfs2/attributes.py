# SPDX-License-Identifier: MIT
"""Mutants of GETATTR and STATFS."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import (
    GETATTR,
    STATFS,
    Attrstat,
    Ftype,
    Statfsres,
    Timeval,
)
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs2.calls import Getattr, Statfs
from nfsmutants.rules import RFC1094_ATTRIBUTES, RFC1094_GETATTR, RFC1094_STATFS, RFC1094_TIMES, RFC1094_TYPES


@mutant(GETATTR, RFC1094_TYPES)
def getattr2_tells_a_wrong_type(call: Getattr) -> Attrstat:
    """GETATTR says that every object is a device"""
    return amend(call.proceed(), type=Ftype.NFCHR)


@mutant(GETATTR, RFC1094_ATTRIBUTES)
def getattr2_mode_lacks_the_type(call: Getattr) -> Attrstat:
    """GETATTR leaves the type bits out of mode"""
    return amend(call.proceed(), mode=lambda it: it.mode & 0o7777)


@mutant(GETATTR, RFC1094_ATTRIBUTES)
def getattr2_rounds_the_size(call: Getattr) -> Attrstat:
    """GETATTR gives the size of files one byte too large"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    attributes = reply.resok
    return amend(reply, size=attributes.size + 1) if attributes.type is Ftype.NFREG else reply


@mutant(GETATTR, RFC1094_ATTRIBUTES)
def getattr2_counts_a_name_too_many(call: Getattr) -> Attrstat:
    """GETATTR counts a name too many where a file has one"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    attributes = reply.resok
    single = attributes.type is Ftype.NFREG and attributes.nlink == 1
    return amend(reply, nlink=2) if single else reply


@mutant(GETATTR, RFC1094_ATTRIBUTES)
def getattr2_shares_a_fileid(call: Getattr) -> Attrstat:
    """GETATTR gives two neighbouring files the same fileid"""
    return amend(call.proceed(), fileid=lambda it: it.fileid & ~63)


@mutant(GETATTR, RFC1094_ATTRIBUTES)
def getattr2_fileid_changes_with_the_size(call: Getattr) -> Attrstat:
    """GETATTR makes fileid out of number and size"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    attributes = reply.resok
    is_file = attributes.type is Ftype.NFREG
    return amend(reply, fileid=attributes.fileid + attributes.size) if is_file else reply


@mutant(GETATTR, RFC1094_ATTRIBUTES)
def getattr2_fsid_is_that_of_the_object(call: Getattr) -> Attrstat:
    """GETATTR gives every object but the root a different fsid"""
    return amend(call.proceed(), fsid=lambda it: it.fileid)


@mutant(GETATTR, RFC1094_TIMES)
def getattr2_has_too_many_microseconds(call: Getattr) -> Attrstat:
    """GETATTR gives nanoseconds for microseconds"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    attributes = reply.resok
    late = {
        name: Timeval(getattr(attributes, name).seconds, getattr(attributes, name).useconds + 1_000_000)
        for name in ("atime", "mtime", "ctime")
    }
    return amend(reply, **late)


@mutant(GETATTR, RFC1094_ATTRIBUTES)
def getattr2_keeps_old_mtime(call: Getattr) -> Attrstat:
    """GETATTR goes on to give the mtime of a file that it gave first"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    return amend(reply, mtime=call.state.setdefault(call.args.file.hex(), reply.resok.mtime))


@mutant(GETATTR, RFC1094_GETATTR)
def getattr2_changes_the_mode(call: Getattr) -> Attrstat:
    """GETATTR changes the mode of what it is asked about"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = inode_of(call.server, call.args.file)
    if inode is not None:
        inode.mode ^= 0o001
    return reply


# ---------------------------------------------------------------- STATFS


@mutant(STATFS, RFC1094_STATFS)
def statfs2_has_blocks_of_no_bytes(call: Statfs) -> Statfsres:
    """STATFS says that blocks have no bytes"""
    return amend(call.proceed(), bsize=0)


@mutant(STATFS, RFC1094_STATFS)
def statfs2_wants_no_bytes(call: Statfs) -> Statfsres:
    """STATFS says that the best size of a transfer is 0"""
    return amend(call.proceed(), tsize=0)


@mutant(STATFS, RFC1094_STATFS)
def statfs2_frees_more_than_there_is(call: Statfs) -> Statfsres:
    """STATFS says that more blocks are free than there are"""
    return amend(call.proceed(), bfree=lambda it: it.blocks + 1)


@mutant(STATFS, RFC1094_STATFS)
def statfs2_gives_users_more_than_is_free(call: Statfs) -> Statfsres:
    """STATFS says that users may have more blocks than are free"""
    return amend(call.proceed(), bavail=lambda it: it.bfree + 1)


@mutant(STATFS, RFC1094_STATFS)
def statfs2_differs_by_object(call: Statfs) -> Statfsres:
    """STATFS counts in other blocks for what is no directory"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    info = reply.resok
    inode = inode_of(call.server, call.args.file)
    other = inode is not None and inode.directory is None
    return amend(reply, bsize=info.bsize // 2, blocks=info.blocks * 2) if other else reply
