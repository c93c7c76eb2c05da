# SPDX-License-Identifier: MIT
"""Backchannels of NFSv4.1 that are lost, with or without a recall on them (RFC 5661 section 2.10.13)."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.faults import Drop, MakeFaulty, on_callback
from nfsclient.clients.nfs4 import Session4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import ChannelDirFromClient4, ChannelDirFromServer4, Nfsstat4
from nfsjudge import Level, Requirement, expect, expect_that, observe, proves, skip
from suites.faults.lost import connection_of
from suites.nfs4.opens import another_client
from suites.nfs4.retries import reconnect
from suites.nfs4.test_delegation import (
    CONFLICT_RECALLS,
    Attempt,
    Granted,
    conflicting,
    delegated,
    recalls,
)

PATH_DOWN_IS_SHOWN = Requirement(
    rfc="RFC 5661",
    section="2.10.13.1.2",
    level=Level.SHOULD,  # section 2.10.13.2.4 says MUST
    gist="the server indicates in sr_status_flags that it has no connection for callbacks",
)
PATH_UP_IS_SHOWN = Requirement(
    rfc="RFC 5661",
    section="18.46.3",
    gist="SEQ4_STATUS_CB_PATH_DOWN_SESSION remains set until a connection is associated with the backchannel",
)
LOST_CALLBACKS_COME_AGAIN = Requirement(
    rfc="RFC 5661",
    section="2.10.13.2.4",
    level=Level.MUST,
    gist="callback requests that were outstanding when the connection was lost are sent again",
)
_DOWN: t.Final = p.SEQ4_STATUS_CB_PATH_DOWN | p.SEQ4_STATUS_CB_PATH_DOWN_SESSION
_NOTICES: t.Final = 3.0
"""Seconds in which a server notices that a connection has ended."""
_PAUSE: t.Final = 0.1
_ARRIVES: t.Final = 8.0
"""Seconds for a recall to arrive."""
_KINDS: t.Final = pytest.mark.parametrize(
    "access", [p.OPEN4_SHARE_ACCESS_READ, p.OPEN4_SHARE_ACCESS_BOTH], ids=["read", "write"]
)


def _flags_until(session: Session4, seconds: float, is_wanted: Callable[[int], bool]) -> int:
    """The status flags of SEQUENCE, as soon as they are wanted, or when time is up."""
    loop = connection_of(session).loop
    until = loop.clock() + seconds
    while True:
        found: int = expect(session.renew()).of(p.SEQUENCE).ok().sr_status_flags
        if is_wanted(found) or loop.clock() >= until:
            return found & _DOWN
        loop.run_until(lambda: False, loop.clock() + _PAUSE)


def _bind_again(v4: Nfs4Dialect, session: Session4) -> None:
    """A new connection with both channels, for a session that has lost its own. SKIP if it has no backchannel."""
    result = expect(session.bind(reconnect(v4, session), ChannelDirFromClient4.CDFC4_FORE_OR_BOTH)).ok()
    if result.bctsr_dir == ChannelDirFromServer4.CDFS4_FORE:
        skip("the server binds no new connection to the backchannel")


def _need_kept(granted: Granted) -> None:
    """SKIP if the server has revoked the delegation: it may, while it cannot call its client (section 18.46.3)."""
    tested = expect(granted.holder.compound(op.test_stateid(granted.stateid))).of(p.TEST_STATEID).ok()
    if list(tested.tsr_status_codes) != [Nfsstat4.NFS4_OK]:
        skip("the server has revoked the delegation of a client that it could not call")


def _with_backchannel(v4: Nfs4Dialect) -> Session4:
    session = v4.client(v4.connections.connect("nfs")).establish(callbacks=True)
    if not session.state.flags & p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN:
        skip("the server uses no connection for callbacks")
    return session


@proves(PATH_DOWN_IS_SHOWN, killed_by="sequence4-hides-the-lost-backchannel")
def test_path_down(v4: Nfs4Dialect, slowness: Callable[[], float]) -> None:
    """After the connection of the backchannel is lost, SEQUENCE says that there is none."""
    session = _with_backchannel(v4)
    reconnect(v4, session)
    flags = _flags_until(session, _NOTICES * slowness(), lambda found: bool(found & _DOWN))
    expect_that(flags != 0, "CB_PATH_DOWN or CB_PATH_DOWN_SESSION", "neither", "sr_status_flags")


@proves(PATH_UP_IS_SHOWN, killed_by="sequence4-backchannel-stays-down")
def test_path_up(v4: Nfs4Dialect, slowness: Callable[[], float]) -> None:
    """Once another connection is bound to the backchannel, SEQUENCE does not say any more that there is none."""
    session = _with_backchannel(v4)
    _bind_again(v4, session)
    flags = _flags_until(session, _NOTICES * slowness(), lambda found: not found & _DOWN)
    down = flags & p.SEQ4_STATUS_CB_PATH_DOWN_SESSION
    expect_that(not down, "no CB_PATH_DOWN_SESSION", "CB_PATH_DOWN_SESSION", "sr_status_flags")


def _recall_comes(granted: Granted, slowness: Callable[[], float]) -> bool:
    loop = connection_of(granted.holder).loop
    return loop.run_until(lambda: bool(recalls(granted.holder)), loop.clock() + _ARRIVES * slowness())


@proves(CONFLICT_RECALLS, killed_by="open4-invents-delegations")
def test_recall_after_loss(v4: Nfs4Dialect, slowness: Callable[[], float]) -> None:
    """A delegation is recalled on the new connection of a client that has lost its backchannel."""
    granted = delegated(v4, v4.scratch, p.OPEN4_SHARE_ACCESS_READ)
    _bind_again(v4, granted.holder)
    _need_kept_or_unknown(granted)
    other = another_client(v4)
    attempt = Attempt(other, op.putfh(granted.file), conflicting())
    expect_that(_recall_comes(granted, slowness), "CB_RECALL", "no CB_RECALL", because=CONFLICT_RECALLS)
    granted.give_back()
    attempt.reply(1.0)


def _need_kept_or_unknown(granted: Granted) -> None:
    """As `_need_kept`, but a delegation that the server does not know has never been there: that is judged."""
    tested = expect(granted.holder.compound(op.test_stateid(granted.stateid))).of(p.TEST_STATEID).ok()
    lost = {Nfsstat4.NFS4ERR_DELEG_REVOKED, Nfsstat4.NFS4ERR_EXPIRED, Nfsstat4.NFS4ERR_ADMIN_REVOKED}
    if not lost.isdisjoint(tested.tsr_status_codes):
        skip("the server has revoked the delegation of a client that it could not call")


@proves(LOST_CALLBACKS_COME_AGAIN, killed_by="bindconn4-forgets-lost-callbacks")
def test_recall_lost(v4: Nfs4Dialect, faults: MakeFaulty, slowness: Callable[[], float]) -> None:
    """A CB_RECALL that is lost with its connection comes again on a new one."""
    granted = delegated(v4, v4.scratch, p.OPEN4_SHARE_ACCESS_READ)
    rpc = connection_of(granted.holder)
    disturbed = faults.before(rpc, on_callback("call", p.CB_RECALL, Drop("close")))
    attempt = Attempt(another_client(v4), op.putfh(granted.file), conflicting())
    rpc.loop.run_until(lambda: bool(disturbed.messages), rpc.loop.clock() + rpc.timeout)
    if not disturbed.messages:
        skip("the server recalls nothing: backchannel/recall-after-loss judges that")
    _bind_again(v4, granted.holder)
    came = _recall_comes(granted, slowness)
    if not came:
        _need_kept(granted)
    expect_that(came, "CB_RECALL", "no CB_RECALL", because=LOST_CALLBACKS_COME_AGAIN)
    granted.give_back()
    attempt.reply(1.0)


@_KINDS
@proves(CONFLICT_RECALLS, killed_by="open4-ignores-delegations")
def test_waits_while_down(v4: Nfs4Dialect, access: int) -> None:
    """OPEN that conflicts with a delegation does not succeed while its holder has no backchannel, and keeps it."""
    granted = delegated(v4, v4.scratch, access)
    reconnect(v4, granted.holder)
    reply = Attempt(another_client(v4), op.putfh(granted.file), conflicting()).reply(1.0)
    observe("conflict while the backchannel is lost", "waits" if reply is None else reply.status.name)
    if reply is not None:
        _need_kept(granted)
        expect(reply.status, "status of OPEN").equals(Nfsstat4.NFS4ERR_DELAY)
    came = recalls(granted.holder)
    observe("recalls that came", len(came))
    granted.give_back()
