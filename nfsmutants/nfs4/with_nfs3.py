# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_with_nfs3.py catch: each version of NFS has its own cache."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol import nfs3 as q
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.program import AnyOperation
from nfsmutants.bending import inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.kept_data import flushed3
from nfsmutants.nfs4.kept_data import flushed4
from nfsserver.fs import Inode
from nfsserver.nfs4.common import compound_of

# ---------------------------------------------------------------- uncommitted data


@mutant((q.WRITE, q.COMMIT, q.SETATTR, q.CREATE))
def commit3_undoes_writes_of_nfs4(call: AnyCall) -> t.Any:
    """COMMIT of NFSv3 writes what NFSv3 has written UNSTABLE, over what NFSv4 has written since"""
    return flushed3(call)


@mutant((p.WRITE, p.COMMIT, p.SETATTR, p.OPEN, p.CLOSE))
def commit4_undoes_writes_of_nfs3(call: AnyCall) -> t.Any:
    """COMMIT of NFSv4 writes what NFSv4 has written with UNSTABLE4, over what NFSv3 has written since"""
    return flushed4(call)


# ---------------------------------------------------------------- change


def _keep_change(call: AnyCall, objects: list[Inode | None]) -> t.Any:
    """Proceed with a call; the attribute change of these objects stays as it was."""
    known = [(inode, inode.change) for inode in objects if inode is not None]
    reply = call.proceed()
    for inode, change in known:
        inode.change = change
    return reply


@mutant((q.WRITE, q.SETATTR, q.LINK))
def nfs3_leaves_change_of_files(call: AnyCall) -> t.Any:
    """WRITE, SETATTR and LINK of NFSv3 leave the attribute change of the file as it was"""
    handle = call.args.object if call.operation is q.SETATTR else call.args.file
    return _keep_change(call, [inode_of(call.server, handle)])


_ENTRIES: t.Final[dict[AnyOperation, tuple[str, ...]]] = {
    q.CREATE: ("where",),
    q.MKDIR: ("where",),
    q.SYMLINK: ("where",),
    q.LINK: ("link",),
    q.REMOVE: ("object",),
    q.RMDIR: ("object",),
    q.RENAME: ("from_", "to"),
}
"""Operation -> its arguments with the name of an entry."""


@mutant(tuple(_ENTRIES))
def nfs3_leaves_change_of_directories(call: AnyCall) -> t.Any:
    """What NFSv3 does to the entries of a directory leaves its attribute change as it was"""
    directories = [getattr(call.args, field).dir for field in _ENTRIES[call.operation]]
    return _keep_change(call, [inode_of(call.server, handle) for handle in directories])


# ---------------------------------------------------------------- listings


def _first_listing(call: AnyCall, key: object, entries_of: Callable[[t.Any], t.Any]) -> t.Any:
    """The first reply to the same READDIR, if the names were others then; attributes are those of now."""
    reply = call.proceed()
    if reply.status != 0:
        return reply
    first = call.state.setdefault((key, call.args.to_xdr()), reply)
    names, now = ([entry.name for entry in entries_of(page)] for page in (first, reply))
    return reply if names == now else first


@mutant((p.READDIR, p.OPEN, p.CREATE, p.LINK, p.REMOVE, p.RENAME))
def readdir4_lists_what_nfs4_left(call: AnyCall) -> t.Any:
    """READDIR of NFSv4 repeats a listing until NFSv4 changes names, whatever NFSv3 does"""
    inode = compound_of(call.context).current
    if call.operation is not p.READDIR or inode is None:
        call.state.clear()
        return call.proceed()
    return _first_listing(call, (inode.fileid, inode.generation), lambda result: result.resok4.reply.entries)


@mutant((q.READDIR, q.READDIRPLUS, *_ENTRIES))
def list3_lists_what_nfs3_left(call: AnyCall) -> t.Any:
    """READDIR and READDIRPLUS of NFSv3 repeat a listing until NFSv3 changes names, whatever NFSv4 does"""
    if call.operation in _ENTRIES:
        call.state.clear()
        return call.proceed()
    return _first_listing(call, call.operation.name, lambda reply: reply.resok.entries)
