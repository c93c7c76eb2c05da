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
    FhandleArgs,
    Nfsstat2,
    Readargs,
    Readlinkres,
    Readok,
    Readres,
    Writeargs,
)
from nfsclient.rpc.messages import AcceptStat, accepted
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import Kind, Stability
from nfsserver.mutants import Answer, Proceed, ProceedWire, wire_mutant
from nfsserver.nfs2.bending import around, bends_args, bends_reply, inode_of
from nfsserver.nfs2.common import fattr
from nfsserver.nfs2.data import read2

if t.TYPE_CHECKING:
    from nfsclient.rpc.sockets import Address
    from nfsserver.server import Server

NextRead: t.TypeAlias = Proceed[Readargs, Readres]
NextWrite: t.TypeAlias = Proceed[Writeargs, Attrstat]

_READ: t.Final = "2.2.7"
_WRITE: t.Final = "2.2.9"


# ---------------------------------------------------------------- READLINK


@bends_reply("readlink2-cleans-the-text", READLINK, "2.2.6", "gives the text without its last byte")
def cleans_the_text(_server: Server, _args: FhandleArgs, reply: Readlinkres) -> Readlinkres:
    """Cut it."""
    return replace(reply, data=(reply.data or b"")[:-1])


@around("readlink2-has-a-text-for-everything", READLINK, "2.2.6", "gives an empty text for what is no link")
def has_a_text_for_everything(
    server: Server, context: CallContext, args: FhandleArgs, proceed: Proceed[FhandleArgs, Readlinkres]
) -> Readlinkres:
    """Nothing, with success."""
    reply = proceed(context, args)
    refused = reply.status != Nfsstat2.NFS_OK and inode_of(server, args.file) is not None
    return Readlinkres(Nfsstat2.NFS_OK, b"") if refused else reply


# ---------------------------------------------------------------- READ


def _with_data(reply: Readres, data: bytes) -> Readres:
    if reply.readok is None:
        return reply
    return Readres(reply.status, replace(reply.readok, data=data))


def _data(reply: Readres) -> bytes:
    return b"" if reply.readok is None else bytes(reply.readok.data)


@bends_reply("read2-is-off-by-one", READ, _READ, "gives wrong bytes where there are few or many at once")
def is_off_by_one(_server: Server, args: Readargs, reply: Readres) -> Readres:
    """Change the first byte, except in the calls that read whole files."""
    data = _data(reply)
    if not data or (args.offset == 0 and args.count == 8192 and len(data) < 8192):
        return reply
    return _with_data(reply, bytes([data[0] ^ 0x80]) + data[1:])


@bends_reply("read2-gives-a-byte-too-many", READ, _READ, "gives a byte more than was asked for, up to 8192")
def gives_a_byte_too_many(_server: Server, args: Readargs, reply: Readres) -> Readres:
    """Where there are more, or none are wanted."""
    data = _data(reply)
    return _with_data(reply, data + b"!") if args.count == len(data) < 8192 else reply


@bends_reply(
    "read2-gives-nothing", READ, _READ, "gives no data where it was asked for some, in files of 10,000 bytes"
)
def gives_nothing(_server: Server, _args: Readargs, reply: Readres) -> Readres:
    """None."""
    is_large = reply.readok is not None and reply.readok.attributes.size == 10_000
    return _with_data(reply, b"") if is_large else reply


@bends_reply(
    "read2-goes-on-behind-the-end", READ, _READ, "gives zeros behind the end of a file of 10,000 bytes"
)
def goes_on_behind_the_end(_server: Server, args: Readargs, reply: Readres) -> Readres:
    """As many as were asked for."""
    if reply.readok is None or reply.readok.attributes.size != 10_000 or args.count != 100:
        return reply
    return _with_data(reply, _data(reply).ljust(args.count, b"\0"))


@bends_args(
    "read2-heeds-totalcount", READ, _READ, "gives no more than totalcount bytes, and none when that is huge"
)
def heeds_totalcount(_server: Server, args: Readargs) -> Readargs:
    """Unless it is 0."""
    if not args.totalcount:
        return args
    return replace(args, count=min(args.count, 1 if args.totalcount == 1 else 0))


