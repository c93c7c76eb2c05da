# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_read.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import CREATE, READ, Ftype3, Nfsstat3, Read3Res, Read3ResFail, Read3ResOk
from nfsclient.xdr import replace
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import FAR, LARGE, is_special_file, refuse_read
from nfsmutants.nfs3.calls import Read
from nfsmutants.rules import (
    RFC1813_DATA_TYPES,
    RFC1813_FSINFO,
)
from nfsserver.fs import Kind
from nfsserver.nfs3.common import Watched, fattr3

# ---------------------------------------------------------------- READ


@mutant(READ)
def read3_rotates_data_beyond_2g(call: Read) -> Read3Res:
    """READ near 2 GiB and beyond returns its first byte last, or a zero if it reads a single byte"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    data = bytes(reply.resok.data)
    if call.args.offset < FAR:
        return reply
    return amend(reply, data=data[1:] + data[:1]) if len(data) > 1 else amend(reply, data=bytes(len(data)))


@mutant(READ)
def read3_carries_more_than_it_counts(call: Read) -> Read3Res:
    """READ of a few bytes carries a hundred more than it counts, if the file has them"""
    reply = call.proceed()
    if reply.resok is None or call.args.count >= 100:
        return reply
    more = call.proceed_with(count=call.args.count + 100)
    return reply if more.resok is None else amend(reply, data=bytes(more.resok.data))


@mutant(READ)
def read3_rotates_large_reads(call: Read) -> Read3Res:
    """READ of more than 64 KiB returns its first byte last"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    data = bytes(reply.resok.data)
    return amend(reply, data=data[1:] + data[:1]) if call.args.count > LARGE else reply


@mutant(READ)
def read3_over_udp_zeroes_the_last_byte(call: Read) -> Read3Res:
    """READ over UDP returns a zero instead of the last byte"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    data = bytes(reply.resok.data)
    return amend(reply, data=data[:-1] + b"\0") if call.context.transport == "udp" and data else reply


@mutant(READ)
def read3_refuses_far_offsets(call: Read) -> Read3Res:
    """READ beyond the end of a file answers INVAL from an offset of 2 GiB - 1 on"""
    inode = inode_of(call.server, call.args.file)
    if inode is None or not max(2**31 - 1, inode.size) <= call.args.offset <= 2**64 - call.args.count:
        return call.proceed()
    return refuse_read(call, Nfsstat3.NFS3ERR_INVAL)


@mutant(READ)
def read3_beyond_has_bytes(call: Read) -> Read3Res:
    """READ at or beyond the end of a file returns the bytes of a buffer"""
    reply = call.proceed()
    is_empty = reply.resok is not None and not reply.resok.count
    return amend(reply, data=b"junk", count=4) if is_empty and call.args.offset and call.args.count else reply


@mutant(READ, breaks=RFC1813_FSINFO)
def read3_refuses_large_reads(call: Read) -> Read3Res:
    """READ of more than half of rtmax answers INVAL"""
    most = call.backend.transfers(call.context).read_max
    if not most // 2 < call.args.count <= most:
        return call.proceed()
    return refuse_read(call, Nfsstat3.NFS3ERR_INVAL)


@mutant(READ)
def read3_wrong_type_is_io(call: Read) -> Read3Res:
    """READ of a FIFO, socket or device answers IO"""
    if not is_special_file(call.server, call.args.file):
        return call.proceed()
    return refuse_read(call, Nfsstat3.NFS3ERR_IO)


@mutant(READ)
def read3_ignores_eof(call: Read) -> Read3Res:
    """READ never returns eof"""
    return amend(call.proceed(), eof=False)


@mutant(READ)
def read3_eof_only_when_short(call: Read) -> Read3Res:
    """READ returns eof only with fewer bytes than requested"""
    reply = call.proceed()
    is_full = reply.resok is not None and 0 < reply.resok.count == call.args.count
    return amend(reply, eof=False) if is_full else reply


@mutant(READ)
def read3_eof_before_the_end(call: Read) -> Read3Res:
    """READ returns eof whenever it returns all requested bytes"""
    reply = call.proceed()
    is_full = reply.resok is not None and 0 < reply.resok.count == call.args.count
    return amend(reply, eof=True) if is_full else reply


@mutant(READ)
def read3_empty_file_lacks_eof(call: Read) -> Read3Res:
    """READ of an empty file does not return eof"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.file)
    return amend(reply, eof=False) if inode is not None and not inode.size else reply


@mutant(READ)
def read3_refuses_offset_at_the_end(call: Read) -> Read3Res:
    """READ at or beyond the end of a file answers NFS3ERR_INVAL"""
    inode = inode_of(call.server, call.args.file)
    if inode is not None and inode.kind is Kind.REGULAR and 0 < inode.size <= call.args.offset < 2**63:
        return refuse_read(call, Nfsstat3.NFS3ERR_INVAL)
    return call.proceed()


@mutant(READ)
def read3_refuses_count_zero(call: Read) -> Read3Res:
    """READ of 0 bytes answers NFS3ERR_INVAL"""
    return call.proceed() if call.args.count else refuse_read(call, Nfsstat3.NFS3ERR_INVAL)


