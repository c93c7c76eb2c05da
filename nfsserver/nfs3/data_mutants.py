# SPDX-License-Identifier: MIT
"""Mutants of WRITE; those of READ and COMMIT are in `read_mutants` and `commit_mutants`."""

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
    Write3Args,
    Write3Res,
    Write3ResFail,
    Write3ResOk,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import FsError, Inode, Kind
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.common import Watched, nfstime3

if t.TYPE_CHECKING:
    from nfsserver.server import Server

NextWrite: t.TypeAlias = Proceed[Write3Args, Write3Res]

_WRITE: t.Final = "RFC 1813 section 3.3.7"
_BLOCK: t.Final = 512


def _with(reply: Write3Res, **changes: object) -> Write3Res:
    """The reply with other results, if it has any."""
    return reply if reply.resok is None else replace(reply, resok=replace(reply.resok, **changes))


def _inode(server: Server, handle: bytes) -> Inode | None:
    try:
        return server.resolve(handle)
    except FsError:
        return None


def _size(server: Server, handle: bytes) -> int:
    """The size of a regular file; 0 for anything else."""
    inode = _inode(server, handle)
    return inode.size if inode is not None and inode.kind is Kind.REGULAR else 0


def _write_refusal(server: Server, args: Write3Args, status: Nfsstat3) -> Write3Res:
    return Write3Res(status, resfail=Write3ResFail(Watched(server, args.file).wcc()))


def _carrying(args: Write3Args, data: bytes, offset: int | None = None) -> Write3Args:
    """The arguments with other data, and its length."""
    return replace(args, data=data, count=len(data), offset=args.offset if offset is None else offset)


# ---------------------------------------------------------------- WRITE: what was accepted


