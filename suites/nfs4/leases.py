# SPDX-License-Identifier: MIT
"""Leases that pass while checks wait, side by side (`fixtures/checks/side_by_side.py`).

    @side_by_side(short_lease=True)
    @proves(...)
    def test_expired(target: TargetView, v4: Nfs4Dialect) -> Waiting[None]:
        lease = lease_to_wait_for(target, v4)
        since = v4.connections.now()
        silent, other = another_session(v4), another_session(v4)
        held = open_file(silent, ...)
        kept = kept_leases(v4, lease, since, v4.session, other)
        yield from lease_passes(lease, kept)  # that of `silent` is over now
        ...
        need_all(kept)

`since` is a time before the first request of any of the clients. Where the lease time can be set, it is 3 s. One that
cannot be set is waited for as it is. A server in this process puts its clock forward instead.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Sequence

from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.side_by_side import Wait, Waiting
from fixtures.checks.target import TargetView
from nfsclient.clients.nfs4 import CompoundReply, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, observe, skip
from suites.nfs4.delegations import Lease

_SHORT: t.Final = 3
"""Seconds of a lease, where it can be set."""
_BEARABLE: t.Final = 15
"""Seconds of a lease that is waited for as it is, although it can be set."""
_LONGEST: t.Final = 120
"""Seconds of a lease that is waited for as it is. All checks wait together; Linux and others have 90."""
_LONGEST_ALONE: t.Final = 30
"""The same of a check that crashes the target, and so waits alone."""
_MORE: t.Final = 0.15
"""Of a lease, what passes after it; at least a second, in which a server may look for the end of leases."""

_ATTEMPTS: t.Final = 4
"""Attempts at least: a server may notice the end of a lease late."""
_NOTICES: t.Final = 60.0
"""Seconds in which a server notices that a lease has ended."""
_LATER: t.Final = frozenset({Nfsstat4.NFS4ERR_SHARE_DENIED, Nfsstat4.NFS4ERR_DENIED, Nfsstat4.NFS4ERR_DELAY})


def lease_of(v4: Nfs4Dialect) -> float:
    """Seconds of the lease, as the server says."""
    found = expect(v4.session.compound(op.putrootfh(), op.getattr("lease_time"))).ok().attributes.lease_time
    return float(found or 0)


def lease_to_wait_for(target: TargetView, v4: Nfs4Dialect, *, is_alone: bool = False) -> float:
    """Seconds of the lease, which is short from now on if it can be set. SKIP where it is too long to wait for.

    `is_alone`: nobody else can wait meanwhile, so less is bearable.
    """
    lease = lease_of(v4)
    is_waited_for = v4.connections.wait_for(1.0) > 0
    if is_waited_for and lease > _BEARABLE and target.can_set_lease:
        target.set_lease(_SHORT)
        v4.end_sessions()  # the service may have been started again
        lease = lease_of(v4)
        if lease > _BEARABLE:
            skip(f"the lease is {lease:g} s, although it was set to {_SHORT} s")
    if is_waited_for and lease > (_LONGEST_ALONE if is_alone else _LONGEST):
        skip(f"the lease is {lease:g} s, and cannot be set: too long to wait for")
    observe("lease", f"{lease:g} s")
    return lease


def parts(lease: float) -> tuple[float, ...]:
    """Seconds that pass from one renewal to the next: a lease in thirds, and a little more, a third at most.

    Servers count whole seconds, or look for the end of leases once a second. One that renews no lease must have ended
    it by then, or it passes.
    """
    third = lease / 3
    return third, third, third, min(max(lease * _MORE, 1.0), third)


def lease_passes(seconds: float, kept: Sequence[Lease]) -> Waiting[None]:
    """A lease and a little more passes, while these are renewed; see `parts`."""
    for part in parts(seconds):
        yield Wait(part)
        for lease in kept:
            lease.renew()


def kept_leases(v4: Nfs4Dialect, seconds: float, since: float, *sessions: Session) -> list[Lease]:
    """The leases of the clients of these sessions, which are renewed while one passes."""
    return [Lease(session, seconds, since, v4.connections.now) for session in sessions]


def need_all(kept: Sequence[Lease]) -> None:
    """SKIP unless all of these leases have lasted until now."""
    for lease in kept:
        lease.need()


def yields(
    v4: Nfs4Dialect,
    lease: float,
    kept: Sequence[Lease],
    attempt: Callable[[], CompoundReply],
    *,
    notices: float = _NOTICES,
) -> Waiting[CompoundReply]:
    """The reply to a request that what is expired was in the way of, when the server has noticed the expiry.

    No text says how soon it does. It may look for expired leases now and then only. `notices`: seconds until it has,
    at least a lease.
    """
    now, reply = v4.connections.now, attempt()
    deadline, attempts = now() + v4.connections.wait_for(notices), _ATTEMPTS
    while reply.status in _LATER and (attempts or now() < deadline):
        yield from lease_passes(lease / _ATTEMPTS, kept)
        reply, attempts = attempt(), max(0, attempts - 1)
    return reply


def flags_of(reply: CompoundReply) -> int:
    """sr_status_flags of the SEQUENCE in front of a compound."""
    result = reply.sequence
    return 0 if result is None or result.sr_resok4 is None else result.sr_resok4.sr_status_flags
