# SPDX-License-Identifier: MIT
"""Mutants that show where not all is taken or given: short counts, the largest file, full disks, permission."""

from __future__ import annotations

import dataclasses
import typing as t
from collections.abc import Callable

from nfsclient.protocol.nfs3 import (
    READ,
    READDIR,
    READDIRPLUS,
    WRITE,
    Nfsstat3,
    Read3Args,
    Read3Res,
    Read3ResFail,
    StableHow,
    Write3Args,
    Write3Res,
    Write3ResFail,
    Write3ResOk,
)
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.fs import FsError, Inode
from nfsserver.fs.data import PagedData
from nfsserver.mutants import Proceed, mutant
from nfsserver.nfs3.common import Watched, fattr3

if t.TYPE_CHECKING:
    from nfsserver.server import Server

NextWrite: t.TypeAlias = Proceed[Write3Args, Write3Res]
BendShort: t.TypeAlias = "Callable[[Server, Write3Args, Write3ResOk, PagedData], Write3ResOk]"

_WRITE: t.Final = "RFC 1813 section 3.3.7"


def _inode(server: Server, handle: bytes) -> Inode | None:
    try:
        return server.resolve(handle)
    except FsError:
        return None


def _bends_short(name: str, gist: str) -> Callable[[BendShort], BendShort]:
    """Register what bends a WRITE that took some of the data: (server, arguments, resok, content) -> resok."""

    def register(bend: BendShort) -> BendShort:
        @mutant(name, bends=WRITE, breaks=_WRITE, gist=gist)
        def middleware(
            server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
        ) -> Write3Res:
            reply = proceed(context, args)
            inode = _inode(server, args.file)
            if (
                reply.resok is None
                or inode is None
                or inode.data is None
                or reply.resok.count >= len(args.data)
            ):
                return reply
            resok = bend(server, args, reply.resok, inode.data)
            wcc = resok.file_wcc
            if wcc.after is not None and wcc is reply.resok.file_wcc:
                resok = replace(resok, file_wcc=replace(wcc, after=fattr3(inode)))
            return replace(reply, resok=resok)

        return bend

    return register


@_bends_short(
    "write3-short-count-writes-all", "a WRITE that is answered with a short count wrote all of the data"
)
def writes_all(_server: Server, args: Write3Args, resok: Write3ResOk, content: PagedData) -> Write3ResOk:
    """Count less than was done."""
    rest = bytes(args.data)[resok.count :]
    content.write(args.offset + resok.count, rest, stable=True)
    return resok


@_bends_short(
    "write3-short-count-loses-a-byte", "a WRITE that is answered with a short count lacks its last byte"
)
def loses_a_byte(_server: Server, args: Write3Args, resok: Write3ResOk, content: PagedData) -> Write3ResOk:
    """Count more than was done."""
    content.write(args.offset + resok.count - 1, b"\0", stable=True)
    return resok


@_bends_short(
    "write3-short-count-sizes-all",
    "a WRITE that is answered with a short count makes room for all data",
)
def sizes_all(_server: Server, args: Write3Args, resok: Write3ResOk, content: PagedData) -> Write3ResOk:
    """Set the size first, and forget to set it back."""
    content.truncate(max(content.size, args.offset + len(args.data)))
    return resok


@_bends_short(
    "write3-short-wcc-tells-all", "the attributes after a short WRITE have the size that all data would make"
)
def wcc_tells_all(_server: Server, args: Write3Args, resok: Write3ResOk, _content: PagedData) -> Write3ResOk:
    """Take the size from the arguments."""
    wcc = resok.file_wcc
    if wcc.after is None:
        return resok
    size = max(wcc.after.size, args.offset + len(args.data))
    return replace(resok, file_wcc=replace(wcc, after=replace(wcc.after, size=size)))


def _refusal(server: Server, args: Write3Args, status: Nfsstat3) -> Write3Res:
    return Write3Res(status, resfail=Write3ResFail(Watched(server, args.file).wcc()))


@mutant(
    "write3-refuses-the-rest",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE that goes on where a short one ended is refused with INVAL",
)
def refuses_the_rest(server: Server, context: CallContext, args: Write3Args, proceed: NextWrite) -> Write3Res:
    """Want whole blocks."""
    ends: set[tuple[bytes, int]] = server.mutant_state("write3-refuses-the-rest").setdefault("ends", set())
    if (bytes(args.file), args.offset) in ends:
        return _refusal(server, args, Nfsstat3.NFS3ERR_INVAL)
    reply = proceed(context, args)
    if reply.resok is not None and reply.resok.count < len(args.data):
        ends.add((bytes(args.file), args.offset + reply.resok.count))
    return reply


