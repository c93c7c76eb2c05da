# SPDX-License-Identifier: MIT
"""Calls of tasks over the connections of one client: counted, timed, repeated where the server asks for it.

A channel has one connection or a few, and spreads calls over them. That of NFSv4 has a session: a call that finds no
free slot waits until one is free, and how often and how long is counted (the NFSv4.1 study found that this is what
decides with many threads).

JUKEBOX and DELAY are no errors: the call is made again after a pause. What was waited is in `Meter.troubles` and in
`Meter.waited`, and is never counted as work. When patience has ended the task gets `Stopped`.
"""

from __future__ import annotations

import contextlib
import functools
import typing as t
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable

from nfsclient.clients.nfs3 import is_jukebox
from nfsclient.clients.nfs4 import direct
from nfsclient.clients.nfs4.session import Session, may_be_tried_again
from nfsclient.errors import ConnectionLost, NfsClientError
from nfsclient.files import Ask, Call, Compound
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4.operations import operation_of
from nfsclient.protocol.nfs4.purpose import purpose_of
from nfsclient.rpc.mixed import MARK_SIZE, MixedCalls, TimedCall, dispatch
from nfsclient.rpc.mixed_udp import DatagramCall
from nfsclient.sessions.reply import CompoundError, CompoundReply
from nfsclient.sessions.session import Request, SessionState
from nfsclient.sessions.state import Lease
from workloads.attributes import AttributeChecks
from workloads.engine import Engine, Task
from workloads.histogram import Histogram
from workloads.overhead import Overhead, packets_of
from workloads.recovering import (
    MOST,
    SESSIONS,
    Lost,
    Renamed,
    complete,
    is_session_lost,
    may_be_made_again,
    names_of,
    new_session,
    reconnect,
)
from workloads.trouble import Stopped, Wrong
from workloads.watching import Watch

_FIRST: t.Final = 0.05
_LONGEST: t.Final = 5.0
PATIENCE: t.Final = 30.0
"""Seconds that a call may be put off by JUKEBOX or DELAY, all pauses together."""
GRACE: t.Final = 150.0
"""Seconds for which a server that has just started may refuse opens and locks."""
AGAIN: t.Final = "calls made again: their connection ended"
"""The name of their number in `Meter.troubles`."""
RESENT: t.Final = "datagrams sent again"
"""The name of their number in `Meter.troubles`."""
_CHANGES_NAMES: t.Final = frozenset(
    {"CREATE", "MKDIR", "SYMLINK", "MKNOD", "REMOVE", "RMDIR", "RENAME", "LINK"}
)
"""Procedures of which nobody can tell whether a server without a memory of calls carries them out twice."""
_STILL_RUNNING: t.Final = frozenset({p.Nfsstat4.NFS4ERR_DELAY, p.Nfsstat4.NFS4ERR_SEQ_MISORDERED})
"""What SEQUENCE may answer to a call that is sent again while the server still works on it (RFC 5661, 2.10.6.2)."""
WINDOW: t.Final = 64
"""Calls under way over UDP at most, where there is a window."""
RENEWALS: t.Final = "renewals of leases"
"""The name of their number in `Meter.troubles`."""


