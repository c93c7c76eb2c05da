# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_reclaim_delegations.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.protocol.nfs4 import OpenClaimType4 as Claim
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4

Open = Call[p.Open4Args, p.Open4Res]
_CUR: t.Final = frozenset({Claim.CLAIM_DELEGATE_CUR, Claim.CLAIM_DELEG_CUR_FH})
_NONE: t.Final = p.OpenDelegation4(p.OpenDelegationType4.OPEN_DELEGATE_NONE)


def _is_reclaim(call: Open) -> bool:
    return call.args.claim.claim == Claim.CLAIM_PREVIOUS


@mutant(p.OPEN)
def open4_reclaims_without_delegation(call: Open) -> p.Open4Res:
    """OPEN with CLAIM_PREVIOUS grants the open, and never a delegation"""
    result = call.proceed()
    return amend4(result, delegation=_NONE) if _is_reclaim(call) else result


@mutant(p.OPEN)
def open4_invents_reclaimed_delegations(call: Open) -> p.Open4Res:
    """OPEN with CLAIM_PREVIOUS answers with the delegation that is claimed, and the server knows nothing of it"""
    result = call.proceed()
    if not _is_reclaim(call) or result.resok4 is None:
        return result
    for kind in ("read", "write"):
        if getattr(result.resok4.delegation, kind) is not None:
            return amend4(result, f"delegation.{kind}", stateid=p.Stateid4(1, b"invented one"))
    return result


@mutant(p.OPEN)
def open4_delegate_cur_waits_for_grace(call: Open) -> p.Open4Res:
    """OPEN by the claim of a delegation gets GRACE in the grace period"""
    if call.args.claim.claim in _CUR and call.server.states.in_grace:
        return p.Open4Res(Nfsstat4.NFS4ERR_GRACE)
    return call.proceed()
