# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_write.py catch."""

from __future__ import annotations

import struct

from nfsclient.protocol.nfs2 import WRITE, Attrstat, Nfsstat2
from nfsclient.rpc.messages import AcceptStat, accepted
from nfsclient.xdr import replace
from nfsmutants.bending import inode_of
from nfsmutants.form import Message, mutant, mutant_in_steps, wire_mutant
from nfsmutants.nfs2.calls import Write
from nfsmutants.windows import Steps
from nfsserver.fs import Kind
from nfsserver.middleware import Answer
from nfsserver.nfs2.common import fattr

# ---------------------------------------------------------------- WRITE


@mutant(WRITE, kills_many="checks read back what they wrote")
def write2_zeroes_the_last_byte(call: Write) -> Attrstat:
    """WRITE writes a zero instead of the last byte"""
    data = bytes(call.args.data)
    return call.proceed_with(data=data[:-1] + b"\0") if data else call.proceed()


@mutant(WRITE, kills_many="checks read back what they wrote")
def write2_clears_the_next_byte(call: Write) -> Attrstat:
    """WRITE writes a zero after the data"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.file)
    if reply.resok is not None and inode is not None and inode.data is not None and call.args.data:
        inode.data.write(call.args.offset + len(call.args.data), b"\0", stable=True)
    return reply


@mutant(WRITE)
def write2_fills_holes(call: Write) -> Attrstat:
    """WRITE beyond the end fills the hole before its data with stale bytes"""
    inode = inode_of(call.server, call.args.file)
    size = 0 if inode is None else inode.size
    reply = call.proceed()
    if inode is not None and inode.data is not None and size < call.args.offset < 2**20:
        inode.data.write(size, b"?", stable=True)
    return reply


@mutant(WRITE)
def write2_offsets_are_signed(call: Write) -> Attrstat:
    """WRITE stores data that goes beyond 2^31 at another offset"""
    return (
        call.proceed_with(offset=call.args.offset // 2)
        if call.args.offset + len(call.args.data) > 2**31
        else call.proceed()
    )


@mutant(WRITE)
def write2_obeys_beginoffset(call: Write) -> Attrstat:
    """WRITE begins at beginoffset if it is not 0"""
    return call.proceed_with(offset=call.args.beginoffset & 1) if call.args.beginoffset else call.proceed()


@mutant(WRITE)
def write2_obeys_totalcount(call: Write) -> Attrstat:
    """WRITE writes nothing if totalcount differs from the number of bytes"""
    return (
        call.proceed_with(data=b"")
        if bytes(call.args.data) == b"DATA" and call.args.totalcount != 4 and not call.args.beginoffset
        else call.proceed()
    )


@mutant(WRITE)
def write2_returns_old_attributes(call: Write) -> Attrstat:
    """WRITE returns the attributes from before the change"""
    inode = inode_of(call.server, call.args.file)
    before = None if inode is None else fattr(inode)
    reply = call.proceed()
    return reply if reply.attributes is None else replace(reply, attributes=before)


@mutant(WRITE)
def write2_no_data_truncates(call: Write) -> Attrstat:
    """WRITE without data truncates the file at offset"""
    inode = inode_of(call.server, call.args.file)
    if inode is not None and inode.data is not None and not len(call.args.data):
        inode.data.truncate(call.args.offset)
    return call.proceed()


@mutant_in_steps(WRITE)
def write2_mixes_clients(call: Write) -> Steps[Attrstat]:
    """WRITE writes its data in two halves"""
    data, offset = bytes(call.args.data), call.args.offset
    half = len(data) // 2
    if not half or call.proceed_with(data=data[:half]).status != Nfsstat2.NFS_OK:
        return call.proceed()
    yield
    return call.proceed_with(data=data[half:], offset=offset + half)


@mutant(WRITE)
def write2_accepts_non_files(call: Write) -> Attrstat:
    """WRITE to an object that is not a file answers success"""
    inode = inode_of(call.server, call.args.file)
    if inode is None or inode.kind is Kind.REGULAR:
        return call.proceed()
    return Attrstat(Nfsstat2.NFS_OK, fattr(inode))


_CALL = struct.Struct(">6I")


@wire_mutant()
def write2_writes_nothing_beyond_8k(message: Message) -> Answer:
    """WRITE of more than 8192 bytes answers success, and writes nothing"""
    xid, _, _, program, version, procedure = _CALL.unpack_from(message.data.ljust(_CALL.size, b"\0"))
    if (program, version, procedure) != (WRITE.program, 2, WRITE.number) or len(message.data) < 8300:
        return message.proceed()
    reply = Attrstat(Nfsstat2.NFS_OK, fattr(message.server.backend.fs.root))
    return [*accepted(xid, AcceptStat.SUCCESS).to_buffers(), reply.to_xdr()]
