# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/faults/test_recovery.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.errors import XdrError
from nfsclient.protocol.nfs3 import WRITE, StableHow, Write3Args, Write3Res
from nfsmutants.bending import inode_of
from nfsmutants.form import Message, mutant, wire_mutant
from nfsmutants.nfs3.calls import Write
from nfsmutants.rpc.headers import head_of, header_of
from nfsserver.fs.pages import PagedData
from nfsserver.middleware import Answer

_WRITE: t.Final = (WRITE.program, WRITE.version, WRITE.number)
_NEAR: t.Final = 16
"""XIDs of one client that are this near were made one after the other."""


def _written(message: Message) -> tuple[PagedData, Write3Args] | None:
    """The file that a WRITE is for, and its arguments; None for other messages."""
    found = header_of(message.data)
    if found is None or head_of(message.data)[3:] != _WRITE:
        return None
    try:
        args = Write3Args.from_xdr(message.data[found[1] :])
    except XdrError:
        return None
    inode = inode_of(message.server, args.file)
    return None if inode is None or inode.data is None else (inode.data, args)


@wire_mutant(only_raw=True)
def write3_copies_write_zeros(message: Message) -> Answer:
    """WRITE that comes again writes zeros"""
    written = _written(message)
    if written is None:
        return message.proceed()
    seen: set[bytes] = message.state.setdefault("seen", set())
    is_copy = message.data in seen
    seen.add(message.data)
    reply = message.proceed()
    if is_copy:
        data, args = written
        data.write(args.offset, bytes(len(args.data)), stable=True)
    return reply


@wire_mutant(only_raw=True)
def write3_earlier_calls_are_late(message: Message) -> Answer:
    """WRITE with an XID below that of the WRITE before it succeeds, and writes nothing"""
    written = _written(message)
    if written is None:
        return message.proceed()
    xid = head_of(message.data)[0]
    before = message.state.get("xid", xid)
    message.state["xid"] = xid
    data, args = written
    old = data.read(args.offset, len(args.data))
    reply = message.proceed()
    if 0 < before - xid < _NEAR:
        data.write(args.offset, old, stable=args.stable is not StableHow.UNSTABLE)
    return reply


@mutant(WRITE)
def write3_unstable_ends_with_connections(call: Write) -> Write3Res:
    """UNSTABLE data is lost when another connection writes to the file"""
    inode = inode_of(call.server, call.args.file)
    if inode is None or inode.data is None or call.args.stable is not StableHow.UNSTABLE:
        return call.proceed()
    old: list[tuple[t.Any, int, bytes]] = call.state.setdefault(inode, [])
    for peer, offset, data in reversed(old):
        if peer != call.peer:
            inode.data.write(offset, data, stable=False)
    old[:] = [pair for pair in old if pair[0] == call.peer]
    old.append((call.peer, call.args.offset, inode.data.read(call.args.offset, len(call.args.data))))
    return call.proceed()
