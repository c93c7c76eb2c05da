# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_callback_path.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsserver.state.records import Session
from nfsserver.state.stateids import StateError

Sequence = Call[p.Sequence4Args, p.Sequence4Res]


def _with(result: p.Sequence4Res, flag: int) -> p.Sequence4Res:
    if result.sr_resok4 is None:
        return result
    return amend4(result, sr_status_flags=result.sr_resok4.sr_status_flags | flag)


def _session(call: Sequence) -> Session | None:
    try:
        return call.server.states.sessions.require(call.args.sa_sessionid)
    except StateError:
        return None


@mutant(p.SEQUENCE)
def sequence4_path_down_ignores_other_sessions(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE returns CB_PATH_DOWN when the backchannel of the session is lost, whatever others the client has"""
    result, session = call.proceed(), _session(call)
    is_down = session is not None and session.had_backchannel and session.back_connection is None
    return _with(result, p.SEQ4_STATUS_CB_PATH_DOWN) if is_down else result


@mutant(p.SEQUENCE)
def sequence4_path_down_in_every_session(call: Sequence) -> p.Sequence4Res:
    """SEQUENCE returns CB_PATH_DOWN_SESSION in all sessions of a client when one has lost its backchannel"""
    result, session = call.proceed(), _session(call)
    if session is None:
        return result
    others = session.client.sessions.values()
    is_down = any(other.had_backchannel and other.back_connection is None for other in others)
    return _with(result, p.SEQ4_STATUS_CB_PATH_DOWN_SESSION) if is_down else result


@mutant(p.DESTROY_SESSION)
def destroysession4_forgets_recalls(
    call: Call[p.DestroySession4Args, p.DestroySession4Res],
) -> p.DestroySession4Res:
    """DESTROY_SESSION forgets the callbacks that are not answered yet"""
    try:
        call.server.states.sessions.require(call.args.dsa_sessionid).unanswered.clear()
    except StateError:
        return call.proceed()
    return call.proceed()
