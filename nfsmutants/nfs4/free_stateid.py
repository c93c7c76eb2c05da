# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_free_stateid.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, refusal, restate4
from nfsmutants.rules import RFC5661_FREE_STATEID, RFC5661_STATEIDS

FreeStateid = Call[p.FreeStateid4Args, p.FreeStateid4Res]


@mutant(p.FREE_STATEID)
def freestateid4_frees_everything(call: FreeStateid) -> p.FreeStateid4Res:
    """FREE_STATEID of a stateid with locks succeeds"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_LOCKS_HELD, Nfsstat4.NFS4_OK)


@mutant((p.FREE_STATEID, p.TEST_STATEID), breaks=RFC5661_FREE_STATEID)
def freestateid4_frees_nothing(call: AnyCall) -> t.Any:
    """A stateid is valid after FREE_STATEID"""
    result = call.proceed()
    if call.operation is p.FREE_STATEID:
        call.state["freed"] = True
        return result
    return amend4(result, tsr_status_codes=[Nfsstat4.NFS4_OK]) if "freed" in call.state else result


@mutant(p.FREE_STATEID)
def freestateid4_unknown_is_ok(call: FreeStateid) -> p.FreeStateid4Res:
    """FREE_STATEID of a stateid that is none succeeds"""
    return restate4(call.proceed(), Nfsstat4.NFS4ERR_BAD_STATEID, Nfsstat4.NFS4_OK)


@mutant((p.LOCKU, p.FREE_STATEID), breaks=RFC5661_STATEIDS)
def locku4_ends_the_stateid(call: AnyCall) -> t.Any:
    """The last LOCKU of a lock-owner ends its stateid"""
    result = call.proceed()
    if call.operation is p.LOCKU and result.lock_stateid is not None:
        call.state[result.lock_stateid.other] = True
    elif call.operation is p.FREE_STATEID and call.args.fsa_stateid.other in call.state:
        return refusal(result, Nfsstat4.NFS4ERR_BAD_STATEID)
    return result
