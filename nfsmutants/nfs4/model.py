# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_model.py catch: each shows only after several operations in a row."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs3
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import StableHow4
from nfsclient.xdr import replace
from nfsmutants.bending import amend, child_of, inode_of
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, succeeded
from nfsmutants.rules import (
    RFC5661_ATTRIBUTES,
    RFC5661_CHANGE_INFO,
    RFC5661_LOOKUP,
    RFC5661_SETATTR,
    RFC5661_WRITE,
)
from nfsserver.nfs4.common import compound_of

Getattr = Call[p.Getattr4Args, p.Getattr4Res]
Readdir = Call[p.Readdir4Args, p.Readdir4Res]
Setattr = Call[p.Setattr4Args, p.Setattr4Res]
Write = Call[p.Write4Args, p.Write4Res]


@mutant(p.GETATTR)
def getattr4_change_comes_again(call: Getattr) -> p.Getattr4Res:
    """GETATTR returns the change attribute modulo eight: after eight changes it is what it was"""
    result = call.proceed()
    seen = result.resok4.obj_attributes.change if result.resok4 is not None else None
    if seen is None:
        return result
    return amend4(result, obj_attributes=lambda it: it.obj_attributes.changed(change=seen % 8))


@mutant((p.WRITE, p.COMMIT), breaks=RFC5661_WRITE)
def write4_second_unstable_keeps_time_modify(call: AnyCall) -> t.Any:
    """WRITE with UNSTABLE4 sets time_modify if the file has no uncommitted data yet, and keeps it if it has"""
    inode, dirty = compound_of(call.context).current, call.state.setdefault("dirty", set())
    if inode is None or call.operation is p.COMMIT:
        dirty.discard(inode.fileid if inode is not None else None)
        return call.proceed()
    mtime, result = inode.mtime, call.proceed()
    if call.args.stable is StableHow4.UNSTABLE4 and result.resok4 is not None:
        if inode.fileid in dirty:
            inode.mtime = mtime
        dirty.add(inode.fileid)
    return result


@mutant(p.WRITE)
def write4_large_unaligned_loses_a_byte(call: Write) -> p.Write4Res:
    """WRITE of more than 64 KiB at an offset that is not a multiple of four stores a zero as its last byte"""
    data = bytes(call.args.data)
    if len(data) <= 65_536 or call.args.offset % 4 == 0:
        return call.proceed()
    return call.proceed_with(data=data[:-1] + b"\0")


@mutant(p.WRITE, breaks=RFC5661_WRITE)
def write4_gap_repeats_the_data(call: Write) -> p.Write4Res:
    """WRITE beyond the end fills the byte before its data with the first byte of the data"""
    inode, data = compound_of(call.context).current, bytes(call.args.data)
    if inode is None or inode.data is None or not data or call.args.offset <= inode.size:
        return call.proceed()
    result = call.proceed_with(offset=call.args.offset - 1, data=data[:1] + data)
    return amend4(result, count=lambda it: max(0, it.count - 1))


@mutant(p.SETATTR)
def setattr4_size_drops_the_mode(call: Setattr) -> p.Setattr4Res:
    """SETATTR with a size and a mode sets the size only, and says that it has set both"""
    new = call.args.obj_attributes
    if new.size is None or new.mode is None:
        return call.proceed()
    result = call.proceed_with(obj_attributes=new.changed(mode=None))
    return replace(result, attrsset=new.attrmask) if succeeded(result) else result


@mutant(p.SETATTR, breaks=RFC5661_SETATTR)
def setattr4_size_keeps_time_modify(call: Setattr) -> p.Setattr4Res:
    """SETATTR of the size keeps time_modify"""
    inode = compound_of(call.context).current
    if inode is None or call.args.obj_attributes.size is None:
        return call.proceed()
    mtime, result = inode.mtime, call.proceed()
    inode.mtime = mtime
    return result


@mutant(p.LOOKUP, breaks=RFC5661_LOOKUP)
def lookup4_remembers_what_it_found(call: Call[p.Lookup4Args, p.Lookup4Res]) -> p.Lookup4Res:
    """LOOKUP of a name that the same client has found before finds that object again, while it exists"""
    state = compound_of(call.context)
    directory, known = state.current, call.state.setdefault(call.peer, {})
    key = (directory, bytes(call.args.objname))
    result = call.proceed()
    if result.status == 0:
        known[key] = state.current
    elif key in known and known[key] is not None and known[key].nlink:
        state.current, state.handle = known[key], None
        return p.Lookup4Res(p.Nfsstat4.NFS4_OK)
    return result


