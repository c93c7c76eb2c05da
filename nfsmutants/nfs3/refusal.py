# SPDX-License-Identifier: MIT
"""Mutants that show where not all is taken or given: short counts, the largest file, full disks, permission."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    READ,
    READDIR,
    READDIRPLUS,
    WRITE,
    Nfsstat3,
    Read3Res,
    Read3ResFail,
    StableHow,
    Write3Res,
    Write3ResOk,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend, inode_of, restate
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import refuse_write
from nfsmutants.nfs3.calls import Read, Write
from nfsmutants.rules import (
    RFC1813_ERRORS,
    RFC1813_FSINFO,
    RFC1813_PERMISSIONS,
    RFC1813_READ,
    RFC1813_WRITE,
    RFC1813_WRITE_HINTS,
)
from nfsserver.fs.data import PagedData
from nfsserver.nfs3.common import Watched, fattr3


class _Short(t.NamedTuple):
    """A WRITE that took some of the data, and the content of its file."""

    reply: Write3Res
    taken: int
    content: PagedData


def _short(call: Write) -> _Short | Write3Res:
    """What the server took of the data; the reply alone where it took all or nothing."""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.file)
    if reply.resok is None or inode is None or inode.data is None or reply.resok.count >= len(call.args.data):
        return reply
    return _Short(reply, reply.resok.count, inode.data)


def _with_attributes_now(call: Write, reply: Write3Res) -> Write3Res:
    """The reply with the attributes that its file has after what a mutant did to it."""
    return amend(reply, "file_wcc", after=lambda it: it.after and fattr3(call.server.resolve(call.args.file)))


@mutant(WRITE, RFC1813_WRITE)
def write3_short_count_writes_all(call: Write) -> Write3Res:
    """A WRITE that is answered with a short count wrote all of the data"""
    short = _short(call)
    if not isinstance(short, _Short):
        return short
    rest = bytes(call.args.data)[short.taken :]
    short.content.write(call.args.offset + short.taken, rest, stable=True)
    return _with_attributes_now(call, short.reply)


@mutant(WRITE, RFC1813_WRITE)
def write3_short_count_loses_a_byte(call: Write) -> Write3Res:
    """A WRITE that is answered with a short count lacks its last byte"""
    short = _short(call)
    if not isinstance(short, _Short):
        return short
    short.content.write(call.args.offset + short.taken - 1, b"\0", stable=True)
    return _with_attributes_now(call, short.reply)


@mutant(WRITE, RFC1813_WRITE)
def write3_short_count_sizes_all(call: Write) -> Write3Res:
    """A WRITE that is answered with a short count makes room for all data"""
    short = _short(call)
    if not isinstance(short, _Short):
        return short
    short.content.truncate(max(short.content.size, call.args.offset + len(call.args.data)))
    return _with_attributes_now(call, short.reply)


@mutant(WRITE, RFC1813_WRITE)
def write3_short_wcc_tells_all(call: Write) -> Write3Res:
    """The attributes after a short WRITE have the size that all data would make"""
    short = _short(call)
    if not isinstance(short, _Short):
        return short
    end = call.args.offset + len(call.args.data)
    return amend(short.reply, "file_wcc.after", size=lambda it: max(it.size, end))


@mutant(WRITE, RFC1813_WRITE)
def write3_refuses_the_rest(call: Write) -> Write3Res:
    """WRITE that goes on where a short one ended is refused with INVAL"""
    args = call.args
    ends: set[tuple[bytes, int]] = call.state.setdefault("ends", set())
    if (bytes(args.file), args.offset) in ends:
        return refuse_write(call, Nfsstat3.NFS3ERR_INVAL)
    reply = call.proceed()
    if reply.resok is not None and reply.resok.count < len(args.data):
        ends.add((bytes(args.file), args.offset + reply.resok.count))
    return reply


@mutant(WRITE, RFC1813_WRITE_HINTS)
def write3_makes_no_further_progress(call: Write) -> Write3Res:
    """WRITE that goes on where a short one ended is answered with OK and count 0"""
    args = call.args
    ends: set[tuple[bytes, int]] = call.state.setdefault("ends", set())
    if (bytes(args.file), args.offset) in ends:
        return call.proceed(replace(args, data=b"", count=0))
    reply = call.proceed()
    if reply.resok is not None and reply.resok.count < len(args.data):
        ends.add((bytes(args.file), args.offset + reply.resok.count))
    return reply


# ---------------------------------------------------------------- the largest file


@mutant(WRITE, RFC1813_FSINFO)
def write3_exceeds_maxfilesize(call: Write) -> Write3Res:
    """WRITE of up to 64 bytes makes a file larger than the maxfilesize of FSINFO"""
    args = call.args
    reply = call.proceed()
    watched, inode = Watched(call.server, args.file), inode_of(call.server, args.file)
    small = 0 < len(args.data) == args.count <= 64
    if reply.status != Nfsstat3.NFS3ERR_FBIG or not small or inode is None or inode.data is None:
        return reply
    count = inode.data.write(args.offset, args.data, stable=True)
    resok = Write3ResOk(watched.wcc(), count, StableHow.FILE_SYNC, call.server.write_verifier)
    return Write3Res(Nfsstat3.NFS3_OK, resok)


@mutant(WRITE, RFC1813_ERRORS)
def write3_too_big_is_io(call: Write) -> Write3Res:
    """WRITE beyond the largest file answers IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_FBIG, Nfsstat3.NFS3ERR_IO)


