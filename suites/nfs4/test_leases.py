# SPDX-License-Identifier: MIT
"""Leases (RFC 5661 sections 8.3 and 8.4.3): kept alive by SEQUENCE, and of no use to a client that is silent.

Where the lease time can be set, it is 3 s. One of some seconds is waited for as it is. A server in this process puts
its clock forward instead.
"""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.target import TargetView
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, must, observe, proves, skip
from suites.nfs4.delegations import LEASE_IS_RENEWED, Lease
from suites.nfs4.locks import lock_range, try_lock
from suites.nfs4.opens import BOTH, READ, Opened, another_session, open_file, try_open

EXPIRED_YIELDS = must(
    "RFC 5661",
    "8.4.3",
    "locks of a client whose lease has expired are revoked as necessary, so that others get conflicting ones",
)
_SHORT: t.Final = 3
"""Seconds of a lease, where it can be set."""
_BEARABLE: t.Final = 15
"""Seconds of a lease that is waited for as it is."""
_PARTS: t.Final = 4
"""Thirds of a lease that pass: more than one lease."""
_NOTICES: t.Final = 60.0
"""Seconds in which a server notices that a lease has ended."""
_LATER: t.Final = frozenset({Nfsstat4.NFS4ERR_SHARE_DENIED, Nfsstat4.NFS4ERR_DENIED, Nfsstat4.NFS4ERR_DELAY})


def _lease_of(v4: Nfs4Dialect) -> float:
    found = expect(v4.session.compound(op.putrootfh(), op.getattr("lease_time"))).ok().attributes.lease_time
    return float(found or 0)


def _short_lease(target: TargetView, v4: Nfs4Dialect) -> float:
    """Seconds of the lease, which is short from now on. SKIP where it is long and cannot be set."""
    lease = _lease_of(v4)
    if lease > _BEARABLE:
        target.set_lease(_SHORT)
        v4.end_sessions()  # the service may have been started again
        lease = _lease_of(v4)
        if lease > _BEARABLE:
            skip(f"the lease is {lease:g} s, although it was set to {_SHORT} s")
    observe("lease", f"{lease:g} s")
    return lease


def _pass(target: TargetView, seconds: float, kept: Sequence[Lease]) -> None:
    """Four thirds of some seconds pass, while these leases are renewed."""
    for _ in range(_PARTS):
        target.pass_time(seconds / 3)
        for lease in kept:
            lease.renew()


def _need(kept: Sequence[Lease]) -> None:
    """SKIP unless all of the leases have lasted until now."""
    for lease in kept:
        lease.need()


def _opened(compounds: Compounds, v4: Nfs4Dialect, deny: int) -> Opened:
    return open_file(compounds, v4.scratch.file("file", b"data"), BOTH, deny)


@pytest.mark.exclusive
@proves(LEASE_IS_RENEWED, killed_by=("sequence4-renews-no-lease", "sequence4-renews-by-one-session"))
def test_renewed(target: TargetView, v4: Nfs4Dialect) -> None:
    """A client that sends SEQUENCE within each lease keeps what it has open: any of its sessions will do."""
    lease = _short_lease(target, v4)
    began = v4.connections.loop.clock()
    holder = another_session(v4)
    held = _opened(holder, v4, p.OPEN4_SHARE_DENY_BOTH)
    client = holder.client
    assert client is not None
    renewing = client.create_session()
    other = another_session(v4)
    kept = [Lease(session, lease, began) for session in (v4.session, renewing, other)]
    _pass(target, lease, kept)
    reply = try_open(other, held.handle, READ)
    _need(kept)
    expect(reply).refused(Nfsstat4.NFS4ERR_SHARE_DENIED)
    expect(renewing.compound(op.putfh(held.handle), op.read(held.stateid, 0, 4))).ok()


@pytest.mark.exclusive
@pytest.mark.parametrize("kind", ["open", "lock"])
@proves(EXPIRED_YIELDS, killed_by="nfs4-honours-what-expired")
def test_expired(target: TargetView, v4: Nfs4Dialect, kind: str) -> None:
    """What a silent client has open or locked does not keep others from it when its lease is over."""
    lease = _short_lease(target, v4)
    loop = v4.connections.loop
    began = loop.clock()
    silent, other = another_session(v4), another_session(v4)
    held = _opened(silent, v4, p.OPEN4_SHARE_DENY_BOTH if kind == "open" else 0)
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
    kept = [Lease(session, lease, began) for session in (v4.session, other)]
    if reply.status == Nfsstat4.NFS4_OK and loop.clock() - began >= lease / 2:
        skip("this machine, or the server, was too slow: the lease may have ended before the conflict")
    expect(reply).refused()
    _pass(target, lease, kept)
    reply = attempt()
    # No text says how soon a server notices. It may look for expired leases now and then only.
    deadline, attempts = loop.clock() + v4.connections.wait_for(_NOTICES), _PARTS
    while reply.status in _LATER and (attempts or loop.clock() < deadline):
        _pass(target, lease / _PARTS, kept)
        reply, attempts = attempt(), max(0, attempts - 1)
    _need(kept)
    expect(reply).ok()
