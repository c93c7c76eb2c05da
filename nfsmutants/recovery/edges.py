# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_edges.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.protocol.nfs4 import OpenClaimType4 as Claim
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import refusal, restate4, succeeded
from nfsmutants.recovery.bending import has_restarted
from nfsserver.fs import Inode
from nfsserver.nfs4.common import compound_of

Open = Call[p.Open4Args, p.Open4Res]


def _is_reclaim(call: AnyCall) -> bool:
    return bool(
        call.args.claim.claim == Claim.CLAIM_PREVIOUS if call.operation is p.OPEN else call.args.reclaim
    )


@mutant((p.SEQUENCE, p.OPEN, p.LOCK))
def state4_does_not_record_losses(call: AnyCall) -> t.Any:
    """A client whose state was revoked, with its lease or for a recall, may reclaim it after a restart"""
    result, states = call.proceed(), call.server.states
    for client in states.clients:
        if states.held.losses(client.id):
            states.stable.holders[client.ownerid] = client.verifier
    return result


@mutant((p.OPEN, p.EXCHANGE_ID))
def state4_keeps_records_of_who_did_not_come(call: AnyCall) -> t.Any:
    """A client that has not come back after a restart may reclaim after the next one"""
    known: dict[bytes, bytes] = call.state.setdefault("known", {})
    states = call.server.states
    if has_restarted(call):
        states.waiting.update(known)
    known.update(states.stable.holders)
    return call.proceed()


@mutant((p.OPEN, p.LOCK))
def reclaims4_succeed_after_the_grace_period(call: AnyCall) -> t.Any:
    """Reclaims are granted at any time"""
    if not _is_reclaim(call):
        return call.proceed()
    vars(call.server.states)["require_reclaim"] = lambda _client: None
    try:
        return call.proceed()
    finally:
        del vars(call.server.states)["require_reclaim"]


def _known_or_bad(call: Open, result: p.Open4Res) -> p.Open4Res:
    """As a server that has no record of the client: it is in its grace period, and the reclaim is bad."""
    if not _is_reclaim(call):
        return result
    return restate4(result, Nfsstat4.NFS4ERR_NO_GRACE, Nfsstat4.NFS4ERR_RECLAIM_BAD)


@mutant((p.RECLAIM_COMPLETE, p.OPEN))
def reclaimcomplete4_forgets_the_client(call: AnyCall) -> t.Any:
    """After its RECLAIM_COMPLETE a client has no record, and after the next restart it can reclaim nothing"""
    result = call.proceed()
    if call.operation is p.OPEN:
        return _known_or_bad(call, result)
    call.server.states.stable.holders.pop(compound_of(call.context).client.ownerid, None)
    return result


@mutant(p.OPEN)
def open4_does_not_record_the_client(call: Open) -> p.Open4Res:
    """What OPEN records of the client is not on the disk when the server crashes"""
    result = _known_or_bad(call, call.proceed())
    call.server.states.stable.holders.clear()
    return result


@mutant(p.OPEN)
def state4_ends_grace_early(call: Open) -> p.Open4Res:
    """The grace period is a quarter of a lease"""
    states = call.server.states
    if states.now() - vars(states)["_began"] > states.lease / 4:
        states.end_grace()
    return call.proceed()


# ---------------------------------------------------------------- after the grace period


@mutant(p.OPEN)
def open4_reclaims_without_share_deny(call: Open) -> p.Open4Res:
    """A reclaimed OPEN denies nothing to others"""
    return call.proceed_with(share_deny=0) if _is_reclaim(call) else call.proceed()


@mutant(p.LOCK)
def lock4_reclaims_one_byte(call: Call[p.Lock4Args, p.Lock4Res]) -> p.Lock4Res:
    """A reclaimed lock has the first byte of its range"""
    return call.proceed_with(length=1) if call.args.reclaim else call.proceed()


@mutant(p.OPEN)
def open4_reclaims_for_reading(call: Open) -> p.Open4Res:
    """A reclaimed OPEN is for reading only"""
    is_reclaim = _is_reclaim(call)
    return call.proceed_with(share_access=p.OPEN4_SHARE_ACCESS_READ) if is_reclaim else call.proceed()


@mutant(p.OPEN)
def open4_honours_what_was_not_reclaimed(call: Open) -> p.Open4Res:
    """Share reservations of before a restart stay in force, although nobody has reclaimed them"""
    denied: dict[Inode, int] = call.state.setdefault("denied", {})
    inode = compound_of(call.context).current
    result = call.proceed()
    if inode is None or not succeeded(result):
        return result
    if denied.get(inode, call.backend.boots) < call.backend.boots and not _is_reclaim(call):
        return refusal(result, Nfsstat4.NFS4ERR_SHARE_DENIED)
    if call.args.share_deny:
        denied[inode] = call.backend.boots
    return result