@mutant(WRITE, RFC1813_ERRORS)
def write3_full_is_io(call: Write) -> Write3Res:
    """WRITE without room answers IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_NOSPC, Nfsstat3.NFS3ERR_IO)


@mutant(WRITE, RFC1813_ERRORS)
def write3_over_quota_is_io(call: Write) -> Write3Res:
    """WRITE beyond the quota answers IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_DQUOT, Nfsstat3.NFS3ERR_IO)


@mutant(WRITE, RFC1813_ERRORS)
def write3_read_only_is_io(call: Write) -> Write3Res:
    """WRITE to a read-only file system answers IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_ROFS, Nfsstat3.NFS3ERR_IO)


_REFUSALS: t.Final = {
    Nfsstat3.NFS3ERR_FBIG,
    Nfsstat3.NFS3ERR_NOSPC,
    Nfsstat3.NFS3ERR_DQUOT,
    Nfsstat3.NFS3ERR_ROFS,
}


@mutant(WRITE, RFC1813_WRITE)
def write3_refused_clears_the_beginning(call: Write) -> Write3Res:
    """WRITE that is refused for want of room or right clears the first byte of the file"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.file)
    if reply.status in _REFUSALS and inode is not None and inode.data is not None and call.args.offset:
        _overwrite(inode.data)
    return reply


def _overwrite(content: PagedData) -> None:
    """A zero at the beginning, in both versions of a file that has a page there."""
    if content.read(0, 1):
        content.write(0, b"\0", stable=True)


@mutant(WRITE, RFC1813_WRITE)
def write3_full_counts_all(call: Write) -> Write3Res:
    """WRITE that finds room for a part of its data answers that all was written"""
    reply = call.proceed()
    if reply.resok is None or reply.resok.count in {0, len(call.args.data)}:
        return reply
    return amend(reply, count=len(call.args.data))


@mutant(WRITE, RFC1813_WRITE)
def write3_stays_full(call: Write) -> Write3Res:
    """WRITE to a file that had no room once answers NOSPC for ever"""
    full: set[bytes] = call.state.setdefault("full", set())
    if call.args.file in full:
        return refuse_write(call, Nfsstat3.NFS3ERR_NOSPC)
    reply = call.proceed()
    if reply.status == Nfsstat3.NFS3ERR_NOSPC:
        full.add(bytes(call.args.file))
    return reply


# ---------------------------------------------------------------- short READs


@mutant(READ, RFC1813_READ)
def read3_short_says_eof(call: Read) -> Read3Res:
    """READ that returns less than it was asked for says eof"""
    reply = call.proceed()
    if reply.resok is None or reply.resok.count >= call.args.count:
        return reply
    return amend(reply, eof=True)


@mutant(READ, RFC1813_READ)
def read3_short_misses_by_one(call: Read) -> Read3Res:
    """READ that returns less than it was asked for returns the bytes after the first one"""
    reply = call.proceed()
    if reply.resok is None or reply.resok.eof or reply.resok.count >= call.args.count:
        return reply
    shifted = call.proceed_with(offset=call.args.offset + 1).resok
    data = b"" if shifted is None else bytes(shifted.data)
    return amend(reply, data=data[: reply.resok.count].ljust(reply.resok.count, b"?"))


@mutant(READ, RFC1813_ERRORS)
def read3_refuses_read_only(call: Read) -> Read3Res:
    """READ on a read-only file system answers ROFS, though it modifies nothing"""
    if not call.server.knobs.now.read_only:
        return call.proceed()
    return Read3Res(
        Nfsstat3.NFS3ERR_ROFS, resfail=Read3ResFail(Watched(call.server, call.args.file).attributes())
    )


@mutant(WRITE, RFC1813_ERRORS)
def write3_ignores_read_only(call: Write) -> Write3Res:
    """WRITE to a read-only file system is refused, and done"""
    inode = inode_of(call.server, call.args.file)
    if call.server.knobs.now.read_only and inode is not None and inode.data is not None:
        inode.data.write(call.args.offset, call.args.data, stable=True)
    return call.proceed()


@mutant(WRITE, RFC1813_FSINFO)
def write3_refuses_the_largest_file(call: Write) -> Write3Res:
    """WRITE that ends within 8 bytes of maxfilesize is refused with FBIG"""
    end = call.args.offset + len(call.args.data)
    if 0 <= call.server.limits.max_file_size - end < 8:
        return refuse_write(call, Nfsstat3.NFS3ERR_FBIG)
    return call.proceed()


# ---------------------------------------------------------------- permission


@mutant((READ, WRITE, READDIR, READDIRPLUS), RFC1813_PERMISSIONS)
def nfs3_data_is_for_everybody(call: AnyCall) -> t.Any:
    """READ, WRITE, READDIR and READDIRPLUS do not look at permissions"""
    if call.caller.uid == 0:
        return call.proceed()
    return call.proceed_as_root()


@mutant(WRITE, RFC1813_WRITE)
def write3_denies_and_writes(call: Write) -> Write3Res:
    """WRITE that is refused for want of permission is done nevertheless"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.file)
    denied = {Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM, Nfsstat3.NFS3ERR_ROFS}
    if reply.status in denied and inode is not None and inode.data is not None:
        inode.data.write(call.args.offset, call.args.data, stable=True)
    return reply
