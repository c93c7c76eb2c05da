# SPDX-License-Identifier: MIT
"""Requests of others that a delegation is in the way of: sent, put off, and sent again (RFC 5661 section 10.2).

A server may answer DELAY to anything, for its own reasons, so nothing follows from one DELAY: a `Conflict` is sent
again until what is waited for has come, or the patience ends. Meanwhile all clients renew their leases, and connect
again where the server has closed an idle connection: over one that is closed nobody can be called back.
"""

from __future__ import annotations

import abc
import itertools
import math
import typing as t
from collections.abc import Callable, Sequence

from fixtures.checks.dialects.nfs4 import new_state_owner
from fixtures.checks.side_by_side import Wait, Waiting
from nfsclient.clients.nfs4 import CompoundReply, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import ConnectionLost, RpcTimeout
from nfsclient.protocol import nfs2, nfs3
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import Pending
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import XdrEnum, XdrType
from nfsjudge import Requirement, expect, expect_that, measure, should, skip
from suites.nfs4.delegations import (
    CONFLICT_RECALLS,
    PAUSES,
    Granted,
    Lease,
    rpc_of,
    seconds_for,
    seconds_to_see_nothing,
)
from suites.nfs4.opens import another_session

OTHERS_GO_ON_SOON = should(  # no text names a time, and NFSv3 may be another service, which learns of the return late
    "RFC 5661",
    "10.2",
    "after the return of a delegation, a call of NFSv3 that JUKEBOX has put off for it should succeed soon",
)
_ARRIVES: t.Final = 8.0
"""Seconds for a callback to arrive, and for what it was about to be done."""
_SHORT: t.Final = 1.0  # the same after one that never came
_AT_LAST: t.Final = 30.0
"""Seconds of DELAY, and no longer than a lease, before a recall that has not come is missing: once in a run."""
_ANY: t.Final = "callback"
"""In `Waits`: a callback for whatever request, after the longest wait."""
_CLOSELY: t.Final = 1.0
"""Seconds for a callback that was sent before a reply, and comes after it on another connection."""
_ON_ITS_WAY: t.Final = 0.5
"""Seconds of the machine that a message to or from a server in this process may take on loopback, under load."""
_PAUSE_IN_PROCESS: t.Final = 0.002
_SILENCE: t.Final = 1.5  # seconds after which a call of NFSv2 is made again
_LATER: t.Final[frozenset[XdrEnum]] = frozenset(
    {Nfsstat4.NFS4ERR_DELAY, Nfsstat4.NFS4ERR_GRACE, nfs3.Nfsstat3.NFS3ERR_JUKEBOX}
)


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
        pauses = (_PAUSE_IN_PROCESS,) if self._is_in_process else PAUSES
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
                self._catch_up(done, until)
                return done()
            self._go_on()
            silent_at = self._attempt.silent_at if self._again_at == math.inf else math.inf
            until = min(deadline, self._again_at, silent_at, *(lease.due for lease in self._leases))
            yield Wait(until - self._now(), lambda: done() or self._is_put_off())
        return True

    def _catch_up(self, done: Callable[[], bool], until: float) -> None:
        """Serve the loop until `done`, or that time of its clock; connections that the server closes are made again."""

        def is_over() -> bool:
            return done() or any(lease.is_cut_off for lease in self._leases)

        while self._loop.run_until(is_over, until) and not done():
            for lease in self._leases:
                lease.keep()
        self._loop.catch_up()

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
