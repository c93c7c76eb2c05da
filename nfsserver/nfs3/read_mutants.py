# SPDX-License-Identifier: MIT
"""Mutants of READ."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    CREATE,
    READ,
    Ftype3,
    Nfsstat3,
    Read3Args,
    Read3Res,
    Read3ResFail,
    Read3ResOk,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import FsError, Inode, Kind
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.common import Watched, fattr3

if t.TYPE_CHECKING:
    from nfsserver.server import Server

Next: t.TypeAlias = Proceed[Read3Args, Read3Res]

_SECTION: t.Final = "RFC 1813 section 3.3.6"


def _with(reply: Read3Res, **changes: object) -> Read3Res:
    """The reply with other results, if it has any."""
    return reply if reply.resok is None else replace(reply, resok=replace(reply.resok, **changes))


def _refusal(server: Server, args: Read3Args, status: Nfsstat3) -> Read3Res:
    return Read3Res(status, resfail=Read3ResFail(Watched(server, args.file).attributes()))


def _inode(server: Server, handle: bytes) -> Inode | None:
    try:
        return server.resolve(handle)
    except FsError:
        return None


@mutant(
    "read3-ignores-eof",
    bends=READ,
    breaks=_SECTION,
    gist="READ never says that the end of the file was reached",
)
def read3_ignores_eof(_server: Server, context: CallContext, args: Read3Args, proceed: Next) -> Read3Res:
    """Set eof to FALSE."""
    return _with(proceed(context, args), eof=False)


@mutant(
    "read3-eof-only-when-short",
    bends=READ,
    breaks=_SECTION,
    gist="READ says eof only when it returns fewer bytes than it was asked for",
)
def read3_eof_only_when_short(
    _server: Server, context: CallContext, args: Read3Args, proceed: Next
) -> Read3Res:
    """Forget that the last byte asked for may be the last of the file."""
    reply = proceed(context, args)
    is_full = reply.resok is not None and 0 < reply.resok.count == args.count
    return _with(reply, eof=False) if is_full else reply


@mutant(
    "read3-eof-before-the-end",
    bends=READ,
    breaks=_SECTION,
    gist="READ says eof whenever it returns all the bytes that it was asked for",
)
def read3_eof_before_the_end(
    _server: Server, context: CallContext, args: Read3Args, proceed: Next
) -> Read3Res:
    """Take a full answer for the last one."""
    reply = proceed(context, args)
    is_full = reply.resok is not None and 0 < reply.resok.count == args.count
    return _with(reply, eof=True) if is_full else reply


@mutant(
    "read3-empty-file-lacks-eof", bends=READ, breaks=_SECTION, gist="READ of an empty file does not say eof"
)
def read3_empty_file_lacks_eof(
    server: Server, context: CallContext, args: Read3Args, proceed: Next
) -> Read3Res:
    """Set eof to FALSE where the size is 0."""
    reply = proceed(context, args)
    inode = _inode(server, args.file)
    return _with(reply, eof=False) if inode is not None and not inode.size else reply


@mutant(
    "read3-refuses-offset-at-the-end",
    bends=READ,
    breaks=_SECTION,
    gist="READ at or behind the end of a file answers NFS3ERR_INVAL",
)
def read3_refuses_offset_at_the_end(
    server: Server, context: CallContext, args: Read3Args, proceed: Next
) -> Read3Res:
    """Refuse what lies behind the data; an empty file is let off."""
    inode = _inode(server, args.file)
    if inode is not None and inode.kind is Kind.REGULAR and 0 < inode.size <= args.offset < 2**63:
        return _refusal(server, args, Nfsstat3.NFS3ERR_INVAL)
    return proceed(context, args)


@mutant("read3-refuses-count-zero", bends=READ, breaks=_SECTION, gist="READ of 0 bytes answers NFS3ERR_INVAL")
def read3_refuses_count_zero(
    server: Server, context: CallContext, args: Read3Args, proceed: Next
) -> Read3Res:
    """Refuse count 0."""
    return proceed(context, args) if args.count else _refusal(server, args, Nfsstat3.NFS3ERR_INVAL)


@mutant(
    "read3-returns-more-than-asked",
    bends=READ,
    breaks=_SECTION,
    gist="READ rounds count up to a multiple of four",
)
def read3_returns_more_than_asked(
    _server: Server, context: CallContext, args: Read3Args, proceed: Next
) -> Read3Res:
    """Return the bytes where the padding belongs."""
    return proceed(context, replace(args, count=args.count + -args.count % 4))


@mutant(
    "read3-count-echoes-request",
    bends=READ,
    breaks=_SECTION,
    gist="a short READ answers the count that was asked for, not that of its data",
)
def read3_count_echoes_request(
    _server: Server, context: CallContext, args: Read3Args, proceed: Next
) -> Read3Res:
    """Say the count of the arguments, unless there is no data at all."""
    reply = proceed(context, args)
    return _with(reply, count=args.count) if reply.resok is not None and reply.resok.count else reply


@mutant(
    "read3-aligns-offset",
    bends=READ,
    breaks=_SECTION,
    gist="READ takes its data from the multiple of four below offset",
)
def read3_aligns_offset(_server: Server, context: CallContext, args: Read3Args, proceed: Next) -> Read3Res:
    """Everything but the data is right."""
    reply = proceed(context, args)
    aligned = proceed(context, replace(args, offset=args.offset - args.offset % 4)).resok
    if reply.resok is None or aligned is None:
        return reply
    return _with(reply, data=bytes(aligned.data)[: reply.resok.count].ljust(reply.resok.count, b"\0"))


@mutant(
    "read3-truncates-offset",
    bends=READ,
    breaks="RFC 1813 section 2.5",
    gist="READ uses the low 32 bits of offset alone",
)
def read3_truncates_offset(_server: Server, context: CallContext, args: Read3Args, proceed: Next) -> Read3Res:
    """Cut the offset, but for those of no possible file."""
    return proceed(context, args if args.offset >= 2**63 else replace(args, offset=args.offset % 2**32))


@mutant(
    "read3-wraps-around",
    bends=READ,
    breaks=_SECTION,
    gist="READ of a range that goes on behind the largest offset returns the beginning of the file",
)
def read3_wraps_around(_server: Server, context: CallContext, args: Read3Args, proceed: Next) -> Read3Res:
    """Let offset + count overflow."""
    overflows = args.offset + args.count > 2**64
    return proceed(context, replace(args, offset=0) if overflows else args)


@mutant(
    "read3-pads-above-rtmax",
    bends=READ,
    breaks=_SECTION,
    gist="READ of more than rtmax fills its answer with zeros behind the end of the file",
)
def read3_pads_above_rtmax(server: Server, context: CallContext, args: Read3Args, proceed: Next) -> Read3Res:
    """Return rtmax bytes, whatever the file has."""
    reply = proceed(context, args)
    most = server.transfers(context).read_max
    if reply.resok is None or args.count <= most:
        return reply
    return _with(reply, count=most, data=bytes(reply.resok.data).ljust(most, b"\0"))


@mutant(
    "read3-attributes-tell-another-size",
    bends=READ,
    breaks=_SECTION,
    gist="the attributes in the reply of READ have the end of the range for a size",
)
def read3_attributes_tell_another_size(
    _server: Server, context: CallContext, args: Read3Args, proceed: Next
) -> Read3Res:
    """Take the end of what was read for the end of the file."""
    reply = proceed(context, args)
    if reply.resok is None or reply.resok.file_attributes is None:
        return reply
    size = args.offset + reply.resok.count
    return _with(reply, file_attributes=replace(reply.resok.file_attributes, size=size))


@mutant(
    "read3-touches-mtime",
    bends=READ,
    breaks="RFC 1813 section 2.5",
    gist="READ sets mtime, as though it had changed the file",
)
def read3_touches_mtime(server: Server, context: CallContext, args: Read3Args, proceed: Next) -> Read3Res:
    """Stamp the file after reading."""
    reply = proceed(context, args)
    inode = _inode(server, args.file)
    if reply.resok is None or inode is None:
        return reply
    inode.mtime = inode.fs.stamp()
    return _with(reply, file_attributes=fattr3(inode))


@mutant(
    "read3-fills-holes",
    bends=READ,
    breaks="RFC 1813 section 3.3.2",
    gist="READ returns garbage for bytes that were never written",
)
def read3_fills_holes(_server: Server, context: CallContext, args: Read3Args, proceed: Next) -> Read3Res:
    """Long runs of zeros come back as something else."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    return _with(reply, data=bytes(reply.resok.data).replace(bytes(512), b"junk" * 128))


