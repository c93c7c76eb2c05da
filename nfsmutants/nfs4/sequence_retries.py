# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_sequence_retries.py catch."""

from __future__ import annotations

import dataclasses
import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import accepted, refusal, restate_last, sequence_of
from nfsmutants.nfs4.sequence import LastRequest, execute_as_next, execute_retries, note, slot_before
from nfsmutants.rules import RFC5661_RETRIES

Compound = Call[p.Compound4Args, p.Compound4Res]
_UNCACHED: t.Final = Nfsstat4.NFS4ERR_RETRY_UNCACHED_REP
_REFUSALS: t.Final = frozenset({Nfsstat4.NFS4ERR_OP_ILLEGAL, Nfsstat4.NFS4ERR_NOTSUPP})


class _Retry(t.NamedTuple):
    """A request, its answer, and the request of its slot that it repeats."""

    reply: p.Compound4Res
    known: LastRequest | None
    """None if it is no retry."""


def _answered(call: Compound) -> _Retry:
    sent, known = slot_before(call)
    number = sent.sa_sequenceid if sent is not None else 0
    is_retry = known is not None and known.sequence_id == number
    return _Retry(note(call, call.proceed(), number), known if is_retry else None)


def _uncached(reply: p.Compound4Res) -> p.Compound4Res:
    """The reply to a retry of what was not kept."""
    if len(reply.resarray) < 2:
        return reply
    return replace(
        reply, status=_UNCACHED, resarray=[reply.resarray[0], refusal(reply.resarray[1], _UNCACHED)]
    )


@mutant(p.COMPOUND)
def sequence4_keeps_the_error_only(call: Compound) -> p.Compound4Res:
    """A retry of a request that failed gets the result of the operation that failed, and none before it"""
    reply, known = _answered(call)
    if known is None or known.status == Nfsstat4.NFS4_OK or len(reply.resarray) < 4:
        return reply
    return replace(reply, resarray=[reply.resarray[0], reply.resarray[-1]])


@mutant(p.COMPOUND)
def sequence4_goes_on_after_errors(call: Compound) -> p.Compound4Res:
    """A retry of a request that failed is executed again if it has changed something"""

    def is_meant(_sent: p.Sequence4Args, known: LastRequest) -> bool:
        changes = any(isinstance(operation, p.Create4Args) for operation in known.args.argarray)
        return known.status == Nfsstat4.NFS4ERR_NOENT and changes

    return execute_retries(call, is_meant)


@mutant(p.COMPOUND)
def sequence4_illegal_is_uncached(call: Compound) -> p.Compound4Res:
    """A retry of an illegal or removed operation that need not be cached gets RETRY_UNCACHED_REP"""
    reply, known = _answered(call)
    sent = sequence_of(call.args)
    is_meant = known is not None and sent is not None and not sent.sa_cachethis
    return _uncached(reply) if is_meant and reply.status in _REFUSALS else reply


@mutant(p.COMPOUND)
def sequence4_does_not_cache_refusals(call: Compound) -> p.Compound4Res:
    """A retry of an illegal or removed operation gets SEQ_MISORDERED"""
    reply, known = _answered(call)
    if known is None or known.status not in _REFUSALS:
        return reply
    status = Nfsstat4.NFS4ERR_SEQ_MISORDERED
    return replace(reply, status=status, resarray=[refusal(reply.resarray[0], status)])


@mutant(p.COMPOUND)
def sequence4_forgets_what_is_too_big(call: Compound) -> p.Compound4Res:
    """A retry of a request whose reply was too large to be cached gets RETRY_UNCACHED_REP"""
    reply, known = _answered(call)
    if known is None or known.status != Nfsstat4.NFS4ERR_REP_TOO_BIG_TO_CACHE:
        return reply
    return _uncached(reply)


@mutant(p.COMPOUND)
def sequence4_replies_are_for_everybody(call: Compound) -> p.Compound4Res:
    """A retry gets the cached reply, whichever user sends it"""
    sent = sequence_of(call.args)
    key = (sent.sa_sessionid, sent.sa_slotid, sent.sa_sequenceid) if sent is not None else None
    credential = call.state.setdefault(key, call.context.credential)
    reply = call.proceed()
    if reply.status != Nfsstat4.NFS4ERR_SEQ_FALSE_RETRY:
        return reply
    return call.handler(dataclasses.replace(call.context, credential=credential), call.args)


@mutant(p.COMPOUND)
def sequence4_false_retries_are_misordered(call: Compound) -> p.Compound4Res:
    """A false retry gets SEQ_MISORDERED"""
    return restate_last(call.proceed(), Nfsstat4.NFS4ERR_SEQ_FALSE_RETRY, Nfsstat4.NFS4ERR_SEQ_MISORDERED)


@mutant(p.COMPOUND, breaks=RFC5661_RETRIES)
def sequence4_retries_elsewhere_are_badslot(call: Compound) -> p.Compound4Res:
    """A retry on another connection than that of the original gets BADSLOT"""
    sent = sequence_of(call.args)
    key = (sent.sa_sessionid, sent.sa_slotid, sent.sa_sequenceid) if sent is not None else None
    first, reply = call.state.setdefault(key, call.context.channel), call.proceed()
    if sent is None or first is call.context.channel or not reply.resarray:
        return reply
    status = Nfsstat4.NFS4ERR_BADSLOT
    return replace(reply, status=status, resarray=[refusal(reply.resarray[0], status)])


@mutant(p.COMPOUND)
def sequence4_connections_have_caches(call: Compound) -> p.Compound4Res:
    """A retry on another connection than that of the original is executed, while that connection is open"""
    sent, known = slot_before(call)
    key = (sent.sa_sessionid, sent.sa_slotid, sent.sa_sequenceid) if sent is not None else None
    first = call.state.setdefault(key, call.context.channel)
    is_elsewhere = first is not call.context.channel and first is not None and first.is_open
    if sent is None or known is None or known.sequence_id != sent.sa_sequenceid or not is_elsewhere:
        return note(call, call.proceed(), sent.sa_sequenceid if sent is not None else 0)
    return execute_as_next(call, sent, known)


@mutant(p.COMPOUND)
def sequence4_lone_slot_keeps_nothing(call: Compound) -> p.Compound4Res:
    """A retry in a session with one slot gets nothing but SEQUENCE"""
    reply, known = _answered(call)
    sent = sequence_of(call.args)
    if known is None or sent is None:
        return reply
    session = call.server.states.sessions.require(bytes(sent.sa_sessionid))
    if len(session.slots) > 1:
        return reply
    return replace(reply, status=Nfsstat4.NFS4_OK, resarray=[accepted(sent)])
