# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_concurrent.py catch: what each connection knows of files and names."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    RENAME,
    SETATTR,
    WRITE,
    Nfsstat3,
    Rename3Res,
    Write3Res,
)
from nfsmutants.bending import inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import RENAMED, find
from nfsmutants.nfs3.calls import Rename, Write


@mutant(WRITE)
def write3_puts_the_file_back(call: Write) -> Write3Res:
    """WRITE of a small file writes all of it, as the connection knew it after its last WRITE"""
    inode, key = inode_of(call.server, call.args.file), (call.peer, bytes(call.args.file))
    reply = call.proceed()
    if inode is None or inode.data is None or reply.resok is None or inode.size > 4096:
        return reply
    known = bytearray(call.state.get(key, inode.data.read(0, inode.size)))
    end = call.args.offset + reply.resok.count
    known.extend(bytes(max(0, end - len(known))))
    known[call.args.offset : end] = bytes(call.args.data)[: reply.resok.count]
    inode.data.write(0, bytes(known), stable=True)
    call.state[key] = bytes(known)
    return reply


@mutant((SETATTR, WRITE))
def write3_brings_truncated_bytes_back(call: AnyCall) -> t.Any:
    """WRITE beyond the end of a file that SETATTR has made shorter brings back what was there"""
    handle = bytes(call.args.file if call.operation is WRITE else call.args.object)
    inode = inode_of(call.server, handle)
    if inode is None or inode.data is None:
        return call.proceed()
    if call.operation is SETATTR:
        before = inode.data.read(0, 4096)
        reply = call.proceed()
        if inode.size < len(before):
            call.state[handle] = before
        return reply
    end, reply = inode.size, call.proceed()
    gap = call.state.get(handle, b"")[end : call.args.offset]
    if gap and reply.status == Nfsstat3.NFS3_OK:
        inode.data.write(end, gap, stable=True)
    return reply


@mutant(RENAME)
def rename3_finds_renamed_sources(call: Rename) -> Rename3Res:
    """RENAME of a name that another connection has renamed since gives the object a further name"""
    source, target = call.args.from_, call.args.to
    key = bytes(source.dir), bytes(source.name)
    inode = find(call.server, source)
    reply = call.proceed()
    if reply.status == Nfsstat3.NFS3_OK and inode is not None:
        call.state[key] = call.peer, inode
    peer, known = call.state.get(key, (call.peer, None))
    if reply.status != Nfsstat3.NFS3ERR_NOENT or peer == call.peer or known is None:
        return reply
    known.fs.link(call.caller, known, call.backend.resolve(target.dir), target.name)
    return RENAMED


@mutant(RENAME)
def rename3_replaces_nothing_new(call: Rename) -> Rename3Res:
    """RENAME over a file that another connection has put there succeeds, and changes nothing"""
    target = call.args.to
    key = bytes(target.dir), bytes(target.name)
    peer = call.state.get(key)
    if peer not in {None, call.peer} and find(call.server, target) is not None:
        return RENAMED
    call.state[key] = call.peer
    return call.proceed()
