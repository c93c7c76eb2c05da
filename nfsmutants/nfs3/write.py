# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_write.py catch."""

from __future__ import annotations

import typing as t
import zlib

from nfsclient.protocol.nfs3 import (
    COMMIT,
    CREATE,
    READ,
    WRITE,
    Ftype3,
    Nfsstat3,
    StableHow,
    WccAttr,
    Write3Res,
    Write3ResOk,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend, change, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import BLOCK, refuse_write, size_of, with_data
from nfsmutants.nfs3.calls import Write
from nfsserver.fs import Kind
from nfsserver.nfs3.common import Watched, nfstime3

# ---------------------------------------------------------------- WRITE: count


@mutant(WRITE)
def write3_reports_more_than_sent(call: Write) -> Write3Res:
    """WRITE answers one byte more than it was sent"""
    return amend(call.proceed(), count=lambda it: it.count + 1)


@mutant(WRITE)
def write3_accepts_nothing(call: Write) -> Write3Res:
    """WRITE of a single byte answers OK and count 0"""
    return call.proceed(with_data(call.args, b"")) if len(call.args.data) == 1 else call.proceed()


@mutant(WRITE)
def write3_above_wtmax_counts_all(call: Write) -> Write3Res:
    """WRITE of more than wtmax writes wtmax bytes and answers that all were written"""
    reply = call.proceed()
    is_short = len(call.args.data) > call.backend.transfers(call.context).write_max
    return amend(reply, count=len(call.args.data)) if is_short else reply


@mutant(WRITE)
def write3_drops_unaligned_tail(call: Write) -> Write3Res:
    """WRITE loses the last byte of data with a length that is not a multiple of four, and counts it"""
    args = call.args
    if len(args.data) < 4 or len(args.data) % 4 == 0 or args.count != len(args.data):
        return call.proceed()
    return amend(call.proceed(with_data(args, bytes(args.data)[:-1])), count=args.count)


@mutant(WRITE)
def write3_trusts_count(call: Write) -> Write3Res:
    """WRITE with a count above the length of its data writes count bytes, including those after the data"""
    if not len(call.args.data) < call.args.count < 2**16:
        return call.proceed()
    return call.proceed(with_data(call.args, bytes(call.args.data).ljust(call.args.count, b"?")))


@mutant(WRITE)
def write3_ignores_count(call: Write) -> Write3Res:
    """WRITE with a count below the length of its data writes all of the data"""
    return (
        call.proceed_with(count=len(call.args.data))
        if call.args.count < len(call.args.data)
        else call.proceed()
    )


@mutant(WRITE)
def write3_refuses_no_data(call: Write) -> Write3Res:
    """WRITE of 0 bytes answers NFS3ERR_INVAL"""
    return call.proceed() if call.args.count else refuse_write(call, Nfsstat3.NFS3ERR_INVAL)


# ---------------------------------------------------------------- WRITE: stability


@mutant(WRITE)
def write3_file_sync_is_unstable(call: Write) -> Write3Res:
    """WRITE with FILE_SYNC answers UNSTABLE"""
    reply = call.proceed()
    return amend(reply, committed=StableHow.UNSTABLE) if call.args.stable is StableHow.FILE_SYNC else reply


@mutant(WRITE)
def write3_treats_data_sync_as_unstable(call: Write) -> Write3Res:
    """WRITE with DATA_SYNC writes and answers as with UNSTABLE"""
    is_data_sync = call.args.stable is StableHow.DATA_SYNC
    return call.proceed_with(stable=StableHow.UNSTABLE) if is_data_sync else call.proceed()


@mutant(WRITE)
def write3_returns_unknown_committed(call: Write) -> Write3Res:
    """WRITE with UNSTABLE answers an unknown stable_how"""
    reply = call.proceed()
    return amend(reply, committed=StableHow(3)) if call.args.stable is StableHow.UNSTABLE else reply


@mutant(WRITE)
def write3_verifier_by_stability(call: Write) -> Write3Res:
    """WRITE returns another verifier if it committed the data at once"""
    reply = call.proceed()
    return reply if call.args.stable is StableHow.UNSTABLE else amend(reply, verf=bytes(8))


@mutant((WRITE, COMMIT))
def write3_verifier_by_connection(call: AnyCall) -> t.Any:
    """WRITE and COMMIT return a separate verifier for each connection"""
    return amend(call.proceed(), verf=call.backend.codec.token(b"connection", call.peer[1]))


@mutant((WRITE, COMMIT))
def write3_verifier_by_file(call: AnyCall) -> t.Any:
    """WRITE and COMMIT return a separate verifier for each file"""
    return amend(call.proceed(), verf=call.backend.codec.token(b"file", zlib.crc32(call.args.file)))


# ---------------------------------------------------------------- WRITE: data of the file


@mutant(WRITE)
def write3_appends_whole_blocks(call: Write) -> Write3Res:
    """WRITE at the end of a file rounds its size up to a multiple of 512"""
    data = bytes(call.args.data)
    if not data or not 0 < call.args.offset == size_of(call.server, call.args.file):
        return call.proceed()
    padded = with_data(call.args, data + bytes(-(call.args.offset + len(data)) % BLOCK))
    return amend(call.proceed(padded), count=len(data))


@mutant(WRITE)
def write3_fills_gap(call: Write) -> Write3Res:
    """A WRITE beyond the end leaves garbage between the old end and its data"""
    size = size_of(call.server, call.args.file)
    if size < call.args.offset < size + 2**16 and call.args.data:
        call.proceed(with_data(call.args, b"junk".ljust(call.args.offset - size, b"!"), size))
    return call.proceed()


@mutant(WRITE)
def write3_truncates_after_the_data(call: Write) -> Write3Res:
    """WRITE at the beginning of a file discards everything after its data"""
    args = call.args
    inode = inode_of(call.server, args.file)
    is_cut = args.offset == 0 and 0 < len(args.data) == args.count < size_of(call.server, args.file)
    if is_cut and inode is not None and inode.data is not None:
        inode.data.truncate(len(args.data))
    return call.proceed()


@mutant(WRITE)
def write3_wraps_around(call: Write) -> Write3Res:
    """WRITE of a range that continues beyond the largest offset writes the beginning of the file"""
    room = 2**64 - call.args.offset
    if room >= len(call.args.data):
        return call.proceed()
    return call.proceed(with_data(call.args, bytes(call.args.data)[room:], 0))


@mutant((READ, WRITE, COMMIT))
def write3_hides_unstable_data(call: AnyCall) -> t.Any:
    """Data written with UNSTABLE reads as zeros on other connections until COMMIT"""
    writers = call.state
    file = call.args.file.hex()
    reply = call.proceed()
    if call.operation is COMMIT:
        writers.pop(file, None)
    elif call.operation is WRITE and call.args.stable is StableHow.UNSTABLE:
        writers[file] = call.peer
    elif reply.resok is not None and writers.get(file, call.peer) != call.peer:
        return amend(reply, data=bytes(reply.resok.count))
    return reply


@mutant((WRITE, CREATE))
def write3_removed_handle_writes_the_newest_file(call: AnyCall) -> t.Any:
    """WRITE with the handle of a removed file changes the newest file"""
    reply = call.proceed()
    state = call.state
    if call.operation is CREATE:
        if reply.resok is not None:
            state["handle"] = reply.resok.obj
        return reply
    if reply.status != Nfsstat3.NFS3ERR_STALE or state.get("handle") is None:
        return reply
    return call.proceed_with(file=state["handle"])


# ---------------------------------------------------------------- WRITE: attributes and other objects


@mutant(WRITE)
def write3_before_is_after(call: Write) -> Write3Res:
    """The pre-operation attributes of WRITE are taken after the operation"""
    reply = call.proceed()
    after = None if reply.resok is None else reply.resok.file_wcc.after
    if reply.resok is None or after is None:
        return reply
    before = WccAttr(after.size, after.mtime, after.ctime)
    return amend(reply, file_wcc=replace(reply.resok.file_wcc, before=before))


@mutant(WRITE)
def write3_after_is_before(call: Write) -> Write3Res:
    """The post-operation attributes of WRITE have the size from before the operation"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    wcc = reply.resok.file_wcc
    if wcc.before is None or wcc.after is None:
        return reply
    return amend(reply, file_wcc=change(wcc, "after", size=wcc.before.size))


@mutant(WRITE)
def write3_keeps_mtime(call: Write) -> Write3Res:
    """WRITE does not update mtime"""
    inode = inode_of(call.server, call.args.file)
    mtime = None if inode is None else inode.mtime
    reply = call.proceed()
    if reply.resok is None or inode is None or mtime is None:
        return reply
    inode.mtime = mtime
    wcc = reply.resok.file_wcc
    if wcc.after is None:
        return reply
    return amend(reply, file_wcc=change(wcc, "after", mtime=nfstime3(mtime)))


@mutant(WRITE)
def write3_no_data_changes_mtime(call: Write) -> Write3Res:
    """WRITE of 0 bytes sets mtime"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.file)
    if inode is not None and not call.args.data:
        inode.mtime = inode.fs.stamp()
    return reply


@mutant(WRITE)
def write3_no_data_extends(call: Write) -> Write3Res:
    """WRITE of 0 bytes beyond the end extends the file"""
    inode = inode_of(call.server, call.args.file)
    if not call.args.data and inode is not None and inode.data is not None and inode.size < call.args.offset:
        inode.data.truncate(call.args.offset)
    return call.proceed()


@mutant(WRITE)
def write3_no_data_truncates(call: Write) -> Write3Res:
    """WRITE of 0 bytes cuts the file off at its offset"""
    inode = inode_of(call.server, call.args.file)
    if not call.args.data and inode is not None and inode.data is not None and inode.size > call.args.offset:
        inode.data.truncate(call.args.offset)
    return call.proceed()


@mutant(WRITE)
def write3_answers_isdir(call: Write) -> Write3Res:
    """WRITE to a directory answers NFS3ERR_ISDIR, as in NFSv2"""
    reply = call.proceed()
    after = None if reply.resfail is None else reply.resfail.file_wcc.after
    if after is None or after.type is not Ftype3.NF3DIR:
        return reply
    return refuse_write(call, Nfsstat3.NFS3ERR_ISDIR)


@mutant(WRITE)
def write3_overwrites_symlinks(call: Write) -> Write3Res:
    """WRITE to a symbolic link replaces its text"""
    watched = Watched(call.server, call.args.file)
    inode = inode_of(call.server, call.args.file)
    if inode is None or inode.kind is not Kind.SYMLINK:
        return call.proceed()
    inode.target = bytes(call.args.data)
    resok = Write3ResOk(watched.wcc(), call.args.count, StableHow.FILE_SYNC, call.backend.write_verifier)
    return Write3Res(Nfsstat3.NFS3_OK, resok)
