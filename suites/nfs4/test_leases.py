# SPDX-License-Identifier: MIT
"""Leases (RFC 5661 sections 8.3 and 8.4.3): kept alive by SEQUENCE, and of no use to a client that is silent."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.side_by_side import Waiting, side_by_side
from fixtures.checks.target import TargetView
from nfsclient.clients.nfs4 import CompoundReply
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, must, proves, skip
from suites.nfs4.delegations import LEASE_IS_RENEWED
from suites.nfs4.leases import kept_leases, lease_passes, lease_to_wait_for, need_all
from suites.nfs4.locks import lock_range, try_lock
from suites.nfs4.opens import BOTH, READ, another_session, open_file, try_open

EXPIRED_YIELDS = must(
    "RFC 5661",
    "8.4.3",
    "locks of a client whose lease has expired are revoked as necessary, so that others get conflicting ones",
)
_ATTEMPTS: t.Final = 4
"""Attempts at least: a server may notice the end of a lease late."""
_NOTICES: t.Final = 60.0
"""Seconds in which a server notices that a lease has ended."""
_LATER: t.Final = frozenset({Nfsstat4.NFS4ERR_SHARE_DENIED, Nfsstat4.NFS4ERR_DENIED, Nfsstat4.NFS4ERR_DELAY})


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
    reply = attempt()
    # No text says how soon a server notices. It may look for expired leases now and then only.
    deadline, attempts = now() + v4.connections.wait_for(_NOTICES), _ATTEMPTS
    while reply.status in _LATER and (attempts or now() < deadline):
        yield from lease_passes(lease / _ATTEMPTS, kept)
        reply, attempts = attempt(), max(0, attempts - 1)
    need_all(kept)
    expect(reply).ok()
