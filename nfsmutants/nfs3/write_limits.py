# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_write_limits.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import WRITE, Nfsstat3, StableHow, Write3Res, Write3ResOk
from nfsmutants.bending import inode_of, restate
from nfsmutants.form import mutant
from nfsmutants.nfs3.bending import refuse_write
from nfsmutants.nfs3.calls import Write
from nfsmutants.rules import RFC1813_FSINFO
from nfsserver.nfs3.common import Watched

# ---------------------------------------------------------------- the largest file


@mutant(WRITE, breaks=RFC1813_FSINFO)
def write3_exceeds_maxfilesize(call: Write) -> Write3Res:
    """WRITE of up to 64 bytes extends a file beyond the maxfilesize of FSINFO"""
    args = call.args
    reply = call.proceed()
    watched, inode = Watched(call.server, args.file), inode_of(call.server, args.file)
    small = 0 < len(args.data) == args.count <= 64
    if reply.status != Nfsstat3.NFS3ERR_FBIG or not small or inode is None or inode.data is None:
        return reply
    count = inode.data.write(args.offset, args.data, stable=True)
    resok = Write3ResOk(watched.wcc(), count, StableHow.FILE_SYNC, call.backend.write_verifier)
    return Write3Res(Nfsstat3.NFS3_OK, resok)


@mutant(WRITE)
def write3_too_big_is_io(call: Write) -> Write3Res:
    """WRITE beyond the maximum file size answers IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_FBIG, Nfsstat3.NFS3ERR_IO)


@mutant(WRITE)
def write3_read_only_is_io(call: Write) -> Write3Res:
    """WRITE to a read-only file system answers IO"""
    return restate(call.proceed(), Nfsstat3.NFS3ERR_ROFS, Nfsstat3.NFS3ERR_IO)


# ---------------------------------------------------------------- short READs


@mutant(WRITE)
def write3_read_only_is_refused_and_written(call: Write) -> Write3Res:
    """WRITE to a read-only file system is refused, but executed"""
    inode = inode_of(call.server, call.args.file)
    if call.server.knobs.now.read_only and inode is not None and inode.data is not None:
        inode.data.write(call.args.offset, call.args.data, stable=True)
    return call.proceed()


@mutant(WRITE, breaks=RFC1813_FSINFO)
def write3_refuses_the_largest_file(call: Write) -> Write3Res:
    """WRITE that ends within 8 bytes of maxfilesize is refused with FBIG"""
    end = call.args.offset + len(call.args.data)
    if 0 <= call.backend.limits.max_file_size - end < 8:
        return refuse_write(call, Nfsstat3.NFS3ERR_FBIG)
    return call.proceed()


@mutant(WRITE)
def write3_refuses_2_gib(call: Write) -> Write3Res:
    """WRITE that ends beyond 2 GiB is refused with FBIG, though maxfilesize is larger"""
    if call.args.offset + len(call.args.data) > 2**31:
        return refuse_write(call, Nfsstat3.NFS3ERR_FBIG)
    return call.proceed()


@mutant(WRITE)
def write3_refuses_offsets_of_2_gib(call: Write) -> Write3Res:
    """WRITE that begins at 2 GiB or beyond is refused with FBIG, though maxfilesize is larger"""
    if call.args.offset >= 2**31:
        return refuse_write(call, Nfsstat3.NFS3ERR_FBIG)
    return call.proceed()


# ---------------------------------------------------------------- permission


@mutant(WRITE)
def write3_denies_and_writes(call: Write) -> Write3Res:
    """WRITE that is refused for lack of permission is executed nevertheless"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.file)
    denied = {Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM, Nfsstat3.NFS3ERR_ROFS}
    if reply.status in denied and inode is not None and inode.data is not None:
        inode.data.write(call.args.offset, call.args.data, stable=True)
    return reply
