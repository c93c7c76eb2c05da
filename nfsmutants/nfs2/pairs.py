# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_pairs.py catch: caches that know nothing of other clients."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import (
    CREATE,
    GETATTR,
    IGNORED,
    LINK,
    LOOKUP,
    MKDIR,
    READ,
    READDIR,
    REMOVE,
    RENAME,
    RMDIR,
    SETATTR,
    WRITE,
    Nfsstat2,
)
from nfsmutants.bending import inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.rules import RFC1094_GETATTR, RFC1094_LOOKUP


@mutant((GETATTR, SETATTR, WRITE), breaks=RFC1094_GETATTR)
def getattr2_remembers_attributes_by_connection(call: AnyCall) -> t.Any:
    """GETATTR of a file repeats what it gave the connection first, until the connection changes the file itself"""
    key = call.peer, bytes(call.args.file)
    if call.operation is not GETATTR:
        call.state.pop(key, None)
        return call.proceed()
    inode = inode_of(call.server, call.args.file)
    if inode is None or inode.data is None:
        return call.proceed()
    if key not in call.state:
        call.state[key] = call.proceed()
    return call.state[key]


@mutant((LOOKUP, REMOVE, RMDIR, RENAME), breaks=RFC1094_LOOKUP)
def lookup2_remembers_names_by_connection(call: AnyCall) -> t.Any:
    """LOOKUP finds a name that it gave the connection before, although another client has removed it"""
    name = call.args.from_ if call.operation is RENAME else call.args
    key = call.peer, bytes(name.dir), bytes(name.name)
    reply = call.proceed()
    if call.operation is not LOOKUP:
        call.state.pop(key, None)
    elif reply.status == Nfsstat2.NFS_OK:
        call.state[key] = reply
    elif reply.status == Nfsstat2.NFSERR_NOENT:
        return call.state.get(key, reply)
    return reply


_READING: t.Final = (GETATTR, LOOKUP, READ, READDIR)
_CHANGING: t.Final = (SETATTR, WRITE, CREATE, MKDIR, REMOVE, RMDIR, RENAME, LINK)


@mutant((*_READING, *_CHANGING))
def setattr2_after_a_change_is_lost(call: AnyCall) -> t.Any:
    """SETATTR of a larger size right after another change of the connection succeeds, and does nothing"""
    is_first = call.state.get(call.peer) is not True
    call.state[call.peer] = call.operation in _CHANGING
    if is_first or call.operation is not SETATTR:
        return call.proceed()
    size, inode = call.args.attributes.size, inode_of(call.server, call.args.file)
    is_meant = size != IGNORED and inode is not None and size > inode.size
    return call.proceed_with("attributes", size=IGNORED) if is_meant else call.proceed()
