# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_refusals.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.bending import clear, clear_named
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.rules import RFC5661_SETATTR
from nfsserver.fs import SUPERUSER
from nfsserver.nfs4.common import compound_of

_CHANGING: t.Final = (p.CREATE, p.OPEN, p.LINK, p.REMOVE, p.RENAME, p.SETATTR, p.WRITE)
_DENIALS: t.Final = {Nfsstat4.NFS4ERR_ACCESS, Nfsstat4.NFS4ERR_PERM}


@mutant(_CHANGING)
def changes4_refuse_and_clear(call: AnyCall) -> t.Any:
    """An operation that changes something and fails, but is not denied, clears the data of the objects that it names"""
    result = call.proceed()
    if p.status_of(result) == Nfsstat4.NFS4_OK or p.status_of(result) in _DENIALS:
        return result
    state, args = compound_of(call.context), call.args
    if call.operation in {p.SETATTR, p.WRITE}:
        clear(state.current)
    names = [getattr(args, name, None) for name in ("objname", "newname", "oldname", "target")]
    names.append(args.claim.file if call.operation is p.OPEN else None)
    for name in names:
        if name is not None:
            clear_named(state.current, name)
    return result


@mutant(_CHANGING)
def changes4_deny_and_do(call: AnyCall) -> t.Any:
    """An operation that changes something is denied, and carried out"""
    result = call.proceed()
    if p.status_of(result) in _DENIALS:
        state = compound_of(call.context)
        kept, state.caller = state.caller, SUPERUSER
        before = (state.current, state.handle, state.stateid)
        call.proceed()
        state.caller = kept
        state.current, state.handle, state.stateid = before
    return result


@mutant(p.SETATTR, breaks=RFC5661_SETATTR)
def setattr4_denies_and_does(call: Call[p.Setattr4Args, p.Setattr4Res]) -> p.Setattr4Res:
    """SETATTR is denied, carried out, and says so in attrsset"""
    result = call.proceed()
    if result.status not in _DENIALS:
        return result
    state = compound_of(call.context)
    kept, state.caller = state.caller, SUPERUSER
    done = call.proceed()
    state.caller = kept
    return replace(result, attrsset=done.attrsset)


@mutant(p.WRITE)
def write4_bad_stateid_writes(call: Call[p.Write4Args, p.Write4Res]) -> p.Write4Res:
    """WRITE with a stateid of nothing gets BAD_STATEID, and is carried out"""
    result = call.proceed()
    if result.status == Nfsstat4.NFS4ERR_BAD_STATEID:
        call.proceed_with(stateid=p.ANONYMOUS_STATEID)
    return result