@mutant(
    "write3-makes-no-further-progress",
    bends=WRITE,
    breaks=f"{_WRITE} (IMPLEMENTATION)",
    gist="WRITE that goes on where a short one ended is answered with OK and count 0",
)
def makes_no_further_progress(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Be short once too often."""
    ends: set[tuple[bytes, int]] = server.mutant_state("write3-makes-no-further-progress").setdefault(
        "ends", set()
    )
    if (bytes(args.file), args.offset) in ends:
        return proceed(context, replace(args, data=b"", count=0))
    reply = proceed(context, args)
    if reply.resok is not None and reply.resok.count < len(args.data):
        ends.add((bytes(args.file), args.offset + reply.resok.count))
    return reply


# ---------------------------------------------------------------- the largest file


@mutant(
    "write3-exceeds-maxfilesize",
    bends=WRITE,
    breaks="RFC 1813 section 3.3.19",
    gist="WRITE of up to 64 bytes makes a file larger than the maxfilesize of FSINFO",
)
def exceeds_maxfilesize(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Do not look at the limit."""
    reply = proceed(context, args)
    watched, inode = Watched(server, args.file), _inode(server, args.file)
    small = 0 < len(args.data) == args.count <= 64
    if reply.status != Nfsstat3.NFS3ERR_FBIG or not small or inode is None or inode.data is None:
        return reply
    count = inode.data.write(args.offset, args.data, stable=True)
    resok = Write3ResOk(watched.wcc(), count, StableHow.FILE_SYNC, server.write_verifier)
    return Write3Res(Nfsstat3.NFS3_OK, resok)


def _bends_refusal(name: str, refusal: Nfsstat3, gist: str) -> None:
    """Register a WRITE that answers IO instead of one status."""

    @mutant(name, bends=WRITE, breaks="RFC 1813 section 2.6", gist=gist)
    def middleware(_server: Server, context: CallContext, args: Write3Args, proceed: NextWrite) -> Write3Res:
        reply = proceed(context, args)
        return replace(reply, status=Nfsstat3.NFS3ERR_IO) if reply.status == refusal else reply


_bends_refusal("write3-too-big-is-io", Nfsstat3.NFS3ERR_FBIG, "WRITE behind the largest file answers IO")
_bends_refusal("write3-full-is-io", Nfsstat3.NFS3ERR_NOSPC, "WRITE without room answers IO")
_bends_refusal("write3-over-quota-is-io", Nfsstat3.NFS3ERR_DQUOT, "WRITE beyond the quota answers IO")
_bends_refusal("write3-read-only-is-io", Nfsstat3.NFS3ERR_ROFS, "WRITE to a read-only file system answers IO")

_REFUSALS: t.Final = {
    Nfsstat3.NFS3ERR_FBIG,
    Nfsstat3.NFS3ERR_NOSPC,
    Nfsstat3.NFS3ERR_DQUOT,
    Nfsstat3.NFS3ERR_ROFS,
}


@mutant(
    "write3-refused-clears-the-beginning",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE that is refused for want of room or right clears the first byte of the file",
)
def refused_clears_the_beginning(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Begin before looking."""
    reply = proceed(context, args)
    inode = _inode(server, args.file)
    if reply.status in _REFUSALS and inode is not None and inode.data is not None and args.offset:
        _overwrite(inode.data)
    return reply


def _overwrite(content: PagedData) -> None:
    """A zero at the beginning, in both versions of a file that has a page there."""
    if content.read(0, 1):
        content.write(0, b"\0", stable=True)


@mutant(
    "write3-full-counts-all",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE that finds room for a part of its data answers that all was written",
)
def full_counts_all(_server: Server, context: CallContext, args: Write3Args, proceed: NextWrite) -> Write3Res:
    """Hide that the write was short."""
    reply = proceed(context, args)
    if reply.resok is None or reply.resok.count in {0, len(args.data)}:
        return reply
    return replace(reply, resok=replace(reply.resok, count=len(args.data)))


@mutant(
    "write3-stays-full",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE to a file that had no room once answers NOSPC for ever",
)
def stays_full(server: Server, context: CallContext, args: Write3Args, proceed: NextWrite) -> Write3Res:
    """Remember the first answer."""
    full: set[bytes] = server.mutant_state("write3-stays-full").setdefault("full", set())
    if args.file in full:
        return _refusal(server, args, Nfsstat3.NFS3ERR_NOSPC)
    reply = proceed(context, args)
    if reply.status == Nfsstat3.NFS3ERR_NOSPC:
        full.add(bytes(args.file))
    return reply


# ---------------------------------------------------------------- short READs


@mutant(
    "read3-short-says-eof",
    bends=READ,
    breaks="RFC 1813 section 3.3.6",
    gist="READ that returns less than it was asked for says eof",
)
def read3_short_says_eof(
    _server: Server, context: CallContext, args: Read3Args, proceed: Proceed[Read3Args, Read3Res]
) -> Read3Res:
    """Take a short answer for the last one, as clients of NFSv2 did."""
    reply = proceed(context, args)
    if reply.resok is None or reply.resok.count >= args.count:
        return reply
    return replace(reply, resok=replace(reply.resok, eof=True))


@mutant(
    "read3-short-misses-by-one",
    bends=READ,
    breaks="RFC 1813 section 3.3.6",
    gist="READ that returns less than it was asked for returns the bytes behind the first one",
)
def read3_short_misses_by_one(
    _server: Server, context: CallContext, args: Read3Args, proceed: Proceed[Read3Args, Read3Res]
) -> Read3Res:
    """Count from one."""
    reply = proceed(context, args)
    if reply.resok is None or reply.resok.eof or reply.resok.count >= args.count:
        return reply
    shifted = proceed(context, replace(args, offset=args.offset + 1)).resok
    data = b"" if shifted is None else bytes(shifted.data)
    return replace(
        reply, resok=replace(reply.resok, data=data[: reply.resok.count].ljust(reply.resok.count, b"?"))
    )


@mutant(
    "read3-refuses-read-only",
    bends=READ,
    breaks="RFC 1813 section 2.6",
    gist="READ on a read-only file system answers ROFS, though it modifies nothing",
)
def read3_refuses_read_only(
    server: Server, context: CallContext, args: Read3Args, proceed: Proceed[Read3Args, Read3Res]
) -> Read3Res:
    """Refuse everything."""
    if not server.knobs.now.read_only:
        return proceed(context, args)
    return Read3Res(Nfsstat3.NFS3ERR_ROFS, resfail=Read3ResFail(Watched(server, args.file).attributes()))


@mutant(
    "write3-ignores-read-only",
    bends=WRITE,
    breaks="RFC 1813 section 2.6",
    gist="WRITE to a read-only file system is refused, and done",
)
def ignores_read_only(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Look at the right too late."""
    inode = _inode(server, args.file)
    if server.knobs.now.read_only and inode is not None and inode.data is not None:
        inode.data.write(args.offset, args.data, stable=True)
    return proceed(context, args)


@mutant(
    "write3-refuses-the-largest-file",
    bends=WRITE,
    breaks="RFC 1813 section 3.3.19",
    gist="WRITE that ends within 8 bytes of maxfilesize is refused with FBIG",
)
def refuses_the_largest_file(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Count from the wrong end."""
    end = args.offset + len(args.data)
    if 0 <= server.limits.max_file_size - end < 8:
        return _refusal(server, args, Nfsstat3.NFS3ERR_FBIG)
    return proceed(context, args)


# ---------------------------------------------------------------- permission


@mutant(
    "nfs3-data-is-for-everybody",
    bends=(READ, WRITE, READDIR, READDIRPLUS),
    breaks="RFC 1813 section 4.4",
    gist="READ, WRITE, READDIR and READDIRPLUS do not look at permissions",
)
def data_is_for_everybody(
    server: Server, context: CallContext, args: t.Any, proceed: Proceed[t.Any, t.Any]
) -> t.Any:
    """Ask as root."""
    if server.caller(context).uid == 0:
        return proceed(context, args)
    return proceed(dataclasses.replace(context, credential=AuthSys(0, 0)), args)


@mutant(
    "write3-denies-and-writes",
    bends=WRITE,
    breaks=_WRITE,
    gist="WRITE that is refused for want of permission is done nevertheless",
)
def denies_and_writes(
    server: Server, context: CallContext, args: Write3Args, proceed: NextWrite
) -> Write3Res:
    """Look at permissions too late."""
    reply = proceed(context, args)
    inode = _inode(server, args.file)
    denied = {Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM, Nfsstat3.NFS3ERR_ROFS}
    if reply.status in denied and inode is not None and inode.data is not None:
        inode.data.write(args.offset, args.data, stable=True)
    return reply
