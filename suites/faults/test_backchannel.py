# SPDX-License-Identifier: MIT
"""Backchannels of NFSv4.1 that are lost, with or without a recall on them (RFC 5661 section 2.10.13)."""

from __future__ import annotations

import functools
import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.faults import Drop, MakeFaulty, on_callback
from fixtures.checks.side_by_side import Wait, Waiting, side_by_side
from nfsclient.clients.nfs4 import Session
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import ChannelDirFromClient4, ChannelDirFromServer4, Nfsstat4
from nfsjudge import expect, expect_that, must, observe, proves, should, skip, stated
from suites.faults.lost import connection_of
from suites.nfs4.conflicts import Conflict, conflicting_open
from suites.nfs4.delegations import (
    ACCESS,
    CONFLICT_RECALLS,
    KEPT_FOR_A_LEASE,
    Granted,
    delegated,
    recalls,
    seconds_for,
    seconds_to_see_nothing,
)
from suites.nfs4.retries import reconnect

PATH_DOWN_IS_SHOWN = should(  # section 2.10.13.2.4 says MUST
    "RFC 5661",
    "2.10.13.1.2",
    "the server indicates in sr_status_flags that it has no connection for callbacks",
)
PATH_UP_IS_SHOWN = stated(
    "RFC 5661",
    "18.46.3",
    "SEQ4_STATUS_CB_PATH_DOWN_SESSION remains set until a connection is associated with the backchannel",
)
LOST_CALLBACKS_COME_AGAIN = must(
    "RFC 5661",
    "2.10.13.2.4",
    "callback requests that were outstanding when the connection was lost are sent again",
)
_DOWN: t.Final = p.SEQ4_STATUS_CB_PATH_DOWN | p.SEQ4_STATUS_CB_PATH_DOWN_SESSION
_NOTICES: t.Final = 3.0
"""Seconds in which a server notices that a connection has ended."""
_PAUSE: t.Final = 0.1
_ARRIVES: t.Final = 8.0
"""Seconds for a recall to arrive."""
_QUIET: t.Final = 1.0
_SOON: t.Final = 0.5
"""The part of a lease in which the client has its new connection, so that the recall is still to come."""
_RECONNECTS: t.Final = (0.0, 0.3, 1.5)
"""Seconds until the client connects again: before the server notices that the connection has ended, and after it."""
_KINDS: t.Final = pytest.mark.parametrize("access", [*ACCESS.values()], ids=[*ACCESS])


def _flags_until(
    v4: Nfs4Dialect, session: Session, seconds: float, is_wanted: Callable[[int], bool]
) -> Waiting[int]:
    """The status flags of SEQUENCE, as soon as they are wanted, or when time is up."""
    now = v4.connections.now
    until = now() + seconds
    while True:
        found: int = expect(session.renew()).of(p.SEQUENCE).ok().sr_status_flags
        if is_wanted(found) or now() >= until:
            return found & _DOWN
        yield Wait(_PAUSE)


def _bind_again(v4: Nfs4Dialect, session: Session) -> None:
    """A new connection with both channels, for a session that has lost its own. SKIP if it has no backchannel."""
    result = expect(session.bind(reconnect(v4, session), ChannelDirFromClient4.CDFC4_FORE_OR_BOTH)).ok()
    if result.bctsr_dir == ChannelDirFromServer4.CDFS4_FORE:
        skip("the server binds no new connection to the backchannel")


def _with_backchannel(v4: Nfs4Dialect) -> Session:
    session = v4.client(v4.connections.connect("nfs")).establish(callbacks=True)
    if not session.state.flags & p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN:
        skip("the server uses no connection for callbacks")
    return session


@side_by_side
@proves(PATH_DOWN_IS_SHOWN, killed_by="sequence4-hides-the-lost-backchannel")
def test_path_down(v4: Nfs4Dialect, slowness: Callable[[], float]) -> Waiting[None]:
    """After the connection of the backchannel is lost, SEQUENCE says that there is none."""
    session = _with_backchannel(v4)
    reconnect(v4, session)
    flags = yield from _flags_until(v4, session, _NOTICES * slowness(), lambda found: bool(found & _DOWN))
    expect_that(flags != 0, "CB_PATH_DOWN or CB_PATH_DOWN_SESSION", "neither", "sr_status_flags")


