# SPDX-License-Identifier: MIT
"""CB_NOTIFY_LOCK: a lock that was denied may be available (RFC 5661 sections 9.6, 18.16.3, 20.11).

No server owes one. Where none comes, these checks are SKIP; that is learnt once in a run.
"""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner
from fixtures.checks.side_by_side import Wait, Waiting, side_by_side
from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import NfsLockType4, Nfsstat4
from nfsjudge import expect, must, proves, skip, stated
from suites.nfs4.delegations import seconds_for, seconds_to_see_nothing
from suites.nfs4.handles import expect_same_object
from suites.nfs4.locks import WRITE_LT, lock_range, try_lock
from suites.nfs4.opens import BOTH, Opened, open_file

FLAG_IS_SET = must(
    "RFC 5661",
    "20.11.3",
    "a server that sends CB_NOTIFY_LOCK for a file sets OPEN4_RESULT_MAY_NOTIFY_LOCK in the results of its OPENs",
)
NAMES_WHAT_WAS_DENIED = stated(
    "RFC 5661",
    "20.11.3",
    "CB_NOTIFY_LOCK has the file and the lock-owner of a LOCK of this client that was not successful",
)
_COMES: t.Final = 2.0
"""Seconds for the callback."""
_SHORT: t.Final = 0.2
_QUIET: t.Final = 0.5
_WHAT: t.Final = "CB_NOTIFY_LOCK"
_RANGE: t.Final = (0, 10)
_FREE: t.Final = (100, 10)


class _Denied(t.NamedTuple):
    """A lock that a client was denied, and which is free now."""

    client: Session
    opened: Opened
    owner: bytes


def _with_callbacks(v4: Nfs4Dialect) -> Session:
    session = v4.client(v4.connections.connect("nfs")).establish(callbacks=True)
    if not session.state.flags & p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN:
        skip("the server uses no connection for callbacks")
    return session


def _notices(session: Session) -> list[p.CbNotifyLock4Args]:
    """The CB_NOTIFY_LOCKs that have come."""
    found = [each.args for each in session.callbacks.received]
    return [args for args in found if isinstance(args, p.CbNotifyLock4Args)]


def _denied(v4: Nfs4Dialect, file: bytes) -> Waiting[_Denied]:
    """A WRITEW_LT that was denied, of which the server has called the client when it was free. SKIP without a call."""
    first = open_file(v4.session, file, BOTH)
    locked = lock_range(v4.session, first, WRITE_LT, *_RANGE)
    client, owner = _with_callbacks(v4), new_state_owner()
    opened = open_file(client, file, BOTH)
    reply = try_lock(client, opened, NfsLockType4.WRITEW_LT, *_RANGE, owner=owner)
    if reply.status != Nfsstat4.NFS4ERR_DENIED:
        skip(f"LOCK of a range that another client has locked answers {reply.status.name}, instead of DENIED")
    unlocking = op.locku(locked, *_RANGE)
    expect(v4.session.compound(op.putfh(file), unlocking)).ok()
    waits = v4.connections.waits
    yield Wait(seconds_for(v4, waits.seconds(_WHAT, _COMES, _SHORT)), lambda: bool(_notices(client)))
    waits.note(_WHAT, came=bool(_notices(client)))
    if not _notices(client):
        skip("the server sends no CB_NOTIFY_LOCK")
    return _Denied(client, opened, owner)


@side_by_side
@proves(FLAG_IS_SET, killed_by="open4-does-not-announce-notices")
def test_flag(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """A server that sends CB_NOTIFY_LOCK has set OPEN4_RESULT_MAY_NOTIFY_LOCK in the result of OPEN."""
    denied = yield from _denied(v4, scratch.file("file", bytes(10)))
    result = denied.opened.result
    flag = result.rflags & p.OPEN4_RESULT_MAY_NOTIFY_LOCK
    expect(flag, "MAY_NOTIFY_LOCK of OPEN", of=result, field="rflags").equals(p.OPEN4_RESULT_MAY_NOTIFY_LOCK)


@side_by_side
@proves(NAMES_WHAT_WAS_DENIED, killed_by="locku4-notifies-another-owner")
def test_owner(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """CB_NOTIFY_LOCK has the lock-owner whose LOCK was denied."""
    denied = yield from _denied(v4, scratch.file("file", bytes(10)))
    for notice in _notices(denied.client):
        expect(notice.cnla_lock_owner).field("owner", "lock-owner").equals(denied.owner)


@side_by_side
@proves(NAMES_WHAT_WAS_DENIED, killed_by="locku4-notifies-of-another-file")
def test_file(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """CB_NOTIFY_LOCK has the filehandle of the file whose LOCK was denied."""
    file = scratch.file("file", bytes(10))
    denied = yield from _denied(v4, file)
    for notice in _notices(denied.client):
        expect_same_object(scratch, notice.cnla_fh, file, "fh of CB_NOTIFY_LOCK")


@side_by_side
@proves(NAMES_WHAT_WAS_DENIED, killed_by="locku4-notifies-whoever-has-it-open")
def test_others(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """A client that has the file open, and was denied no lock, gets no CB_NOTIFY_LOCK."""
    file = scratch.file("file", bytes(10))
    other = _with_callbacks(v4)
    lock_range(other, open_file(other, file, BOTH), WRITE_LT, *_FREE)
    yield from _denied(v4, file)
    yield Wait(seconds_to_see_nothing(v4, _QUIET), lambda: bool(_notices(other)))
    expect(len(_notices(other)), "CB_NOTIFY_LOCKs to a client that was denied nothing").equals(0)
