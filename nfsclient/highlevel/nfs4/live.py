# SPDX-License-Identifier: MIT
"""A client of NFSv4.1 or 4.2 whose session outlives connections, sessions and restarts of the server.

Operations are given as a function, because after a recovery they are built again with other stateids. What is done
about which status is the table in `nfsclient.sessions.recovery`; here is how. Nothing waits longer than the patience.

What a client has, each living longer than the one before it, and what replaces it:

    connection      lost, or silent for too long     `_reconnect`: a new one, BIND_CONN_TO_SESSION, the same session
    session         BADSESSION, DEADSESSION          `_replace_session`: CREATE_SESSION, the same client id
    client id       STALE_CLIENTID                   `_new_client`: EXCHANGE_ID by the same owner, then a session
    opens, locks    the server restarted             `Holdings.reclaim`, within the grace period
    and delegations flags say that some are revoked  `Holdings.test`: TEST_STATEID, FREE_STATEID; what is gone is lost

One call of `run` goes through these steps until it has a reply that nothing can be done about:

    keep        finish returns of delegations, look at the flags of the last SEQUENCE, renew a lease that is due
    begin       build the operations, take a slot; without a free one the session is replaced
    deliver     send it, and again with the same slot and sequence id over a new connection, until it is answered
    remedy      what the table says about its status; then from the beginning, with operations that are built again

What must stay true:

- A request without a reply is sent again as it is, over another connection, never over the old one (sections 2.9.2
  and 2.10.6.2): the reply cache then tells whether it was executed. If the session has gone meanwhile, nobody knows,
  and `FateUnknown` is raised unless the operations change nothing, or the caller said that they may be repeated.
- DELAY of a later operation repeats a compound only if nothing before it has changed anything.
- Every recovery is counted in `Attempts`, and every pause comes out of the one patience of the call: a server that
  answers BADSESSION for ever ends in an error and not in a loop. A recovery that is disturbed by another loss begins
  again (`_guarded`), out of the same patience.
- `owes_reclaim` is set before the first call with a new client id, and cleared by a completed reclaim only: a
  recovery in the middle of another one must not lose it.
- Flags of SEQUENCE are acted upon when they come up, not while they stay: servers keep them set for a while.
- Recalls are answered from within any wait on the loop. What a recall causes (`returns`) runs after the reply to
  it, does not wait, and takes a slot of the session like any request; without a free slot it is tried again by
  `keep`.
"""

from __future__ import annotations

import contextlib
import typing as t
from collections import deque
from collections.abc import Callable, Sequence

from nfsclient.clients.nfs4 import (
    Client,
    CompoundError,
    CompoundReply,
    Nfs4,
    NoFreeSlot,
    Request,
    Session,
    direct,
)
from nfsclient.clients.nfs4 import operations as op
from nfsclient.clients.nfs4.client import new_owner
from nfsclient.clients.nfs4.session import has_changed_nothing
from nfsclient.clients.patience import Patience
from nfsclient.errors import (
    ConnectFailed,
    ConnectionLost,
    NfsClientError,
    RetriesExhausted,
    RpcError,
    RpcTimeout,
    ServerDown,
)
from nfsclient.highlevel.nfs4.attempts import Attempts, FateUnknown, StateLost, exhausted
from nfsclient.highlevel.nfs4.notices import LockNotices
from nfsclient.highlevel.nfs4.reclaim import Holdings
from nfsclient.highlevel.nfs4.returns import Returns
from nfsclient.highlevel.nfs4.under_way import UnderWay, compound_of
from nfsclient.highlevel.session import Job
from nfsclient.paths import shown
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.blocking import RpcClient
from nfsclient.sessions.recovery import REMEDIES, Remedy
from nfsclient.sessions.reply import is_delayed_at_sequence
from nfsclient.sessions.session import changes_nothing
from nfsclient.sessions.state import Delegation, HeldState, Lease, Open
from nfsclient.xdr import XdrType

