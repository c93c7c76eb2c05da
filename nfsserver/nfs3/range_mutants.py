# SPDX-License-Identifier: MIT
"""Mutants of READ, WRITE and COMMIT that show at limits, on one transport, or in large transfers."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import (
    COMMIT,
    READ,
    WRITE,
    Commit3Args,
    Commit3Res,
    Nfsstat3,
    Read3Args,
    Read3Res,
    Read3ResFail,
    StableHow,
    Write3Args,
    Write3Res,
    Write3ResFail,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import FsError, Inode, Kind
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.common import Watched

if t.TYPE_CHECKING:
    from nfsserver.server import Server

NextRead: t.TypeAlias = Proceed[Read3Args, Read3Res]
NextWrite: t.TypeAlias = Proceed[Write3Args, Write3Res]
NextCommit: t.TypeAlias = Proceed[Commit3Args, Commit3Res]
BendData: t.TypeAlias = Callable[[CallContext, t.Any, bytes], bytes]

_READ: t.Final = "RFC 1813 section 3.3.6"
_WRITE: t.Final = "RFC 1813 section 3.3.7"
_COMMIT: t.Final = "RFC 1813 section 3.3.21"
_FAR: t.Final = 2**31 - 9
"""Where an offset may outgrow 31 bits within a small range."""
_LARGE: t.Final = 2**16
"""From this many bytes on a transfer is large."""


def _inode(server: Server, handle: bytes) -> Inode | None:
    try:
        return server.resolve(handle)
    except FsError:
        return None


def _is_special(server: Server, handle: bytes) -> bool:
    inode = _inode(server, handle)
    return inode is not None and inode.kind not in {Kind.REGULAR, Kind.DIRECTORY, Kind.SYMLINK}


def _read_refusal(server: Server, args: Read3Args, status: Nfsstat3) -> Read3Res:
    return Read3Res(status, resfail=Read3ResFail(Watched(server, args.file).attributes()))


def _write_refusal(server: Server, args: Write3Args, status: Nfsstat3) -> Write3Res:
    return Write3Res(status, resfail=Write3ResFail(Watched(server, args.file).wcc()))


def _bends_read_data(name: str, gist: str) -> Callable[[BendData], BendData]:
    """Register what bends the data of a READ: (context, arguments, data) -> data of the same length."""

    def register(bend: BendData) -> BendData:
        @mutant(name, bends=READ, breaks=_READ, gist=gist)
        def middleware(_server: Server, context: CallContext, args: Read3Args, proceed: NextRead) -> Read3Res:
            reply = proceed(context, args)
            if reply.resok is None:
                return reply
            data = bend(context, args, bytes(reply.resok.data))
            return replace(reply, resok=replace(reply.resok, data=data))

        return bend

    return register


def _bends_write_data(name: str, gist: str) -> Callable[[BendData], BendData]:
    """Register what writes other data of the same length: (context, arguments, data) -> data."""

    def register(bend: BendData) -> BendData:
        @mutant(name, bends=WRITE, breaks=_WRITE, gist=gist)
        def middleware(
            _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
        ) -> Write3Res:
            return proceed(context, replace(args, data=bend(context, args, bytes(args.data))))

        return bend

    return register


# ---------------------------------------------------------------- READ


@_bends_read_data(
    "read3-misses-by-one-far-out",
    "READ near 2 GiB and behind returns its first byte last, or a zero for a single one",
)
def read3_misses_by_one_far_out(_context: CallContext, args: Read3Args, data: bytes) -> bytes:
    """Rotate the data by one byte."""
    if args.offset < _FAR:
        return data
    return data[1:] + data[:1] if len(data) > 1 else bytes(len(data))


@_bends_read_data(
    "read3-shifts-large-reads", "READ that asks for more than 64 KiB returns its first byte last"
)
def read3_shifts_large_reads(_context: CallContext, args: Read3Args, data: bytes) -> bytes:
    """Rotate the data by one byte."""
    return data[1:] + data[:1] if args.count > _LARGE else data


@_bends_read_data("read3-over-udp-loses-the-end", "READ over UDP returns a zero for the last byte")
def read3_over_udp_loses_the_end(context: CallContext, _args: Read3Args, data: bytes) -> bytes:
    """Lose what did not fit."""
    return data[:-1] + b"\0" if context.transport == "udp" and data else data


@mutant(
    "read3-refuses-far-offsets",
    bends=READ,
    breaks=_READ,
    gist="READ behind the end of a file answers INVAL from an offset of 2 GiB - 1 on",
)
def read3_refuses_far_offsets(
    server: Server, context: CallContext, args: Read3Args, proceed: NextRead
) -> Read3Res:
    """Know 31 bits only."""
    inode = _inode(server, args.file)
    if inode is None or not max(2**31 - 1, inode.size) <= args.offset <= 2**64 - args.count:
        return proceed(context, args)
    return _read_refusal(server, args, Nfsstat3.NFS3ERR_INVAL)


@mutant(
    "read3-refuses-large-reads",
    bends=READ,
    breaks="RFC 1813 section 3.3.19",
    gist="READ of more than half of rtmax answers INVAL",
)
def read3_refuses_large_reads(
    server: Server, context: CallContext, args: Read3Args, proceed: NextRead
) -> Read3Res:
    """Do not keep the promise of FSINFO."""
    most = server.transfers(context).read_max
    if not most // 2 < args.count <= most:
        return proceed(context, args)
    return _read_refusal(server, args, Nfsstat3.NFS3ERR_INVAL)


@mutant(
    "read3-wrong-type-is-io",
    bends=READ,
    breaks=f"{_READ} (IMPLEMENTATION)",
    gist="READ of a FIFO, socket or device answers IO",
)
def read3_wrong_type_is_io(
    server: Server, context: CallContext, args: Read3Args, proceed: NextRead
) -> Read3Res:
    """Say something else."""
    if not _is_special(server, args.file):
        return proceed(context, args)
    return _read_refusal(server, args, Nfsstat3.NFS3ERR_IO)


# ---------------------------------------------------------------- WRITE


@_bends_write_data("write3-misses-by-one-far-out", "WRITE near 2 GiB and behind stores its first byte last")
def write3_misses_by_one_far_out(_context: CallContext, args: Write3Args, data: bytes) -> bytes:
    """Rotate the data by one byte."""
    return data[1:] + data[:1] if args.offset >= _FAR else data


@_bends_write_data(
    "write3-clears-the-end-of-large-data", "WRITE of 64 KiB or more stores a zero for the last byte"
)
def write3_clears_the_end_of_large_data(_context: CallContext, _args: Write3Args, data: bytes) -> bytes:
    """Lose what does not fit into 16 bits."""
    return data[:-1] + b"\0" if len(data) >= _LARGE - 1 else data


@_bends_write_data("write3-over-udp-loses-the-end", "WRITE over UDP stores a zero for the last byte")
def write3_over_udp_loses_the_end(context: CallContext, _args: Write3Args, data: bytes) -> bytes:
    """Lose what did not fit."""
    return data[:-1] + b"\0" if context.transport == "udp" and data else data


@mutant(
    "write3-clears-the-beginning-when-too-far",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE behind the largest possible file is refused, and clears the first byte of the file",
)
def write3_clears_the_beginning_when_too_far(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Let the offset overflow in the cache."""
    inode = _inode(server, args.file)
    if args.offset >= 2**63 - 16 and inode is not None and inode.data is not None:
        inode.data.write(0, b"\0", stable=True)
    return proceed(context, args)


