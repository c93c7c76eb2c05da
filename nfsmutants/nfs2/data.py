# SPDX-License-Identifier: MIT
"""Mutants of READLINK, READ and WRITE."""

from __future__ import annotations

import struct
import typing as t

from nfsclient.protocol.nfs2 import (
    READ,
    READLINK,
    WRITE,
    Attrstat,
    Nfsstat2,
    Readlinkres,
    Readok,
    Readres,
)
from nfsclient.rpc.messages import AcceptStat, accepted
from nfsclient.xdr import replace
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import Message, mutant, wire_mutant
from nfsmutants.nfs2.calls import Read, Readlink, Write
from nfsmutants.rules import (
    RFC1094_ATTRIBUTES,
    RFC1094_PROCEDURES,
    RFC1094_READ,
    RFC1094_READLINK,
    RFC1094_WRITE,
)
from nfsserver.fs import Kind, Stability
from nfsserver.middleware import Answer
from nfsserver.nfs2.common import fattr
from nfsserver.nfs2.data import read2

if t.TYPE_CHECKING:
    from nfsclient.rpc.sockets import Address


# ---------------------------------------------------------------- READLINK


@mutant(READLINK, RFC1094_READLINK)
def readlink2_cleans_the_text(call: Readlink) -> Readlinkres:
    """READLINK gives the text without its last byte"""
    reply = call.proceed()
    return reply if reply.data is None else replace(reply, data=reply.data[:-1])


@mutant(READLINK, RFC1094_READLINK)
def readlink2_has_a_text_for_everything(call: Readlink) -> Readlinkres:
    """READLINK gives an empty text for what is no link"""
    reply = call.proceed()
    refused = reply.status != Nfsstat2.NFS_OK and inode_of(call.server, call.args.file) is not None
    return Readlinkres(Nfsstat2.NFS_OK, b"") if refused else reply


# ---------------------------------------------------------------- READ


def _with_data(reply: Readres, data: bytes) -> Readres:
    return amend(reply, data=data)


def _data(reply: Readres) -> bytes:
    return b"" if reply.readok is None else bytes(reply.readok.data)


@mutant(READ, RFC1094_READ, kills_many="checks see by READ what is in a file")
def read2_is_off_by_one(call: Read) -> Readres:
    """READ gives a wrong byte first"""
    reply = call.proceed()
    data = _data(reply)
    return _with_data(reply, bytes([data[0] ^ 0x80]) + data[1:]) if data else reply


@mutant(READ, RFC1094_READ)
def read2_gives_a_byte_too_many(call: Read) -> Readres:
    """READ gives a byte more than was asked for, up to 8192"""
    reply = call.proceed()
    data = _data(reply)
    return _with_data(reply, data + b"!") if call.args.count == len(data) < 8192 else reply


@mutant(READ, RFC1094_READ, kills_many="checks see by READ what is in a file")
def read2_gives_nothing(call: Read) -> Readres:
    """READ gives no data where it was asked for some"""
    return _with_data(call.proceed(), b"")


@mutant(READ, RFC1094_READ, kills_many="checks see by READ what is in a file")
def read2_goes_on_behind_the_end(call: Read) -> Readres:
    """READ gives zeros beyond the end of a file"""
    reply = call.proceed()
    return _with_data(reply, _data(reply).ljust(min(call.args.count, 8192), b"\0"))


@mutant(READ, RFC1094_READ)
def read2_heeds_totalcount(call: Read) -> Readres:
    """READ gives no more than totalcount bytes, and none when that is huge"""
    if not call.args.totalcount:
        return call.proceed()
    return call.proceed_with(count=min(call.args.count, 1 if call.args.totalcount == 1 else 0))


@mutant(READ, RFC1094_READ)
def read2_has_attributes_of_the_data(call: Read) -> Readres:
    """READ takes the number of bytes read for the size of the file"""
    reply = call.proceed()
    if reply.readok is None or not call.args.offset:
        return reply
    attributes = replace(reply.readok.attributes, size=len(reply.readok.data))
    return amend(reply, attributes=attributes)


@mutant(READ, RFC1094_READ)
def read2_consumes(call: Read) -> Readres:
    """READ clears what it has read"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.file)
    if inode is not None and inode.data is not None and _data(reply):
        inode.data.write(call.args.offset, bytes(len(_data(reply))), stable=True)
    return reply


@mutant(READ, RFC1094_READ)
def read2_reads_anything(call: Read) -> Readres:
    """READ gives no data, with success, for what is no file"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.file)
    if inode is None or inode.data is not None:
        return reply
    return Readres(Nfsstat2.NFS_OK, Readok(fattr(inode), b""))


@mutant(READ, RFC1094_READ)
def read2_large_counts_begin_elsewhere(call: Read) -> Readres:
    """READ begins a byte later when asked for more than 8192 bytes"""
    return read2(
        call.server,
        call.context,
        replace(call.args, offset=call.args.offset + 1) if call.args.count > 8192 else call.args,
    )


# ---------------------------------------------------------------- WRITE


@mutant(WRITE, RFC1094_WRITE, kills_many="checks read back what they wrote")
def write2_loses_the_last_byte(call: Write) -> Attrstat:
    """WRITE writes a zero for the last byte"""
    data = bytes(call.args.data)
    return call.proceed_with(data=data[:-1] + b"\0") if data else call.proceed()


