# SPDX-License-Identifier: MIT
"""Delegations of checks: granted to one client, and recalled for another (RFC 5661 sections 10.2 to 10.4).

A server may answer DELAY to anything, for its own reasons, so nothing follows from one DELAY: a `Conflict` is sent
again until what is waited for has come, or the patience ends. Meanwhile both clients renew their leases, so a server
that forgets one of them has lost a lease that was alive. What a server never does costs a run its patience once
(`fixtures.stage.waits`). A server in this process needs no time: it is served while its caller waits.

All that waits is a generator (`fixtures/checks/side_by_side.py`), so checks of delegations wait together.
"""

from __future__ import annotations

import itertools
import math
import typing as t
from collections.abc import Callable

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner, note_open, through_grace
from fixtures.checks.side_by_side import Wait, Waiting
from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsclient.rpc.blocking import RpcClient
from nfsclient.sessions.slots import NoFreeSlot
from nfsjudge import expect, expect_that, must, should, skip, stated
from suites.nfs4.opens import READ, create_file

CONFLICT_RECALLS = stated(
    "RFC 5661",
    "10.2",
    "a conflicting request makes the server recall the delegation, and proceeds when it is returned or revoked",
)
KEPT_FOR_A_LEASE = should(  # section 10.2 lets the wait for the return time out, and names no time
    "RFC 5661",
    "10.4.5",
    "a delegation is revoked if it is not returned within about a lease period, with or without a backchannel",
)
LEASE_IS_RENEWED = must("RFC 5661", "8.3", "SEQUENCE renews a lease that has not expired")
ACCESS: t.Final = {"read": p.OPEN4_SHARE_ACCESS_READ, "write": p.OPEN4_SHARE_ACCESS_BOTH}
_REVOKED: t.Final = frozenset({Nfsstat4.NFS4ERR_DELEG_REVOKED, Nfsstat4.NFS4ERR_EXPIRED})
_GRANTS: t.Final = 12.0
"""Seconds from its start until a server grants a delegation: Linux grants none in the grace period of NLM."""
_GRANTS_MORE: t.Final = 2.0
"""The same where this server has granted some other kind in this run, or was seen to start long ago."""
_MEANWHILE: t.Final = 1.0
"""Seconds between two renewals of a lease whose length is not known yet."""
_AT_ONCE: t.Final = 0.25
"""Seconds in which no wait for a return can have timed out."""
_IN_PROCESS: t.Final = 0.5
"""Seconds of any wait for a server in this process."""
PAUSES: t.Final = (0.05, 0.1, 0.2, 0.4)
"""Seconds between a DELAY and the next attempt; the last one is repeated."""
_LOOK: t.Final = 0.05  # seconds between two looks at what no message announces
_MARGIN: t.Final = 0.9
"""Of a lease: clocks of two machines differ."""
RENEWED_BY: t.Final = 1 / 3
"""The part of a lease after which it is renewed."""


class Lease:
    """The lease of a client, kept while a check waits.

    `since`: a time before the last request of the client was sent. The server counts from later. All times are by the
    clock of the target (`Connections.now`).
    """

    def __init__(self, session: Session, seconds: float, since: float, now: Callable[[], float]) -> None:
        self.session = session
        self.seconds = seconds
        self._now = now
        self._renewed = since
        self._lapsed = False
        """Whether it may have ended before it was renewed."""

    @property
    def due(self) -> float:
        """When it is to be renewed."""
        return self._renewed + self.seconds * RENEWED_BY

    def keep(self) -> None:
        """SEQUENCE if it is time. A server that refuses it within the lease fails; SKIP after the lease.

        Where the server has closed the connection because it was idle, it is made again and used: callbacks need one.
        """
        was_cut_off = self.is_cut_off
        rpc_of(self.session).keep_open()
        if was_cut_off or self._now() >= self.due:
            self.renew()

    @property
    def is_cut_off(self) -> bool:
        """Whether the server has closed the connection because it was idle."""
        rpc = rpc_of(self.session)
        return rpc.is_usable and not rpc.is_open

    def renew(self) -> None:
        """SEQUENCE, with the same verdicts."""
        sent = self._now()
        try:
            reply = self.session.renew()
        except NoFreeSlot:
            return  # a request that the server holds: its client is active (section 8.3)
        # The request may have arrived as late as its reply.
        if reply.status != Nfsstat4.NFS4_OK:
            self.need()
        expect(reply, because=LEASE_IS_RENEWED).ok()
        self._lapsed = self._lapsed or self._is_late()  # by the time of the reply
        self._renewed = sent

    def need(self) -> None:
        """SKIP unless the lease has lasted until now."""
        if self._lapsed or self._is_late():
            skip("this machine, or the server, was too slow to renew a lease")

    def _is_late(self) -> bool:
        return self._now() - self._renewed >= self.seconds * _MARGIN


