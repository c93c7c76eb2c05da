# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_operations.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import restate_last, with_result
from nfsserver.fs import SUPERUSER
from nfsserver.nfs4.common import compound_of

Compound = Call[p.Compound4Args, p.Compound4Res]


@mutant(p.COMPOUND)
def operations4_lacking_is_inval(call: Compound) -> p.Compound4Res:
    """An operation that the server does not support gets INVAL"""
    return restate_last(call.proceed(), Nfsstat4.NFS4ERR_NOTSUPP, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.COMPOUND)
def operations4_lacking_is_illegal(call: Compound) -> p.Compound4Res:
    """An OPTIONAL operation is answered by ILLEGAL"""
    reply = call.proceed()
    at = len(reply.resarray) - 1
    if at < 1 or not p.operation_of(reply.resarray[at]).is_optional:
        return reply
    return with_result(reply, at, p.Illegal4Res(Nfsstat4.NFS4ERR_OP_ILLEGAL))


@mutant(p.COMPOUND)
def operations4_gone_is_noent(call: Compound) -> p.Compound4Res:
    """An operation on an object that is gone gets NOENT"""
    return restate_last(call.proceed(), Nfsstat4.NFS4ERR_STALE, Nfsstat4.NFS4ERR_NOENT)


@mutant((p.LOOKUP, p.LOOKUPP, p.READDIR, p.SECINFO, p.SECINFO_NO_NAME, p.LINK))
def operations4_ask_no_mode(call: AnyCall) -> t.Any:
    """An operation that is denied is carried out"""
    result = call.proceed()
    if p.status_of(result) != Nfsstat4.NFS4ERR_ACCESS:
        return result
    state = compound_of(call.context)
    kept, state.caller = state.caller, SUPERUSER
    done = call.proceed()
    state.caller = kept
    return done