@mutant(
    "write3-refuses-large-data",
    bends=WRITE,
    breaks="RFC 1813 section 3.3.19",
    gist="WRITE of more than half of wtmax answers INVAL",
)
def write3_refuses_large_data(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Do not keep the promise of FSINFO."""
    most = server.transfers(context).write_max
    if not most // 2 < args.count <= most:
        return proceed(context, args)
    return _write_refusal(server, args, Nfsstat3.NFS3ERR_INVAL)


@mutant(
    "write3-trusts-huge-counts",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE whose count is above 2 GiB, and above the length of its data, writes 16 bytes more than the data",
)
def write3_trusts_huge_counts(
    _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Write what the buffer happens to hold."""
    if args.count < 2**31 or args.count <= len(args.data):
        return proceed(context, args)
    data = bytes(args.data) + b"?" * 16
    return proceed(context, replace(args, data=data, count=len(data)))


@mutant(
    "write3-drops-data-of-unknown-stability",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE with a stable_how that is none answers OK and its count, and writes nothing",
)
def write3_drops_data_of_unknown_stability(
    _server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Fall through the cases."""
    if args.stable.is_known:
        return proceed(context, args)
    nothing = replace(args, data=b"", count=0, stable=StableHow.FILE_SYNC)
    reply = proceed(context, nothing)
    return reply if reply.resok is None else replace(reply, resok=replace(reply.resok, count=len(args.data)))


@mutant(
    "write3-keeps-what-was-first",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE of a range that was written before with the same offset and count keeps the older data",
)
def write3_keeps_what_was_first(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Take it for a retransmission."""
    seen: set[tuple[bytes, int, int]] = server.mutant_state("write3-keeps-what-was-first").setdefault(
        "seen", set()
    )
    key = (bytes(args.file), args.offset, args.count)
    reply_to_first = key not in seen
    seen.add(key)
    if reply_to_first or args.count < 2:
        return proceed(context, args)
    reply = proceed(context, replace(args, data=b"", count=0))
    return reply if reply.resok is None else replace(reply, resok=replace(reply.resok, count=args.count))


@mutant(
    "write3-wrong-type-is-io",
    bends=WRITE,
    breaks=f"{_WRITE} (IMPLEMENTATION)",
    gist="WRITE to a FIFO, socket or device answers IO",
)
def write3_wrong_type_is_io(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Say something else."""
    if not _is_special(server, args.file):
        return proceed(context, args)
    return _write_refusal(server, args, Nfsstat3.NFS3ERR_IO)


@mutant(
    "write3-takes-the-end-for-the-offset",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE of the second client that writes a file goes to the end of it, wherever it was to go",
)
def write3_takes_the_end_for_the_offset(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Treat further writers as appending."""
    owners = server.mutant_state("write3-takes-the-end-for-the-offset")
    inode = _inode(server, args.file)
    if inode is None or owners.setdefault(args.file.hex(), context.peer) == context.peer:
        return proceed(context, args)
    return proceed(context, replace(args, offset=inode.size))


# ---------------------------------------------------------------- COMMIT


@mutant(
    "commit3-drops-other-files",
    bends=COMMIT,
    breaks=_COMMIT,
    gist="COMMIT of a file throws the uncommitted data of all others away",
)
def commit3_drops_other_files(
    server: Server, context: CallContext, args: Commit3Args, proceed: NextCommit
) -> Commit3Res:
    """Keep one file."""
    committed = _inode(server, args.file)
    for inode in server.fs.inodes():
        if inode is not committed:
            inode.crash()
    return proceed(context, args)


@mutant(
    "commit3-flushes-its-own-data",
    bends=(WRITE, COMMIT),
    breaks=_COMMIT,
    gist="COMMIT flushes only a file that its own connection wrote last, and answers OK for others",
)
def commit3_flushes_its_own_data(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Keep uncommitted data with the connection that it came from."""
    writers = server.mutant_state("commit3-flushes-its-own-data")
    if context.procedure is WRITE:
        writers[args.file.hex()] = context.peer
        return proceed(context, args)
    if writers.get(args.file.hex(), context.peer) == context.peer:
        return proceed(context, args)
    return proceed(context, replace(args, offset=2**64 - 1, count=1))


@mutant(
    "commit3-changes-what-is-no-file",
    bends=COMMIT,
    breaks=_COMMIT,
    gist="COMMIT of what is no regular file sets its mode to 0",
)
def commit3_changes_what_is_no_file(
    server: Server, context: CallContext, args: Commit3Args, proceed: NextCommit
) -> Commit3Res:
    """Write the attributes of a new file over it."""
    inode = _inode(server, args.file)
    if inode is not None and inode.kind is not Kind.REGULAR:
        inode.mode = 0
    return proceed(context, args)


@mutant(
    "commit3-over-udp-flushes-nothing",
    bends=COMMIT,
    breaks=_COMMIT,
    gist="COMMIT over UDP answers OK and throws the uncommitted data away",
)
def commit3_over_udp_flushes_nothing(
    server: Server, context: CallContext, args: Commit3Args, proceed: NextCommit
) -> Commit3Res:
    """Take it for a retransmission."""
    inode = _inode(server, args.file)
    if context.transport == "udp" and inode is not None:
        inode.crash()
    return proceed(context, args)


# ---------------------------------------------------------------- several clients


@mutant(
    "read3-remembers-for-each-connection",
    bends=READ,
    breaks=_READ,
    gist="READ of a file is answered on a connection as it was there the first time, whatever changed since",
)
def read3_remembers_for_each_connection(
    server: Server, context: CallContext, args: Read3Args, proceed: NextRead
) -> Read3Res:
    """Have a cache that nobody tells of changes."""
    inode = _inode(server, args.file)
    if inode is None or inode.data is None:
        return proceed(context, args)
    known: dict[tuple[bytes, object], bytes] = server.mutant_state(
        "read3-remembers-for-each-connection"
    ).setdefault("known", {})
    data = known.setdefault((bytes(args.file), context.peer), inode.data.read(0, 2**16))
    part = data[args.offset : args.offset + args.count]
    reply = proceed(context, args)
    if reply.resok is None or args.offset >= 2**16:
        return reply
    resok = replace(reply.resok, data=part, count=len(part), eof=args.offset + len(part) >= len(data))
    return replace(reply, resok=resok)
