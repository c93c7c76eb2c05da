# SPDX-License-Identifier: MIT
"""Leases (RFC 5661 sections 8.3 and 8.4.3): kept alive by SEQUENCE, and of no use to a client that is silent."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.side_by_side import Wait, Waiting, side_by_side
from fixtures.checks.target import TargetView
from nfsclient.clients.nfs4 import CompoundReply, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, must, proves, skip, stated
from suites.nfs4.delegations import LEASE_IS_RENEWED, Lease
from suites.nfs4.leases import flags_of, kept_leases, lease_passes, lease_to_wait_for, need_all, parts, yields
from suites.nfs4.locks import lock_range, try_lock
from suites.nfs4.opens import BOTH, READ, another_session, open_file, try_open
from suites.nfs4.retries import performed, send_again

EXPIRED_YIELDS = must(
    "RFC 5661",
    "8.4.3",
    "locks of a client whose lease has expired are revoked as necessary, so that others get conflicting ones",
)
REFUSED_RENEWS_NOTHING = must("RFC 5661", "18.46.3", "if SEQUENCE returns an error, the lease is not renewed")
FLAGS_MEAN_SOMETHING = stated(
    "RFC 5661",
    "18.46.3",
    "a flag of sr_status_flags that is set says what has happened to the state, lease or backchannel of the client",
)


def _new_file(v4: Nfs4Dialect) -> bytes:
    """A file with data. It waits for the end of a grace period: no lease of the check may begin before that."""
    return v4.scratch.file("file", b"data")


@side_by_side(short_lease=True)
@proves(LEASE_IS_RENEWED, killed_by=("sequence4-renews-no-lease", "sequence4-renews-by-one-session"))
def test_renewed(target: TargetView, v4: Nfs4Dialect) -> Waiting[None]:
    """A client that sends SEQUENCE within each lease keeps what it has open: any of its sessions will do."""
    lease = lease_to_wait_for(target, v4)
    file = _new_file(v4)
    began = v4.connections.now()
    holder = another_session(v4)
    held = open_file(holder, file, BOTH, p.OPEN4_SHARE_DENY_BOTH)
    client = holder.client
    assert client is not None
    renewing = client.create_session()
    other = another_session(v4)
    kept = kept_leases(v4, lease, began, v4.session, renewing, other)
    yield from lease_passes(lease, kept)
    reply = try_open(other, held.handle, READ)
    need_all(kept)
    expect(reply).refused(Nfsstat4.NFS4ERR_SHARE_DENIED)
    expect(renewing.compound(op.putfh(held.handle), op.read(held.stateid, 0, 4))).ok()


@side_by_side(short_lease=True)
@pytest.mark.parametrize("kind", ["open", "lock"])
@proves(EXPIRED_YIELDS, killed_by="nfs4-honours-what-expired")
def test_expired(target: TargetView, v4: Nfs4Dialect, kind: str) -> Waiting[None]:
    """What a silent client has open or locked does not keep others from it when its lease is over."""
    lease = lease_to_wait_for(target, v4)
    file = _new_file(v4)
    now = v4.connections.now
    began = now()
    silent, other = another_session(v4), another_session(v4)
    held = open_file(silent, file, BOTH, p.OPEN4_SHARE_DENY_BOTH if kind == "open" else 0)
    if kind == "lock":
        lock_range(silent, held)
    mine = None if kind == "open" else open_file(other, held.handle, BOTH)

    def attempt() -> CompoundReply:
        return (
            try_open(other, held.handle, READ)
            if mine is None
            else try_lock(other, mine, p.NfsLockType4.WRITE_LT, 0, 1)
        )

    reply = attempt()
    kept = kept_leases(v4, lease, began, v4.session, other)
    if reply.status == Nfsstat4.NFS4_OK and now() - began >= lease / 2:
        skip("this machine, or the server, was too slow: the lease may have ended before the conflict")
    expect(reply).refused()
    yield from lease_passes(lease, kept)
    reply = yield from yields(v4, lease, kept, attempt)
    need_all(kept)
    expect(reply).ok()


# ---------------------------------------------------------------- what renews it, and what does not


class _RenewedBy(Lease):
    """A lease that is kept by other requests than a SEQUENCE alone."""

    def __init__(self, session: Session, seconds: float, since: float, now: Callable[[], float]) -> None:
        super().__init__(session, seconds, since, now)
        self.act: Callable[[], CompoundReply] = session.renew

    def renew(self) -> None:
        """The request, in which SEQUENCE must succeed while the lease lasts."""
        sent = self._now()
        reply = self.act()
        if not reply.renews_lease:
            self.need()
            expect(reply, because=LEASE_IS_RENEWED).ok()
        self._renewed = sent


def _expect_renewed(
    target: TargetView, v4: Nfs4Dialect, begin: Callable[[Session], Callable[[], CompoundReply]]
) -> Waiting[None]:
    """A client keeps what it has open for longer than a lease by these requests, which `begin` arranges."""
    lease = lease_to_wait_for(target, v4)
    file, now = _new_file(v4), v4.connections.now
    began = now()
    holder, other = another_session(v4), another_session(v4)
    opened = open_file(holder, file, BOTH, p.OPEN4_SHARE_DENY_BOTH)
    mine = _RenewedBy(holder, lease, began, now)
    mine.act = begin(holder)
    kept = [mine, *kept_leases(v4, lease, began, v4.session, other)]
    yield from lease_passes(lease, kept)
    reply = try_open(other, file, READ)
    need_all(kept)
    expect(reply, because=LEASE_IS_RENEWED).refused(Nfsstat4.NFS4ERR_SHARE_DENIED, because=LEASE_IS_RENEWED)
    expect(holder.compound(op.putfh(file), op.read(opened.stateid, 0, 4))).ok()


@side_by_side(short_lease=True)
@proves(LEASE_IS_RENEWED, killed_by="sequence4-renews-only-alone")
def test_renewed_by_use(target: TargetView, v4: Nfs4Dialect) -> Waiting[None]:
    """A client that sends compounds of other operations within each lease keeps what it has open."""
    root = op.putrootfh(), op.getattr("type")
    yield from _expect_renewed(target, v4, lambda holder: lambda: holder.compound(*root))


@side_by_side(short_lease=True)
@proves(LEASE_IS_RENEWED, killed_by="sequence4-failed-compounds-renew-nothing")
def test_renewed_by_failure(target: TargetView, v4: Nfs4Dialect) -> Waiting[None]:
    """A client whose compounds all fail after SEQUENCE keeps what it has open."""
    absent = op.putrootfh(), op.lookup(b"nfsproof-absent")
    yield from _expect_renewed(target, v4, lambda holder: lambda: holder.compound(*absent))


@side_by_side(short_lease=True)
@proves(LEASE_IS_RENEWED, killed_by="sequence4-retries-renew-nothing")
def test_renewed_by_retry(target: TargetView, v4: Nfs4Dialect) -> Waiting[None]:
    """A client that gets replies to retries from the reply cache within each lease keeps what it has open."""

    def begin(holder: Session) -> Callable[[], CompoundReply]:
        request, _ = performed(holder, [op.putrootfh()], cache_this=True, slot=0)
        return lambda: send_again(v4, holder, request)

    yield from _expect_renewed(target, v4, begin)


@side_by_side(short_lease=True)
@proves(REFUSED_RENEWS_NOTHING, killed_by="sequence4-errors-renew")
def test_refused_sequence(target: TargetView, v4: Nfs4Dialect) -> Waiting[None]:
    """A client whose SEQUENCEs are all refused loses what it has open as soon as one that is silent."""
    lease = lease_to_wait_for(target, v4)
    files, now = [_new_file(v4), v4.scratch.file("other", b"data")], v4.connections.now
    began = now()
    clients, other = [another_session(v4), another_session(v4)], another_session(v4)
    for client, file in zip(clients, files, strict=True):
        open_file(client, file, BOTH, p.OPEN4_SHARE_DENY_BOTH)
    kept = kept_leases(v4, lease, began, v4.session, other)
    holder = clients[0]  # the older one: where leases are looked for now and then, it does not end later

    def attempt(file: bytes) -> CompoundReply:
        reply = holder.nfs4.compound(holder.sequence(sequence_id=0x7FFF_FFFF), op.putrootfh())
        if reply.status == Nfsstat4.NFS4_OK:
            skip("SEQUENCE with any sequence id succeeds: another check judges that")
        return try_open(other, file, READ)

    for part in parts(lease):
        attempt(files[0])
        yield Wait(part)
        for each in kept:
            each.renew()
    silent = yield from yields(v4, lease, kept, lambda: attempt(files[1]))
    if silent.status in {Nfsstat4.NFS4ERR_SHARE_DENIED, Nfsstat4.NFS4ERR_DELAY}:
        skip("the server does not let go what a silent client has open: another check judges that")
    reply = yield from yields(v4, lease, kept, lambda: attempt(files[0]), notices=0.0)
    need_all(kept)
    expect(reply, because=REFUSED_RENEWS_NOTHING).ok()


_FLAGS: t.Final = {
    "expired-all": p.SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED,
    "expired-some": p.SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED,
    "admin": p.SEQ4_STATUS_ADMIN_STATE_REVOKED,
    "recallable": p.SEQ4_STATUS_RECALLABLE_STATE_REVOKED,
    "moved": p.SEQ4_STATUS_LEASE_MOVED,
    "restart": p.SEQ4_STATUS_RESTART_RECLAIM_NEEDED,
    "backchannel": p.SEQ4_STATUS_BACKCHANNEL_FAULT,
}


@pytest.mark.parametrize("flag", _FLAGS)
@proves(FLAGS_MEAN_SOMETHING, killed_by="sequence4-raises-flags")
def test_no_alarm(v4: Nfs4Dialect, session: Session, flag: str) -> None:
    """SEQUENCE of a client that has a file open and has lost nothing has no flag that says so."""
    opened = open_file(session, _new_file(v4), BOTH)
    reply = expect(session.renew()).ok()
    found = flags_of(reply) & _FLAGS[flag]
    expect(
        found, f"flag in sr_status_flags ({flag})", of=reply.sequence, field="sr_resok4.sr_status_flags"
    ).equals(0)
    expect(session.compound(op.putfh(opened.handle), op.read(opened.stateid, 0, 4))).ok()
