# SPDX-License-Identifier: MIT
"""Delegations of checks: granted to one client, and recalled for another (RFC 5661 sections 10.2 to 10.4).

A server may answer DELAY to anything, for its own reasons, so nothing follows from one DELAY: a `Conflict` is sent
again until what is waited for has come, or the patience ends. Meanwhile both clients renew their leases, so a server
that forgets one of them has lost a lease that was alive. What a server never does costs a run its patience once
(`fixtures.stage.waits`). A server in this process needs no time: it is served while its caller waits.

All that waits is a generator (`fixtures/checks/side_by_side.py`), so checks of delegations wait together.
"""

from __future__ import annotations

import abc
import itertools
import math
import typing as t
from collections.abc import Callable, Sequence

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner, note_open, through_grace
from fixtures.checks.side_by_side import Wait, Waiting
from nfsclient.clients.nfs4 import CompoundReply, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import ConnectionLost, RpcTimeout
from nfsclient.protocol import nfs2, nfs3
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import Pending
from nfsclient.rpc.program import Procedure
from nfsclient.sessions.slots import NoFreeSlot
from nfsclient.xdr import XdrEnum, XdrType
from nfsjudge import Requirement, expect, expect_that, measure, must, should, skip, stated
from suites.nfs4.opens import READ, another_session, create_file

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
OTHERS_GO_ON_SOON = should(  # no text names a time, and NFSv3 may be another service, which learns of the return late
    "RFC 5661",
    "10.2",
    "after the return of a delegation, a call of NFSv3 that JUKEBOX has put off for it should succeed soon",
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
_ARRIVES: t.Final = 8.0
"""Seconds for a callback to arrive, and for what it was about to be done."""
_SHORT: t.Final = 1.0  # the same after one that never came
_AT_LAST: t.Final = 30.0
"""Seconds of DELAY, and no longer than a lease, before a recall that has not come is missing: once in a run."""
_ANY: t.Final = "callback"
"""In `Waits`: a callback for whatever request, after the longest wait."""
_AT_ONCE: t.Final = 0.25
"""Seconds in which no wait for a return can have timed out."""
_CLOSELY: t.Final = 1.0
"""Seconds for a callback that was sent before a reply, and comes after it on another connection."""
_IN_PROCESS: t.Final = 0.5
"""Seconds of any wait for a server in this process."""
_ON_ITS_WAY: t.Final = 0.5
"""Seconds of the machine that a message to or from a server in this process may take on loopback, under load."""
_PAUSES: t.Final = (0.05, 0.1, 0.2, 0.4)
"""Seconds between a DELAY and the next attempt; the last one is repeated."""
_PAUSE_IN_PROCESS: t.Final = 0.002
_LOOK: t.Final = 0.05  # seconds between two looks at what no message announces
_SILENCE: t.Final = 1.5  # seconds after which a call of NFSv2 is made again
_LATER: t.Final[frozenset[XdrEnum]] = frozenset(
    {Nfsstat4.NFS4ERR_DELAY, Nfsstat4.NFS4ERR_GRACE, nfs3.Nfsstat3.NFS3ERR_JUKEBOX}
)
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
        """SEQUENCE if it is time. A server that refuses it within the lease fails; SKIP after the lease."""
        if self._now() >= self.due:
            self.renew()

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
    pauses = itertools.chain(_PAUSES, itertools.repeat(_PAUSES[-1]))
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


# ---------------------------------------------------------------- conflicts


class Status(t.Protocol):
    """A reply, as far as it matters here."""

    @property
    def status(self) -> XdrEnum: ...


class Attempt(abc.ABC):
    """A request that may have to wait: it is sent, and its reply is taken when it comes."""

    pending: Pending[t.Any]
    silent_at = math.inf
    """When no reply means that it is to be sent again, by the clock of the target."""

    @property
    def is_over(self) -> bool:
        """Whether the reply has come, or will never come."""
        return self.pending.done

    @abc.abstractmethod
    def reply(self) -> Status | None:
        """The reply, once it has come; None also where silence means that it is to be sent again."""


class _Compound(Attempt):
    """A compound in a session. Raises what ended it without a reply."""

    def __init__(self, session: Session, operations: Sequence[XdrType], timeout: float) -> None:
        self._session = session
        self._request = session.state.begin(list(operations))
        self.pending = rpc_of(session).submit(p.COMPOUND, self._request.args, timeout=timeout)
        self._reply: CompoundReply | None = None

    def reply(self) -> Status | None:
        if self._reply is None and self.pending.error is not None:
            raise self.pending.error
        if self._reply is None and self.pending.result is not None:
            self._reply = self._session.state.finish(self._request, self.pending.result)
        return self._reply


class _Call(Attempt):
    """A call of NFSv2 or NFSv3. In NFSv2 a server can only be silent, or close the connection."""

    def __init__(
        self,
        rpc: RpcClient,
        procedure: Procedure[t.Any, t.Any],
        args: XdrType,
        timeout: float,
        silent_at: float = math.inf,
    ) -> None:
        self.silent_at = silent_at
        self.pending = rpc.submit(procedure, args, timeout=timeout)

    def reply(self) -> Status | None:
        if self.pending.error is not None and not isinstance(self.pending.error, RpcTimeout | ConnectionLost):
            raise self.pending.error
        return t.cast("Status | None", self.pending.result)


class Conflict:
    """A request of somebody else that a delegation is in the way of. It is sent again while the server puts it off.

    `start` sends it, with a time limit in seconds. `leases` are kept meanwhile, in addition to that of the holder.
    """

    def __init__(
        self, granted: Granted, name: str, start: Callable[[float], Attempt], leases: Sequence[Lease] = ()
    ) -> None:
        self.granted = granted
        self.name = name
        self.manner = "waits"
        """How the first attempt was answered, or that it was not yet."""
        self._put_off_by: XdrEnum | None = None
        """The status that has put it off, since it was looked at last."""
        self._v4 = granted.v4
        self._start = start
        self._loop, self._now = granted.v4.connections.loop, granted.v4.connections.now
        self._leases = (*granted.leases, *leases)
        self._is_in_process = not seconds_to_see_nothing(granted.v4, 1.0)
        pauses = (_PAUSE_IN_PROCESS,) if self._is_in_process else _PAUSES
        self._pauses = itertools.chain(pauses, itertools.repeat(pauses[-1]))
        self._began = self._now()
        granted.contested = min(granted.contested, self._now())
        self._send()

    # ------------------------------------------------------------ attempts

    def _send(self) -> None:
        # A server may hold the request until the delegation is returned, longer than a call usually takes.
        self._attempt = self._start(self._v4.connections.call_timeout + 4 * seconds_for(self._v4, _ARRIVES))
        self._again_at = math.inf

    def _look(self) -> Status | None:
        """The reply that ended it; None while it waits, or is to be sent again."""
        reply = self._attempt.reply()
        if self._is_answered() and self.manner == "waits":
            self.manner = "silence" if reply is None else reply.status.name
        if reply is not None and reply.status in _LATER:
            self._put_off_by = reply.status
        return None if reply is None or reply.status in _LATER else reply

    def _is_put_off(self) -> bool:
        """Whether the server has just answered that it is to be sent again."""
        return self._again_at == math.inf and self._is_answered() and self._look() is None

    def _is_answered(self) -> bool:
        """Whether the reply has come, or silence is the answer."""
        return self._attempt.is_over or self._now() >= self._attempt.silent_at

    def _go_on(self) -> None:
        """Send it again if it is time, and renew leases that need it."""
        now = self._now()
        if self._is_put_off():
            self._again_at = now + next(self._pauses)
        if now >= self._again_at:
            self._send()
        for lease in self._leases:
            lease.keep()

    def serve(self, done: Callable[[], bool], seconds: float) -> Waiting[bool]:
        """Wait until `done`, or for some seconds: send the request again after DELAY, and keep the leases."""
        deadline = self._now() + seconds
        while not done():
            if self._now() >= deadline:
                # A server in this process has put its clock forward to here, whatever is on its way on loopback.
                until = self._loop.clock()
                if seconds and self._is_in_process:
                    until += _ON_ITS_WAY
                    self._again_at = self._now() if self._is_put_off() else self._again_at
                    self._go_on()  # company may have taken the time of the attempt that was due
                self._loop.run_until(done, until)
                self._loop.catch_up()
                return done()
            self._go_on()
            silent_at = self._attempt.silent_at if self._again_at == math.inf else math.inf
            until = min(deadline, self._again_at, silent_at, *(lease.due for lease in self._leases))
            yield Wait(until - self._now(), lambda: done() or self._is_put_off())
        return True

    def outlasts(self, parts: Sequence[float]) -> Waiting[None]:
        """Let these parts of a lease pass without another attempt; all leases are renewed after each."""
        for part in parts:
            yield Wait(part)
            self.renew()

    def renew(self) -> None:
        """Renew all leases."""
        for lease in self._leases:
            lease.renew()

    # ------------------------------------------------------------ what is waited for

    def brings(self, *kinds: type[XdrType]) -> Waiting[bool]:
        """Whether a callback of these kinds comes, before or after the request has succeeded.

        What binds a server is that the request does not proceed. So a server that still puts it off has, once in a run,
        as long as a lease for the callback.
        """
        v4, holder = self._v4, self.granted.holder
        what = f"callback for {self.name}"

        def came() -> bool:
            return any(isinstance(exchange.args, kinds) for exchange in holder.callbacks.received)

        def is_over() -> bool:
            return came() or self._look() is not None

        waits = v4.connections.waits
        if not (yield from self.serve(is_over, seconds_for(v4, waits.seconds(what, _ARRIVES, _SHORT)))):
            at_last = min(_AT_LAST, self.granted.lease.seconds) - _ARRIVES
            yield from self.serve(is_over, seconds_to_see_nothing(v4, waits.seconds(_ANY, at_last, 0.0)))
            waits.note(_ANY, came=came())
        if not came() and self._look() is not None:  # it may be on its way, on another connection
            yield Wait(seconds_to_see_nothing(v4, _CLOSELY), came)
        waits.note(what, came=came())
        return came()

    def need_callback(self, *kinds: type[XdrType], because: Requirement = CONFLICT_RECALLS) -> Waiting[None]:
        """Fail unless a callback of these kinds comes, or the request is refused, which SKIP says."""
        came = yield from self.brings(*kinds)
        reply = self._look()
        if not came and reply is not None and reply.status != type(reply.status)(0):
            skip(f"{self.name} is refused, and so needs no callback: {reply.status.name}")
        names = " or ".join(f"CB_{kind.__name__[2:-5].upper()}" for kind in kinds)
        expect_that(came, names, f"no {names}", because=because)

    def ends(self, seconds: float) -> Waiting[Status | None]:
        """What it ends with, other than DELAY, within some seconds."""
        yield from self.serve(lambda: self._look() is not None, seconds)
        return self._look()

    def succeeds(self, *besides: XdrEnum) -> Waiting[None]:
        """Fail unless the request succeeds, now that the delegation is returned; `besides` are legal as well."""
        v4, returned = self._v4, self._now()
        waits, what = v4.connections.waits, f"{self.name} after DELEGRETURN"
        self._put_off_by = None
        reply = yield from self.ends(seconds_for(v4, waits.seconds(what, _ARRIVES, _SHORT)))
        is_jukebox = isinstance(self._put_off_by, nfs3.Nfsstat3)  # NFS4ERR_DELAY has the same number
        if reply is None and is_jukebox:
            more = v4.connections.call_timeout - _ARRIVES
            reply = yield from self.ends(seconds_to_see_nothing(v4, waits.seconds(what, max(more, 0.0), 0.0)))
        waits.note(what, came=reply is not None)
        because = OTHERS_GO_ON_SOON if is_jukebox else CONFLICT_RECALLS
        expect_that(reply is not None, f"an end of {what}", f"{self.manner} all the time", because=because)
        assert reply is not None
        measure(f"put off by a delegation: {self.name}", self._now() - self._began)
        measure(f"served after DELEGRETURN: {self.name}", self._now() - returned)
        if reply.status not in besides:
            expect(reply, because=CONFLICT_RECALLS).ok()


_WITHOUT: t.Final = p.OPEN4_SHARE_ACCESS_BOTH | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG


def conflict_of(granted: Granted, make: Callable[[], Sequence[XdrType]], name: str) -> Conflict:
    """A compound of another client; `make` gives its operations, for each attempt."""
    now = granted.v4.connections.now
    since = now()
    other = another_session(granted.v4)
    lease = Lease(other, granted.lease.seconds, since, now)
    return Conflict(granted, name, lambda timeout: _Compound(other, make(), timeout), [lease])


def conflicting_open(granted: Granted) -> Conflict:
    """OPEN for writing by another client, which conflicts with any delegation.

    By the same owner in each attempt: a server that puts off each new request for a while would never begin.
    """
    owner = new_state_owner()

    def make() -> Sequence[XdrType]:
        return op.putfh(granted.file), op.open(None, _WITHOUT, owner=owner)

    return conflict_of(granted, make, "OPEN")


def conflict_of_version(granted: Granted, procedure: Procedure[t.Any, t.Any], args: XdrType) -> Conflict:
    """A call of NFSv2 or NFSv3 on another connection, made again after JUKEBOX, and after silence in NFSv2."""
    connections = granted.v4.connections
    rpcs = [connections.connect("nfs")]
    may_be_silent = procedure.version == nfs2.VERSION

    def start(timeout: float) -> Attempt:
        if not rpcs[-1].is_open:
            rpcs.append(connections.connect("nfs"))
        # A server that waits instead executes it once for each time that it was sent: of these, twice is as once.
        silence = connections.wait_for(_SILENCE) or _PAUSE_IN_PROCESS
        silent_at = connections.now() + silence if may_be_silent else math.inf
        return _Call(rpcs[-1], procedure, args, silence if may_be_silent else timeout, silent_at)

    return Conflict(granted, f"{procedure.name} of NFSv{procedure.version}", start)
