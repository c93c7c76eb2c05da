# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_sequence.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import (
    accepted,
    amend4,
    echoing,
    refusal,
    restate_last,
    sequence_of,
    with_sequence,
)
from nfsmutants.rules import RFC5661_ERRORS, RFC5661_SLOTS

Compound = Call[p.Compound4Args, p.Compound4Res]
Sequence = Call[p.Sequence4Args, p.Sequence4Res]
_MISORDERED: t.Final = Nfsstat4.NFS4ERR_SEQ_MISORDERED


@mutant(p.SEQUENCE)
def sequence4_answers_the_next_sequence_id(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE in any slot but the first returns the sequence id that comes next"""
    result = call.proceed()
    return amend4(result, sr_sequenceid=call.args.sa_sequenceid + 1) if call.args.sa_slotid else result


@mutant(p.SEQUENCE)
def sequence4_answers_slot_0(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE in any slot returns slot 0"""
    return amend4(call.proceed(), sr_slotid=0)


@mutant(p.COMPOUND)
def sequence4_second_is_inval(call: Compound) -> p.Compound4Res:
    """A second SEQUENCE in a COMPOUND gets INVAL"""
    return restate_last(call.proceed(), Nfsstat4.NFS4ERR_SEQUENCE_POS, Nfsstat4.NFS4ERR_INVAL)


@mutant(p.COMPOUND)
def sequence4_unknown_session_is_stale(call: Compound) -> p.Compound4Res:
    """SEQUENCE of an unknown session gets STALE_CLIENTID"""
    return restate_last(call.proceed(), Nfsstat4.NFS4ERR_BADSESSION, Nfsstat4.NFS4ERR_STALE_CLIENTID)


def _accept(call: Compound, reply: p.Compound4Res) -> p.Compound4Res:
    """A reply in which SEQUENCE succeeds, and nothing else was done."""
    sent = sequence_of(call.args)
    assert sent is not None
    return replace(reply, status=Nfsstat4.NFS4_OK, resarray=[accepted(sent)])


@mutant(p.COMPOUND)
def sequence4_takes_any_slot(call: Compound) -> p.Compound4Res:
    """SEQUENCE succeeds in a slot that the session does not have"""
    reply = call.proceed()
    refusals = {Nfsstat4.NFS4ERR_BADSLOT, Nfsstat4.NFS4ERR_BAD_HIGH_SLOT}
    return _accept(call, reply) if reply.status in refusals else reply


@mutant(p.COMPOUND)
def sequence4_takes_any_first_number(call: Compound) -> p.Compound4Res:
    """SEQUENCE in any slot but the first succeeds with any sequence id"""
    reply, sent = call.proceed(), sequence_of(call.args)
    is_meant = sent is not None and sent.sa_slotid and reply.status == _MISORDERED
    return _accept(call, reply) if is_meant else reply


# ---------------------------------------------------------------- what a slot remembers


class LastRequest(t.NamedTuple):
    """The last request of a slot."""

    sequence_id: int
    args: p.Compound4Args
    status: Nfsstat4


def slot_before(call: Compound) -> tuple[p.Sequence4Args | None, LastRequest | None]:
    """SEQUENCE of this request, and the last request in its slot."""
    sent = sequence_of(call.args)
    return sent, None if sent is None else call.state.get((sent.sa_sessionid, sent.sa_slotid))


def note(call: Compound, reply: p.Compound4Res, sequence_id: int) -> p.Compound4Res:
    """Keep the request if the slot moved."""
    sent = sequence_of(call.args)
    if sent is not None and reply.resarray and p.status_of(reply.resarray[0]) == Nfsstat4.NFS4_OK:
        call.state[sent.sa_sessionid, sent.sa_slotid] = LastRequest(sequence_id, call.args, reply.status)
    return reply


def execute_as_next(call: Compound, sent: p.Sequence4Args, known: LastRequest) -> p.Compound4Res:
    """Execute the request as the next one of its slot."""
    following = known.sequence_id + 1
    reply = call.proceed(with_sequence(call.args, sa_sequenceid=following))
    return note(call, echoing(reply, sent), following)


@mutant(p.COMPOUND)
def sequence4_takes_later_numbers(call: Compound) -> p.Compound4Res:
    """A request with a sequence id that is out of order is executed as the next one"""
    sent, known = slot_before(call)
    reply = call.proceed()
    if sent is None or known is None or reply.status != _MISORDERED:
        return note(call, reply, sent.sa_sequenceid if sent is not None else 0)
    return execute_as_next(call, sent, known)


@mutant(p.COMPOUND)
def sequence4_errors_move_the_slot(call: Compound) -> p.Compound4Res:
    """A request that is out of order moves the sequence id of its slot"""
    sent, known = slot_before(call)
    reply = call.proceed()
    if sent is None or known is None or reply.status != _MISORDERED:
        return note(call, reply, sent.sa_sequenceid if sent is not None else 0)
    moving = with_sequence(
        replace(call.args, argarray=call.args.argarray[:1]), sa_sequenceid=known.sequence_id + 1
    )
    call.proceed(moving)
    return reply


@mutant(p.COMPOUND, breaks=RFC5661_SLOTS)
def sequence4_high_slot_moves_the_slot(call: Compound) -> p.Compound4Res:
    """A request whose highest slot is refused moves the sequence id of its slot"""
    reply, sent = call.proceed(), sequence_of(call.args)
    if sent is not None and reply.status == Nfsstat4.NFS4ERR_BAD_HIGH_SLOT:
        moving = replace(call.args, argarray=call.args.argarray[:1])
        call.proceed(with_sequence(moving, sa_highest_slotid=sent.sa_slotid))
    return reply


@mutant(p.COMPOUND, breaks=RFC5661_ERRORS)
def sequence4_high_slot_is_inval(call: Compound) -> p.Compound4Res:
    """SEQUENCE with a highest slot beyond the slot table gets INVAL"""
    return restate_last(call.proceed(), Nfsstat4.NFS4ERR_BAD_HIGH_SLOT, Nfsstat4.NFS4ERR_INVAL)


def execute_retries(
    call: Compound, is_meant: t.Callable[[p.Sequence4Args, LastRequest], bool]
) -> p.Compound4Res:
    """Execute a retry again, if it is of the kind that is meant."""
    sent, known = slot_before(call)
    if sent is None or known is None or sent.sa_sequenceid != known.sequence_id or not is_meant(sent, known):
        reply = call.proceed()
        return note(call, reply, sent.sa_sequenceid if sent is not None else 0)
    return execute_as_next(call, sent, known)


@mutant(p.COMPOUND)
def sequence4_executes_retries(call: Compound) -> p.Compound4Res:
    """A retry of a request that succeeded is executed again"""
    return execute_retries(call, lambda sent, known: sent.sa_cachethis and known.status == Nfsstat4.NFS4_OK)


@mutant(p.COMPOUND)
def sequence4_forgets_replies(call: Compound) -> p.Compound4Res:
    """A retry gets RETRY_UNCACHED_REP, although the request asked for its reply to be cached"""
    sent, known = slot_before(call)
    reply = note(call, call.proceed(), sent.sa_sequenceid if sent is not None else 0)
    is_retry = sent is not None and known is not None and sent.sa_sequenceid == known.sequence_id
    if not is_retry or sent is None or not sent.sa_cachethis or len(reply.resarray) < 2:
        return reply
    status = Nfsstat4.NFS4ERR_RETRY_UNCACHED_REP
    return replace(reply, status=status, resarray=[reply.resarray[0], refusal(reply.resarray[1], status)])


@mutant(p.COMPOUND)
def sequence4_executes_retries_of_failures(call: Compound) -> p.Compound4Res:
    """A retry of a request that failed is executed again"""
    return execute_retries(call, lambda sent, known: sent.sa_cachethis and known.status != Nfsstat4.NFS4_OK)


@mutant(p.COMPOUND)
def sequence4_executes_uncached_retries(call: Compound) -> p.Compound4Res:
    """A retry of a request whose reply need not be cached is executed again"""
    return execute_retries(call, lambda sent, _known: not sent.sa_cachethis)


@mutant(p.COMPOUND)
def sequence4_executes_false_retries(call: Compound) -> p.Compound4Res:
    """A retry with other operations is executed"""
    return execute_retries(call, lambda _sent, known: call.args.argarray[1:] != known.args.argarray[1:])


@mutant(p.COMPOUND)
def sequence4_slots_share_a_reply(call: Compound) -> p.Compound4Res:
    """A retry gets the reply to the last request of the session in any slot"""
    sent, known = slot_before(call)
    is_retry = sent is not None and known is not None and sent.sa_sequenceid == known.sequence_id
    reply = call.proceed()
    if sent is None:
        return reply
    last: p.Compound4Res | None = call.state.get(sent.sa_sessionid)
    if is_retry and last is not None:
        return replace(last, resarray=[accepted(sent), *last.resarray[1:]])
    call.state[sent.sa_sessionid] = reply
    return note(call, reply, sent.sa_sequenceid)


@mutant(p.COMPOUND, breaks=RFC5661_SLOTS)
def sequence4_sessions_share_replies(call: Compound) -> p.Compound4Res:
    """A retry gets the reply to the last request with its slot and sequence id, in whichever session"""
    sent, known = slot_before(call)
    reply = call.proceed()
    if sent is None:
        return reply
    key = sent.sa_slotid, sent.sa_sequenceid
    if known is not None and sent.sa_sequenceid == known.sequence_id:
        last: p.Compound4Res = call.state.get(key, reply)
        return replace(last, resarray=[accepted(sent), *last.resarray[1:]])
    if len(reply.resarray) > 1:
        call.state[key] = reply
    return note(call, reply, sent.sa_sequenceid)


@mutant(p.SEQUENCE)
def sequence4_halves_the_highest_slot(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE returns half of the highest slot that the client uses"""
    return amend4(call.proceed(), sr_highest_slotid=call.args.sa_highest_slotid // 2)


@mutant(p.COMPOUND)
def sequence4_caches_any_size(call: Compound) -> p.Compound4Res:
    """SEQUENCE alone succeeds although its reply is larger than what the session may cache"""
    reply = call.proceed()
    if len(call.args.argarray) > 1 or reply.status != Nfsstat4.NFS4ERR_REP_TOO_BIG_TO_CACHE:
        return reply
    return call.proceed(with_sequence(call.args, sa_cachethis=False))