@side_by_side
@proves(PATH_UP_IS_SHOWN, killed_by="sequence4-backchannel-stays-down")
def test_path_up(v4: Nfs4Dialect, slowness: Callable[[], float]) -> Waiting[None]:
    """Once another connection is bound to the backchannel, SEQUENCE does not say any more that there is none."""
    session = _with_backchannel(v4)
    _bind_again(v4, session)
    flags = yield from _flags_until(v4, session, _NOTICES * slowness(), lambda found: not found & _DOWN)
    down = flags & p.SEQ4_STATUS_CB_PATH_DOWN_SESSION
    expect_that(not down, "no CB_PATH_DOWN_SESSION", "CB_PATH_DOWN_SESSION", "sr_status_flags")


@side_by_side
@proves(CONFLICT_RECALLS, KEPT_FOR_A_LEASE, killed_by="open4-invents-delegations")
def test_recall_after_loss(v4: Nfs4Dialect) -> Waiting[None]:
    """A delegation is recalled on the new connection of a client that has lost its backchannel."""
    granted = yield from delegated(v4, v4.scratch, ACCESS["read"])
    _bind_again(v4, granted.holder)
    granted.need_kept()
    conflict = conflicting_open(granted)
    yield from conflict.need_callback(p.CbRecall4Args)
    granted.give_back()
    yield from conflict.succeeds()


def _lose_recall(v4: Nfs4Dialect, faults: MakeFaulty, name: bytes, pause: float) -> Waiting[Conflict | None]:
    """A conflict whose CB_RECALL is lost with its connection; the holder has a new one after a pause.

    None if that took so much of a lease that the recall may be over.
    """
    granted = yield from delegated(v4, v4.scratch, ACCESS["read"], name)
    disturbed = faults.before(connection_of(granted.holder), on_callback("call", p.CB_RECALL, Drop("close")))
    began = v4.connections.now()
    conflict = conflicting_open(granted)
    if not (yield from conflict.serve(lambda: bool(disturbed.messages), seconds_for(v4, _ARRIVES))):
        skip("the server recalls nothing: backchannel/recall-after-loss judges that")
    yield Wait(pause)
    _bind_again(v4, granted.holder)
    is_in_time = v4.connections.now() - began < _SOON * granted.lease.seconds
    return conflict if is_in_time else None


def _has_recalls(granted: Granted) -> bool:
    return bool(recalls(granted.holder))


@side_by_side
@proves(LOST_CALLBACKS_COME_AGAIN, killed_by="bindconn4-forgets-lost-callbacks")
def test_recall_lost(v4: Nfs4Dialect, faults: MakeFaulty) -> Waiting[None]:
    """A CB_RECALL that is lost with its connection comes again on a new one, whenever that is made."""
    judged = 0
    for number, usual in enumerate(_RECONNECTS):
        pause = usual if seconds_to_see_nothing(v4, usual) else 0.0
        conflict = yield from _lose_recall(v4, faults, b"file %d" % number, pause)
        if conflict is None:
            continue
        judged += 1
        granted = conflict.granted
        granted.need_kept()
        # After a lease the server revokes what was not returned, and has nothing more to recall.
        patience = min(seconds_for(v4, _ARRIVES), max(granted.lease.seconds, _ARRIVES))
        came = yield from conflict.serve(functools.partial(_has_recalls, granted), patience)
        observe(
            f"CB_RECALL that was lost, with a new connection after {usual:g} s", "comes" if came else "lost"
        )
        expect_that(came, "CB_RECALL", "no CB_RECALL")
        granted.give_back()
        yield from conflict.succeeds()
    if not judged:
        skip("this machine is too slow to connect again within half of a lease")


@side_by_side
@_KINDS
@proves(
    CONFLICT_RECALLS,
    KEPT_FOR_A_LEASE,
    killed_by=("open4-ignores-delegations", "open4-revokes-delegations-at-once"),
)
def test_waits_while_down(v4: Nfs4Dialect, access: int) -> Waiting[None]:
    """OPEN that conflicts with a delegation does not succeed while its holder has no backchannel, and keeps it."""
    granted = yield from delegated(v4, v4.scratch, access)
    reconnect(v4, granted.holder)
    conflict = conflicting_open(granted)
    reply = yield from conflict.ends(seconds_to_see_nothing(v4, _QUIET, granted.lease))
    observe("conflict while the backchannel is lost", conflict.manner)
    granted.need_kept()
    if reply is not None:
        expect(reply).field("status", "status of OPEN").differs_from(Nfsstat4.NFS4_OK)
    observe("recalls that came", len(recalls(granted.holder)))
    granted.give_back()
    if reply is not None:
        skip(f"OPEN answers {reply.status.name} while a delegation is out, instead of being put off")
