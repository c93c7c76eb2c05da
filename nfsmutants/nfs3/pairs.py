# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_pairs.py catch: caches that know nothing of other clients."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    ACCESS,
    CREATE,
    GETATTR,
    LINK,
    LOOKUP,
    MKDIR,
    READ,
    READDIR,
    READDIRPLUS,
    REMOVE,
    RENAME,
    RMDIR,
    SETATTR,
    WRITE,
    Entryplus3,
    Nfsstat3,
    Readdirplus3Res,
)
from nfsclient.xdr import replace
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import size_of
from nfsmutants.nfs3.calls import Readdirplus
from nfsmutants.rules import RFC1813_GETATTR, RFC1813_READDIRPLUS


@mutant((GETATTR, SETATTR, WRITE), breaks=RFC1813_GETATTR)
def getattr3_remembers_attributes_by_connection(call: AnyCall) -> t.Any:
    """GETATTR of a file repeats what it gave the connection first, until the connection changes the file itself"""
    handle = bytes(call.args.file if call.operation is WRITE else call.args.object)
    if call.operation is not GETATTR:
        call.state.pop((call.peer, handle), None)
        return call.proceed()
    inode = inode_of(call.server, handle)
    if inode is None or inode.data is None:
        return call.proceed()
    if (call.peer, handle) not in call.state:
        call.state[call.peer, handle] = call.proceed()
    return call.state[call.peer, handle]


_NAMED: t.Final = {LOOKUP: "what", REMOVE: "object", RMDIR: "object", RENAME: "from_"}


@mutant((LOOKUP, REMOVE, RMDIR, RENAME))
def lookup3_remembers_names_by_connection(call: AnyCall) -> t.Any:
    """LOOKUP finds a name that it gave the connection before, although another client has removed it"""
    name = getattr(call.args, _NAMED[call.operation])
    key = call.peer, bytes(name.dir), bytes(name.name)
    reply = call.proceed()
    if call.operation is not LOOKUP:
        call.state.pop(key, None)
    elif reply.status == Nfsstat3.NFS3_OK:
        call.state[key] = reply
    elif reply.status == Nfsstat3.NFS3ERR_NOENT:
        return call.state.get(key, reply)
    return reply


_READING: t.Final = (GETATTR, LOOKUP, READ, READDIR, READDIRPLUS, ACCESS)
_CHANGING: t.Final = (SETATTR, WRITE, CREATE, MKDIR, REMOVE, RMDIR, RENAME, LINK)


@mutant((*_READING, *_CHANGING))
def setattr3_after_a_change_is_lost(call: AnyCall) -> t.Any:
    """SETATTR of a larger size right after another change of the connection succeeds, and does nothing"""
    is_first = call.state.get(call.peer) is not True
    call.state[call.peer] = call.operation in _CHANGING
    if is_first or call.operation is not SETATTR:
        return call.proceed()
    size = call.args.new_attributes.size
    is_meant = size is not None and size > size_of(call.server, call.args.object)
    return call.proceed_with("new_attributes", size=None) if is_meant else call.proceed()


@mutant(READDIRPLUS, breaks=RFC1813_READDIRPLUS)
def readdirplus3_remembers_attributes_by_connection(call: Readdirplus) -> Readdirplus3Res:
    """READDIRPLUS repeats the attributes of a name that it gave the connection first"""

    def remembered(entry: Entryplus3) -> Entryplus3:
        key = call.peer, bytes(call.args.dir), bytes(entry.name)
        return replace(entry, name_attributes=call.state.setdefault(key, entry.name_attributes))

    return amend(call.proceed(), entries=lambda resok: [remembered(entry) for entry in resok.entries])
