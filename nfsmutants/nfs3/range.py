# SPDX-License-Identifier: MIT
"""Mutants of READ, WRITE and COMMIT that show at limits, on one transport, or in large transfers."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    COMMIT,
    READ,
    WRITE,
    Commit3Res,
    Nfsstat3,
    Read3Res,
    StableHow,
    Write3Res,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import refuse_read, refuse_write
from nfsmutants.nfs3.calls import Commit, Read, Write
from nfsmutants.rules import (
    RFC1813_COMMIT,
    RFC1813_FSINFO,
    RFC1813_READ,
    RFC1813_READ_HINTS,
    RFC1813_WRITE,
    RFC1813_WRITE_HINTS,
)
from nfsserver.fs import Kind
from nfsserver.server import Server

_FAR: t.Final = 2**31 - 9
"""Where an offset may outgrow 31 bits within a small range."""
_LARGE: t.Final = 2**16
"""From this many bytes on a transfer is large."""


def _is_special(server: Server, handle: bytes) -> bool:
    inode = inode_of(server, handle)
    return inode is not None and inode.kind not in {Kind.REGULAR, Kind.DIRECTORY, Kind.SYMLINK}


# ---------------------------------------------------------------- READ


@mutant(READ, RFC1813_READ)
def read3_misses_by_one_far_out(call: Read) -> Read3Res:
    """READ near 2 GiB and beyond returns its first byte last, or a zero for a single one"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    data = bytes(reply.resok.data)
    if call.args.offset < _FAR:
        return reply
    return amend(reply, data=data[1:] + data[:1]) if len(data) > 1 else amend(reply, data=bytes(len(data)))


@mutant(READ, RFC1813_READ)
def read3_shifts_large_reads(call: Read) -> Read3Res:
    """READ that asks for more than 64 KiB returns its first byte last"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    data = bytes(reply.resok.data)
    return amend(reply, data=data[1:] + data[:1]) if call.args.count > _LARGE else reply


@mutant(READ, RFC1813_READ)
def read3_over_udp_loses_the_end(call: Read) -> Read3Res:
    """READ over UDP returns a zero for the last byte"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    data = bytes(reply.resok.data)
    return amend(reply, data=data[:-1] + b"\0") if call.context.transport == "udp" and data else reply


@mutant(READ, RFC1813_READ)
def read3_refuses_far_offsets(call: Read) -> Read3Res:
    """READ beyond the end of a file answers INVAL from an offset of 2 GiB - 1 on"""
    inode = inode_of(call.server, call.args.file)
    if inode is None or not max(2**31 - 1, inode.size) <= call.args.offset <= 2**64 - call.args.count:
        return call.proceed()
    return refuse_read(call, Nfsstat3.NFS3ERR_INVAL)


@mutant(READ, RFC1813_FSINFO)
def read3_refuses_large_reads(call: Read) -> Read3Res:
    """READ of more than half of rtmax answers INVAL"""
    most = call.server.transfers(call.context).read_max
    if not most // 2 < call.args.count <= most:
        return call.proceed()
    return refuse_read(call, Nfsstat3.NFS3ERR_INVAL)


@mutant(READ, RFC1813_READ_HINTS)
def read3_wrong_type_is_io(call: Read) -> Read3Res:
    """READ of a FIFO, socket or device answers IO"""
    if not _is_special(call.server, call.args.file):
        return call.proceed()
    return refuse_read(call, Nfsstat3.NFS3ERR_IO)


# ---------------------------------------------------------------- WRITE


@mutant(WRITE, RFC1813_WRITE)
def write3_misses_by_one_far_out(call: Write) -> Write3Res:
    """WRITE near 2 GiB and beyond stores its first byte last"""
    data = bytes(call.args.data)
    return call.proceed_with(data=data[1:] + data[:1]) if call.args.offset >= _FAR else call.proceed()


@mutant(WRITE, RFC1813_WRITE)
def write3_clears_the_end_of_large_data(call: Write) -> Write3Res:
    """WRITE of 64 KiB or more stores a zero for the last byte"""
    data = bytes(call.args.data)
    return call.proceed_with(data=data[:-1] + b"\0") if len(data) >= _LARGE - 1 else call.proceed()


@mutant(WRITE, RFC1813_WRITE)
def write3_over_udp_loses_the_end(call: Write) -> Write3Res:
    """WRITE over UDP stores a zero for the last byte"""
    data = bytes(call.args.data)
    return (
        call.proceed_with(data=data[:-1] + b"\0")
        if call.context.transport == "udp" and data
        else call.proceed()
    )


@mutant(WRITE, RFC1813_WRITE)
def write3_clears_the_beginning_when_too_far(call: Write) -> Write3Res:
    """WRITE beyond the largest possible file is refused, and clears the first byte of the file"""
    inode = inode_of(call.server, call.args.file)
    if call.args.offset >= 2**63 - 16 and inode is not None and inode.data is not None:
        inode.data.write(0, b"\0", stable=True)
    return call.proceed()