@mutant(WRITE, RFC1094_WRITE, kills_many="checks read back what they wrote")
def write2_clears_what_follows(call: Write) -> Attrstat:
    """WRITE writes a zero after the data"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.file)
    if reply.resok is not None and inode is not None and inode.data is not None and call.args.data:
        inode.data.write(call.args.offset + len(call.args.data), b"\0", stable=True)
    return reply


@mutant(WRITE, RFC1094_WRITE)
def write2_fills_holes(call: Write) -> Attrstat:
    """WRITE beyond the end fills the hole before its data with what it finds"""
    inode = inode_of(call.server, call.args.file)
    size = 0 if inode is None else inode.size
    reply = call.proceed()
    if inode is not None and inode.data is not None and size < call.args.offset < 2**20:
        inode.data.write(size, b"?", stable=True)
    return reply


@mutant(WRITE, RFC1094_WRITE)
def write2_takes_offsets_for_signed(call: Write) -> Attrstat:
    """WRITE begins elsewhere with data that goes beyond 2^31"""
    return (
        call.proceed_with(offset=call.args.offset // 2)
        if call.args.offset + len(call.args.data) > 2**31
        else call.proceed()
    )


@mutant(WRITE, RFC1094_WRITE)
def write2_heeds_beginoffset(call: Write) -> Attrstat:
    """WRITE begins at beginoffset when there is one"""
    return call.proceed_with(offset=call.args.beginoffset & 1) if call.args.beginoffset else call.proceed()


@mutant(WRITE, RFC1094_WRITE)
def write2_heeds_totalcount(call: Write) -> Attrstat:
    """WRITE writes nothing where totalcount is not the number of bytes"""
    return (
        call.proceed_with(data=b"")
        if bytes(call.args.data) == b"DATA" and call.args.totalcount != 4 and not call.args.beginoffset
        else call.proceed()
    )


@mutant(WRITE, RFC1094_WRITE)
def write2_answers_as_it_was_before(call: Write) -> Attrstat:
    """WRITE answers with the attributes from before"""
    inode = inode_of(call.server, call.args.file)
    before = None if inode is None else fattr(inode)
    reply = call.proceed()
    return reply if reply.attributes is None else replace(reply, attributes=before)


@mutant(WRITE, RFC1094_ATTRIBUTES)
def write2_keeps_ctime(call: Write) -> Attrstat:
    """WRITE leaves ctime as it was, whatever the size becomes"""
    inode = inode_of(call.server, call.args.file)
    before = 0 if inode is None else inode.ctime
    reply = call.proceed()
    if inode is None or reply.attributes is None:
        return reply
    inode.ctime = before
    return replace(reply, attributes=fattr(inode))


@mutant(WRITE, RFC1094_WRITE)
def write2_of_nothing_truncates(call: Write) -> Attrstat:
    """WRITE cuts the file off at offset when there is no data"""
    inode = inode_of(call.server, call.args.file)
    if inode is not None and inode.data is not None and not len(call.args.data):
        inode.data.truncate(call.args.offset)
    return call.proceed()


@mutant(WRITE, RFC1094_WRITE)
def write2_mixes_clients(call: Write) -> Attrstat:
    """WRITE keeps the second half of what another client wrote to the same place"""
    args = call.args
    last: dict[object, Address] = call.state.setdefault("last", {})
    place = (args.file, args.offset, len(args.data))
    known = last.get(place)
    last[place] = call.peer
    if known is None or known == call.peer:
        return call.proceed()
    return call.proceed(replace(args, data=bytes(args.data)[: len(args.data) // 2]))


@mutant(WRITE, RFC1094_WRITE)
def write2_takes_anything(call: Write) -> Attrstat:
    """WRITE says success for what is no file"""
    inode = inode_of(call.server, call.args.file)
    if inode is None or inode.kind is Kind.REGULAR:
        return call.proceed()
    return Attrstat(Nfsstat2.NFS_OK, fattr(inode))


@mutant(WRITE, RFC1094_PROCEDURES)
def write2_answers_before_it_is_stable(call: Write) -> Attrstat:
    """WRITE answers before the data is on stable storage"""
    inode = inode_of(call.server, call.args.file)
    if inode is None:
        return Attrstat(Nfsstat2.NFSERR_STALE)
    inode.fs.write(call.caller, inode, call.args.offset, memoryview(call.args.data), Stability.UNSTABLE)
    return Attrstat(Nfsstat2.NFS_OK, fattr(inode))


_CALL = struct.Struct(">6I")


@wire_mutant(RFC1094_WRITE)
def write2_claims_to_take_too_much(message: Message) -> Answer:
    """WRITE of more than 8192 bytes is answered with success, and nothing is written"""
    xid, _, _, program, version, procedure = _CALL.unpack_from(message.data.ljust(_CALL.size, b"\0"))
    if (program, version, procedure) != (WRITE.program, 2, WRITE.number) or len(message.data) < 8300:
        return message.proceed()
    reply = Attrstat(Nfsstat2.NFS_OK, fattr(message.server.fs.root))
    return [*accepted(xid, AcceptStat.SUCCESS).to_buffers(), reply.to_xdr()]
