# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_model.py catch: each shows only after several calls in a row."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    COMMIT,
    CREATE,
    GETATTR,
    LINK,
    READDIR,
    READDIRPLUS,
    REMOVE,
    SETATTR,
    WRITE,
    Readdirplus3Res,
    Sattr3,
    Setattr3Res,
    StableHow,
    Write3Res,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend, child_of, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import with_data
from nfsmutants.nfs3.calls import Readdirplus, Setattr, Write
from nfsmutants.rules import RFC1813_DATA_TYPES, RFC1813_SETATTR, RFC1813_WRITE


@mutant((WRITE, COMMIT))
def write3_second_unstable_keeps_mtime(call: AnyCall) -> t.Any:
    """WRITE with UNSTABLE sets mtime if the file has no uncommitted data yet, and keeps it if it has"""
    inode = inode_of(call.server, call.args.file)
    dirty = call.state.setdefault("dirty", set())
    if inode is None or call.operation is COMMIT:
        dirty.discard(inode.fileid if inode is not None else None)
        return call.proceed()
    mtime, reply = inode.mtime, call.proceed()
    if call.args.stable is StableHow.UNSTABLE and reply.status == 0:
        if inode.fileid in dirty:
            inode.mtime = mtime
        dirty.add(inode.fileid)
    return reply


@mutant(WRITE, breaks=RFC1813_WRITE)
def write3_large_unaligned_loses_a_byte(call: Write) -> Write3Res:
    """WRITE of more than 64 KiB at an offset that is not a multiple of four stores a zero as its last byte"""
    data = bytes(call.args.data)
    if len(data) <= 65_536 or call.args.offset % 4 == 0:
        return call.proceed()
    return call.proceed(with_data(call.args, data[:-1] + b"\0"))


@mutant(SETATTR, breaks=RFC1813_SETATTR)
def setattr3_size_drops_the_mode(call: Setattr) -> Setattr3Res:
    """SETATTR with a size and a mode sets the size only"""
    new = call.args.new_attributes
    if new.size is None or new.mode is None:
        return call.proceed()
    return call.proceed_with(new_attributes=replace(new, mode=None))


@mutant(SETATTR, breaks=RFC1813_SETATTR)
def setattr3_mode_drops_the_mtime(call: Setattr) -> Setattr3Res:
    """SETATTR with a mode and an mtime sets the mode only"""
    new = call.args.new_attributes
    if new.mode is None:
        return call.proceed()
    return call.proceed_with(new_attributes=replace(new, mtime=Sattr3().mtime))


@mutant(READDIRPLUS, breaks=RFC1813_DATA_TYPES)
def readdirplus3_attributes_by_connection(call: Readdirplus) -> Readdirplus3Res:
    """READDIRPLUS returns the attributes of a file that the same connection has got first"""
    reply, known = call.proceed(), call.state.setdefault(call.peer, {})
    if reply.resok is None:
        return reply
    entries = [
        entry
        if entry.name_attributes is None
        else replace(entry, name_attributes=known.setdefault(entry.fileid, entry.name_attributes))
        for entry in reply.resok.entries
    ]
    return amend(reply, entries=entries)


@mutant((READDIR, READDIRPLUS), breaks=RFC1813_DATA_TYPES)
def readdir3_gives_two_entries_a_cookie(call: AnyCall) -> t.Any:
    """READDIR and READDIRPLUS give the last entry of a page of five or more the cookie of the one before it"""
    reply = call.proceed()
    if reply.resok is None or len(reply.resok.entries) < 5 or not reply.resok.eof:
        return reply
    *others, before, last = reply.resok.entries
    return amend(reply, entries=[*others, before, replace(last, cookie=before.cookie)])


@mutant((REMOVE, CREATE, GETATTR), breaks=RFC1813_DATA_TYPES)
def create3_reuses_the_fileid_of_a_linked_file(call: AnyCall) -> t.Any:
    """CREATE gives a file the fileid of one that lost a name by REMOVE, though that has another name still"""
    if call.operation is REMOVE:
        removed = child_of(call.server, call.args.object.dir, call.args.object.name)
        reply = call.proceed()
        if reply.status == 0 and removed is not None:
            call.state["free"] = removed.fileid
        return reply
    reply = call.proceed()
    if call.operation is CREATE:
        made = child_of(call.server, call.args.where.dir, call.args.where.name)
        if reply.status == 0 and made is not None and "free" in call.state:
            call.state.setdefault("given", {})[made.fileid, made.generation] = call.state.pop("free")
        return reply
    inode = inode_of(call.server, call.args.object)
    given = call.state.get("given", {})
    if inode is None or (inode.fileid, inode.generation) not in given:
        return reply
    return amend(reply, "obj_attributes", fileid=given[inode.fileid, inode.generation])


@mutant(LINK, breaks=RFC1813_DATA_TYPES)
def link3_sets_ctime_to_mtime(call: AnyCall) -> t.Any:
    """LINK sets ctime of the file to its mtime"""
    reply, inode = call.proceed(), inode_of(call.server, call.args.file)
    if inode is not None:
        inode.ctime = inode.mtime
    return reply