class Meter:
    """What was sent and received, of one phase. Several clients may share it."""

    def __init__(self, packet: int = 0) -> None:
        """`packet`: bytes of a message, of which a call or a reply may be several; 0: it is one."""
        self.packet = packet
        self.has_latencies = False
        """Whether the latency of each call is kept: for rates."""
        self.restart()

    def restart(self) -> None:
        """Count from zero: the warm-up is over."""
        self.calls: Counter[str] = Counter()
        """By procedure; of NFSv4 by what the compound is for."""
        self.operations: Counter[str] = Counter()
        """Of NFSv4: all operations in compounds."""
        self.rpcs = 0
        self.messages = 0
        """Calls and replies, by packets."""
        self.sent = 0
        """Bytes of RPC messages, without record marks."""
        self.received = 0
        self.read = 0
        """Bytes of files."""
        self.written = 0
        self.troubles: Counter[str] = Counter()
        self.waited = 0.0
        """Seconds of pauses after JUKEBOX and DELAY."""
        self.procedures: dict[str, Histogram] = {}

    def count(self, name: str, call: TimedCall) -> None:
        """Count a call that is over."""
        self.calls[name] += 1
        self.rpcs += 1
        self.sent += call.sent_bytes - MARK_SIZE
        self.messages += packets_of(call.sent_bytes, self.packet)
        if call.received_at is None:
            return
        self.received += call.received_bytes - MARK_SIZE
        self.messages += packets_of(call.received_bytes, self.packet)
        if self.has_latencies:
            histogram = self.procedures.get(name)
            if histogram is None:
                histogram = self.procedures[name] = Histogram()
            histogram.add((call.received_at - call.sent_at) * 1e6)


class Channel(ABC):
    """What the channels of all versions share."""

    def __init__(self, engine: Engine, connections: list[MixedCalls], meter: Meter, watch: Watch) -> None:
        self.engine = engine
        self.connections = connections
        self.meter = meter
        self.watch = watch
        self.on_lost: Callable[[], None] = lambda: None
        """Called when a connection ended while a call was under way, before that is made again."""
        self.on_doubled: t.Callable[[], None] = lambda: None
        """Called when a call has ended that was sent more than once, over UDP."""
        self.checks: AttributeChecks | None = None
        """Compares the attributes in replies; None: nobody does."""
        self.overhead: Overhead | None = None
        """What a message costs the processor besides; None: nothing."""
        self._next = 0

    def _connection(self) -> MixedCalls:
        """The next one in turn."""
        if len(self.connections) == 1:
            return self.connections[0]
        self._next = (self._next + 1) % len(self.connections)
        return self.connections[self._next]

    def _pay(self, size: int) -> None:
        """Be busy for a message of this many bytes; 0: there was none."""
        if self.overhead is not None and size:
            self.overhead.pay(size)

    def _put_off(self, task: Task, name: str, ask: Ask, waited: float, pause: float) -> None:
        """Make the call again after a pause, unless patience has ended."""
        self.meter.troubles[name] += 1
        if waited >= (GRACE if name == "GRACE" else PATIENCE):
            self.engine.throw(
                task,
                Stopped("busy", f"the server answered {name} for {waited:.0f} s: it is too busy to measure"),
            )
            return
        self.meter.waited += pause
        again = functools.partial(self._again, ask, task, waited + pause, min(pause * 2, _LONGEST))
        self.engine.at(self.engine.clock() + pause, again)

    @abstractmethod
    def _again(self, ask: Ask, task: Task, waited: float, pause: float) -> None:
        """Make a call that has been put off for `waited` seconds; `pause` is the next one."""

    def perform(self, ask: Ask, task: Task) -> None:
        """Make a call; as of `engine.Channel`."""
        self._again(ask, task, 0.0, _FIRST)


