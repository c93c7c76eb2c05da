# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_pairs.py catch: caches that know nothing of other clients."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, succeeded
from nfsmutants.rules import RFC5661_GETATTR, RFC5661_LOOKUP, RFC5661_READDIR
from nfsserver.nfs4.common import compound_of


@mutant((p.GETATTR, p.SETATTR, p.WRITE), breaks=RFC5661_GETATTR)
def getattr4_remembers_attributes_by_session(call: AnyCall) -> t.Any:
    """GETATTR of a file repeats what it gave the session first, until the session changes the file itself"""
    compound = compound_of(call.context)
    inode = compound.current
    if inode is None or inode.data is None or compound.session is None:
        return call.proceed()
    known = call.state.setdefault((id(compound.session), inode.fileid, inode.generation), {})
    if call.operation is not p.GETATTR:
        known.clear()
        return call.proceed()
    asked = tuple(call.args.attr_request)
    if asked not in known:
        known[asked] = call.proceed()
    return known[asked]


@mutant((p.LOOKUP, p.REMOVE, p.RENAME), breaks=RFC5661_LOOKUP)
def lookup4_remembers_names_by_session(call: AnyCall) -> t.Any:
    """LOOKUP finds a name that it gave the session before, although another client has removed it"""
    compound, args = compound_of(call.context), call.args
    named = {p.LOOKUP: "objname", p.REMOVE: "target", p.RENAME: "oldname"}[call.operation]
    directory = compound.saved if call.operation is p.RENAME else compound.current
    key = id(compound.session), id(directory), bytes(getattr(args, named))
    result = call.proceed()
    if call.operation is not p.LOOKUP:
        call.state.pop(key, None)
    elif succeeded(result):
        call.state[key] = compound.current
    elif result.status == Nfsstat4.NFS4ERR_NOENT and key in call.state:
        compound.current, compound.handle = call.state[key], None
        return p.Lookup4Res(Nfsstat4.NFS4_OK)
    return result


_READING: t.Final = (p.GETATTR, p.LOOKUP, p.READ, p.READDIR, p.ACCESS)
_CHANGING: t.Final = (p.SETATTR, p.WRITE, p.CREATE, p.OPEN, p.REMOVE, p.RENAME, p.LINK)


@mutant((*_READING, *_CHANGING))
def setattr4_after_a_change_is_lost(call: AnyCall) -> t.Any:
    """SETATTR of a larger size right after another change of the session succeeds, and does nothing"""
    compound = compound_of(call.context)
    session = id(compound.session)
    is_first = call.state.get(session) is not True
    call.state[session] = call.operation in _CHANGING
    if is_first or call.operation is not p.SETATTR:
        return call.proceed()
    asked, inode = call.args.obj_attributes, compound.current
    is_meant = asked.size is not None and inode is not None and asked.size > inode.size
    return call.proceed_with(obj_attributes=asked.changed(size=None)) if is_meant else call.proceed()


@mutant(p.READDIR, breaks=RFC5661_READDIR)
def readdir4_remembers_attributes_by_session(call: Call[p.Readdir4Args, p.Readdir4Res]) -> p.Readdir4Res:
    """READDIR repeats the attributes of a name that it gave the session first"""
    compound, asked = compound_of(call.context), tuple(call.args.attr_request)

    def remembered(entry: p.Entry4) -> p.Entry4:
        key = id(compound.session), id(compound.current), bytes(entry.name), asked
        return replace(entry, attrs=call.state.setdefault(key, entry.attrs))

    return amend4(
        call.proceed(), "reply", entries=lambda reply: [remembered(entry) for entry in reply.entries]
    )
