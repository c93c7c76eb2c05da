# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_write_partial.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import WRITE, Nfsstat3, Write3Res
from nfsclient.xdr import replace
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import mutant
from nfsmutants.nfs3.bending import refuse_write
from nfsmutants.nfs3.calls import Write
from nfsserver.fs.pages import PagedData
from nfsserver.nfs3.common import fattr3


class _Short(t.NamedTuple):
    """A WRITE that wrote some of the data, and the content of its file."""

    reply: Write3Res
    taken: int
    content: PagedData


def _short(call: Write) -> _Short | Write3Res:
    """The short WRITE; only the reply if the server wrote everything or nothing."""
    reply = call.proceed()
    inode = inode_of(call.server, call.args.file)
    if reply.resok is None or inode is None or inode.data is None or reply.resok.count >= len(call.args.data):
        return reply
    return _Short(reply, reply.resok.count, inode.data)


def _with_attributes_now(call: Write, reply: Write3Res) -> Write3Res:
    """The reply with the attributes of the file after the change by the mutant."""
    return amend(
        reply, "file_wcc", after=lambda it: it.after and fattr3(call.backend.resolve(call.args.file))
    )


@mutant(WRITE)
def write3_short_count_writes_all(call: Write) -> Write3Res:
    """A WRITE with a short count wrote all of the data"""
    short = _short(call)
    if not isinstance(short, _Short):
        return short
    rest = bytes(call.args.data)[short.taken :]
    short.content.write(call.args.offset + short.taken, rest, stable=True)
    return _with_attributes_now(call, short.reply)


@mutant(WRITE)
def write3_short_count_zeroes_the_last_byte(call: Write) -> Write3Res:
    """A WRITE with a short count writes a zero instead of the last counted byte"""
    short = _short(call)
    if not isinstance(short, _Short):
        return short
    short.content.write(call.args.offset + short.taken - 1, b"\0", stable=True)
    return _with_attributes_now(call, short.reply)


@mutant(WRITE)
def write3_short_count_sizes_all(call: Write) -> Write3Res:
    """A WRITE with a short count extends the file for all of the data"""
    short = _short(call)
    if not isinstance(short, _Short):
        return short
    short.content.truncate(max(short.content.size, call.args.offset + len(call.args.data)))
    return _with_attributes_now(call, short.reply)


@mutant(WRITE)
def write3_short_wcc_counts_all(call: Write) -> Write3Res:
    """The attributes after a short WRITE have the size that all of the data would make"""
    short = _short(call)
    if not isinstance(short, _Short):
        return short
    end = call.args.offset + len(call.args.data)
    return amend(short.reply, "file_wcc.after", size=lambda it: max(it.size, end))


@mutant(WRITE)
def write3_continuation_is_inval(call: Write) -> Write3Res:
    """WRITE that continues after a short one is refused with INVAL"""
    args = call.args
    ends: set[tuple[bytes, int]] = call.state.setdefault("ends", set())
    if (bytes(args.file), args.offset) in ends:
        return refuse_write(call, Nfsstat3.NFS3ERR_INVAL)
    reply = call.proceed()
    if reply.resok is not None and reply.resok.count < len(args.data):
        ends.add((bytes(args.file), args.offset + reply.resok.count))
    return reply


@mutant(WRITE)
def write3_continuation_writes_nothing(call: Write) -> Write3Res:
    """WRITE that continues after a short one answers OK and count 0"""
    args = call.args
    ends: set[tuple[bytes, int]] = call.state.setdefault("ends", set())
    if (bytes(args.file), args.offset) in ends:
        return call.proceed(replace(args, data=b"", count=0))
    reply = call.proceed()
    if reply.resok is not None and reply.resok.count < len(args.data):
        ends.add((bytes(args.file), args.offset + reply.resok.count))
    return reply