@mutant(READ)
def read3_returns_more_than_count(call: Read) -> Read3Res:
    """READ rounds count up to a multiple of four"""
    return call.proceed_with(count=call.args.count + -call.args.count % 4)


@mutant(READ)
def read3_count_echoes_request(call: Read) -> Read3Res:
    """A short READ returns the requested count, not that of its data"""
    reply = call.proceed()
    return amend(reply, count=call.args.count) if reply.resok is not None and reply.resok.count else reply


@mutant(READ)
def read3_aligns_offset(call: Read) -> Read3Res:
    """READ returns data from the multiple of four below offset"""
    reply = call.proceed()
    aligned = call.proceed_with(offset=call.args.offset - call.args.offset % 4).resok
    if reply.resok is None or aligned is None:
        return reply
    return amend(reply, data=bytes(aligned.data)[: reply.resok.count].ljust(reply.resok.count, b"\0"))


@mutant(READ, breaks=RFC1813_DATA_TYPES)
def read3_truncates_offset(call: Read) -> Read3Res:
    """READ uses only the low 32 bits of offset"""
    return call.proceed() if call.args.offset >= 2**63 else call.proceed_with(offset=call.args.offset % 2**32)


@mutant(READ)
def read3_wraps_around(call: Read) -> Read3Res:
    """READ of a range that continues beyond the largest offset returns the beginning of the file"""
    overflows = call.args.offset + call.args.count > 2**64
    return call.proceed_with(offset=0) if overflows else call.proceed()


@mutant(READ)
def read3_pads_above_rtmax(call: Read) -> Read3Res:
    """READ of more than rtmax pads its answer with zeros beyond the end of the file"""
    reply = call.proceed()
    most = call.backend.transfers(call.context).read_max
    if reply.resok is None or call.args.count <= most:
        return reply
    return amend(reply, count=most, data=bytes(reply.resok.data).ljust(most, b"\0"))


@mutant(READ)
def read3_attributes_have_another_size(call: Read) -> Read3Res:
    """READ returns attributes with the end of the range as size"""
    reply = call.proceed()
    if reply.resok is None or reply.resok.file_attributes is None:
        return reply
    size = call.args.offset + reply.resok.count
    return amend(reply, file_attributes=replace(reply.resok.file_attributes, size=size))


@mutant(READ)
def read3_changes_mtime(call: Read) -> Read3Res:
    """READ changes mtime"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.file)
    if reply.resok is None or inode is None:
        return reply
    inode.mtime = inode.fs.stamp()
    return amend(reply, file_attributes=fattr3(inode))


@mutant(READ)
def read3_fills_holes(call: Read) -> Read3Res:
    """READ returns garbage for bytes that were never written"""
    return amend(call.proceed(), data=lambda it: bytes(it.data).replace(bytes(512), b"junk" * 128))


@mutant(READ)
def read3_returns_nothing(call: Read) -> Read3Res:
    """READ of a single byte returns no data and no eof"""
    reply = call.proceed()
    return amend(reply, count=0, data=b"", eof=False) if call.args.count == 1 else reply


@mutant(READ)
def read3_answers_isdir(call: Read) -> Read3Res:
    """READ of a directory answers NFS3ERR_ISDIR, as in NFSv2"""
    reply = call.proceed()
    attributes = None if reply.resfail is None else reply.resfail.file_attributes
    if attributes is None or attributes.type is not Ftype3.NF3DIR:
        return reply
    return refuse_read(call, Nfsstat3.NFS3ERR_ISDIR)


@mutant(READ)
def read3_reads_symlinks(call: Read) -> Read3Res:
    """READ of a symbolic link returns its text"""
    args = call.args
    inode = inode_of(call.server, args.file)
    if inode is None or inode.kind is not Kind.SYMLINK:
        return call.proceed()
    data = inode.target[args.offset : args.offset + args.count]
    eof = args.offset + len(data) >= inode.size
    return Read3Res(Nfsstat3.NFS3_OK, Read3ResOk(fattr3(inode), len(data), eof, data))


@mutant((READ, CREATE))
def read3_removed_handle_reads_the_newest_file(call: AnyCall) -> t.Any:
    """READ with the handle of a removed file returns the data of the newest file"""
    reply = call.proceed()
    state = call.state
    if call.operation is CREATE:
        if reply.resok is not None:
            state["handle"] = reply.resok.obj
        return reply
    if reply.status != Nfsstat3.NFS3ERR_STALE or state.get("handle") is None:
        return reply
    return call.proceed_with(file=state["handle"])


# ---------------------------------------------------------------- short READs


@mutant(READ)
def read3_refuses_read_only(call: Read) -> Read3Res:
    """READ on a read-only file system answers ROFS, though it modifies nothing"""
    if not call.server.knobs.now.read_only:
        return call.proceed()
    return Read3Res(
        Nfsstat3.NFS3ERR_ROFS, resfail=Read3ResFail(Watched(call.server, call.args.file).attributes())
    )