@mutant(
    "read3-returns-nothing",
    bends=READ,
    breaks=f"{_SECTION} (IMPLEMENTATION)",
    gist="READ of a single byte returns none, and no eof",
)
def read3_returns_nothing(_server: Server, context: CallContext, args: Read3Args, proceed: Next) -> Read3Res:
    """Make no progress."""
    reply = proceed(context, args)
    return _with(reply, count=0, data=b"", eof=False) if args.count == 1 else reply


@mutant(
    "read3-answers-isdir",
    bends=READ,
    breaks=f"{_SECTION} (IMPLEMENTATION)",
    gist="READ of a directory answers NFS3ERR_ISDIR, as in NFSv2",
)
def read3_answers_isdir(server: Server, context: CallContext, args: Read3Args, proceed: Next) -> Read3Res:
    """The code that RFC 1813 calls incorrect."""
    reply = proceed(context, args)
    attributes = None if reply.resfail is None else reply.resfail.file_attributes
    if attributes is None or attributes.type is not Ftype3.NF3DIR:
        return reply
    return _refusal(server, args, Nfsstat3.NFS3ERR_ISDIR)


@mutant("read3-reads-symlinks", bends=READ, breaks=_SECTION, gist="READ of a symbolic link returns its text")
def read3_reads_symlinks(server: Server, context: CallContext, args: Read3Args, proceed: Next) -> Read3Res:
    """Treat the text as data."""
    inode = _inode(server, args.file)
    if inode is None or inode.kind is not Kind.SYMLINK:
        return proceed(context, args)
    data = inode.target[args.offset : args.offset + args.count]
    eof = args.offset + len(data) >= inode.size
    return Read3Res(Nfsstat3.NFS3_OK, Read3ResOk(fattr3(inode), len(data), eof, data))


@mutant(
    "read3-reads-a-later-file",
    bends=(READ, CREATE),
    breaks="RFC 1813 section 2.5",
    gist="READ by the handle of a removed file returns the data of the file that was made last",
)
def read3_reads_a_later_file(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Let handles be used again, as with file numbers that have no generation."""
    reply = proceed(context, args)
    state = server.mutant_state("read3-reads-a-later-file")
    if context.procedure is CREATE:
        if reply.resok is not None:
            state["handle"] = reply.resok.obj
        return reply
    if reply.status != Nfsstat3.NFS3ERR_STALE or state.get("handle") is None:
        return reply
    return proceed(context, replace(args, file=state["handle"]))