class Granted:
    """A delegation, and who has it."""

    def __init__(
        self,
        v4: Nfs4Dialect,
        holder: Session,
        file: bytes,
        opened: p.Open4ResOk,
        leases: tuple[Lease, Lease],
        since: float,
    ) -> None:
        self.v4 = v4
        self.holder = holder
        self.file = file
        self.opened = opened.stateid
        self.lease = leases[0]
        self.leases = leases
        """That of the holder, and that of the session of the check, which nobody else renews meanwhile."""
        self.contested = math.inf
        """When the first conflicting request was sent, by the clock of the target."""
        self.since = since
        """When OPEN was sent for it, by the clock of the target."""
        found = opened.delegation.read or opened.delegation.write
        assert found is not None
        self.stateid: p.Stateid4 = found.stateid
        self.is_write = opened.delegation.write is not None
        self._is_over = False
        v4.before_removal.append(self._let_go)
        note_open(holder, file, opened.stateid)

    @property
    def age(self) -> float:
        """Seconds since then."""
        return self.v4.connections.now() - self.since

    def move_to(self, session: Session) -> None:
        """The holder goes on with another session."""
        self.holder = self.lease.session = session

    def need_kept(self) -> None:
        """Fail if it was revoked at once, without time for a return; SKIP if it was revoked after a lease period.

        In between it is NONSTRICT: no text says how long the server waits, but that it should be about a lease period.

        One that the server does not know goes through: the check is about that.
        """
        age = self.age
        tested = expect(self.holder.compound(op.test_stateid(self.stateid))).of(p.TEST_STATEID).ok()
        for status in tested.tsr_status_codes:
            self._judge(Nfsstat4(status), age)

    def give_back(self) -> None:
        """DELEGRETURN that must succeed, unless the server has revoked it after a lease period."""
        age = self.age
        self._is_over = True
        reply = self.holder.compound(op.putfh(self.file), op.delegreturn(self.stateid))
        if reply.failed is p.DELEGRETURN:
            self._judge(reply.status, age)
        expect(reply).ok()

    def _let_go(self) -> None:
        """After a check that has failed: the delegation would be in the way of cleaning up, for a lease."""
        if not self._is_over:
            self.holder.compound(op.putfh(self.file), op.delegreturn(self.stateid))

    def serve(self, done: Callable[[], bool], seconds: float) -> Waiting[bool]:
        """Wait until `done`, or for some seconds, and keep the lease of the holder."""
        now = self.v4.connections.now
        deadline = now() + seconds
        while not done() and now() < deadline:
            for lease in self.leases:
                lease.keep()
            yield Wait(min(deadline - now(), _LOOK), done)
        return done()

    def _judge(self, status: Nfsstat4, age: float) -> None:
        if status == Nfsstat4.NFS4ERR_ADMIN_REVOKED:
            skip("the delegation was revoked by an administrator, says the server")
        if status not in _REVOKED:
            return
        if recalls(self.holder) and self.v4.connections.now() - self.contested < _AT_ONCE:
            expect_that(
                False, "a wait for the return of the delegation", status.name, because=CONFLICT_RECALLS
            )
        if age < self.lease.seconds * _MARGIN:
            expect_that(
                False,
                "a delegation within a lease period after it was granted",
                status.name,
                because=KEPT_FOR_A_LEASE,
            )
        skip(f"the server has revoked the delegation, a lease period after it was granted: {status.name}")


def rpc_of(session: Session) -> RpcClient:
    """The connection that a session uses."""
    return t.cast("RpcClient", session.nfs4.rpc)


def seconds_for(v4: Nfs4Dialect, usual: float) -> float:
    """How long to wait for what takes a server `usual` seconds at most: longer for a slow one, shorter in process."""
    return v4.connections.wait_for(usual) or min(usual, _IN_PROCESS)


def seconds_to_see_nothing(v4: Nfs4Dialect, usual: float, lease: Lease | None = None) -> float:
    """How long to see that nothing happens: no time at all in this process, where it would have happened by then.

    On a slow server no longer either: it only shows less. With the lease of a holder, so much less than that that its
    delegation is not revoked meanwhile.
    """
    most = math.inf if lease is None else lease.seconds * RENEWED_BY
    return min(usual, most) if v4.connections.wait_for(1.0) else 0.0