OK: t.Final = p.Nfsstat4.NFS4_OK
_STATE_GONE: t.Final = (
    p.SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED
    | p.SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED
    | p.SEQ4_STATUS_ADMIN_STATE_REVOKED
    | p.SEQ4_STATUS_RECALLABLE_STATE_REVOKED
)
_BACKCHANNEL_DOWN: t.Final = (
    p.SEQ4_STATUS_CB_PATH_DOWN | p.SEQ4_STATUS_CB_PATH_DOWN_SESSION | p.SEQ4_STATUS_BACKCHANNEL_FAULT
)
_ACTED_UPON: t.Final = _STATE_GONE | _BACKCHANNEL_DOWN | p.SEQ4_STATUS_RESTART_RECLAIM_NEEDED
"""Flags of SEQUENCE (section 18.46.3). Each is acted upon when it comes up, not again while it stays."""
_GONE: t.Final = frozenset({p.Nfsstat4.NFS4ERR_BADSESSION, p.Nfsstat4.NFS4ERR_DEADSESSION})
_USUAL_LEASE: t.Final = 90.0
_FORE: t.Final = op.channel(operations=128)
"""Of a session that is requested: with 128 operations a compound has room for the attributes of 41 names."""

Build: t.TypeAlias = Callable[[], Sequence[XdrType]]
T = t.TypeVar("T")


