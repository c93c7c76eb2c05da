# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_reclaim.py catch."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Iterator

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.protocol.nfs4 import OpenClaimType4 as Claim
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, restate4, succeeded
from nfsmutants.rules import RFC5661_GRACE
from nfsserver.fs.permissions import SUPERUSER
from nfsserver.handlers import ServerApi
from nfsserver.nfs4.common import compound_of
from nfsserver.state.manager import StateManager
from nfsserver.state.stateids import StateError

Open = Call[p.Open4Args, p.Open4Res]
Lock = Call[p.Lock4Args, p.Lock4Res]
_NONE: t.Final = p.OpenDelegation4(p.OpenDelegationType4.OPEN_DELEGATE_NONE)
_INVENTED: t.Final = p.Stateid4(1, b"reclaimed it")


def _is_reclaim(call: Open) -> bool:
    return call.args.claim.claim == Claim.CLAIM_PREVIOUS


def invented_open() -> p.Open4Res:
    """The success of an OPEN of which the server knows nothing."""
    return p.Open4Res(Nfsstat4.NFS4_OK, p.Open4ResOk(_INVENTED, p.ChangeInfo4(False, 0, 0), 0, [], _NONE))


@contextlib.contextmanager
def without_grace(server: ServerApi) -> Iterator[None]:
    """Inside, nobody is waited for."""
    states = server.states
    waiting, states.waiting = states.waiting, {}
    try:
        yield
    finally:
        states.waiting = waiting


# ---------------------------------------------------------------- reclaims


@mutant(p.OPEN)
def open4_reclaims_are_bad(call: Open) -> p.Open4Res:
    """OPEN with CLAIM_PREVIOUS gets RECLAIM_BAD, whoever sends it"""
    return p.Open4Res(Nfsstat4.NFS4ERR_RECLAIM_BAD) if _is_reclaim(call) else call.proceed()


@mutant(p.LOCK)
def lock4_reclaims_are_bad(call: Lock) -> p.Lock4Res:
    """LOCK with reclaim gets RECLAIM_BAD, whoever sends it"""
    return p.Lock4Res(Nfsstat4.NFS4ERR_RECLAIM_BAD) if call.args.reclaim else call.proceed()


@mutant(p.RECLAIM_COMPLETE, breaks=RFC5661_GRACE)
def reclaimcomplete4_ends_the_grace_period(
    call: Call[p.ReclaimComplete4Args, p.ReclaimComplete4Res],
) -> p.ReclaimComplete4Res:
    """The first RECLAIM_COMPLETE after a restart ends the grace period for all clients"""
    result = call.proceed()
    if succeeded(result) and compound_of(call.context).client.may_reclaim:
        call.server.states.end_grace()
    return result


@mutant(p.OPEN)
def open4_reclaims_against_shares(call: Open) -> p.Open4Res:
    """OPEN with CLAIM_PREVIOUS ignores the share reservations of others"""
    result = call.proceed()
    return invented_open() if result.status == Nfsstat4.NFS4ERR_RECLAIM_CONFLICT else result


@mutant(p.LOCK)
def lock4_reclaims_against_locks(call: Lock) -> p.Lock4Res:
    """LOCK with reclaim ignores the locks of others"""
    result = call.proceed()
    if result.status != Nfsstat4.NFS4ERR_RECLAIM_CONFLICT:
        return result
    return p.Lock4Res(Nfsstat4.NFS4_OK, p.Lock4ResOk(_INVENTED))


@mutant(p.OPEN)
def open4_reclaims_for_every_user(call: Open) -> p.Open4Res:
    """OPEN with CLAIM_PREVIOUS looks at no permissions"""
    compound = compound_of(call.context)
    caller = compound.caller
    compound.caller = SUPERUSER if _is_reclaim(call) else caller
    try:
        return call.proceed()
    finally:
        compound.caller = caller


