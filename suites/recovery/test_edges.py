# SPDX-License-Identifier: MIT
"""Restarts of the server together with the end of a lease, a client that does not come, or a further restart.

RFC 5661 section 8.4.3 names what a server must see then. Each check crashes the target for itself: what one of them
waits for ends the grace period that another one needs.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Sequence

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, new_state_owner
from fixtures.checks.side_by_side import wait_out
from fixtures.checks.target import TargetView
from nfsclient.clients.nfs4 import CompoundReply, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import NfsClientError
from nfsclient.nfs4 import NfsClient, NfsFile
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.protocol.nfs4 import OpenDelegationType4 as Type
from nfsjudge import Harm, expect, expect_data, must, observe, proves, should, skip, stated
from suites.nfs3.contents import pattern
from suites.nfs4.conflicts import conflicting_open
from suites.nfs4.delegations import ACCESS, Lease, delegated, seconds_for
from suites.nfs4.leases import kept_leases, lease_of, lease_to_wait_for, need_all, parts
from suites.nfs4.locks import WRITE_LT, try_lock
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, READ, Opened, another_session, open_file, try_open
from suites.recovery.reclaims import (
    DENY_BOTH,
    MAY_BE_RECLAIMED,
    REFUSALS,
    Former,
    back,
    former,
    leave,
    lock_again,
    locker,
    need_reclaimed,
    reclaim_open,
    returned,
)
from suites.recovery.test_nfs4 import VERIFIER4_CHANGES_ON_LOSS
from suites.recovery.test_reclaim import LASTS_FOR_A_LEASE
from suites.recovery.v4 import file_again

EDGES_ARE_SEEN = must(
    "RFC 5661",
    "8.4.3",
    "the server records enough to refuse the reclaim of what another client may have had since",
    harm=Harm.DATA,
)
TOO_LATE_IS_REFUSED = stated(
    "RFC 5661",
    "8.4.2.1",
    "a reclaim after the grace period succeeds only if no conflicting lock or I/O was granted since the restart",
    harm=Harm.DATA,
)
RECLAIMED_IS_IN_FORCE = stated(
    "RFC 5661",
    "8.4.2.1",
    "a reclaim establishes again the lock that was obtained from the earlier instance, with all that it excludes",
    harm=Harm.DATA,
)
UNRECLAIMED_IS_GONE = stated(
    "RFC 5661",
    "18.51.3",
    "locks that are not reclaimed by the time of RECLAIM_COMPLETE are not reclaimable any more",
)
RECORDED_AT_ONCE = (
    should(  # the list of clients is to be in stable storage, and no sentence says from when on
        "RFC 5661",
        "8.4.2.1",
        "the list of the clients that may have locks is in stable storage when a lock is granted",
    )
)
_NOTICES: t.Final = 30.0
"""Seconds after a lease in which a server revokes what was not returned."""
_ATTEMPTS: t.Final = 8
"""Parts of leases in which a server notices that a lease has ended, or that a delegation is not returned."""


def _grace_ends(target: TargetView, v4: Nfs4Dialect) -> None:
    """End the grace period, where that can be done; elsewhere what needs it waits."""
    if target.can_end_grace:
        target.end_grace()
    v4.session.renew()


def _by_and_by(
    target: TargetView, lease: float, attempt: Callable[[], CompoundReply], renew: Callable[[], object]
) -> None:
    """Let a lease pass, and more, until the attempt succeeds. SKIP if it never does."""
    for _ in range(_ATTEMPTS):
        for part in parts(lease):
            target.pass_time(part)
            renew()
        if attempt().status == Nfsstat4.NFS4_OK:
            return
    skip("the server gives the file to nobody else, long after the lease is over")


def _lasting(
    v4: Nfs4Dialect, session: Session, since: float, attempt: Callable[[], CompoundReply]
) -> CompoundReply:
    """The reply to a request of another client that waits for the end of the grace period, while `session` is renewed.

    SKIP if the lease of `session` may have ended meanwhile; `since` is a time before its last request.
    """
    kept = kept_leases(v4, lease_of(v4), since, session)

    def renewed() -> CompoundReply:
        _renew(kept)
        return attempt()

    reply = v4.grace.retry(renewed)
    need_all(kept)
    return reply


def _renew(kept: Sequence[Lease]) -> None:
    for lease in kept:
        lease.renew()


def _use(session: Session, file: bytes) -> CompoundReply:
    """The reply to an OPEN that changes the file and is closed again."""
    reply = try_open(session, file, BOTH)
    if reply.status == Nfsstat4.NFS4_OK:
        writing = op.write(reply.stateid, 0, b"else")
        expect(session.compound(op.putfh(file), writing, op.close(reply.stateid))).ok()
    return reply


def _need_use(v4: Nfs4Dialect, file: bytes) -> None:
    """Another client uses the file. SKIP where the open of before the crash keeps it out."""
    reply = _use(another_session(v4), file)
    if reply.status == Nfsstat4.NFS4ERR_SHARE_DENIED:
        skip("the server has kept the open")
    expect(reply).ok()


def _refuse(v4: Nfs4Dialect, had: Former, owner: bytes = b"") -> None:
    """Fail if the client gets back all that it had: its open, and its lock if there was one."""
    __tracebackhide__ = True
    file, session = file_again(v4, had.name), back(v4, had)
    reply = reclaim_open(session, had, file)
    if owner and reply.status == Nfsstat4.NFS4_OK:  # the open was in nobody's way
        result = reply.of(p.OPEN).resok4
        assert result is not None
        reply = lock_again(session, Opened(file, result.stateid, result), owner)
    observe("reclaim of what another client had since", reply.status.name)
    expect(reply).refused(*REFUSALS)


@MINORS
@pytest.mark.exclusive
@proves(EDGES_ARE_SEEN, killed_by="state4-does-not-record-losses")
def test_expired(crashing: TargetView, v4: Nfs4Dialect) -> None:
    """What a client has lost with its lease, and another one had since, it cannot reclaim after a crash."""
    lease = lease_to_wait_for(crashing, v4, is_alone=True)
    file, since = v4.scratch.file("f", b"data"), v4.connections.now()
    had, other = former(v4, deny=DENY_BOTH, file=file), another_session(v4)
    kept = kept_leases(v4, lease, since, other)
    _by_and_by(crashing, lease, lambda: _use(other, file), lambda: _renew(kept))
    need_all(kept)
    leave(crashing)
    crashing.crash()
    _refuse(v4, had)


@MINORS
@pytest.mark.exclusive
@proves(EDGES_ARE_SEEN, killed_by="state4-does-not-record-losses")
def test_expired_lock(crashing: TargetView, v4: Nfs4Dialect) -> None:
    """The same of a byte-range lock."""
    lease = lease_to_wait_for(crashing, v4, is_alone=True)
    file, since = v4.scratch.file("f", b"data"), v4.connections.now()
    (had, owner), other = locker(v4, file=file), another_session(v4)
    theirs = open_file(other, file, BOTH)
    kept = kept_leases(v4, lease, since, other)

    def attempt() -> CompoundReply:
        reply = try_lock(other, theirs, WRITE_LT, 0, 10)
        if reply.status == Nfsstat4.NFS4_OK:
            expect(other.compound(op.putfh(file), op.locku(reply.stateid, 0, 10))).ok()
        return reply

    _by_and_by(crashing, lease, attempt, lambda: _renew(kept))
    need_all(kept)
    leave(crashing)
    crashing.crash()
    _refuse(v4, had, owner)


@MINORS
@pytest.mark.exclusive
@proves(EDGES_ARE_SEEN, killed_by="state4-keeps-records-of-who-did-not-come")
def test_missed(crashing: TargetView, v4: Nfs4Dialect) -> None:
    """What a client did not reclaim after one crash, and another one had since, it cannot reclaim after the next."""
    had = former(v4, deny=DENY_BOTH)
    leave(crashing)
    crashing.crash()
    file = file_again(v4)
    _grace_ends(crashing, v4)
    _need_use(v4, file)
    leave(crashing)
    crashing.crash()
    _refuse(v4, had)


@MINORS
@pytest.mark.exclusive
@pytest.mark.late
@proves(EDGES_ARE_SEEN, killed_by="state4-does-not-record-losses")
def test_revoked(crashing: TargetView, v4: Nfs4Dialect) -> None:
    """A delegation that was revoked for another client's OPEN cannot be reclaimed after a crash."""
    lease = lease_to_wait_for(crashing, v4, is_alone=True)
    granted = wait_out(delegated(v4, v4.scratch, ACCESS["write"], b"f"), v4.connections.loop)
    holder = granted.holder
    assert holder.client is not None
    had = Former(holder, holder.client.owner, b"f", granted.file, granted.opened, new_state_owner(), BOTH, 0)

    conflict = conflicting_open(granted)
    for part in (*parts(lease), lease / 4):
        crashing.pass_time(part)
        conflict.renew()
    reply = wait_out(conflict.ends(seconds_for(v4, _NOTICES)), v4.connections.loop)
    if reply is None or reply.status != Nfsstat4.NFS4_OK:
        skip("the server has not revoked the delegation a lease after its recall, and more")
    leave(crashing)
    crashing.crash()
    file, session = file_again(v4), back(v4, had, callbacks=True)
    reply = reclaim_open(session, had, file, Type.OPEN_DELEGATE_WRITE)
    observe("reclaim of a delegation that was revoked", reply.status.name)
    if reply.status == Nfsstat4.NFS4_OK:
        result = reply.of(p.OPEN).resok4
        assert result is not None
        expect(result).field("delegation.delegation_type", "delegation that was reclaimed").one_of(
            Type.OPEN_DELEGATE_NONE, Type.OPEN_DELEGATE_NONE_EXT
        )