class StatelessChannel(Channel):
    """Of NFSv2 and NFSv3.

    A server keeps no state of its clients, so a call whose connection ended is made again on a new one, as kernels and
    the path client do it. A call that changes names ends the run: it may have been carried out. So may one that got
    JUKEBOX, which says that the server has begun it (RFC 1813 section 2.6): an error of the next try proves nothing.
    After DELAY of NFSv4 it does: that operation was not processed (RFC 5661 section 15.1.1.3).
    """

    def _again(self, ask: Ask, task: Task, waited: float, pause: float) -> None:
        assert isinstance(ask, Call)
        connection = self._connection()
        begun = 0 if self.checks is None else self.checks.begin()
        over = functools.partial(self._over, connection, ask, task, waited, pause, self.watch.wants(), begun)
        try:
            call = connection.start(ask.procedure, ask.args, over)
            self._pay(call.sent_bytes)
        except NfsClientError as error:
            self.engine.throw(task, error)

    def _over(
        self,
        connection: MixedCalls,
        ask: Call,
        task: Task,
        waited: float,
        pause: float,
        is_judged: bool,
        begun: int,
        call: TimedCall,
    ) -> None:
        self._pay(call.received_bytes)
        self.watch.saw(connection, call, is_judged=is_judged)
        if isinstance(call.error, ConnectionLost):
            self._lost(call.error, ask, task, waited, pause)
            return
        self.meter.count(call.procedure.name, call)
        if isinstance(call, DatagramCall) and call.resent and self._is_in_doubt(call):
            text = f"{call.procedure.name} was sent {call.resent + 1} times, and its reply may be that of the last time"
            self.engine.throw(task, Stopped("retransmission", text))
        elif call.error is not None:
            self.engine.throw(task, call.error)
        elif is_jukebox(call.result):
            self._put_off(task, "JUKEBOX", ask, waited, pause)
        elif waited and _is_failed_change(call):
            text = f"{call.procedure.name} was put off by JUKEBOX, and may have been carried out before it failed"
            self.engine.throw(task, Stopped("busy", f"{text} with {call.result.status}"))
        else:
            try:
                if self.checks is not None:
                    self.checks.take(call.procedure.name, call.args, call.result, begun)
            except Wrong as error:
                self.engine.throw(task, error)
            else:
                self.engine.resume(task, call.result)

    def _is_in_doubt(self, call: DatagramCall) -> bool:
        """Note that a call was sent again. Whether its reply says nothing: names are changed once."""
        self.meter.troubles[RESENT] += call.resent
        self.meter.sent += call.resent * (call.sent_bytes - MARK_SIZE)
        self.meter.messages += call.resent * packets_of(call.sent_bytes, self.meter.packet)
        self.on_doubled()
        return _is_failed_change(call)

    def _lost(self, error: ConnectionLost, ask: Call, task: Task, waited: float, pause: float) -> None:
        name = ask.procedure.name
        self.watch.restarted(self.engine.clock())
        self.on_lost()
        if name in _CHANGES_NAMES:
            text = (
                f"{name}: the connection ended ({error.cause}), and whether it was carried out is not known"
            )
            self.engine.throw(task, Stopped("connection", text))
        elif waited >= PATIENCE:
            text = f"{name}: the connection ended, and the server did not come back within {waited:.0f} s"
            self.engine.throw(task, Stopped("connection", text))
        else:
            self.meter.troubles[AGAIN] += 1
            again = functools.partial(self._again, ask, task, waited + pause, min(pause * 2, _LONGEST))
            self.engine.at(self.engine.clock() + pause, again)


class SpritelyChannel(StatelessChannel):
    """Of Spritely NFS: its server knows a client by the address of its connection, so a lost one ends the run."""

    def _lost(self, error: ConnectionLost, ask: Call, task: Task, waited: float, pause: float) -> None:
        del waited, pause
        self.watch.restarted(self.engine.clock())
        self.on_lost()
        text = f"{ask.procedure.name}: the connection ended ({error.cause}), and files were open"
        self.engine.throw(task, Stopped("connection", text))


def _is_failed_change(call: TimedCall) -> bool:
    failed = call.result is not None and bool(getattr(call.result, "status", 0))
    return failed and call.procedure.name in _CHANGES_NAMES


