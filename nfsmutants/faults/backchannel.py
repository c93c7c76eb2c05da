# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/faults/test_backchannel.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsserver.state.stateids import StateError

Sequence = Call[p.Sequence4Args, p.Sequence4Res]
_DOWN: t.Final = p.SEQ4_STATUS_CB_PATH_DOWN | p.SEQ4_STATUS_CB_PATH_DOWN_SESSION


@mutant(p.SEQUENCE)
def sequence4_hides_the_lost_backchannel(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE never says that the connection of the backchannel is lost"""
    return amend4(call.proceed(), sr_status_flags=lambda it: it.sr_status_flags & ~_DOWN)


@mutant(p.SEQUENCE)
def sequence4_backchannel_stays_down(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE on any connection but the first says that the backchannel is lost"""
    first = call.state.setdefault(call.args.sa_sessionid, call.peer)
    if first == call.peer:
        return call.proceed()
    return amend4(call.proceed(), sr_status_flags=lambda it: it.sr_status_flags | _DOWN)


@mutant(p.BIND_CONN_TO_SESSION)
def bindconn4_forgets_lost_callbacks(
    call: Call[p.BindConnToSession4Args, p.BindConnToSession4Res],
) -> p.BindConnToSession4Res:
    """Callbacks that were lost with a connection are not sent again"""
    try:
        call.server.states.sessions.require(call.args.bctsa_sessid).unsent.clear()
    except StateError:
        return call.proceed()
    return call.proceed()