@MINORS
@pytest.mark.exclusive
@proves(TOO_LATE_IS_REFUSED, killed_by="reclaims4-succeed-after-the-grace-period")
def test_late(crashing: TargetView, v4: Nfs4Dialect) -> None:
    """A reclaim after the grace period is refused if another client had what it excludes since."""
    had = former(v4, deny=DENY_BOTH)
    leave(crashing)
    crashing.crash()
    file = file_again(v4)
    _grace_ends(crashing, v4)
    _need_use(v4, file)
    _refuse(v4, had)


@MINORS
@pytest.mark.exclusive
@proves(MAY_BE_RECLAIMED, killed_by="reclaimcomplete4-forgets-the-client")
def test_twice(crashing: TargetView, v4: Nfs4Dialect) -> None:
    """What a client has reclaimed after one crash it can reclaim after the next one."""
    had = former(v4, deny=DENY_BOTH)
    leave(crashing)
    crashing.crash()
    session, opened = returned(v4, had)
    expect(session.compound(op.reclaim_complete())).ok()
    leave(crashing)
    crashing.crash()
    again = had._replace(session=session, file=opened.handle, stateid=opened.stateid)
    file = file_again(v4)
    need_reclaimed(reclaim_open(back(v4, again), again, file))


@MINORS
@pytest.mark.exclusive
@proves(LASTS_FOR_A_LEASE, killed_by="state4-ends-grace-early")
def test_in_time(crashing: TargetView, v4: Nfs4Dialect) -> None:
    """A client that comes back half a lease after a crash can reclaim, if another one could before."""
    lease = lease_to_wait_for(crashing, v4, is_alone=True)
    had, first = former(v4), former(v4, b"g")
    leave(crashing)
    crashing.crash()
    began = v4.connections.now()
    returned(v4, first)
    crashing.pass_time(max(0.0, lease / 2 - (v4.connections.now() - began)))
    file, session = file_again(v4), back(v4, had)
    reply = reclaim_open(session, had, file)
    if v4.connections.now() - began > lease * 0.9:
        skip("this machine, or the server, was too slow: the lease was over")
    expect(reply).ok()