class LiveClient:
    """A client id with a session, and everything that it holds there.

    `run` gives back replies of compounds that succeeded. Raises `NfsStatusError` for other statuses, `RpcError`,
    `ServerDown`, `RetriesExhausted` if the server kept asking to wait, `FateUnknown`, `StateLost`.
    """

    def __init__(
        self,
        rpc: RpcClient,
        *,
        minor: int,
        patience: Patience,
        owner: p.ClientOwner4 | None = None,
        reconnect: bool = True,
        delegations: bool = False,
    ) -> None:
        self.rpc = rpc
        self.wants_delegations = delegations
        """Whether OPEN asks for delegations; if not, what comes all the same goes back at once."""
        self.reconnect = reconnect
        """Whether a lost connection is replaced; else it raises `ConnectionLost`, and a late reply `RpcTimeout`."""
        self.patience = patience
        self.nfs4 = Nfs4(rpc, minor=minor)
        self.held = HeldState()
        self._holdings = Holdings(self)
        self.on_delegation_gone: Callable[[bytes], None] | None = None
        """Called with the handle when a delegation is recalled or revoked: what was cached is void."""
        self.returns = Returns(self)
        """The delegations that go back."""
        self.lock_notices = LockNotices()
        self._flags_seen = 0
        self._renews = False  # a renewal is a call, which begins with `keep` as all do
        self._is_set_up = False
        self._connection = 0
        """Counts the connections: a request that was lost with an earlier one may go out over the present one."""
        self.lease = Lease(_USUAL_LEASE, rpc.loop.clock())
        self.client: Client = self._exchange_id(new_owner() if owner is None else owner, Attempts(patience))
        self.session: Session = self._new_session()
        self._holdings.complete_reclaim(Attempts(patience))
        self._is_set_up = True

    def close(self) -> None:
        """Give back delegations, opens with their locks, the session, the client id. The connection stays."""
        if self.rpc.is_open:
            with contextlib.suppress(RpcError, CompoundError):
                self._holdings.give_back()
            self.session.close()
        self.nfs4.callbacks.forget(self.session.id)

    # ------------------------------------------------------------ calls

    def run(
        self, build: Build, path: bytes = b"", *, into: memoryview | None = None, repeatable: bool = False
    ) -> CompoundReply:
        """One compound that succeeds; everything that can be recovered is.

        `repeatable`: operations before one that got DELAY may be executed again although they change something.
        """
        attempts = Attempts(self.patience)
        while True:
            if not self._guarded(self.keep, attempts):
                continue
            operations = build()
            if not (repeatable or changes_nothing(operations)) and self._see_what_came(attempts):
                operations = build()
            reply, resent = self._deliver(operations, build, into, attempts)
            if not reply.status or reply.status not in REMEDIES:
                return reply.ok(shown(path))
            remedy = self._remedy(reply, attempts, path, operations, resent=resent, repeatable=repeatable)
            self._guarded(remedy, attempts)

    def run_many(
        self,
        jobs: deque[Job[T]],
        take: Callable[[Job[T], CompoundReply], None],
        *,
        outstanding: int,
        path: bytes,
    ) -> None:
        """Many compounds at a time; `take` gets each reply that succeeded, in order of arrival, and may add jobs.

        They must be harmless to repeat: READ, and WRITE of the same data. Raises as `run`.
        """
        under_way: list[UnderWay] = []
        again: list[Job[T]] = []
        attempts = Attempts(self.patience)

        def took(job: Job[T], reply: CompoundReply) -> None:
            nonlocal attempts
            attempts = Attempts(self.patience)
            take(job, reply)

        try:
            while jobs or under_way or again:
                if not self._guarded(self.keep, attempts):
                    continue
                if len(jobs) > 1 or under_way:  # one alone is a plain call, which costs less
                    self._start(jobs, under_way, outstanding)
                if not under_way:
                    # One at a time, with all recoveries; the others follow at full speed.
                    job = again.pop(0) if again else jobs.popleft()
                    compound = compound_of(job)
                    took(job, self.run(compound.build, path, into=compound.into, repeatable=True))
                    continue
                self._take_reply(under_way, again, took, path)
        finally:
            for call in under_way:
                self.rpc.core.cancel(
                    call.pending, NfsClientError("given up after the failure of another call")
                )

    def _start(self, jobs: deque[Job[T]], under_way: list[UnderWay], outstanding: int) -> None:
        if not self.rpc.is_open:
            return
        while jobs and len(under_way) < outstanding and self.session.state.slots.has_free:
            job = jobs.popleft()
            compound = compound_of(job)
            request = self._begin(compound.build(), compound.build)
            pending = self.rpc.submit(p.COMPOUND, request.args, into=compound.into)
            now = self.rpc.loop.clock()
            under_way.append(UnderWay(job, compound, request, pending, now, self.session, self._connection))

    def _take_reply(
        self,
        under_way: list[UnderWay],
        again: list[Job[T]],
        take: Callable[[Job[T], CompoundReply], None],
        path: bytes,
    ) -> None:
        done = self.rpc.wait_any(call.pending for call in under_way)
        call = next(each for each in under_way if each.pending is done)
        under_way.remove(call)
        try:
            reply = call.session.state.finish(call.request, self.rpc.wait(done))
        except (ConnectionLost, RpcTimeout) as error:
            if call.session is not self.session:
                again.append(call.job)
                return
            attempts = Attempts(self.patience)
            reply, _ = self._deliver_again(call.request, call.compound.into, attempts, error, call.connection)
        if reply.renews_lease:
            self.lease.renewed(call.sent_at)
        if reply.status == OK or reply.status not in REMEDIES:
            take(call.job, reply.ok(shown(path)))
        else:
            again.append(call.job)

    def _see_what_came(self, attempts: Attempts) -> bool:
        """Notice that the server has closed the connection meanwhile, before a request that must not run twice is sent.

        The fate of what is sent into a closed connection is known only as long as the session lives: SEQUENCE asks.
        Whether anything has come: stateids may have changed then.
        """
        has_come = self.rpc.loop.catch_up()
        if self.reconnect and not self.rpc.is_open:
            self._reconnect_patiently(
                "COMPOUND", attempts, ConnectionLost("COMPOUND", "closed by the server")
            )
            self.renew()
            return True
        return has_come

    def _begin(self, operations: Sequence[XdrType], build: Build) -> Request:
        try:
            return self.session.state.begin(operations)
        except NoFreeSlot:
            # Requests whose fate is not known hold all slots: a new session has free ones.
            self._replace_session(is_gone=False)
            return self.session.state.begin(build())

    def _send(
        self, operations: Sequence[XdrType], build: Build, into: memoryview | None, sent: list[Request]
    ) -> CompoundReply:
        """Send operations for the first time. `sent` gets the request, unless the reply is a usual one."""
        if into is None and (operations or not self.session.state.slots.owes_return):
            with contextlib.suppress(NoFreeSlot):
                reply = direct.compound(self.nfs4, self.session.state, operations, sent.append)
                if reply is not None:
                    return reply
        sent.append(self._begin(operations, build))
        return self.session.perform(sent[0], into=into)

    def _deliver(
        self, operations: Sequence[XdrType], build: Build, into: memoryview | None, attempts: Attempts
    ) -> tuple[CompoundReply, bool]:
        """Send operations until there is a reply; whether they were sent more than once."""
        sent_at, connection = self.rpc.loop.clock(), self._connection
        sent: list[Request] = []
        resent = False
        try:
            reply = self._send(operations, build, into, sent)
        except (ConnectionLost, RpcTimeout) as error:
            if not sent:
                raise
            reply, resent = self._deliver_again(sent[0], into, attempts, error, connection)
        while is_delayed_at_sequence(reply):
            # The slot has not moved, and the server may be executing this very request: it must stay the same one.
            attempts.wait(RetriesExhausted(reply.status, "SEQUENCE", None))
            self.session.state.take_again(sent[0])
            sent_at = self.rpc.loop.clock()
            try:
                reply = self.session.perform(sent[0], into=into)
            except (ConnectionLost, RpcTimeout) as error:
                reply, resent = self._deliver_again(sent[0], into, attempts, error, self._connection)
        if reply.renews_lease:
            self.lease.renewed(sent_at)
        return reply, resent

    def _deliver_again(
        self,
        request: Request,
        into: memoryview | None,
        attempts: Attempts,
        error: NfsClientError,
        connection: int,
    ) -> tuple[CompoundReply, bool]:
        """The same slot and sequence id over a new connection (section 2.10.6.2).

        A request that is late is not sent again while its connection lives (section 2.9.2): that one is closed first.
        `connection` tells whether another call has replaced it already.
        """
        if not self.reconnect:
            raise error
        while True:
            if connection != self._connection and self.rpc.is_open:
                connection = self._connection
                try:
                    return self.session.perform(request, into=into), True
                except (ConnectionLost, RpcTimeout) as another:
                    error = another
            names = ", ".join(p.operation_of(operation).name for operation in request.args.argarray)
            self._reconnect_patiently(names, attempts, error)

    def _reconnect_patiently(self, what: str, attempts: Attempts, error: NfsClientError) -> None:
        """Wait, and connect, until it works. Raises `ServerDown` when patience ends."""
        while True:
            if not attempts.has_waited():
                peer = self.rpc.core.peer
                raise ServerDown(what, peer, attempts.seconds, attempts.waits, str(error)) from error
            try:
                self._reconnect(attempts)
            except (ConnectionLost, RpcTimeout, ConnectFailed) as another:
                error = another
            else:
                return

    def _reconnect(self, attempts: Attempts) -> None:
        """A new connection, with the session's backchannel on it (sections 2.10.3.1 and 18.34)."""
        self.rpc.reconnect()
        self._connection += 1
        result = self.nfs4.bind_conn_to_session(self.session.id)
        while result.bctsr_status == p.Nfsstat4.NFS4ERR_DELAY and attempts.has_waited():
            result = self.nfs4.bind_conn_to_session(self.session.id)
        if result.bctsr_status == OK:
            self.nfs4.callbacks.serve(self.session.callbacks)
        self.returns.send_again()

    # ------------------------------------------------------------ recovery

    def _guarded(self, step: Callable[[], object], attempts: Attempts) -> bool:
        """Take a step of a recovery; False if the connection or the session was lost meanwhile, and is there again."""
        try:
            step()
        except (ConnectionLost, RpcTimeout) as error:
            if not self.reconnect:
                raise
            attempts.count(error)
            self._reconnect_patiently("recovery", attempts, error)
        except CompoundError as error:
            remedy = REMEDIES.get(t.cast("p.Nfsstat4", error.status))
            if remedy not in {Remedy.NEW_SESSION, Remedy.NEW_CLIENT}:
                raise
            attempts.count(error)
            failure = error
            self._guarded(lambda: self._apply(remedy, failure), attempts)
        else:
            return True
        return False

    def _remedy(
        self,
        reply: CompoundReply,
        attempts: Attempts,
        path: bytes,
        operations: Sequence[XdrType],
        *,
        resent: bool,
        repeatable: bool,
    ) -> Callable[[], None]:
        """What the table says is to be done, so that the call can be made again. Raises if it cannot."""
        error = reply.error(shown(path))
        assert error is not None
        remedy = REMEDIES[reply.status]
        if remedy is Remedy.WAIT:
            if not (repeatable or has_changed_nothing(reply)):
                raise error
            attempts.wait(RetriesExhausted(reply.status, error.procedure, shown(path)), reply.executed)
            return lambda: None
        attempts.count(error)
        in_sequence = not reply.results
        if remedy in {Remedy.BIND, Remedy.NEW_SESSION} and not in_sequence:
            raise error
        if resent and in_sequence and not (repeatable or changes_nothing(operations)):
            raise FateUnknown(operations)
        return lambda: self._apply(remedy, error)

    def _apply(self, remedy: Remedy, error: CompoundError) -> None:
        match remedy:
            case Remedy.BIND:
                self.session.bind(self.nfs4)
            case Remedy.NEW_SESSION:
                self._replace_session(is_gone=error.status in _GONE)
            case Remedy.NEW_CLIENT:
                self._new_client()
            case Remedy.TEST:
                if not self._holdings.test():
                    raise error
            case _:
                pass

    def _exchange_id(self, owner: p.ClientOwner4, attempts: Attempts) -> Client:
        """EXCHANGE_ID, again while the server answers DELAY."""
        while True:
            try:
                return self.nfs4.new_client(owner)
            except CompoundError as error:
                if error.status != p.Nfsstat4.NFS4ERR_DELAY:
                    raise
                attempts.wait(exhausted(error))

    def _replace_session(self, *, is_gone: bool) -> None:
        """Another session for the same client; the old one is destroyed if the server still has it."""
        old = self.session
        self.session = self._new_session()
        self.nfs4.callbacks.forget(old.id)
        if not is_gone:
            old.destroy()

    def _new_session(self) -> Session:
        """CREATE_SESSION for the client id; if the server does not know it any more, all is reclaimed."""
        attempts = Attempts(self.patience)
        while True:
            try:
                session = self.client.create_session(callbacks=True, fore=_FORE)
            except CompoundError as error:
                if error.status == p.Nfsstat4.NFS4ERR_STALE_CLIENTID and self._is_set_up:
                    attempts.count(error)
                    return self._new_client()
                if error.status != p.Nfsstat4.NFS4ERR_DELAY:
                    raise
                attempts.wait(exhausted(error))
                continue
            self._adopt(session)
            if self._holdings.owes_reclaim:
                self.session = session
                self._holdings.reclaim(attempts)
            return session

    def _adopt(self, session: Session) -> None:
        session.callbacks.held = self.held
        session.callbacks.on_lock_notice = self.lock_notices.note
        self._flags_seen = 0
        self.returns.serve(session)

    def _new_client(self) -> Session:
        """EXCHANGE_ID by the same owner, a session, and everything held reclaimed (section 8.4.2)."""
        attempts = Attempts(self.patience)
        while True:
            self.client = self._exchange_id(self.client.owner, attempts)
            self._holdings.owes_reclaim = True  # from now on: the session may come from another recovery
            try:
                session = self.client.create_session(callbacks=True, fore=_FORE)
                break
            except CompoundError as error:
                if error.status not in {p.Nfsstat4.NFS4ERR_STALE_CLIENTID, p.Nfsstat4.NFS4ERR_DELAY}:
                    raise
                attempts.wait(exhausted(error))
        self._adopt(session)
        self.session = session
        self._holdings.reclaim(attempts)
        return session

    # ------------------------------------------------------------ what goes on besides the calls

    def keep(self) -> None:
        """Renew the lease when it is due, look at what the server has flagged, finish returns of delegations."""
        self.returns.finish()
        flags = self.session.state.status_flags & _ACTED_UPON
        new = flags & ~self._flags_seen
        self._flags_seen = flags
        if new & p.SEQ4_STATUS_RESTART_RECLAIM_NEEDED or self._holdings.owes_reclaim:
            self._holdings.reclaim(Attempts(self.patience))
        if new & _STATE_GONE:
            self._holdings.test()
        if new & _BACKCHANNEL_DOWN and self.rpc.is_open:
            self.session.bind(self.nfs4)
        now = self.rpc.loop.clock()
        is_due = self.session.state.slots.owes_return or self.lease.is_due(now)
        if is_due and self.rpc.is_open and not self._renews:
            self.lease.renewed(now)
            self._renews = True
            try:
                self.renew()
            finally:
                self._renews = False

    def note_reclaimed(self) -> None:
        """A reclaim is over. The replies on the way to it were flagged RESTART_RECLAIM_NEEDED (section 18.46.3)."""
        self._flags_seen |= p.SEQ4_STATUS_RESTART_RECLAIM_NEEDED

    def renew(self) -> None:
        """A bare SEQUENCE, recovered like any call."""
        self.run(list)

    def set_lease(self, seconds: float) -> None:
        """What attribute `lease_time` says."""
        self.lease.seconds = seconds

    def forget_delegation(self, delegation: Delegation) -> None:
        """It is no longer held: what was cached is void."""
        self.held.returned(delegation)
        if self.on_delegation_gone is not None:
            self.on_delegation_gone(delegation.handle)

    def require(self, opened: Open) -> None:
        """Raise `StateLost` if an open is no longer one, or one of its locks is gone."""
        if opened.lost:
            raise StateLost("the server has forgotten this open, and the file cannot be opened again")
        if any(locks.lost for locks in self.held.locks.values() if locks.opened is opened):
            raise StateLost("the server has forgotten a lock of this file: others may have changed it")
