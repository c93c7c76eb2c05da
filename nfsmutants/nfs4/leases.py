# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_leases.py catch."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4, sequence_of
from nfsserver.nfs4.common import compound_of
from nfsserver.state.stateids import StateError

Compound = Call[p.Compound4Args, p.Compound4Res]
Sequence = Call[p.Sequence4Args, p.Sequence4Res]


def _without_renewal(call: Sequence, *, only_others: bool) -> p.Sequence4Res:
    try:
        client = call.server.states.sessions.require(call.args.sa_sessionid).client
    except StateError:
        return call.proceed()
    if only_others and next(iter(client.sessions), b"") == call.args.sa_sessionid:
        return call.proceed()
    renewed = client.renewed
    result = call.proceed()
    client.renewed = renewed
    return result


@mutant(p.SEQUENCE)
def sequence4_renews_no_lease(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE does not renew the lease of its client"""
    return _without_renewal(call, only_others=False)


@mutant(p.SEQUENCE)
def sequence4_renews_by_one_session(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE renews the lease in the first session of a client only"""
    return _without_renewal(call, only_others=True)


@mutant((p.OPEN, p.LOCK))
def nfs4_honours_what_expired(call: Call[t.Any, t.Any]) -> t.Any:
    """Opens and locks of a client whose lease has expired stay in the way of others"""
    states = call.server.states
    vars(states)["is_id_of_expired"] = lambda _number: False
    try:
        return call.proceed()
    finally:
        del vars(states)["is_id_of_expired"]


# ---------------------------------------------------------------- what renews it, and what does not


def _sender(server: t.Any, sequence: p.Sequence4Args | None) -> t.Any:
    """The client of the session that a SEQUENCE is for; None if nobody has that."""
    try:
        return None if sequence is None else server.states.sessions.require(sequence.sa_sessionid).client
    except StateError:
        return None


@mutant(p.SEQUENCE)
def sequence4_renews_only_alone(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE renews the lease of its client only where it stands alone"""
    client, before = _sender(call.server, call.args), None
    if client is not None:
        before = client.renewed
    result = call.proceed()
    if client is not None and compound_of(call.context).last and before is not None:
        client.renewed = before
    return result


def _renewing(call: Compound, renews: Callable[[p.Compound4Res, bool], bool]) -> p.Compound4Res:
    """COMPOUND that renews the lease only if `renews` (its reply, whether it is a retry)."""
    sequence = sequence_of(call.args)
    client = _sender(call.server, sequence)
    if client is None or sequence is None:
        return call.proceed()
    session = client.sessions[bytes(sequence.sa_sessionid)]
    slots, before = session.slots, client.renewed
    at = sequence.sa_slotid
    is_retry = at < len(slots) and slots[at].sequence_id == sequence.sa_sequenceid
    reply = call.proceed()
    if not renews(reply, is_retry):
        client.renewed = before
    return reply


@mutant(p.COMPOUND)
def sequence4_failed_compounds_renew_nothing(call: Compound) -> p.Compound4Res:
    """A compound that fails after SEQUENCE does not renew the lease of its client"""
    return _renewing(call, lambda reply, _: reply.status == Nfsstat4.NFS4_OK)


@mutant(p.COMPOUND)
def sequence4_retries_renew_nothing(call: Compound) -> p.Compound4Res:
    """A retry that gets the cached reply does not renew the lease of its client"""
    return _renewing(call, lambda _, is_retry: not is_retry)


@mutant(p.SEQUENCE)
def sequence4_errors_renew(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE that is refused for its sequence id renews the lease of its client"""
    client, result = _sender(call.server, call.args), call.proceed()
    if client is not None and result.sr_status == Nfsstat4.NFS4ERR_SEQ_MISORDERED:
        client.renewed = call.server.states.now()
    return result


@mutant(p.SEQUENCE)
def sequence4_raises_flags(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE that stands alone says that all went wrong that can go wrong"""
    result = call.proceed()
    return result if compound_of(call.context).last else amend4(result, sr_status_flags=0x1F8 | 0x400)