class WindowedChannel(StatelessChannel):
    """Over UDP, with a window of calls under way, as the RPC layers of kernels had it (Jacobson, 1988).

    It halves when a call had to be sent again, and grows by one when as many calls as it has needed that not at all.
    With timers that are shorter than the round trip it is soon one, and all calls but one wait in the client.
    """

    def __init__(self, engine: Engine, connections: list[MixedCalls], meter: Meter, watch: Watch) -> None:
        super().__init__(engine, connections, meter, watch)
        self.window = float(WINDOW)
        self._under_way = 0
        self._waiting: deque[tuple[Ask, Task, float, float]] = deque()

    def _again(self, ask: Ask, task: Task, waited: float, pause: float) -> None:
        if self._under_way >= int(self.window):
            self._waiting.append((ask, task, waited, pause))
            return
        self._under_way += 1
        super()._again(ask, task, waited, pause)

    def _over(
        self,
        connection: MixedCalls,
        ask: Call,
        task: Task,
        waited: float,
        pause: float,
        is_judged: bool,
        begun: int,
        call: TimedCall,
    ) -> None:
        self._under_way -= 1
        was_resent = isinstance(call, DatagramCall) and bool(call.resent)
        self.window = (
            max(1.0, self.window / 2) if was_resent else min(float(WINDOW), self.window + 1 / self.window)
        )
        super()._over(connection, ask, task, waited, pause, is_judged, begun, call)
        while self._waiting and self._under_way < int(self.window):
            self._again(*self._waiting.popleft())


