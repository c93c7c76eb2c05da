# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_write_ranges.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import WRITE, Nfsstat3, StableHow, Write3Res
from nfsclient.xdr import replace
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs3.bending import BLOCK, FAR, LARGE, is_special_file, refuse_write, size_of, with_data
from nfsmutants.nfs3.calls import Write
from nfsmutants.rules import RFC1813_DATA_TYPES, RFC1813_FSINFO, RFC1813_WRITE

# ---------------------------------------------------------------- WRITE: data of the file


@mutant(WRITE)
def write3_clears_rest_of_block(call: Write) -> Write3Res:
    """WRITE within a file clears the bytes after its data in the same 512 bytes"""
    args = call.args
    end = args.offset + len(args.data)
    rest = min(-end % BLOCK, size_of(call.server, args.file) - end)
    if rest <= 0 or not args.data or args.count != len(args.data):
        return call.proceed()
    return amend(call.proceed(with_data(args, bytes(args.data) + bytes(rest))), count=args.count)


# ---------------------------------------------------------------- WRITE


@mutant(WRITE, breaks=RFC1813_WRITE)
def write3_rotates_data_beyond_2g(call: Write) -> Write3Res:
    """WRITE near 2 GiB and beyond stores its first byte last"""
    data = bytes(call.args.data)
    return call.proceed_with(data=data[1:] + data[:1]) if call.args.offset >= FAR else call.proceed()


@mutant(WRITE, breaks=RFC1813_DATA_TYPES)
def write3_truncates_offset(call: Write) -> Write3Res:
    """WRITE uses only the low 31 bits of offset"""
    return call.proceed() if call.args.offset >= 2**63 else call.proceed_with(offset=call.args.offset % 2**31)


@mutant(WRITE, breaks=RFC1813_WRITE)
def write3_clears_the_end_of_large_data(call: Write) -> Write3Res:
    """WRITE of 64 KiB or more stores a zero instead of the last byte"""
    data = bytes(call.args.data)
    return call.proceed_with(data=data[:-1] + b"\0") if len(data) >= LARGE - 1 else call.proceed()


@mutant(WRITE)
def write3_over_udp_zeroes_the_last_byte(call: Write) -> Write3Res:
    """WRITE over UDP stores a zero instead of the last byte"""
    data = bytes(call.args.data)
    return (
        call.proceed_with(data=data[:-1] + b"\0")
        if call.context.transport == "udp" and data
        else call.proceed()
    )


@mutant(WRITE)
def write3_clears_the_beginning_when_too_far(call: Write) -> Write3Res:
    """WRITE beyond the largest possible file is refused, but clears the first byte of the file"""
    inode = inode_of(call.server, call.args.file)
    if call.args.offset >= 2**63 - 16 and inode is not None and inode.data is not None:
        inode.data.write(0, b"\0", stable=True)
    return call.proceed()


@mutant(WRITE, breaks=RFC1813_FSINFO)
def write3_refuses_large_data(call: Write) -> Write3Res:
    """WRITE of more than half of wtmax answers INVAL"""
    most = call.backend.transfers(call.context).write_max
    if not most // 2 < call.args.count <= most:
        return call.proceed()
    return refuse_write(call, Nfsstat3.NFS3ERR_INVAL)


@mutant(WRITE)
def write3_trusts_huge_counts(call: Write) -> Write3Res:
    """WRITE with a count above 2 GiB and above the length of its data writes 16 bytes more than the data"""
    if call.args.count < 2**31 or call.args.count <= len(call.args.data):
        return call.proceed()
    data = bytes(call.args.data) + b"?" * 16
    return call.proceed_with(data=data, count=len(data))


@mutant(WRITE)
def write3_drops_data_of_unknown_stability(call: Write) -> Write3Res:
    """WRITE with an unknown stable_how answers OK and its count, but writes nothing"""
    if call.args.stable.is_known:
        return call.proceed()
    nothing = replace(call.args, data=b"", count=0, stable=StableHow.FILE_SYNC)
    return amend(call.proceed(nothing), count=len(call.args.data))


@mutant(WRITE)
def write3_keeps_older_data(call: Write) -> Write3Res:
    """WRITE of a range that was written before with the same offset and count keeps the older data"""
    args = call.args
    seen: set[tuple[bytes, int, int]] = call.state.setdefault("seen", set())
    key = (bytes(args.file), args.offset, args.count)
    reply_to_first = key not in seen
    seen.add(key)
    if reply_to_first or args.count < 2:
        return call.proceed()
    return amend(call.proceed(replace(args, data=b"", count=0)), count=args.count)


@mutant(WRITE)
def write3_wrong_type_is_io(call: Write) -> Write3Res:
    """WRITE to a FIFO, socket or device answers IO"""
    if not is_special_file(call.server, call.args.file):
        return call.proceed()
    return refuse_write(call, Nfsstat3.NFS3ERR_IO)


@mutant(WRITE)
def write3_second_client_appends(call: Write) -> Write3Res:
    """WRITE of the second client that writes a file appends to the file, whatever the offset"""
    owners = call.state
    inode = inode_of(call.server, call.args.file)
    if inode is None or owners.setdefault(call.args.file.hex(), call.peer) == call.peer:
        return call.proceed()
    return call.proceed_with(offset=inode.size)
