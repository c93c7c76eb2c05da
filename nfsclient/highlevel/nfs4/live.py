# SPDX-License-Identifier: MIT
"""A client of NFSv4.1 or 4.2 whose session outlives connections, sessions and restarts of the server.

Operations are given as a function, because after a recovery they are built again with other stateids. What is done
about which status is the table in `nfsclient.sessions.recovery`; here is how. Nothing waits longer than the patience.
"""

from __future__ import annotations

import typing as t
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nfsclient.clients.nfs4 import Client4, CompoundError, CompoundReply, Nfs4, NoFreeSlot, Request, Session4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.clients.nfs4.session import may_be_tried_again
from nfsclient.clients.patience import Patience
from nfsclient.errors import (
    ConnectFailed,
    ConnectionLost,
    NfsClientError,
    RetriesExhausted,
    RpcTimeout,
    ServerDown,
)
from nfsclient.paths import shown
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import Pending
from nfsclient.sessions.recovery import NOT_RECLAIMABLE, REMEDIES, Remedy
from nfsclient.sessions.session import changes_nothing
from nfsclient.sessions.state import Delegation, HeldState, Lease, Locks, Open
from nfsclient.xdr import XdrType

OK: t.Final = p.Nfsstat4.NFS4_OK
_MOST_REMEDIES: t.Final = 8
"""Recoveries for one call: a server that needs more of them will never be content."""
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
_USUAL_LEASE: t.Final = 90.0

Build: t.TypeAlias = Callable[[], Sequence[XdrType]]


class FateUnknown(NfsClientError):
    """The server lost the session before it answered, so nobody knows whether the operations were executed."""

    def __init__(self, request: Request) -> None:
        names = ", ".join(p.operation_of(one).name for one in request.operations)
        super().__init__(f"{names}: the connection and then the session were lost before the reply came")


class StateLost(NfsClientError):
    """The server has forgotten or revoked an open or a lock that the caller relies on."""


@dataclass(slots=True, eq=False)
class Job:
    """Operations of one of many compounds, and where the data of a READ at their end goes."""

    build: Build
    into: memoryview | None = None
    about: t.Any = None
    """Whatever the caller wants to find again with the reply."""


@dataclass(slots=True, eq=False)
class _UnderWay:
    job: Job
    request: Request
    pending: Pending[p.Compound4Res]
    sent_at: float
    session: Session4
    connection: int


