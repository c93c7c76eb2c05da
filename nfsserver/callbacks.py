# SPDX-License-Identifier: MIT
"""Callbacks over the backchannel of a session (RFC 5661 sections 2.10.3.1 and 20).

Nothing waits for a reply here. A callback that is lost with its connection is sent again with the same slot and
sequence id over the next connection of the backchannel, when the client has bound one (section 2.10.6.2). If its
session ends before the client has answered, the callback goes over another session of the client, now or later: a
recall does not end before the delegation is gone. What is only a question or a notice is given up where no session of
the client can carry it now.

    state              where it is             what comes next
    wants a session    `Client.unsent`         a session with a backchannel is used: it gets a slot there, and is sent
    wants a way        `Session.unsent`        a connection is bound: sent with the slot and sequence id that it has
    under way          `Session.unanswered`    a reply: over; DELAY: sent again with the next number; the connection
                                               ends: wants a way; the session ends: wants a session
    over               nowhere                 the slot is free; a delegation that the client disowns is revoked
    silent             `Session.busy`          no reply in time: nobody knows what became of the slot, it stays taken

What must stay true:

- A callback has one slot at a time, and its sequence id counts up by one for each request that the client has executed.
- It is sent `_AGAIN` times at most in a session: a client that always answers DELAY must not keep the server busy.
- Whether the client returns the delegation is no affair of the callback: `conflicts.clear_way` looks at the time of
  the recall.
"""

from __future__ import annotations

import typing as t
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial

from nfsclient.errors import ConnectionLost, NfsClientError
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.core import Pending
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import XdrType
from nfsserver.fs import Inode
from nfsserver.handlers import ServerApi
from nfsserver.state.delegations import Delegation
from nfsserver.state.records import Client, Session

_TIMEOUT: t.Final = 20.0
"""Seconds for the reply to a callback."""
_UNKNOWN: t.Final = frozenset({Nfsstat4.NFS4ERR_BAD_STATEID, Nfsstat4.NFS4ERR_BADHANDLE})
"""How a client answers the recall of what it does not have (section 20.2.3)."""
_AGAIN: t.Final = 3
"""How often a callback is sent that is answered by DELAY or not at all."""


@dataclass
class _Callback(ABC):
    """A callback operation that is under way, or waits for a session."""

    server: ServerApi
    client: Client
    only: Session | None = None
    """The session that it is about; None: any of the client will do."""
    session: Session | None = None
    slot: int = 0
    sequence_id: int = 0
    attempts: int = 0
    waits_for_session: t.ClassVar[bool] = True

    def is_wanted(self) -> bool:
        """Whether it is still to be sent."""
        return self.only is None or not self.only.is_destroyed

    @abstractmethod
    def operation(self) -> XdrType:
        """The arguments of the operation."""

    @abstractmethod
    def finished(self, result: p.CbCompound4Res | None) -> None:
        """The client has answered; None: it has not, and will not be called again for this."""

    def begin(self) -> None:
        """Send it over any session of the client that has a backchannel, or as soon as there is one."""
        self.session = None
        if not self.is_wanted():
            return
        for session in (self.only,) if self.only is not None else tuple(self.client.sessions.values()):
            if session.back_connection is None or not session.flavors:
                continue
            taken = session.take_callback_slot()
            if taken is not None:
                self.session, (self.slot, self.sequence_id), self.attempts = session, taken, 0
                session.unanswered[self.slot] = self.begin
                self.send()
                return
        if self.waits_for_session:
            self.client.unsent.append(self.begin)
        else:
            self.finished(None)

    def send(self) -> None:
        """Send it, now or when the client binds a connection to the backchannel."""
        session = self.session
        if session is None:
            return
        channel = session.back_connection
        if channel is None:
            session.unsent.append(self.send)
            return
        if self.attempts >= _AGAIN:
            self._end()
            self.finished(None)
            return
        self.attempts += 1
        sequence = p.CbSequence4Args(session.id, self.sequence_id, self.slot, self.slot, False, [])
        arguments = p.CbCompound4Args(b"", session.minor, 0, [sequence, self.operation()])
        procedure, credential = _procedure(session.program), session.flavors[0]
        done = partial(self._done, session)
        try:
            channel.call(procedure, arguments, done, timeout=_TIMEOUT, credential=credential)
        except NfsClientError:
            session.unsent.append(self.send)

    def _done(self, session: Session, pending: Pending[p.CbCompound4Res]) -> None:
        if session is not self.session:
            return  # the session has ended meanwhile, and another one carries it
        if isinstance(pending.error, ConnectionLost):
            self.send()
            return
        result = pending.result
        if result is None:
            self.finished(None)  # the slot stays taken: nobody knows its sequence id
            return
        if result.status == Nfsstat4.NFS4ERR_DELAY and len(result.resarray) > 1:
            self.sequence_id = (self.sequence_id + 1) % (1 << 32)
            session.callback_slots[self.slot] = self.sequence_id
            self.send()
            return
        self._end()
        self.finished(result)

    def _end(self) -> None:
        if self.session is not None:
            self.session.busy.discard(self.slot)
            self.session.unanswered.pop(self.slot, None)