@bends_reply(
    "read2-has-attributes-of-the-data", READ, _READ, "takes the number of bytes read for the size of the file"
)
def has_attributes_of_the_data(_server: Server, args: Readargs, reply: Readres) -> Readres:
    """For a read inside of the file."""
    if reply.readok is None or not args.offset:
        return reply
    attributes = replace(reply.readok.attributes, size=len(reply.readok.data))
    return Readres(reply.status, replace(reply.readok, attributes=attributes))


@around("read2-consumes", READ, _READ, "clears 4096 bytes at the beginning of a file once they were read")
def consumes(server: Server, context: CallContext, args: Readargs, proceed: NextRead) -> Readres:
    """Overwrite them."""
    reply = proceed(context, args)
    inode = inode_of(server, args.file)
    if inode is not None and inode.data is not None and (args.offset, args.count) == (0, 4096):
        inode.data.write(0, bytes(len(_data(reply))), stable=True)
    return reply


@around("read2-reads-anything", READ, _READ, "gives no data, with success, for what is no file")
def reads_anything(server: Server, context: CallContext, args: Readargs, proceed: NextRead) -> Readres:
    """An empty one."""
    reply = proceed(context, args)
    inode = inode_of(server, args.file)
    if inode is None or inode.data is not None:
        return reply
    return Readres(Nfsstat2.NFS_OK, Readok(fattr(inode), b""))


@around(
    "read2-large-counts-begin-elsewhere",
    READ,
    _READ,
    "begins a byte later when asked for more than 8192 bytes",
)
def large_counts_begin_elsewhere(
    server: Server, context: CallContext, args: Readargs, _proceed: NextRead
) -> Readres:
    """Move the offset."""
    return read2(server, context, replace(args, offset=args.offset + 1) if args.count > 8192 else args)


# ---------------------------------------------------------------- WRITE


@bends_args(
    "write2-loses-the-last-byte",
    WRITE,
    _WRITE,
    "writes a zero for the last byte of data that begins with a 4",
)
def loses_the_last_byte(_server: Server, args: Writeargs) -> Writeargs:
    """Cut it."""
    data = bytes(args.data)
    return replace(args, data=data[:-1] + b"\0") if data.startswith(b"\x04") else args


@around("write2-clears-what-follows", WRITE, _WRITE, "writes three bytes as four, and a byte before them")
def clears_what_follows(
    server: Server, context: CallContext, args: Writeargs, proceed: NextWrite
) -> Attrstat:
    """Put a zero behind, and one before."""
    reply = proceed(context, args)
    inode = inode_of(server, args.file)
    if inode is not None and inode.data is not None and bytes(args.data) == b"new":
        inode.data.write(args.offset + 3, b"\0", stable=True)
    return reply


@around("write2-fills-holes", WRITE, _WRITE, "fills the hole before data behind the end with what it finds")
def fills_holes(server: Server, context: CallContext, args: Writeargs, proceed: NextWrite) -> Attrstat:
    """A byte that nobody wrote."""
    inode = inode_of(server, args.file)
    size = 0 if inode is None else inode.size
    reply = proceed(context, args)
    if inode is not None and inode.data is not None and size < args.offset < 2**20:
        inode.data.write(size, b"?", stable=True)
    return reply


