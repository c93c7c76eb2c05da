# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/snfs/test_names.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs2
from nfsclient.protocol import snfs as p
from nfsclient.protocol.nfs2 import Nfsstat2
from nfsmutants.bending import child_of
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.snfs.bending import file_of, table_of
from nfsserver.nfs2.attributes import setattr2
from nfsserver.nfs2.names import create2


@mutant((p.REMOVE, p.CREATE))
def snfs_new_file_has_the_state_of_a_removed_file(call: AnyCall) -> t.Any:
    """A new file begins in the state of the file that had its name before"""
    where = call.args.where if call.operation is p.CREATE else call.args
    name = bytes(where.dir), bytes(where.name)
    old = child_of(call.server, where.dir, where.name)
    entry = None if old is None else table_of(call).entries.get(old)
    if call.operation is p.REMOVE and entry is not None:
        call.state[name] = entry.state, list(entry.blocks.values())
    reply = call.proceed()
    new = child_of(call.server, where.dir, where.name)
    if old is None and new is not None and name in call.state:
        entry = table_of(call).make(new)
        entry.state, blocks = call.state.pop(name)
        for block in blocks:
            table_of(call).put(entry, block)
    return reply


@mutant(p.RENAME)
def snfs_rename_closes_the_file(call: Call[nfs2.Renameargs, nfs2.StatRes]) -> nfs2.StatRes:
    """RENAME makes the server forget who has the file open"""
    source = call.args.from_
    inode = child_of(call.server, source.dir, source.name)
    reply = call.proceed()
    if inode is not None:
        table_of(call).forget(inode)
    return reply


@mutant(p.CREATE)
def snfs_create_leaves_caches(call: Call[nfs2.Createargs, nfs2.Diropres]) -> nfs2.Diropres:
    """CREATE over a file empties it, and clients go on with what they have cached"""
    return create2(call.server, call.context, call.args)


@mutant(p.SETATTR)
def snfs_setattr_needs_no_open(call: Call[nfs2.Sattrargs, nfs2.Attrstat]) -> nfs2.Attrstat:
    """SETATTR of the size needs no OPEN, and calls nobody"""
    reply = call.proceed()
    is_stale = reply.status == Nfsstat2.NFSERR_STALE and file_of(call) is not None
    return setattr2(call.server, call.context, call.args) if is_stale else reply