@MINORS
@pytest.mark.exclusive
@proves(RECORDED_AT_ONCE, killed_by="open4-does-not-record-the-client")
def test_at_once(crashing: TargetView, v4: Nfs4Dialect) -> None:
    """An open can be reclaimed although the server crashes as soon as it has granted it."""
    had = former(v4)
    crashing.crash()
    file = file_again(v4)
    reply = reclaim_open(back(v4, had), had, file)
    if reply.status == Nfsstat4.NFS4ERR_NO_GRACE:
        skip("the server grants no reclaim now: NFS4ERR_NO_GRACE")
    expect(reply).ok()


# ---------------------------------------------------------------- after the grace period


@MINORS
@pytest.mark.exclusive
@proves(RECLAIMED_IS_IN_FORCE, killed_by="open4-reclaims-without-share-deny")
def test_share(crashing: TargetView, v4: Nfs4Dialect) -> None:
    """A reclaimed share reservation keeps others from the file after the grace period."""
    had = former(v4, deny=DENY_BOTH)
    leave(crashing)
    crashing.crash()
    session, opened = returned(v4, had)
    since = v4.connections.now()
    expect(session.compound(op.reclaim_complete())).ok()
    _grace_ends(crashing, v4)
    other, opening = another_session(v4), op.open(None, READ, owner=new_state_owner())
    reply = _lasting(v4, session, since, lambda: other.compound(op.putfh(opened.handle), opening))
    expect(reply).refused(Nfsstat4.NFS4ERR_SHARE_DENIED, because=RECLAIMED_IS_IN_FORCE)


