# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_recall_slots.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsserver.nfs4.common import compound_of

Sequence = Call[p.Sequence4Args, p.Sequence4Res]


@mutant(p.SEQUENCE)
def sequence4_ignores_recalled_slots(call: Sequence) -> p.Sequence4Res:
    """sr_target_highest_slotid is the highest slot of the session, also after CB_RECALL_SLOT"""
    return amend4(call.proceed(), sr_target_highest_slotid=lambda it: it.sr_highest_slotid)


@mutant(p.SEQUENCE)
def sequence4_retires_too_many_slots(call: Sequence) -> p.Sequence4Res:
    """When a client gives slots back, the server keeps no slot but those that have no request"""
    result, session = call.proceed(), compound_of(call.context).session
    if session is not None and session.target is not None and len(session.slots) == session.target + 1:
        del session.slots[1 if call.args.sa_slotid == 0 else 0 :]
    return result


@mutant(p.SEQUENCE)
def sequence4_retires_slots_at_once(call: Sequence) -> p.Sequence4Res:
    """Slots that CB_RECALL_SLOT recalls are refused as soon as that is sent"""
    result, session = call.proceed(), compound_of(call.context).session
    if session is not None and session.target is not None and len(session.slots) > session.target + 1:
        call.server.states.sessions.retire(session, session.target)
    return result
