# SPDX-License-Identifier: MIT
"""What a client of NFSv4.1 does when a connection or its session is lost in the middle of a run (RFC 5661 section 8.4).

    what is left          what is done                                        what becomes of calls under way
    the session           connections made again and bound                    sent again, with their slots and numbers:
                                                                              the server executes none twice
    the client id         a new session                                       made again, if that does no harm
    nothing (restart)     a new client id and session, opens and locks are    made again, if that does no harm; opens,
                          reclaimed; delegations are given up                 closes and locks, too: all state is new

The server may still work on a call that is sent again, and says DELAY or SEQ_MISORDERED then (section 2.10.6.2): the
call keeps its slot, and is sent once more after a pause.

A call that changes names, and of which nobody can tell whether it was executed, ends the run, as in NFSv3. Stateids
change by a reclaim: `Renamed` puts the new ones into calls that were built before.

These calls are made one after the other while all others wait. They are no part of a workload, and are not counted.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nfsclient.clients.nfs4 import Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.files import Compound
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4.operations import operation_of
from nfsclient.rpc.mixed import MixedCalls
from nfsclient.rpc.program import Procedure
from nfsclient.sessions.recovery import NOT_RECLAIMABLE
from nfsclient.sessions.reply import CompoundError, CompoundReply
from nfsclient.sessions.session import Request, SessionState, changes_nothing
from nfsclient.xdr import XdrType, replace
from workloads.engine import Task

SESSIONS: t.Final = "sessions made again: the server had lost them"
"""The name of their number in `Meter.troubles`."""
RECLAIMED: t.Final = "opens reclaimed after a restart"
_AGAIN: t.Final = frozenset({"WRITE", "COMMIT", "SETATTR"})
"""Operations that change something, and may be executed twice: of the data that is written there is one version."""
_STATE: t.Final = frozenset({"OPEN", "CLOSE", "LOCK", "LOCKU"})
"""Operations on state: of a server that has lost all state they are to be made again."""
_LOST: t.Final = frozenset(
    {
        p.Nfsstat4.NFS4ERR_BADSESSION,
        p.Nfsstat4.NFS4ERR_DEADSESSION,
        p.Nfsstat4.NFS4ERR_CONN_NOT_BOUND_TO_SESSION,
    }
)
"""Errors of SEQUENCE that a right server may give: it has lost the session, or does not know the connection."""
MOST: t.Final = 8
"""Sessions that are lost one after the other, without a call that succeeds between them."""
_STATEIDS: t.Final = ("stateid", "open_stateid", "lock_stateid")


@dataclass(slots=True)
class Lost:
    """A call that is to be made again."""

    ask: Compound | None
    """None: the renewal of a lease."""
    task: Task | None
    request: Request | None
    """None: it was not executed, for sure."""
    state: SessionState
    """Of the session in which it was made."""
    procedure: Procedure[t.Any, t.Any]
    """How its reply is decoded."""
    waited: float
    pause: float
    was_resent: bool = False
    begun: int = 0
    """When it was sent first (`AttributeChecks.begin`): a reply that the server kept has attributes from then on."""


class Renamed:
    """Stateids that a reclaim has replaced."""

    def __init__(self) -> None:
        self.by_other: dict[bytes, p.Stateid4] = {}

    def put(self, old: p.Stateid4, new: p.Stateid4) -> None:
        """From now on the new one."""
        for other, known in list(self.by_other.items()):
            if known.other == old.other:
                self.by_other[other] = new
        self.by_other[bytes(old.other)] = new

    def applied(self, operations: Sequence[XdrType]) -> Sequence[XdrType]:
        """Operations with the stateids of now."""
        return [self._of(each) for each in operations] if self.by_other else operations

    def _of(self, operation: XdrType) -> XdrType:
        for name in _STATEIDS:
            old = getattr(operation, name, None)
            new = None if old is None else self.by_other.get(bytes(old.other))
            if new is not None:
                return replace(operation, **{name: new})
        if isinstance(operation, p.Lock4Args) and operation.locker.open_owner is not None:
            owner = operation.locker.open_owner
            new = self.by_other.get(bytes(owner.open_stateid.other))
            if new is not None:
                return replace(
                    operation, locker=replace(operation.locker, open_owner=replace(owner, open_stateid=new))
                )
        return operation


def may_be_made_again(operations: Sequence[XdrType], *, is_new_client: bool) -> bool:
    """Whether a call of which nobody knows whether it was executed may be made again, in a new session."""
    names = {operation_of(each).name for each in operations if not changes_nothing([each])}
    creates = any(isinstance(each, p.Open4Args) and each.openhow.how is not None for each in operations)
    return not creates and names <= (_AGAIN | _STATE if is_new_client else _AGAIN)


def names_of(operations: Sequence[XdrType]) -> str:
    """For messages."""
    return ", ".join(operation_of(each).name for each in operations)


def is_session_lost(reply: CompoundReply) -> bool:
    """Whether SEQUENCE was refused because the server does not know the session: nothing was executed."""
    return not reply.results and reply.status in _LOST


def reconnect(session: Session, connections: Sequence[MixedCalls]) -> bool:
    """Connect again what has ended, and bind it; whether the session is there. Raises `NfsClientError`."""
    is_there = True
    for number, connection in enumerate(connections):
        if not connection.rpc.is_open:
            connection.rpc.reconnect()
            connection.close()
            connection.attach()
        nfs4 = session.nfs4 if not number else Nfs4(connection.rpc, minor=session.nfs4.minor)
        both, fore = p.ChannelDirFromClient4.CDFC4_FORE_OR_BOTH, p.ChannelDirFromClient4.CDFC4_FORE
        result = session.bind(nfs4, fore if number else both)
        is_there = is_there and result.bctsr_status == p.Nfsstat4.NFS4_OK
    return is_there


def new_session(
    old: Session, connections: Sequence[MixedCalls], slots: int, reclaim: Callable[[Session], None]
) -> tuple[Session, bool]:
    """A session in place of one that is lost, and whether it is of a new client: then `reclaim` was called for it.

    Raises `NfsClientError`.
    """
    client = old.client
    assert client is not None
    old._forget_backchannel()
    is_new_client = False
    while True:
        try:
            made = client.create_session(callbacks=True, fore=op.channel(requests=slots))
            break
        except CompoundError as error:
            if error.status != p.Nfsstat4.NFS4ERR_STALE_CLIENTID or is_new_client:
                raise
            client, is_new_client = old.nfs4.new_client(client.owner), True
    made.callbacks.on_recall = old.callbacks.on_recall
    old.nfs4.callbacks.forget(old.id)
    for connection in connections[1:]:
        made.bind(Nfs4(connection.rpc, minor=old.nfs4.minor), p.ChannelDirFromClient4.CDFC4_FORE)
    if is_new_client:
        reclaim(made)
    return made, is_new_client


def reclaim_open(session: Session, handle: bytes, access: int, owner: bytes) -> p.Stateid4 | None:
    """OPEN of a file that was open before the restart (CLAIM_PREVIOUS); None if the server does not have it back."""
    opening = op.open(op.claim_previous(), access, owner=owner)
    reply = session.compound(op.putfh(handle), opening)
    return None if reply.status in NOT_RECLAIMABLE else reply.ok().stateid


def open_again(session: Session, handle: bytes, access: int, owner: bytes) -> p.Stateid4:
    """OPEN by handle of a file that could not be reclaimed. Raises `CompoundError`.

    Nobody would answer a recall: a delegation that comes although it is not wanted (section 18.16.3) goes back.
    """
    opening = op.open(None, access | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG, owner=owner)
    opened = session.compound(op.putfh(handle), opening).ok().of(p.OPEN).resok4
    assert opened is not None
    given = opened.delegation.read or opened.delegation.write
    if given is not None:
        session.compound(op.putfh(handle), op.delegreturn(given.stateid)).ok()
    return opened.stateid


def lock_again(
    session: Session, handle: bytes, opened: p.Stateid4, locked: tuple[int, int, bool], owner: bytes
) -> p.Stateid4:
    """LOCK of (offset, length, whether exclusive), reclaimed if the server permits it. Raises `CompoundError`."""
    offset, length, is_exclusive = locked
    kind = p.NfsLockType4.WRITE_LT if is_exclusive else p.NfsLockType4.READ_LT
    reply: CompoundReply | None = None
    for reclaims in (True, False):
        locking = op.lock(opened, kind, offset, length, owner=owner, reclaim=reclaims)
        reply = session.compound(op.putfh(handle), locking)
        if reply.status not in NOT_RECLAIMABLE:
            break
    assert reply is not None
    return reply.ok().stateid


def complete(session: Session) -> None:
    """RECLAIM_COMPLETE. Raises `CompoundError`."""
    reply = session.compound(op.reclaim_complete())
    if reply.status != p.Nfsstat4.NFS4ERR_COMPLETE_ALREADY:
        reply.ok()