@mutant((p.OPEN, p.LOCK))
def reclaims4_go_on_after_reclaim_complete(call: AnyCall) -> t.Any:
    """Clients can reclaim while the grace period lasts, also after their RECLAIM_COMPLETE"""
    client = compound_of(call.context).client
    is_reclaim = _is_reclaim(call) if call.operation is p.OPEN else call.args.reclaim
    completed = client.has_completed
    client.has_completed = completed and not is_reclaim
    vars(call.server.states)["require_reclaim"] = lambda _client: None
    try:
        return call.proceed()
    finally:
        client.has_completed = completed
        del vars(call.server.states)["require_reclaim"]


@mutant(p.OPEN)
def open4_reclaims_for_anybody(call: Open) -> p.Open4Res:
    """OPEN with CLAIM_PREVIOUS is granted to clients that had nothing before the restart"""
    client = compound_of(call.context).client
    known, client.may_reclaim = client.may_reclaim, True
    try:
        return call.proceed()
    finally:
        client.may_reclaim = known


# ---------------------------------------------------------------- what is no reclaim


@mutant(p.OPEN)
def open4_ignores_grace(call: Open) -> p.Open4Res:
    """New OPENs are granted in the grace period"""
    if _is_reclaim(call):
        return call.proceed()
    with without_grace(call.server):
        return call.proceed()


@mutant(p.LOCK)
def lock4_ignores_grace(call: Lock) -> p.Lock4Res:
    """New LOCKs are granted in the grace period"""
    if call.args.reclaim:
        return call.proceed()
    with without_grace(call.server):
        return call.proceed()


@mutant((p.READ, p.WRITE))
def io4_ignores_grace(call: AnyCall) -> t.Any:
    """READ and WRITE with a special stateid are served in the grace period"""
    with without_grace(call.server):
        return call.proceed()


@mutant(p.LOCK)
def lock4_before_reclaim_complete_is_inval(call: Lock) -> p.Lock4Res:
    """A new LOCK before the RECLAIM_COMPLETE of the client gets INVAL"""
    result = call.proceed()
    if compound_of(call.context).client.has_completed:
        return result
    return restate4(result, Nfsstat4.NFS4ERR_GRACE, Nfsstat4.NFS4ERR_INVAL)


# ---------------------------------------------------------------- before and after the reclaim


@mutant(p.TEST_STATEID)
def teststateid4_old_instances_are_valid(
    call: Call[p.TestStateid4Args, p.TestStateid4Res],
) -> p.TestStateid4Res:
    """TEST_STATEID finds the stateids of earlier instances of the server valid"""
    result = call.proceed()
    return amend4(result, tsr_status_codes=[Nfsstat4.NFS4_OK] * len(call.args.ts_stateids))


def _client_of(states: StateManager, session: bytes) -> t.Any:
    try:
        return states.sessions.require(session).client
    except StateError:
        return None


def _flagged(result: p.Sequence4Res, *, is_set: bool) -> p.Sequence4Res:
    if result.sr_resok4 is None:
        return result
    flags = result.sr_resok4.sr_status_flags & ~p.SEQ4_STATUS_RESTART_RECLAIM_NEEDED
    return amend4(result, sr_status_flags=flags | (p.SEQ4_STATUS_RESTART_RECLAIM_NEEDED if is_set else 0))


@mutant(p.SEQUENCE)
def sequence4_wants_reclaims_for_ever(call: Call[p.Sequence4Args, p.Sequence4Res]) -> p.Sequence4Res:
    """SEQUENCE returns RESTART_RECLAIM_NEEDED to a client that had state before a restart, for ever"""
    result = call.proceed()
    client = _client_of(call.server.states, call.args.sa_sessionid)
    return _flagged(result, is_set=client is not None and client.may_reclaim)


@mutant(p.SEQUENCE)
def sequence4_wants_reclaims_once(call: Call[p.Sequence4Args, p.Sequence4Res]) -> p.Sequence4Res:
    """SEQUENCE returns RESTART_RECLAIM_NEEDED once"""
    result = call.proceed()
    seen: set[bytes] = call.state.setdefault("seen", set())
    session = bytes(call.args.sa_sessionid)
    if session in seen:
        return _flagged(result, is_set=False)
    seen.add(session)
    return result