@mutant(p.READDIR)
def readdir4_repeats_a_cookie(call: Readdir) -> p.Readdir4Res:
    """READDIR of a page with three entries or more gives the second entry the cookie of the first"""
    result = call.proceed()
    entries = list(result.resok4.reply.entries) if result.resok4 is not None else []
    if len(entries) < 3:
        return result
    entries[1] = replace(entries[1], cookie=entries[0].cookie)
    return amend4(result, "reply", entries=entries)


@mutant(p.RENAME)
def rename4_over_a_link_keeps_numlinks(call: Call[p.Rename4Args, p.Rename4Res]) -> p.Rename4Res:
    """RENAME over one of several names of a file keeps numlinks of that file"""
    target = compound_of(call.context).current
    entries = None if target is None else target.directory
    replaced = None if entries is None else entries.get(bytes(call.args.newname))
    result = call.proceed()
    if result.resok4 is not None and replaced is not None and replaced.nlink:
        replaced.nlink += 1
    return result


@mutant(p.GETATTR, breaks=RFC5661_ATTRIBUTES)
def getattr4_fileid_of_files_is_short(call: Getattr) -> p.Getattr4Res:
    """GETATTR returns a fileid of two bits"""
    result = call.proceed()
    seen = result.resok4.obj_attributes.fileid if result.resok4 is not None else None
    if seen is None:
        return result
    return amend4(result, obj_attributes=lambda it: it.obj_attributes.changed(fileid=4 + seen % 4))


@mutant(p.GETATTR, breaks=RFC5661_ATTRIBUTES)
def getattr4_empty_files_are_fifos(call: Getattr) -> p.Getattr4Res:
    """GETATTR of an empty regular file says that it is a FIFO"""
    inode, result = compound_of(call.context).current, call.proceed()
    if inode is None or inode.data is None or inode.size or result.resok4 is None:
        return result
    if result.resok4.obj_attributes.type is None:
        return result
    return amend4(result, obj_attributes=lambda it: it.obj_attributes.changed(type=p.NfsFtype4.NF4FIFO))


@mutant(p.REMOVE, breaks=RFC5661_CHANGE_INFO)
def remove4_before_is_older(call: Call[p.Remove4Args, p.Remove4Res]) -> p.Remove4Res:
    """REMOVE returns a change from before it that the directory does not have"""
    return amend4(call.proceed(), "cinfo", before=lambda it: it.before - 1)


@mutant((nfs3.GETATTR, nfs3.WRITE, nfs3.SETATTR, nfs3.CREATE))
def getattr3_size_is_that_of_nfs3(call: AnyCall) -> t.Any:
    """GETATTR returns the size that the last call by NFSv3 has left, whatever NFSv4 has done since"""
    reply, sizes = call.proceed(), call.state.setdefault("sizes", {})
    if call.operation is nfs3.CREATE:
        inode = child_of(call.server, call.args.where.dir, call.args.where.name)
    else:
        inode = inode_of(call.server, call.args.file if call.operation is nfs3.WRITE else call.args.object)
    if inode is None or inode.data is None:
        return reply
    key = (inode.fileid, inode.generation)
    if call.operation is not nfs3.GETATTR:
        sizes[key] = inode.size
        return reply
    return amend(reply, "obj_attributes", size=sizes.setdefault(key, inode.size))


@mutant(p.GETATTR, breaks=RFC5661_ATTRIBUTES)
def getattr4_rounds_large_sizes_up(call: Getattr) -> p.Getattr4Res:
    """GETATTR of a size above 4096 returns the next multiple of 512"""
    result = call.proceed()
    seen = result.resok4.obj_attributes.size if result.resok4 is not None else None
    if seen is None or seen <= 4096:
        return result
    return amend4(result, obj_attributes=lambda it: it.obj_attributes.changed(size=-(-seen // 512) * 512))


@mutant(p.LINK, breaks=RFC5661_ATTRIBUTES)
def link4_sets_time_metadata_to_time_modify(call: Call[p.Link4Args, p.Link4Res]) -> p.Link4Res:
    """LINK sets time_metadata of the file to its time_modify"""
    inode, result = compound_of(call.context).saved, call.proceed()
    if inode is not None and result.resok4 is not None:
        inode.ctime = inode.mtime
    return result
