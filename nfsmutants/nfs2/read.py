# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_read.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import READ, Nfsstat2, Readok, Readres
from nfsclient.xdr import replace
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs2.calls import Read
from nfsserver.nfs2.common import fattr
from nfsserver.nfs2.data import read2

# ---------------------------------------------------------------- READ


def _with_data(reply: Readres, data: bytes) -> Readres:
    return amend(reply, data=data)


def _data(reply: Readres) -> bytes:
    return b"" if reply.readok is None else bytes(reply.readok.data)


@mutant(READ, kills_many="checks see by READ what is in a file")
def read2_returns_a_wrong_first_byte(call: Read) -> Readres:
    """READ returns a wrong first byte"""
    reply = call.proceed()
    data = _data(reply)
    return _with_data(reply, bytes([data[0] ^ 0x80]) + data[1:]) if data else reply


@mutant(READ)
def read2_returns_a_byte_too_many(call: Read) -> Readres:
    """READ returns one byte more than requested, up to 8192"""
    reply = call.proceed()
    data = _data(reply)
    return _with_data(reply, data + b"!") if call.args.count == len(data) < 8192 else reply


@mutant(READ, kills_many="checks see by READ what is in a file")
def read2_returns_nothing(call: Read) -> Readres:
    """READ returns no data although some was requested"""
    return _with_data(call.proceed(), b"")


@mutant(READ, kills_many="checks see by READ what is in a file")
def read2_returns_zeros_beyond_the_end(call: Read) -> Readres:
    """READ returns zeros beyond the end of a file"""
    reply = call.proceed()
    return _with_data(reply, _data(reply).ljust(min(call.args.count, 8192), b"\0"))


@mutant(READ)
def read2_obeys_totalcount(call: Read) -> Readres:
    """READ returns no more than totalcount bytes, and none if totalcount is huge"""
    if not call.args.totalcount:
        return call.proceed()
    return call.proceed_with(count=min(call.args.count, 1 if call.args.totalcount == 1 else 0))


@mutant(READ)
def read2_size_is_the_byte_count(call: Read) -> Readres:
    """READ returns the number of bytes read as the size of the file"""
    reply = call.proceed()
    if reply.readok is None or not call.args.offset:
        return reply
    attributes = replace(reply.readok.attributes, size=len(reply.readok.data))
    return amend(reply, attributes=attributes)


@mutant(READ)
def read2_changes_mtime(call: Read) -> Readres:
    """READ changes mtime"""
    inode = inode_of(call.server, call.args.file)
    if inode is not None:
        inode.mtime = inode.fs.stamp()
    return call.proceed()


@mutant(READ)
def read2_reads_non_files(call: Read) -> Readres:
    """READ of an object that is not a file succeeds without data"""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.file)
    if inode is None or inode.data is not None:
        return reply
    return Readres(Nfsstat2.NFS_OK, Readok(fattr(inode), b""))


@mutant(READ)
def read2_large_counts_skip_a_byte(call: Read) -> Readres:
    """READ of more than 8192 bytes begins one byte too late"""
    return read2(
        call.server,
        call.context,
        replace(call.args, offset=call.args.offset + 1) if call.args.count > 8192 else call.args,
    )