class _Attempts:
    """How often one call was recovered, and how long it has waited."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._pauses: t.Iterator[float] | None = None
        self._remedies = 0
        self.waits = 0
        self.since = patience.clock()

    def wait(self, error: NfsClientError) -> None:
        """Wait for a while. Raises `error` when patience ends."""
        if not self.has_waited():
            raise error

    def has_waited(self) -> bool:
        """Wait for a while; False when patience has ended."""
        self._pauses = self._pauses or self._patience.pauses()
        self.waits += 1
        return next(self._pauses, None) is not None

    @property
    def seconds(self) -> float:
        """How long all of it has taken."""
        return self._patience.clock() - self.since

    def count(self, error: NfsClientError) -> None:
        """Count one more recovery. Raises `error` after many."""
        self._remedies += 1
        if self._remedies > _MOST_REMEDIES:
            raise error


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
    ) -> None:
        self.rpc = rpc
        self.reconnect = reconnect
        """Whether a lost connection is replaced; else it raises `ConnectionLost`, and a late reply `RpcTimeout`."""
        self.patience = patience
        self.nfs4 = Nfs4(rpc, minor=minor)
        self.held = HeldState()
        self.on_delegation_gone: Callable[[bytes], None] | None = None
        """Called with the handle when a delegation is recalled or revoked: what was cached is void."""
        self._returns: list[tuple[Delegation, Request, Pending[p.Compound4Res]]] = []
        self._flags_seen = 0
        self._connection = 0
        """Counts the connections: a request that was lost with an earlier one may go out over the present one."""
        self.lease = Lease(_USUAL_LEASE, rpc.loop.clock())
        self.client: Client4 = self.nfs4.new_client(owner)
        self.session: Session4 = self._new_session()
        self._complete_reclaim(_Attempts(patience))

    def close(self) -> None:
        """Give everything back: delegations, the session, the client id. The connection stays."""
        if self.rpc.is_open:
            self.session.close()
        self.nfs4.callbacks.forget(self.session.id)

    # ------------------------------------------------------------ calls

    def run(
        self, build: Build, path: bytes = b"", *, into: memoryview | None = None, repeatable: bool = False
    ) -> CompoundReply:
        """One compound that succeeds; everything that can be recovered is.

        `repeatable`: operations before one that got DELAY may be executed again although they change something.
        """
        attempts = _Attempts(self.patience)
        while True:
            self.keep()
            request = self._begin(build)
            reply, resent = self._deliver(request, into, attempts)
            if reply.status == OK or reply.status not in REMEDIES:
                return reply.ok(shown(path))
            self._remedy(reply, attempts, path, request=request, resent=resent, repeatable=repeatable)

    def run_many(
        self, jobs: deque[Job], take: Callable[[Job, CompoundReply], None], *, outstanding: int, path: bytes
    ) -> None:
        """Many compounds at a time; `take` gets each reply that succeeded, in order of arrival, and may add jobs.

        They must be harmless to repeat: READ, and WRITE of the same data. Raises as `run`.
        """
        under_way: list[_UnderWay] = []
        again: list[Job] = []
        try:
            while jobs or under_way or again:
                self._start(jobs, under_way, outstanding)
                if not under_way:
                    # One at a time, with all recoveries; the others follow at full speed.
                    job = again.pop(0) if again else jobs.popleft()
                    take(job, self.run(job.build, path, into=job.into))
                    continue
                self._take_one(under_way, again, take, path)
        finally:
            for one in under_way:
                self.rpc.core.cancel(
                    one.pending, NfsClientError("given up after the failure of another call")
                )

    def _start(self, jobs: deque[Job], under_way: list[_UnderWay], outstanding: int) -> None:
        self.keep()
        if not self.rpc.is_open:
            return
        while jobs and len(under_way) < outstanding and self.session.state.slots.has_free:
            job = jobs.popleft()
            request = self._begin(job.build)
            pending = self.rpc.submit(p.COMPOUND, request.args, into=job.into)
            now = self.rpc.loop.clock()
            under_way.append(_UnderWay(job, request, pending, now, self.session, self._connection))

    def _take_one(
        self,
        under_way: list[_UnderWay],
        again: list[Job],
        take: Callable[[Job, CompoundReply], None],
        path: bytes,
    ) -> None:
        done = self.rpc.wait_any(one.pending for one in under_way)
        one = next(each for each in under_way if each.pending is done)
        under_way.remove(one)
        try:
            reply = one.session.state.finish(one.request, self.rpc.wait(done))
        except (ConnectionLost, RpcTimeout) as error:
            if one.session is not self.session:
                again.append(one.job)
                return
            attempts = _Attempts(self.patience)
            reply, _ = self._deliver_again(one.request, one.job.into, attempts, error, one.connection)
        if reply.sequence is not None and reply.sequence.sr_status == OK:
            self.lease.renewed(one.sent_at)
        if reply.status == OK or reply.status not in REMEDIES:
            take(one.job, reply.ok(shown(path)))
        else:
            again.append(one.job)

    def _begin(self, build: Build) -> Request:
        try:
            return self.session.state.begin(build())
        except NoFreeSlot:
            # Requests whose fate is not known hold all slots: a new session has free ones.
            self.session = self._new_session()
            return self.session.state.begin(build())

    def _deliver(
        self, request: Request, into: memoryview | None, attempts: _Attempts
    ) -> tuple[CompoundReply, bool]:
        """Send a request until there is a reply; whether it was sent more than once."""
        sent_at, connection = self.rpc.loop.clock(), self._connection
        try:
            reply = self.session.perform(request, into=into)
        except (ConnectionLost, RpcTimeout) as error:
            return self._deliver_again(request, into, attempts, error, connection)
        if reply.sequence is not None and reply.sequence.sr_status == OK:
            self.lease.renewed(sent_at)
        return reply, False

    def _deliver_again(
        self,
        request: Request,
        into: memoryview | None,
        attempts: _Attempts,
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
            if not attempts.has_waited():
                names = ", ".join(p.operation_of(one).name for one in request.args.argarray)
                peer = self.rpc.core.peer
                raise ServerDown(names, peer, attempts.seconds, attempts.waits, str(error)) from error
            try:
                self._reconnect()
            except (ConnectionLost, RpcTimeout, ConnectFailed) as another:
                error = another

    def _reconnect(self) -> None:
        """A new connection, with the session's backchannel on it (sections 2.10.3.1 and 18.34)."""
        self._returns.clear()
        self.rpc.reconnect()
        self._connection += 1
        result = self.nfs4.bind_conn_to_session(self.session.id)
        if result.bctsr_status == OK:
            self.nfs4.callbacks.serve(self.session.callbacks)

    # ------------------------------------------------------------ recovery

    def _remedy(
        self,
        reply: CompoundReply,
        attempts: _Attempts,
        path: bytes,
        *,
        request: Request,
        resent: bool,
        repeatable: bool,
    ) -> None:
        """Do what the table says, so that the call can be made again. Raises if it cannot."""
        error = reply.error(shown(path))
        assert error is not None
        remedy = REMEDIES[reply.status]
        if remedy is Remedy.WAIT:
            if not (repeatable or may_be_tried_again(reply)):
                raise error
            attempts.wait(RetriesExhausted(reply.status, error.procedure, shown(path)))
            return
        attempts.count(error)
        in_sequence = not reply.results
        if remedy in {Remedy.BIND, Remedy.NEW_SESSION} and not in_sequence:
            raise error
        if resent and in_sequence and not (repeatable or changes_nothing(request.operations)):
            raise FateUnknown(request)
        self._apply(remedy, error)

    def _apply(self, remedy: Remedy, error: CompoundError) -> None:
        match remedy:
            case Remedy.BIND:
                self.session.bind(self.nfs4)
            case Remedy.NEW_SESSION:
                self.session = self._new_session()
            case Remedy.NEW_CLIENT:
                self._new_client()
            case Remedy.TEST:
                if not self._test_state():
                    raise error
            case _:
                pass

    def _new_session(self) -> Session4:
        """CREATE_SESSION for the client id; if the server does not know it any more, all is reclaimed."""
        attempts = _Attempts(self.patience)
        while True:
            try:
                session = self.client.create_session(callbacks=True)
            except CompoundError as error:
                if error.status == p.Nfsstat4.NFS4ERR_STALE_CLIENTID and hasattr(self, "session"):
                    attempts.count(error)
                    return self._new_client()
                if error.status != p.Nfsstat4.NFS4ERR_DELAY:
                    raise
                attempts.wait(error)
                continue
            self._adopt(session)
            return session

    def _adopt(self, session: Session4) -> None:
        session.callbacks.held = self.held
        session.callbacks.on_recall = self._recalled
        session.callbacks.on_recall_any = self._recalled_any
        self._flags_seen = 0
        self._returns.clear()

    def _new_client(self) -> Session4:
        """EXCHANGE_ID by the same owner, a session, and everything held reclaimed (section 8.4.2)."""
        attempts = _Attempts(self.patience)
        while True:
            self.client = self.nfs4.new_client(self.client.owner)
            try:
                session = self.client.create_session(callbacks=True)
                break
            except CompoundError as error:
                if error.status not in {p.Nfsstat4.NFS4ERR_STALE_CLIENTID, p.Nfsstat4.NFS4ERR_DELAY}:
                    raise
                attempts.wait(error)
        self._adopt(session)
        self.session = session
        self._reclaim(attempts)
        return session

    def _reclaim(self, attempts: _Attempts) -> None:
        """Opens with their delegations, then locks; RECLAIM_COMPLETE; what was refused is opened again without."""
        opens = list(self.held.opens.values())
        refused = [opened for opened in opens if not self._reclaim_open(opened, attempts)]
        with_opens = {opened.handle for opened in opens} - {one.handle for one in refused}
        for delegation in list(self.held.delegations.values()):
            if delegation.handle not in with_opens:
                self._gone(delegation)
        for locks in self.held.locks.values():
            if locks.opened in refused or not self._reclaim_locks(locks, attempts):
                locks.lost = True
        self._complete_reclaim(attempts)
        for opened in refused:
            self._open_again(opened)

    def _raw(self, attempts: _Attempts, *operations: XdrType) -> CompoundReply:
        """A compound of the recovery itself: only waiting is done about what goes wrong."""
        while True:
            reply = self.session.compound(*operations)
            if REMEDIES.get(reply.status) is not Remedy.WAIT:
                return reply
            error = reply.error()
            assert error is not None
            attempts.wait(error)

    def _reclaim_open(self, opened: Open, attempts: _Attempts) -> bool:
        known = self.held.delegations.get(opened.handle)
        kind = p.OpenDelegationType4.OPEN_DELEGATE_NONE if known is None else known.type
        claim = op.claim_previous(kind)
        reply = self._raw(
            attempts,
            op.putfh(opened.handle),
            op.open(claim, opened.access, opened.deny, owner=opened.owner),
        )
        if reply.status in NOT_RECLAIMABLE:
            return False
        result = reply.ok().of(p.OPEN).resok4
        assert result is not None
        opened.stateid = result.stateid
        if self.held.delegated(opened.handle, result.delegation) is None and known is not None:
            self._gone(known)
        return True

    def _reclaim_locks(self, locks: Locks, attempts: _Attempts) -> bool:
        for index, one in enumerate(locks.ranges):
            if index:
                lock = op.lock_more(locks.stateid, one.type, one.offset, one.length, reclaim=True)
            else:
                first, owner = locks.opened.stateid, locks.owner
                lock = op.lock(first, one.type, one.offset, one.length, owner=owner, reclaim=True)
            reply = self._raw(attempts, op.putfh(locks.opened.handle), lock)
            if reply.status != OK:
                return False
            locks.stateid = reply.stateid
        return True

    def _complete_reclaim(self, attempts: _Attempts) -> None:
        reply = self._raw(attempts, op.reclaim_complete())
        if reply.status != p.Nfsstat4.NFS4ERR_COMPLETE_ALREADY:
            reply.ok()

    def _open_again(self, opened: Open) -> None:
        """Open by handle what could not be reclaimed: another client may have changed it meanwhile."""
        reply = self.session.compound(
            op.putfh(opened.handle), op.open(None, opened.access, opened.deny, owner=opened.owner)
        )
        if reply.status != OK:
            opened.lost = True
            return
        result = reply.of(p.OPEN).resok4
        assert result is not None
        opened.stateid, opened.lost = result.stateid, False
        self.held.delegated(opened.handle, result.delegation)

    def _test_state(self) -> bool:
        """TEST_STATEID of everything held, FREE_STATEID of what is revoked (section 8.5); whether any was."""
        stateids = self.held.all_stateids()
        if not stateids:
            return False
        reply = self.session.compound(op.test_stateid(*stateids))
        result = reply.of(p.TEST_STATEID).tsr_resok4
        if reply.status != OK or result is None:
            return False
        changed = False
        for stateid, status in zip(stateids, result.tsr_status_codes, strict=False):
            if status == OK:
                continue
            changed = True
            self.session.compound(op.free_stateid(stateid))
            lost = self.held.revoked(stateid)
            if isinstance(lost, Delegation) and self.on_delegation_gone is not None:
                self.on_delegation_gone(lost.handle)
            if isinstance(lost, Open):
                for locks in self.held.locks.values():
                    locks.lost = locks.lost or locks.opened is lost
                self._open_again(lost)
        return changed

    # ------------------------------------------------------------ what goes on besides the calls

    def keep(self) -> None:
        """Renew the lease when it is due, look at what the server has flagged, finish returns of delegations."""
        self._finish_returns()
        flags = self.session.state.status_flags & _ACTED_UPON
        new = flags & ~self._flags_seen
        self._flags_seen = flags
        if new & p.SEQ4_STATUS_RESTART_RECLAIM_NEEDED:
            self._reclaim(_Attempts(self.patience))
        if new & _STATE_GONE:
            self._test_state()
        if new & _BACKCHANNEL_DOWN and self.rpc.is_open:
            self.session.bind(self.nfs4)
        if self.lease.is_due(self.rpc.loop.clock()) and self.rpc.is_open:
            self.lease.renewed(self.rpc.loop.clock())
            self.renew()

    def renew(self) -> None:
        """A bare SEQUENCE, recovered like any call."""
        self.run(list)

    def set_lease(self, seconds: float) -> None:
        """What attribute `lease_time` says."""
        self.lease.seconds = seconds

    def _recalled(self, _stateid: p.Stateid4, handle: bytes) -> None:
        delegation = self.held.delegations.get(handle)
        if delegation is not None:
            self.nfs4.callbacks.after.append(lambda: self.give_back(delegation))

    def _recalled_any(self, keep: int, types: list[int]) -> None:
        """CB_RECALL_ANY: the oldest delegations of these types go, but for the last `keep` (section 20.6)."""
        bits = {1: p.OpenDelegationType4.OPEN_DELEGATE_READ, 2: p.OpenDelegationType4.OPEN_DELEGATE_WRITE}
        wanted = {kind for bit, kind in bits.items() if types and types[0] & bit}
        held = [one for one in self.held.delegations.values() if one.type in wanted]
        for delegation in held[: max(0, len(held) - keep)]:
            self.nfs4.callbacks.after.append(lambda one=delegation: self.give_back(one))  # type: ignore[misc]

    def give_back(self, delegation: Delegation) -> None:
        """Start a DELEGRETURN without waiting for it: nothing is cached that is not on the server already."""
        if self.held.delegations.get(delegation.handle) is not delegation:
            return
        self._gone(delegation)
        if not self.rpc.is_open:
            return
        try:
            request = self.session.state.begin(
                [op.putfh(delegation.handle), op.delegreturn(delegation.stateid)]
            )
        except NoFreeSlot:
            self.held.delegations[delegation.handle] = delegation
            delegation.recalled = True
            return
        self._returns.append((delegation, request, self.rpc.submit(p.COMPOUND, request.args)))

    def _gone(self, delegation: Delegation) -> None:
        self.held.returned(delegation)
        if self.on_delegation_gone is not None:
            self.on_delegation_gone(delegation.handle)

    def _finish_returns(self) -> None:
        for one in [one for one in self._returns if one[2].done]:
            self._returns.remove(one)
            if one[2].result is not None:
                self.session.state.finish(one[1], one[2].result)
        for delegation in [one for one in self.held.delegations.values() if one.recalled]:
            self.give_back(delegation)

    def require(self, opened: Open) -> None:
        """Raise `StateLost` if an open is no longer one, or one of its locks is gone."""
        if opened.lost:
            raise StateLost("the server has forgotten this open, and the file cannot be opened again")
        if any(locks.lost for locks in self.held.locks.values() if locks.opened is opened):
            raise StateLost("the server has forgotten a lock of this file: others may have changed it")