# ---------------------------------------------------------------- grants


def _open(holder: Session, file: bytes, access: int) -> p.Open4ResOk:
    opening = op.open(None, access, owner=new_state_owner())
    result = expect(through_grace(holder, op.putfh(file), opening)).ok().of(p.OPEN).resok4
    assert result is not None
    return result


def delegated(
    v4: Nfs4Dialect,
    scratch: Nfs4Scratch,
    access: int,
    name: bytes = b"file",
    size: int = 0,
    holder: Session | None = None,
) -> Waiting[Granted]:
    """A file of `size` bytes that a client has opened, with a delegation. SKIP if the server grants none.

    `holder` is a session with a backchannel; without it that of a new client.
    Nobody has opened the file for writing before: Linux has it open for a while after that, and grants no reader one.
    """
    now, waits = v4.connections.now, v4.connections.waits
    wants_write = bool(access & p.OPEN4_SHARE_ACCESS_WRITE)
    what = f"grant of a {'write' if wants_write else 'read'} delegation"
    while waits.is_found_out(what):  # by another check: of two in vain one is enough
        yield Wait(_MEANWHILE, lambda: not waits.is_found_out(what))
        sessions = [v4.session] if holder is None else [v4.session, holder]
        if any(session.renew().status != Nfsstat4.NFS4_OK for session in sessions):
            skip("a session of the check was lost before it began")
    began = now()
    made = create_file(v4.session, scratch.handle, name, access=READ)
    asked = expect(v4.session.compound(op.putfh(made.handle), op.getattr("lease_time"))).ok()
    lease = float(asked.attributes.lease_time or 1)
    expect(v4.session.compound(op.putfh(made.handle), op.close(made.stateid))).ok()
    if size:
        expect(v4.session.compound(op.putfh(made.handle), op.setattr(Fattr4(size=size)))).ok()
    if holder is None:
        holder = v4.client(v4.connections.connect("nfs")).establish(callbacks=True)
    holder.callbacks.on(p.CB_RECALL, Nfsstat4.NFS4_OK)
    leases = Lease(holder, lease, began, now), Lease(v4.session, lease, began, now)
    with waits.finding_out(what):
        since, result = yield from _ask(v4, made.handle, access, leases, what)
    kind = result.delegation
    if kind.read is None and kind.write is None:
        skip(f"the server grants no delegation: {kind.delegation_type.name}")
    granted = Granted(v4, holder, made.handle, result, leases, since)
    if wants_write and not granted.is_write:
        granted.give_back()  # the file could not be removed before that
        skip("the server grants no write delegation")
    return granted


def _ask(
    v4: Nfs4Dialect, file: bytes, access: int, leases: tuple[Lease, Lease], what: str
) -> Waiting[tuple[float, p.Open4ResOk]]:
    """OPEN until it grants a delegation, or the patience ends: the time of the last one, and its result."""
    wants_write = bool(access & p.OPEN4_SHARE_ACCESS_WRITE)
    want = p.OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG if wants_write else p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG
    waits, now, holder = v4.connections.waits, v4.connections.now, leases[0].session
    left = waits.after_start(_GRANTS, _GRANTS_MORE, v4.connections.loop.clock())
    whole = _GRANTS_MORE if waits.has_come("grant") else left
    deadline = now() + seconds_to_see_nothing(v4, waits.seconds(what, whole, 0.0))
    pauses = itertools.chain(PAUSES, itertools.repeat(PAUSES[-1]))
    while True:
        since = now()
        result = _open(holder, file, access | want)
        is_granted = result.delegation.read is not None or result.delegation.write is not None
        if is_granted or now() >= deadline:
            break
        # Some servers first try the backchannel, in their own time.
        expect(holder.compound(op.putfh(file), op.close(result.stateid))).ok()
        yield Wait(min(deadline - now(), next(pauses)))
        for lease in leases:
            lease.keep()
    waits.note(what, came=is_granted)
    if is_granted:
        waits.note("grant", came=True)
    return since, result


# ---------------------------------------------------------------- callbacks


def recalls(holder: Session) -> list[p.CbRecall4Args]:
    """The CB_RECALLs that have come, among other callbacks."""
    return [
        exchange.args for exchange in holder.callbacks.received if isinstance(exchange.args, p.CbRecall4Args)
    ]