@mutant(WRITE, RFC1813_FSINFO)
def write3_refuses_large_data(call: Write) -> Write3Res:
    """WRITE of more than half of wtmax answers INVAL"""
    most = call.server.transfers(call.context).write_max
    if not most // 2 < call.args.count <= most:
        return call.proceed()
    return refuse_write(call, Nfsstat3.NFS3ERR_INVAL)


@mutant(WRITE, RFC1813_WRITE)
def write3_trusts_huge_counts(call: Write) -> Write3Res:
    """WRITE whose count is above 2 GiB, and above the length of its data, writes 16 bytes more than the data"""
    if call.args.count < 2**31 or call.args.count <= len(call.args.data):
        return call.proceed()
    data = bytes(call.args.data) + b"?" * 16
    return call.proceed_with(data=data, count=len(data))


@mutant(WRITE, RFC1813_WRITE)
def write3_drops_data_of_unknown_stability(call: Write) -> Write3Res:
    """WRITE with an unknown stable_how answers OK and its count, and writes nothing"""
    if call.args.stable.is_known:
        return call.proceed()
    nothing = replace(call.args, data=b"", count=0, stable=StableHow.FILE_SYNC)
    return amend(call.proceed(nothing), count=len(call.args.data))


@mutant(WRITE, RFC1813_WRITE)
def write3_keeps_what_was_first(call: Write) -> Write3Res:
    """WRITE of a range that was written before with the same offset and count keeps the older data"""
    args = call.args
    seen: set[tuple[bytes, int, int]] = call.state.setdefault("seen", set())
    key = (bytes(args.file), args.offset, args.count)
    reply_to_first = key not in seen
    seen.add(key)
    if reply_to_first or args.count < 2:
        return call.proceed()
    return amend(call.proceed(replace(args, data=b"", count=0)), count=args.count)


@mutant(WRITE, RFC1813_WRITE_HINTS)
def write3_wrong_type_is_io(call: Write) -> Write3Res:
    """WRITE to a FIFO, socket or device answers IO"""
    if not _is_special(call.server, call.args.file):
        return call.proceed()
    return refuse_write(call, Nfsstat3.NFS3ERR_IO)


@mutant(WRITE, RFC1813_WRITE)
def write3_takes_the_end_for_the_offset(call: Write) -> Write3Res:
    """WRITE of the second client that writes a file goes to the end of it, wherever it was to go"""
    owners = call.state
    inode = inode_of(call.server, call.args.file)
    if inode is None or owners.setdefault(call.args.file.hex(), call.peer) == call.peer:
        return call.proceed()
    return call.proceed_with(offset=inode.size)


# ---------------------------------------------------------------- COMMIT


@mutant(COMMIT, RFC1813_COMMIT)
def commit3_drops_other_files(call: Commit) -> Commit3Res:
    """COMMIT of a file throws the uncommitted data of all others away"""
    committed = inode_of(call.server, call.args.file)
    for inode in call.server.fs.inodes():
        if inode is not committed:
            inode.crash()
    return call.proceed()


@mutant((WRITE, COMMIT), RFC1813_COMMIT)
def commit3_flushes_its_own_data(call: AnyCall) -> t.Any:
    """COMMIT flushes only a file that its own connection wrote last, and answers OK for others"""
    writers = call.state
    if call.procedure is WRITE:
        writers[call.args.file.hex()] = call.peer
        return call.proceed()
    if writers.get(call.args.file.hex(), call.peer) == call.peer:
        return call.proceed()
    return call.proceed_with(offset=2**64 - 1, count=1)


@mutant(COMMIT, RFC1813_COMMIT)
def commit3_changes_what_is_no_file(call: Commit) -> Commit3Res:
    """COMMIT of what is no regular file sets its mode to 0"""
    inode = inode_of(call.server, call.args.file)
    if inode is not None and inode.kind is not Kind.REGULAR:
        inode.mode = 0
    return call.proceed()


@mutant(COMMIT, RFC1813_COMMIT)
def commit3_over_udp_flushes_nothing(call: Commit) -> Commit3Res:
    """COMMIT over UDP answers OK and throws the uncommitted data away"""
    inode = inode_of(call.server, call.args.file)
    if call.context.transport == "udp" and inode is not None:
        inode.crash()
    return call.proceed()


# ---------------------------------------------------------------- several clients


@mutant(READ, RFC1813_READ)
def read3_remembers_for_each_connection(call: Read) -> Read3Res:
    """READ of a file is answered on a connection as it was there the first time, whatever changed since"""
    args = call.args
    inode = inode_of(call.server, args.file)
    if inode is None or inode.data is None:
        return call.proceed()
    known: dict[tuple[bytes, object], bytes] = call.state.setdefault("known", {})
    data = known.setdefault((bytes(args.file), call.peer), inode.data.read(0, 2**16))
    part = data[args.offset : args.offset + args.count]
    reply = call.proceed()
    if reply.resok is None or args.offset >= 2**16:
        return reply
    resok = replace(reply.resok, data=part, count=len(part), eof=args.offset + len(part) >= len(data))
    return replace(reply, resok=resok)
