# SPDX-License-Identifier: MIT
"""The way of callbacks over several sessions of a client (RFC 5661 sections 2.10.13.2.4, 10.4.5 and 18.46.3)."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from fixtures.checks.side_by_side import Wait, Waiting, side_by_side
from nfsclient.clients.nfs4 import Session
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, expect_that, observe, proves, should, skip, stated
from suites.nfs4.conflicts import conflicting_open
from suites.nfs4.delegations import ACCESS, delegated, recalls, seconds_for
from suites.nfs4.retries import reconnect

pytestmark = pytest.mark.late

DOWN_IS_OF_THE_CLIENT = stated(
    "RFC 5661",
    "18.46.3",
    "CB_PATH_DOWN says that no session of the client has a backchannel that works",
)
DOWN_IS_OF_THE_SESSION = stated(
    "RFC 5661", "18.46.3", "CB_PATH_DOWN_SESSION says that the session has no backchannel that works"
)
RECALLED_AGAIN = should(  # section 10.4.5 gives the client the time to re-establish the backchannel
    "RFC 5661",
    "10.4.5",
    "a recall that nobody has answered when its session ended is sent over the next session of the client",
)
_NOTICES: t.Final = 8.0
"""Seconds in which a server notices that a connection has ended, and for a callback to arrive."""
_PAUSE: t.Final = 0.2


def _two_sessions(v4: Nfs4Dialect) -> tuple[Session, Session]:
    """Two sessions of a client, each with a backchannel on a separate connection; the first has lost its own."""
    first = v4.client(v4.connections.connect("nfs")).establish(callbacks=True)
    assert first.client is not None
    first.client.nfs4 = v4.client(v4.connections.connect("nfs"))
    second = first.client.create_session(callbacks=True)
    for session in (first, second):
        if not session.state.flags & p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN:
            skip("the server uses no connection for callbacks")
    reconnect(v4, first)
    return first, second


def _flags(session: Session) -> int:
    """The status flags of SEQUENCE now."""
    found: int = expect(session.renew()).of(p.SEQUENCE).ok().sr_status_flags
    return found


def _down(v4: Nfs4Dialect, session: Session) -> Waiting[int]:
    """The flags of a session that has lost its backchannel, as soon as they say so, or when time is up."""
    until = v4.connections.now() + seconds_for(v4, _NOTICES)
    flags = _flags(session)
    while not flags & p.SEQ4_STATUS_CB_PATH_DOWN_SESSION and v4.connections.now() < until:
        yield Wait(_PAUSE)
        flags = _flags(session)
    seen = "set" if flags & p.SEQ4_STATUS_CB_PATH_DOWN_SESSION else "not set"
    observe("CB_PATH_DOWN_SESSION of the session without a backchannel", seen)
    return flags


@side_by_side
@proves(DOWN_IS_OF_THE_CLIENT, killed_by="sequence4-path-down-ignores-other-sessions")
def test_other_session(v4: Nfs4Dialect) -> Waiting[None]:
    """CB_PATH_DOWN is not set in a session without a backchannel while another one of the client has one."""
    first, _ = _two_sessions(v4)
    flags = yield from _down(v4, first)
    expect(flags & p.SEQ4_STATUS_CB_PATH_DOWN, "CB_PATH_DOWN", field="sr_status_flags").equals(0)


@side_by_side
@proves(DOWN_IS_OF_THE_SESSION, killed_by="sequence4-path-down-in-every-session")
def test_whole_session(v4: Nfs4Dialect) -> Waiting[None]:
    """CB_PATH_DOWN_SESSION is not set in a session with a backchannel when another one has lost its own."""
    first, second = _two_sessions(v4)
    yield from _down(v4, first)
    down = _flags(second) & p.SEQ4_STATUS_CB_PATH_DOWN_SESSION
    expect(down, "CB_PATH_DOWN_SESSION", field="sr_status_flags").equals(0)


@side_by_side
@pytest.mark.parametrize("access", [*ACCESS.values()], ids=[*ACCESS])
@proves(RECALLED_AGAIN, killed_by="destroysession4-forgets-recalls")
def test_next_session(v4: Nfs4Dialect, scratch: Nfs4Scratch, access: int) -> Waiting[None]:
    """A recall that is not answered when its session is destroyed comes again on the next session of the client."""
    granted = yield from delegated(v4, scratch, access)
    holder, client = granted.holder, granted.holder.client
    assert client is not None
    holder.nfs4.callbacks.silent = True
    conflict = conflicting_open(granted)
    yield from conflict.need_callback(p.CbRecall4Args)
    client.nfs4 = v4.client(v4.connections.connect("nfs"))
    following = client.create_session(callbacks=True)
    following.callbacks.on(p.CB_RECALL, Nfsstat4.NFS4_OK)
    if holder.destroy().dsr_status != Nfsstat4.NFS4_OK:
        skip("the server does not destroy a session with an unanswered callback")
    granted.move_to(following)
    came = yield from conflict.serve(lambda: bool(recalls(following)), seconds_for(v4, _NOTICES))
    granted.need_kept()
    expect_that(came, "CB_RECALL on the next session", "no CB_RECALL", because=RECALLED_AGAIN)
    granted.give_back()
    yield from conflict.succeeds()