@bends_args(
    "write2-takes-offsets-for-signed", WRITE, _WRITE, "begins elsewhere with data that goes beyond 2^31"
)
def takes_offsets_for_signed(_server: Server, args: Writeargs) -> Writeargs:
    """Half as far."""
    return replace(args, offset=args.offset // 2) if args.offset + len(args.data) > 2**31 else args


@bends_args("write2-heeds-beginoffset", WRITE, _WRITE, "begins at beginoffset when there is one")
def heeds_beginoffset(_server: Server, args: Writeargs) -> Writeargs:
    """Small ones only."""
    return replace(args, offset=args.beginoffset & 1) if args.beginoffset else args


@bends_args(
    "write2-heeds-totalcount", WRITE, _WRITE, "writes nothing where totalcount is not the number of bytes"
)
def heeds_totalcount_of_write(_server: Server, args: Writeargs) -> Writeargs:
    """Four bytes only."""
    return (
        replace(args, data=b"")
        if bytes(args.data) == b"DATA" and args.totalcount != 4 and not args.beginoffset
        else args
    )


@around("write2-answers-as-it-was-before", WRITE, _WRITE, "answers with the attributes from before")
def answers_as_it_was_before(
    server: Server, context: CallContext, args: Writeargs, proceed: NextWrite
) -> Attrstat:
    """Look first."""
    inode = inode_of(server, args.file)
    before = None if inode is None else fattr(inode)
    reply = proceed(context, args)
    return reply if reply.attributes is None else replace(reply, attributes=before)


@around("write2-keeps-ctime", WRITE, "2.3.5", "leaves ctime as it was, whatever the size becomes")
def keeps_ctime(server: Server, context: CallContext, args: Writeargs, proceed: NextWrite) -> Attrstat:
    """Put it back."""
    inode = inode_of(server, args.file)
    before = 0 if inode is None else inode.ctime
    reply = proceed(context, args)
    if inode is None or reply.attributes is None:
        return reply
    inode.ctime = before
    return replace(reply, attributes=fattr(inode))


@around("write2-of-nothing-truncates", WRITE, _WRITE, "cuts the file off at offset when there is no data")
def of_nothing_truncates(
    server: Server, context: CallContext, args: Writeargs, proceed: NextWrite
) -> Attrstat:
    """At offset."""
    inode = inode_of(server, args.file)
    if inode is not None and inode.data is not None and not len(args.data):
        inode.data.truncate(args.offset)
    return proceed(context, args)


@around(
    "write2-mixes-clients",
    WRITE,
    _WRITE,
    "keeps the second half of what another client wrote to the same place",
)
def mixes_clients(server: Server, context: CallContext, args: Writeargs, proceed: NextWrite) -> Attrstat:
    """Write half."""
    last: dict[object, Address] = server.mutant_state("write2-mixes-clients").setdefault("last", {})
    place = (args.file, args.offset, len(args.data))
    known = last.get(place)
    last[place] = context.peer
    if known is None or known == context.peer:
        return proceed(context, args)
    return proceed(context, replace(args, data=bytes(args.data)[: len(args.data) // 2]))


@around("write2-takes-anything", WRITE, _WRITE, "says success for what is no file")
def takes_anything(server: Server, context: CallContext, args: Writeargs, proceed: NextWrite) -> Attrstat:
    """Do nothing."""
    inode = inode_of(server, args.file)
    if inode is None or inode.kind is Kind.REGULAR:
        return proceed(context, args)
    return Attrstat(Nfsstat2.NFS_OK, fattr(inode))


@around("write2-answers-before-it-is-stable", WRITE, "2.2", "answers before the data is on stable storage")
def answers_before_it_is_stable(
    server: Server, context: CallContext, args: Writeargs, _proceed: NextWrite
) -> Attrstat:
    """Write as UNSTABLE of version 3 does."""
    inode = inode_of(server, args.file)
    if inode is None:
        return Attrstat(Nfsstat2.NFSERR_STALE)
    inode.fs.write(server.caller(context), inode, args.offset, memoryview(args.data), Stability.UNSTABLE)
    return Attrstat(Nfsstat2.NFS_OK, fattr(inode))


_CALL = struct.Struct(">6I")


@wire_mutant(
    "write2-claims-to-take-too-much",
    breaks="RFC 1094 section 2.2.9",
    gist="WRITE of more than 8192 bytes is answered with success, and nothing is written",
)
def claims_to_take_too_much(server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Answer as if it had been done."""
    xid, _, _, program, version, procedure = _CALL.unpack_from(message.ljust(_CALL.size, b"\0"))
    if (program, version, procedure) != (WRITE.program, 2, WRITE.number) or len(message) < 8300:
        return proceed(message)
    reply = Attrstat(Nfsstat2.NFS_OK, fattr(server.fs.root))
    return [*accepted(xid, AcceptStat.SUCCESS).to_buffers(), reply.to_xdr()]