def _client(server: ServerApi, number: Hashable) -> Client | None:
    return server.states.clients.get(t.cast("int", number))


# ---------------------------------------------------------------- CB_RECALL


@dataclass(kw_only=True)
class _Recall(_Callback):
    delegation: Delegation
    inode: Inode

    def is_wanted(self) -> bool:
        """Unless it came back while there was no session."""
        delegations = self.server.states.held.delegations.of_file(self.inode)
        return any(delegation is self.delegation for delegation in delegations)

    def operation(self) -> XdrType:
        stateid = p.Stateid4(0, self.delegation.other)  # section 8.2.2: the seqid in a callback is 0
        return p.CbRecall4Args(stateid, False, self.server.backend.handle_of(self.inode))

    def finished(self, result: p.CbCompound4Res | None) -> None:
        if result is not None and result.status in _UNKNOWN and self.delegation.lost is None:
            # A client that does not know its delegation will not return it.
            self.server.states.revoke_delegation(self.delegation)


def recall(server: ServerApi, delegation: Delegation, inode: Inode) -> None:
    """Ask for a delegation back, over any session of its client that has a backchannel, now or later."""
    client = _client(server, delegation.client)
    if client is not None:
        _Recall(server, client, delegation=delegation, inode=inode).begin()


# ---------------------------------------------------------------- CB_GETATTR

_ASKED: t.Final = p.bitmap("change", "size")

OnAnswer: t.TypeAlias = Callable[[p.Fattr4 | None], None]
"""Called with the attributes that the holder of a delegation has, or None: it has given none."""


@dataclass(kw_only=True)
class _Inquiry(_Callback):
    inode: Inode
    on_answer: OnAnswer
    waits_for_session: t.ClassVar[bool] = False

    def operation(self) -> XdrType:
        return p.CbGetattr4Args(self.server.backend.handle_of(self.inode), _ASKED)

    def finished(self, result: p.CbCompound4Res | None) -> None:
        last = result.resarray[-1] if result is not None and result.status == Nfsstat4.NFS4_OK else None
        resok = last.resok4 if isinstance(last, p.CbGetattr4Res) else None
        self.on_answer(None if resok is None else resok.obj_attributes)


def inquire(server: ServerApi, delegation: Delegation, inode: Inode, on_answer: OnAnswer) -> None:
    """Ask the holder of a write delegation for size and change of the file, if it can be called now."""
    client = _client(server, delegation.client)
    if client is None:
        on_answer(None)
        return
    _Inquiry(server, client, inode=inode, on_answer=on_answer).begin()


# ---------------------------------------------------------------- callbacks that need no answer


@dataclass(kw_only=True)
class _Notice(_Callback):
    arguments: XdrType
    waits_for_session: t.ClassVar[bool] = False

    def operation(self) -> XdrType:
        return self.arguments

    def finished(self, result: p.CbCompound4Res | None) -> None:
        """Nobody waits for the answer."""


def notify_lock(server: ServerApi, number: Hashable, inode: Inode, owner: bytes) -> None:
    """CB_NOTIFY_LOCK: a lock that was denied to this owner may be available (section 20.11)."""
    client = _client(server, number)
    if client is not None:
        arguments = p.CbNotifyLock4Args(server.backend.handle_of(inode), p.StateOwner4(client.id, owner))
        _Notice(server, client, arguments=arguments).begin()


def recall_any(server: ServerApi, client: Client, keep: int) -> None:
    """CB_RECALL_ANY of delegations of files: the client keeps this many of its choice (section 20.6)."""
    mask = 1 << p.RCA4_TYPE_MASK_RDATA_DLG | 1 << p.RCA4_TYPE_MASK_WDATA_DLG
    _Notice(server, client, arguments=p.CbRecallAny4Args(keep, [mask])).begin()


def recall_slots(server: ServerApi, session: Session, highest: int) -> None:
    """CB_RECALL_SLOT: the client is to use no slots of this session above `highest` (section 20.8)."""
    _Notice(server, session.client, session, arguments=p.CbRecallSlot4Args(highest)).begin()


# ---------------------------------------------------------------- which clients can be called, and how


def has_backchannel(server: ServerApi, number: int) -> bool:
    """Whether a client can be called: without that it gets no delegation."""
    client = server.states.clients.get(number)
    return client is not None and any(
        session.back_connection is not None and session.flavors and session.callback_slots
        for session in client.sessions.values()
    )


_PROCEDURES: t.Final[dict[int, Procedure[p.CbCompound4Args, p.CbCompound4Res]]] = {}
_MOST_PROGRAMS: t.Final = 256


def _procedure(program: int) -> Procedure[p.CbCompound4Args, p.CbCompound4Res]:
    """CB_COMPOUND of the program number that a client chose (section 18.36.3)."""
    known = _PROCEDURES.get(program)
    if known is None:
        if len(_PROCEDURES) >= _MOST_PROGRAMS:
            _PROCEDURES.clear()
        known = _PROCEDURES[program] = Procedure(
            program,
            p.CALLBACK_VERSION,
            p.CB_COMPOUND.number,
            "CB_COMPOUND",
            p.CbCompound4Args,
            p.CbCompound4Res,
            steps=p.callback_steps,
        )
    return known
