# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_open_downgrade.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, refusal

Downgrade = Call[p.OpenDowngrade4Args, p.OpenDowngrade4Res]


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_changes_nothing(call: Downgrade) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE succeeds, and access and denial stay"""
    known = call.args.open_stateid
    stateid = p.Stateid4(known.seqid + 1, known.other)
    return p.OpenDowngrade4Res(Nfsstat4.NFS4_OK, p.OpenDowngrade4ResOk(stateid))


@mutant((p.OPEN, p.OPEN_DOWNGRADE))
def opendowngrade4_keeps_the_denial(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """OPEN for writing is denied after OPEN_DOWNGRADE has ended the denial"""
    result = call.proceed()
    if call.operation is p.OPEN_DOWNGRADE:
        call.state["downgraded"] = True
        return result
    is_meant = "downgraded" in call.state and call.args.share_access & p.OPEN4_SHARE_ACCESS_WRITE
    return refusal(result, Nfsstat4.NFS4ERR_SHARE_DENIED) if is_meant else result


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_keeps_the_seqid(call: Downgrade) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE returns the stateid of before"""
    return amend4(call.proceed(), "open_stateid", seqid=call.args.open_stateid.seqid)


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_compares_the_seqid(call: Downgrade) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE with a seqid that is not 0 gets BAD_SEQID"""
    result = call.proceed()
    return refusal(result, Nfsstat4.NFS4ERR_BAD_SEQID) if call.args.seqid else result


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_takes_any_value(call: Downgrade) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE with values that are not defined succeeds"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_INVAL:
        return result
    return p.OpenDowngrade4Res(Nfsstat4.NFS4_OK, p.OpenDowngrade4ResOk(call.args.open_stateid))


@mutant(p.OPEN_DOWNGRADE)
def opendowngrade4_denies_nothing(call: Downgrade) -> p.OpenDowngrade4Res:
    """OPEN_DOWNGRADE ends every denial"""
    return call.proceed_with(share_deny=0)
