# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_locku.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import NfsLockType4, Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, refusal

Locku = Call[p.Locku4Args, p.Locku4Res]


@mutant(p.LOCKU)
def locku4_unlocks_nothing(call: Locku) -> p.Locku4Res:
    """LOCKU succeeds, and the range stays locked"""
    known = call.args.lock_stateid
    return p.Locku4Res(Nfsstat4.NFS4_OK, p.Stateid4(known.seqid + 1, known.other))


@mutant(p.LOCKU)
def locku4_unlocks_everything(call: Locku) -> p.Locku4Res:
    """LOCKU of a part unlocks all that the lock-owner has"""
    if not call.args.length:
        return call.proceed()
    return call.proceed_with(offset=0, length=p.NFS4_MAXFILELEN)


@mutant(p.LOCKU)
def locku4_compares_the_type(call: Locku) -> p.Locku4Res:
    """LOCKU with a type for reading gets INVAL"""
    result = call.proceed()
    is_meant = call.args.locktype in {NfsLockType4.READ_LT, NfsLockType4.WRITEW_LT, NfsLockType4.READW_LT}
    return refusal(result, Nfsstat4.NFS4ERR_INVAL) if is_meant else result


@mutant(p.LOCKU)
def locku4_keeps_the_seqid(call: Locku) -> p.Locku4Res:
    """LOCKU returns the stateid of before"""
    return amend4(call.proceed(), seqid=call.args.lock_stateid.seqid)


@mutant(p.LOCKU)
def locku4_zero_length_is_ok(call: Locku) -> p.Locku4Res:
    """LOCKU of a range without bytes succeeds"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_INVAL:
        return result
    return p.Locku4Res(Nfsstat4.NFS4_OK, call.args.lock_stateid)