@mutant(
    "write3-reports-more-than-sent",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE answers one byte more than it was sent",
)
def write3_reports_more_than_sent(
    _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Add one to count."""
    reply = proceed(context, args)
    return reply if reply.resok is None else _with(reply, count=reply.resok.count + 1)


@mutant(
    "write3-accepts-nothing",
    bends=WRITE,
    breaks=f"{_WRITE} (IMPLEMENTATION)",
    gist="WRITE of a single byte answers OK and count 0",
)
def write3_accepts_nothing(
    _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Write nothing, and say so."""
    return proceed(context, _carrying(args, b"") if len(args.data) == 1 else args)


@mutant(
    "write3-counts-all-above-wtmax",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE of more than wtmax writes wtmax bytes and answers that all were written",
)
def write3_counts_all_above_wtmax(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Hide that the write was short."""
    reply = proceed(context, args)
    is_short = len(args.data) > server.transfers(context).write_max
    return _with(reply, count=len(args.data)) if is_short else reply


@mutant(
    "write3-drops-unaligned-tail",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE loses the last byte of data whose length is no multiple of four, and counts it",
)
def write3_drops_unaligned_tail(
    _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Take the last byte for padding."""
    if len(args.data) < 4 or len(args.data) % 4 == 0 or args.count != len(args.data):
        return proceed(context, args)
    return _with(proceed(context, _carrying(args, bytes(args.data)[:-1])), count=args.count)


@mutant(
    "write3-trusts-count",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE whose count is above the length of its data writes count bytes, whatever lies behind the data",
)
def write3_trusts_count(
    _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Write what the buffer happens to hold."""
    if not len(args.data) < args.count < 2**16:
        return proceed(context, args)
    return proceed(context, _carrying(args, bytes(args.data).ljust(args.count, b"?")))


@mutant(
    "write3-ignores-count",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE whose count is below the length of its data writes all of the data",
)
def write3_ignores_count(
    _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Take the length of the data alone."""
    return proceed(context, replace(args, count=len(args.data)) if args.count < len(args.data) else args)


@mutant("write3-refuses-no-data", bends=WRITE, breaks=_WRITE, gist="WRITE of 0 bytes answers NFS3ERR_INVAL")
def write3_refuses_no_data(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Refuse count 0."""
    return proceed(context, args) if args.count else _write_refusal(server, args, Nfsstat3.NFS3ERR_INVAL)


# ---------------------------------------------------------------- WRITE: how stably


@mutant(
    "write3-commits-less-than-asked",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE with FILE_SYNC answers UNSTABLE",
)
def write3_commits_less_than_asked(
    _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Claim less than was done."""
    reply = proceed(context, args)
    return _with(reply, committed=StableHow.UNSTABLE) if args.stable is StableHow.FILE_SYNC else reply


@mutant(
    "write3-takes-data-sync-for-unstable",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE with DATA_SYNC writes and answers as with UNSTABLE",
)
def write3_takes_data_sync_for_unstable(
    _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Know two levels only."""
    is_data_sync = args.stable is StableHow.DATA_SYNC
    return proceed(context, replace(args, stable=StableHow.UNSTABLE) if is_data_sync else args)


@mutant(
    "write3-invents-a-commitment",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE with UNSTABLE answers a stable_how that is none",
)
def write3_invents_a_commitment(
    _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Answer 3."""
    reply = proceed(context, args)
    return _with(reply, committed=StableHow(3)) if args.stable is StableHow.UNSTABLE else reply


@mutant(
    "write3-lies-about-file-sync",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE with FILE_SYNC writes as with UNSTABLE and answers FILE_SYNC",
)
def write3_lies_about_file_sync(
    _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Claim more than was done."""
    if args.stable is not StableHow.FILE_SYNC:
        return proceed(context, args)
    reply = proceed(context, replace(args, stable=StableHow.UNSTABLE))
    return _with(reply, committed=StableHow.FILE_SYNC)


@mutant(
    "write3-lies-about-data-sync",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE with DATA_SYNC writes as with UNSTABLE and answers DATA_SYNC",
)
def write3_lies_about_data_sync(
    _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Claim more than was done."""
    if args.stable is not StableHow.DATA_SYNC:
        return proceed(context, args)
    reply = proceed(context, replace(args, stable=StableHow.UNSTABLE))
    return _with(reply, committed=StableHow.DATA_SYNC)


@mutant(
    "write3-verifier-by-stability",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE answers another verifier where the data was committed at once",
)
def write3_verifier_by_stability(
    _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Zeros, since there is nothing to COMMIT."""
    reply = proceed(context, args)
    return reply if args.stable is StableHow.UNSTABLE else _with(reply, verf=bytes(8))


@mutant(
    "write3-verifier-by-connection",
    bends=(WRITE, COMMIT),
    breaks=_WRITE,
    gist="WRITE and COMMIT have a verifier for each connection",
)
def write3_verifier_by_connection(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Derive it from the caller's port."""
    return _with(proceed(context, args), verf=server.codec.token(b"connection", context.peer[1]))


@mutant(
    "write3-verifier-by-file",
    bends=(WRITE, COMMIT),
    breaks=_WRITE,
    gist="WRITE and COMMIT have a verifier for each file",
)
def write3_verifier_by_file(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Derive it from the handle."""
    return _with(proceed(context, args), verf=server.codec.token(b"file", zlib.crc32(args.file)))


@mutant(
    "write3-verifier-survives-crash",
    bends=(WRITE, COMMIT),
    breaks=_WRITE,
    gist="the verifier of WRITE and COMMIT is the same after a crash that lost data",
)
def write3_verifier_survives_crash(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Have one verifier for ever."""
    return _with(proceed(context, args), verf=server.codec.token(b"ever"))


# ---------------------------------------------------------------- WRITE: what lies in the file afterwards


@mutant(
    "write3-appends-whole-blocks",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE at the end of a file makes its size a multiple of 512",
)
def write3_appends_whole_blocks(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Write the rest of the block as well, as zeros."""
    data = bytes(args.data)
    if not data or not 0 < args.offset == _size(server, args.file):
        return proceed(context, args)
    padded = _carrying(args, data + bytes(-(args.offset + len(data)) % _BLOCK))
    return _with(proceed(context, padded), count=len(data))


@mutant(
    "write3-fills-gap",
    bends=WRITE,
    breaks=_WRITE,
    gist="a WRITE behind the end leaves garbage between the old end and its data",
)
def write3_fills_gap(server: Server, context: CallContext, args: Write3Args, proceed: NextWrite) -> Write3Res:
    """Fill a gap of up to 64 KiB with what might have been on the disk."""
    size = _size(server, args.file)
    if size < args.offset < size + 2**16 and args.data:
        proceed(context, _carrying(args, b"junk".ljust(args.offset - size, b"!"), size))
    return proceed(context, args)


@mutant(
    "write3-clears-rest-of-block",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE within a file clears what follows its data in the same 512 bytes",
)
def write3_clears_rest_of_block(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Forget to read the block before writing it."""
    end = args.offset + len(args.data)
    rest = min(-end % _BLOCK, _size(server, args.file) - end)
    if rest <= 0 or not args.data or args.count != len(args.data):
        return proceed(context, args)
    return _with(proceed(context, _carrying(args, bytes(args.data) + bytes(rest))), count=args.count)


@mutant(
    "write3-cuts-the-rest",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE at the beginning of a file discards what lies behind its data",
)
def write3_cuts_the_rest(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Truncate first, as open(2) may."""
    inode = _inode(server, args.file)
    is_cut = args.offset == 0 and 0 < len(args.data) == args.count < _size(server, args.file)
    if is_cut and inode is not None and inode.data is not None:
        inode.data.truncate(len(args.data))
    return proceed(context, args)


@mutant(
    "write3-truncates-offset",
    bends=WRITE,
    breaks="RFC 1813 section 2.5",
    gist="WRITE uses the low 32 bits of offset alone",
)
def write3_truncates_offset(
    _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Cut the offset, but for those of no possible file."""
    return proceed(context, args if args.offset >= 2**63 else replace(args, offset=args.offset % 2**32))


@mutant(
    "write3-wraps-around",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE of a range that goes on behind the largest offset writes the beginning of the file",
)
def write3_wraps_around(
    _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Let offset + count overflow."""
    room = 2**64 - args.offset
    if room >= len(args.data):
        return proceed(context, args)
    return proceed(context, _carrying(args, bytes(args.data)[room:], 0))


@mutant(
    "write3-hides-unstable-data",
    bends=(READ, WRITE, COMMIT),
    breaks=_WRITE,
    gist="data written with UNSTABLE reads as zeros on other connections until COMMIT",
)
def write3_hides_unstable_data(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Keep unstable data with the connection that it came from."""
    writers = server.mutant_state("write3-hides-unstable-data")
    file = args.file.hex()
    reply = proceed(context, args)
    if context.procedure is COMMIT:
        writers.pop(file, None)
    elif context.procedure is WRITE and args.stable is StableHow.UNSTABLE:
        writers[file] = context.peer
    elif reply.resok is not None and writers.get(file, context.peer) != context.peer:
        return replace(reply, resok=replace(reply.resok, data=bytes(reply.resok.count)))
    return reply


@mutant(
    "write3-reaches-a-later-file",
    bends=(WRITE, CREATE),
    breaks="RFC 1813 section 2.5",
    gist="WRITE by the handle of a removed file changes the file that was made last",
)
def write3_reaches_a_later_file(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Let handles be used again, as with file numbers that have no generation."""
    reply = proceed(context, args)
    state = server.mutant_state("write3-reaches-a-later-file")
    if context.procedure is CREATE:
        if reply.resok is not None:
            state["handle"] = reply.resok.obj
        return reply
    if reply.status != Nfsstat3.NFS3ERR_STALE or state.get("handle") is None:
        return reply
    return proceed(context, replace(args, file=state["handle"]))


# ---------------------------------------------------------------- WRITE: attributes, and what is no file


@mutant(
    "write3-before-is-after",
    bends=WRITE,
    breaks="RFC 1813 section 2.5",
    gist="the pre-operation attributes of WRITE are taken after the operation",
)
def write3_before_is_after(
    _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Take both at once."""
    reply = proceed(context, args)
    after = None if reply.resok is None else reply.resok.file_wcc.after
    if reply.resok is None or after is None:
        return reply
    before = WccAttr(after.size, after.mtime, after.ctime)
    return _with(reply, file_wcc=replace(reply.resok.file_wcc, before=before))


@mutant(
    "write3-after-is-before",
    bends=WRITE,
    breaks="RFC 1813 section 2.5",
    gist="the post-operation attributes of WRITE have the size from before the operation",
)
def write3_after_is_before(
    _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Answer from a cache that the write did not reach."""
    reply = proceed(context, args)
    if reply.resok is None:
        return reply
    wcc = reply.resok.file_wcc
    if wcc.before is None or wcc.after is None:
        return reply
    return _with(reply, file_wcc=replace(wcc, after=replace(wcc.after, size=wcc.before.size)))


@mutant("write3-keeps-mtime", bends=WRITE, breaks="RFC 1813 section 2.5", gist="WRITE leaves mtime as it was")
def write3_keeps_mtime(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Put the old mtime back."""
    inode = _inode(server, args.file)
    mtime = None if inode is None else inode.mtime
    reply = proceed(context, args)
    if reply.resok is None or inode is None or mtime is None:
        return reply
    inode.mtime = mtime
    wcc = reply.resok.file_wcc
    if wcc.after is None:
        return reply
    return _with(reply, file_wcc=replace(wcc, after=replace(wcc.after, mtime=nfstime3(mtime))))


@mutant(
    "write3-no-data-touches-mtime",
    bends=WRITE,
    breaks=f"{_WRITE} (IMPLEMENTATION)",
    gist="WRITE of 0 bytes sets mtime",
)
def write3_no_data_touches_mtime(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Stamp the file though it did not change."""
    reply = proceed(context, args)
    inode = _inode(server, args.file)
    if inode is not None and not args.data:
        inode.mtime = inode.fs.stamp()
    return reply


@mutant(
    "write3-no-data-extends",
    bends=WRITE,
    breaks=f"{_WRITE} (IMPLEMENTATION)",
    gist="WRITE of 0 bytes behind the end makes the file larger",
)
def write3_no_data_extends(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Let the file end at offset + count."""
    inode = _inode(server, args.file)
    if not args.data and inode is not None and inode.data is not None and inode.size < args.offset:
        inode.data.truncate(args.offset)
    return proceed(context, args)


@mutant(
    "write3-answers-isdir",
    bends=WRITE,
    breaks=f"{_WRITE} (IMPLEMENTATION)",
    gist="WRITE to a directory answers NFS3ERR_ISDIR, as in NFSv2",
)
def write3_answers_isdir(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """The code that RFC 1813 calls incorrect."""
    reply = proceed(context, args)
    after = None if reply.resfail is None else reply.resfail.file_wcc.after
    if after is None or after.type is not Ftype3.NF3DIR:
        return reply
    return _write_refusal(server, args, Nfsstat3.NFS3ERR_ISDIR)


@mutant(
    "write3-overwrites-symlinks",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE to a symbolic link replaces its text",
)
def write3_overwrites_symlinks(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Treat the text as data."""
    watched = Watched(server, args.file)
    inode = _inode(server, args.file)
    if inode is None or inode.kind is not Kind.SYMLINK:
        return proceed(context, args)
    inode.target = bytes(args.data)
    resok = Write3ResOk(watched.wcc(), args.count, StableHow.FILE_SYNC, server.write_verifier)
    return Write3Res(Nfsstat3.NFS3_OK, resok)
