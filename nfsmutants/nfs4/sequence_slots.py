# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_sequence_slots.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import sequence_of
from nfsmutants.rules import RFC5661_SLOTS

Compound = Call[p.Compound4Args, p.Compound4Res]
_LIMITS: t.Final = frozenset({Nfsstat4.NFS4ERR_TOO_MANY_OPS, Nfsstat4.NFS4ERR_REQ_TOO_BIG})


@mutant(p.COMPOUND, breaks=RFC5661_SLOTS, kills_many="whatever follows a refusal in the same slot")
def sequence4_failed_requests_keep_the_slot(call: Compound) -> p.Compound4Res:
    """A request that failed after SEQUENCE does not move the sequence id of its slot"""
    sent, reply = sequence_of(call.args), call.proceed()
    if sent is None or len(reply.resarray) < 2 or reply.status == Nfsstat4.NFS4_OK:
        return reply
    session = call.server.states.sessions.require(bytes(sent.sa_sessionid))
    session.slots[sent.sa_slotid].sequence_id -= 1
    return reply


@mutant(p.COMPOUND, breaks=RFC5661_SLOTS)
def sequence4_limits_move_the_slot(call: Compound) -> p.Compound4Res:
    """A request that is too large moves its slot if SEQUENCE refuses it, and leaves it if another operation does"""
    sent, reply = sequence_of(call.args), call.proceed()
    if sent is None or reply.status not in _LIMITS:
        return reply
    session = call.server.states.sessions.require(bytes(sent.sa_sessionid))
    session.slots[sent.sa_slotid].sequence_id += 1 if len(reply.resarray) == 1 else -1
    return reply