@MINORS
@pytest.mark.exclusive
@proves(RECLAIMED_IS_IN_FORCE, killed_by="lock4-reclaims-one-byte")
def test_lock(crashing: TargetView, v4: Nfs4Dialect) -> None:
    """A reclaimed byte range is locked against others after the grace period, to its last byte."""
    had, owner = locker(v4)
    leave(crashing)
    crashing.crash()
    session, opened = returned(v4, had)
    need_reclaimed(lock_again(session, opened, owner))
    since = v4.connections.now()
    expect(session.compound(op.reclaim_complete())).ok()
    _grace_ends(crashing, v4)
    other, testing = another_session(v4), op.lockt(WRITE_LT, 9, 1, owner=new_state_owner())
    reply = _lasting(v4, session, since, lambda: other.compound(op.putfh(opened.handle), testing))
    expect(reply).refused(Nfsstat4.NFS4ERR_DENIED, because=RECLAIMED_IS_IN_FORCE)


@MINORS
@pytest.mark.exclusive
@proves(MAY_BE_RECLAIMED, killed_by="open4-reclaims-for-reading")
def test_use(crashing: TargetView, v4: Nfs4Dialect) -> None:
    """With a reclaimed open, a client reads and writes after the grace period."""
    had = former(v4)
    leave(crashing)
    crashing.crash()
    session, opened = returned(v4, had)
    expect(session.compound(op.reclaim_complete())).ok()
    _grace_ends(crashing, v4)
    using = op.write(opened.stateid, 0, b"more"), op.read(opened.stateid, 0, 4)
    reply = v4.grace.retry(lambda: session.compound(op.putfh(opened.handle), *using))
    expect(reply).ok()
    written = expect(reply).of(p.WRITE).ok().count  # a server may write less than it was sent
    if not written:
        skip("the server writes no byte")
    expect_data(bytes(expect(reply).of(p.READ).ok().data)[:written], b"more"[:written])


@MINORS
@pytest.mark.exclusive
@proves(UNRECLAIMED_IS_GONE, killed_by="open4-honours-what-was-not-reclaimed")
def test_given_up(crashing: TargetView, v4: Nfs4Dialect) -> None:
    """What a client has not reclaimed by its RECLAIM_COMPLETE keeps nobody from the file."""
    had = former(v4, deny=DENY_BOTH)
    leave(crashing)
    crashing.crash()
    file = file_again(v4)
    session = back(v4, had)
    if session.state.clientid == had.id:
        skip("the server has kept the client, and so its open")
    expect(session.compound(op.reclaim_complete())).ok()
    _grace_ends(crashing, v4)
    expect(try_open(another_session(v4), file, BOTH)).ok()


def _need_lock(client: NfsClient, file: NfsFile) -> None:
    """Renew the lease of the client by a READ. SKIP unless it has its lock then."""
    file.seek(0)
    try:
        file.read(4)
    except (NfsClientError, OSError) as error:
        skip(f"the client could not go on: {error}")
    locks = client.live.held.locks_of(file.opened, file.opened.owner)
    if locks is None or locks.lost:
        skip("the client has no lock any more, or the server has let it reclaim none")


@MINORS
@pytest.mark.exclusive
@proves(
    RECLAIMED_IS_IN_FORCE,
    VERIFIER4_CHANGES_ON_LOSS,
    killed_by=("lock4-reclaims-one-byte", "write4-verifier-survives-restart"),
)
def test_library(crashing: TargetView, v4: Nfs4Dialect) -> None:
    """The client of nfsproof goes on over a crash: its file is open and locked, and has all that was written."""
    path = v4.connections.address.export.encode() + b"/" + v4.scratch.name
    data = pattern(20_000)
    try:
        client = NfsClient(v4.connections.connect("nfs"), minor=v4.minor, path=path)
        file = client.open("f", "w+")
        file.lock(0, 10)
        file.write(data)
    except (NfsClientError, OSError) as error:
        skip(f"the client cannot open, lock and write its file: {error}")
    leave(crashing)
    crashing.crash()
    try:
        file.write(b"more")
        file.flush()
    except (NfsClientError, OSError) as error:
        skip(f"the client could not go on: {error}")
    seen = file_again(v4)
    expect_data(v4.scratch.read(seen), data + b"more", because=VERIFIER4_CHANGES_ON_LOSS)
    other, testing = another_session(v4), op.lockt(WRITE_LT, 9, 1, owner=new_state_owner())

    def attempt() -> CompoundReply:
        _need_lock(client, file)
        return other.compound(op.putfh(seen), testing)

    reply = v4.grace.retry(attempt)
    _need_lock(client, file)
    expect(reply).refused(Nfsstat4.NFS4ERR_DENIED, because=RECLAIMED_IS_IN_FORCE)
    client.close()
