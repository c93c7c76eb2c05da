# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_delegpurge.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.protocol.nfs4 import OpenClaimType4 as Claim
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import refusal

_PREVIOUS: t.Final = {Claim.CLAIM_DELEGATE_PREV: Claim.CLAIM_NULL, Claim.CLAIM_DELEG_PREV_FH: Claim.CLAIM_FH}


@mutant(p.OPEN)
def open4_takes_claims_of_earlier_instances(call: Call[p.Open4Args, p.Open4Res]) -> p.Open4Res:
    """OPEN takes CLAIM_DELEGATE_PREV and CLAIM_DELEG_PREV_FH for new opens"""
    claim = call.args.claim
    kind = _PREVIOUS.get(claim.claim)
    if kind is None:
        return call.proceed()
    return call.proceed_with(claim=p.OpenClaim4(kind, file=claim.file_delegate_prev))


@mutant(p.DELEGPURGE)
def delegpurge4_wants_the_client_id(call: Call[p.Delegpurge4Args, p.Delegpurge4Res]) -> p.Delegpurge4Res:
    """DELEGPURGE with a client id that is not 0 and not that of the session gets STALE_CLIENTID"""
    result = call.proceed()
    return refusal(result, Nfsstat4.NFS4ERR_STALE_CLIENTID) if call.args.clientid else result