class SessionChannel(Channel):
    """Of NFSv4.1 and 4.2: compounds in a session. All connections are bound to it.

    A client that has nothing to do, because it waits for others or works by its delegations, renews its lease by a bare
    SEQUENCE as soon as half of it is over. These calls are no part of a workload, so they are counted apart.
    """

    def __init__(
        self,
        engine: Engine,
        connections: list[MixedCalls],
        meter: Meter,
        watch: Watch,
        session: Session,
        lease: float,
    ) -> None:
        super().__init__(engine, connections, meter, watch)
        self.session = session
        self.lease = Lease(lease, engine.clock())
        self._is_renewing = False
        engine.keepers.append(self.renew)
        self._waiting: deque[tuple[Ask, Task, float, float, float]] = deque()
        """Calls without a slot, each with the time since when."""
        self.renamed = Renamed()
        self.reclaim: Callable[[Session], None] = complete
        """Reclaims what the client holds, and ends that with RECLAIM_COMPLETE: after a restart."""
        self.on_session: Callable[[Session], None] = lambda _session: None
        """Gets a session that is in place of one that was lost."""
        self._slots = session.state.fore.ca_maxrequests
        self._lost: list[Lost] = []
        self._is_recovering = False
        self._recoveries = 0
        """Since a call succeeded."""
        self._is_new_client = False
        """Whether the last session came with a new client id: of the old client nothing is left."""

    def _again(self, ask: Ask, task: Task, waited: float, pause: float) -> None:
        if self._waiting or self._is_recovering or not self.session.state.slots.has_free:
            self._waiting.append((ask, task, waited, pause, self.engine.clock()))
            self.meter.troubles["waits for a slot"] += 1
            return
        self._send(ask, task, waited, pause)

    def _send(self, ask: Ask, task: Task, waited: float, pause: float) -> None:
        assert isinstance(ask, Compound)
        try:
            state = self.session.state
            request = state.begin(self.renamed.applied(ask.build()))
            is_data = type(request.args.argarray[-1]) is p.Read4Args
            procedure = p.COMPOUND if is_data else direct.RAW
            self._start(Lost(ask, task, request, state, procedure, waited, pause))
        except NfsClientError as error:
            self.engine.throw(task, error)

    def _start(self, call: Lost) -> None:
        """Queue a call that has its request. Raises `NfsClientError`."""
        assert call.request is not None
        connection = self._connection()
        is_judged = self.watch.wants()
        if is_judged:
            call.procedure = p.COMPOUND
        if self.checks is not None and not call.was_resent:
            call.begun = self.checks.begin()
        over = functools.partial(self._over, connection, call, is_judged)
        self._pay(connection.start(call.procedure, call.request.args, over).sent_bytes)

    def _over(
        self,
        connection: MixedCalls,
        own: Lost,
        is_judged: bool,
        call: TimedCall,
    ) -> None:
        request, task, ask = own.request, own.task, own.ask
        assert request is not None
        self._pay(call.received_bytes)
        self.watch.saw(connection, call, is_judged=is_judged)
        if isinstance(call.error, ConnectionLost):
            self._recover_later(own)
            return
        if task is None or ask is None:
            self._renewed(own, call)
            return
        purpose = purpose_of(request.operations)
        self.meter.count(purpose, call)
        self.meter.operations.update(operation_of(each).name for each in request.args.argarray)
        try:
            if call.error is not None:
                raise call.error
            reply = _finished(own.state, request, call)
            if self._comes_again(own, request, reply):
                return
            if self.checks is not None:
                self.checks.take_compound(request.operations, reply, own.begun, purpose)
        except (NfsClientError, Wrong) as error:
            self.engine.throw(task, error)
            return
        if reply.renews_lease:
            self.lease.renewed(call.sent_at)
            self._recoveries = 0
        if reply.status == p.Nfsstat4.NFS4ERR_DELAY and (ask.repeatable or may_be_tried_again(reply)):
            self._put_off(task, "DELAY", ask, own.waited, own.pause)
        elif reply.status == p.Nfsstat4.NFS4ERR_GRACE:
            self._put_off(task, "GRACE", ask, own.waited, own.pause)
        elif reply.status == p.Nfsstat4.NFS4ERR_RETRY_UNCACHED_REP and own.was_resent:
            self._again(ask, task, own.waited, own.pause)  # it changes nothing, or its reply would be kept
        else:
            self.engine.resume(task, reply)
        self._send_waiting()

    # ------------------------------------------------------------ what was lost

    def _comes_again(self, own: Lost, request: Request, reply: CompoundReply) -> bool:
        """Whether SEQUENCE was refused so that the call is made again: its session is lost, or it has not ended."""
        if is_session_lost(reply):
            if not own.was_resent:
                own.request = None
            self._recover_later(own)
            return True
        if _is_still_running(own, reply):
            self._resend_later(own, request, reply)
            return True
        return False

    def _recover_later(self, own: Lost | None) -> None:
        """A connection or the session was lost: everything waits until that is there again."""
        if own is not None:
            self._lost.append(own)
        if self._is_recovering:
            return
        self._is_recovering = True
        now = self.engine.clock()
        self.watch.restarted(now)
        self.on_lost()
        self.engine.at(now + _FIRST, functools.partial(self._recover, _FIRST, now + PATIENCE))

    def _recover(self, pause: float, deadline: float) -> None:
        for connection in self.connections:
            if not connection.rpc.is_open and connection.inflight:
                connection.check()
        dispatch(self.engine.over)  # what was under way over a connection that has ended is in `_lost` now
        self._recoveries += 1
        if self._recoveries > MOST:
            self._give_up(f"the session was lost {MOST} times, and no call succeeded between them")
            return
        try:
            self._session_again()
        except CompoundError as error:
            self._give_up(f"the session could not be made again: {error}")
            return
        except NfsClientError as error:
            now = self.engine.clock()
            self._recoveries -= 1
            if now < deadline:
                again = functools.partial(self._recover, min(pause * 2, _LONGEST), deadline)
                self.engine.at(now + pause, again)
                return
            self._give_up(f"the connection ended, and the server did not come back: {error}")
            return
        self._is_recovering = False
        lost, self._lost = self._lost, []
        self.lease.renewed(self.engine.clock())
        for each in lost:
            self._make_again(each)
        self._send_waiting()

    def _session_again(self) -> None:
        """Raises `NfsClientError`."""
        if reconnect(self.session, self.connections):
            return
        self.session, self._is_new_client = new_session(
            self.session, self.connections, self._slots, self.reclaim
        )
        self.meter.troubles[SESSIONS] += 1
        self.on_session(self.session)

    def _make_again(self, own: Lost) -> None:
        """A call that was under way, over what is there now."""
        is_same = own.request is not None and own.state is self.session.state
        if own.task is None or own.ask is None:
            self._is_renewing = is_same
            if is_same:
                own.was_resent = True
                self._start(own)
            return
        if is_same:
            self.meter.troubles[AGAIN] += 1
            own.was_resent = True
            self._start(own)
            return
        operations = [] if own.request is None else own.request.operations
        if not may_be_made_again(operations, is_new_client=self._is_new_client):
            text = (
                f"{names_of(operations)}: the session was lost, and whether it was carried out is not known"
            )
            self.engine.throw(own.task, Stopped("connection", text))
            return
        self.meter.troubles[AGAIN] += 1
        self._again(own.ask, own.task, own.waited, own.pause)

    def _resend_later(self, own: Lost, request: Request, reply: CompoundReply) -> None:
        """The server still works on the call as it was sent first: its slot stays taken, and it is sent once more."""
        own.state.resume(request)
        name = reply.status.name.removeprefix("NFS4ERR_")
        self.meter.troubles[name] += 1
        if own.waited >= PATIENCE:
            if own.task is not None:
                about = f"{names_of(request.operations)}: the connection ended, and to the call that was sent again"
                text = f"{about} the server answered {name} for {own.waited:.0f} s"
                self.engine.throw(own.task, Stopped("connection", text))
            return
        now, pause = self.engine.clock(), own.pause
        self.meter.waited += pause
        own.waited, own.pause = own.waited + pause, min(pause * 2, _LONGEST)
        self.engine.at(now + pause, functools.partial(self._resend, own))

    def _resend(self, own: Lost) -> None:
        if self._is_recovering:
            self._lost.append(own)
        elif own.state is not self.session.state:
            self._make_again(own)
        else:
            try:
                self._start(own)
            except NfsClientError as error:
                if own.task is not None:
                    self.engine.throw(own.task, error)

    def _give_up(self, text: str) -> None:
        self._is_recovering = False
        lost, self._lost = self._lost, []
        waiting = [(each.task, each.request) for each in lost]
        waiting += [(task, None) for _, task, *_ in self._waiting]
        self._waiting.clear()
        for task, request in waiting:
            if task is not None:
                about = "" if request is None else f"{names_of(request.operations)}: "
                self.engine.throw(task, Stopped("connection", about + text))

    def _send_waiting(self) -> None:
        while self._waiting and not self._is_recovering and self.session.state.slots.has_free:
            again, other, before, next_pause, since = self._waiting.popleft()
            self.meter.troubles["µs of waiting for slots"] += round((self.engine.clock() - since) * 1e6)
            self._send(again, other, before, next_pause)

    def renew(self, now: float) -> None:
        """Renew the lease if it is time."""
        if self._is_renewing or self._is_recovering or not self.lease.is_due(now):
            return
        if not self.session.state.slots.has_free:
            return
        try:
            state = self.session.state
            self._start(Lost(None, None, state.begin([]), state, p.COMPOUND, 0.0, _FIRST))
        except NfsClientError:  # the next call of a task says what has happened to the session
            return
        self._is_renewing = True
        self.meter.troubles[RENEWALS] += 1

    def _renewed(self, own: Lost, call: TimedCall) -> None:
        self._is_renewing = False
        if call.error is not None:
            return
        assert own.request is not None
        with contextlib.suppress(NfsClientError):
            reply = _finished(own.state, own.request, call)
            if reply.renews_lease:
                self.lease.renewed(call.sent_at)
            elif is_session_lost(reply):
                self._recover_later(None)
            elif _is_still_running(own, reply):
                self._resend_later(own, own.request, reply)
        self._send_waiting()


def _is_still_running(own: Lost, reply: CompoundReply) -> bool:
    """Whether a call was sent again, and the server says, or may mean, that it has not ended yet."""
    return own.was_resent and not reply.results and reply.status in _STILL_RUNNING


def _finished(state: SessionState, request: Request, call: TimedCall) -> CompoundReply:
    """Take a reply. Raises `NfsClientError`."""
    if call.procedure is p.COMPOUND:
        return state.finish(request, call.result)
    return direct.REPLIES.take(state, request, call.result.results)
