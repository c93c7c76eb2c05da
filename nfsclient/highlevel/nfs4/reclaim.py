# SPDX-License-Identifier: MIT
"""What a client does about everything it holds when the server restarts or revokes some (RFC 5661 8.4.2 and 8.5)."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.clients.nfs4 import CompoundReply, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.highlevel.nfs4.attempts import Attempts
from nfsclient.protocol import nfs4 as p
from nfsclient.sessions.recovery import NOT_RECLAIMABLE, REMEDIES, Remedy
from nfsclient.sessions.state import Delegation, HeldState, Locks, Open
from nfsclient.xdr import XdrType

OK: t.Final = p.Nfsstat4.NFS4_OK


class Holder(t.Protocol):
    """Whose state it is: what a recovery needs of a `LiveClient`."""

    held: HeldState
    session: Session
    on_delegation_gone: Callable[[bytes], None] | None

    def forget_delegation(self, delegation: Delegation) -> None: ...

    def note_reclaimed(self) -> None: ...


class Holdings:
    """Reclaims, tests and opens again what a `LiveClient` holds. Raises `CompoundError`, `RpcError`."""

    def __init__(self, live: Holder) -> None:
        self._live = live
        self.owes_reclaim = False
        """Whether a recovery was cut short before RECLAIM_COMPLETE."""

    def reclaim(self, attempts: Attempts) -> None:
        """Opens with their delegations, then locks; RECLAIM_COMPLETE; what was refused is opened again without."""
        opens = list(self._live.held.opens.values())
        refused = [opened for opened in opens if not self._reclaim_open(opened, attempts)]
        with_opens = {opened.handle for opened in opens} - {refused.handle for refused in refused}
        for delegation in list(self._live.held.delegations.values()):
            if delegation.handle not in with_opens:
                self._live.forget_delegation(delegation)
        for locks in self._live.held.locks.values():
            if locks.opened in refused or not self._reclaim_locks(locks, attempts):
                locks.lost = True
        self.complete_reclaim(attempts)
        self.owes_reclaim = False
        self._live.note_reclaimed()
        for opened in refused:
            self._open_again(opened)

    def give_back(self) -> None:
        """Return and close everything: a client id that holds something cannot be destroyed (section 18.50.3)."""
        held, session = self._live.held, self._live.session
        for delegation in list(held.delegations.values()):
            session.compound(op.putfh(delegation.handle), op.delegreturn(delegation.stateid))
        for opened in [opened for opened in held.opens.values() if not opened.lost]:
            for locks in [
                locks for locks in held.locks.values() if locks.opened is opened and not locks.lost
            ]:
                session.compound(op.putfh(opened.handle), op.locku(locks.stateid))
            session.compound(op.putfh(opened.handle), op.close(opened.stateid))

    def _raw(self, attempts: Attempts, *operations: XdrType) -> CompoundReply:
        """A compound of the recovery itself: only waiting is done about what goes wrong."""
        while True:
            reply = self._live.session.compound(*operations)
            if REMEDIES.get(reply.status) is not Remedy.WAIT:
                return reply
            error = reply.error()
            assert error is not None
            attempts.wait(error, reply.executed)

    def _reclaim_open(self, opened: Open, attempts: Attempts) -> bool:
        known = self._live.held.delegations.get(opened.handle)
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
        if self._live.held.delegated(opened.handle, result.delegation) is None and known is not None:
            self._live.forget_delegation(known)
        return True

    def _reclaim_locks(self, locks: Locks, attempts: Attempts) -> bool:
        for index, byte_range in enumerate(locks.ranges):
            if index:
                lock = op.lock_more(
                    locks.stateid, byte_range.type, byte_range.offset, byte_range.length, reclaim=True
                )
            else:
                first, owner = locks.opened.stateid, locks.owner
                lock = op.lock(
                    first, byte_range.type, byte_range.offset, byte_range.length, owner=owner, reclaim=True
                )
            reply = self._raw(attempts, op.putfh(locks.opened.handle), lock)
            if reply.status != OK:
                return False
            locks.stateid = reply.stateid
        return True

    def complete_reclaim(self, attempts: Attempts) -> None:
        reply = self._raw(attempts, op.reclaim_complete())
        if reply.status != p.Nfsstat4.NFS4ERR_COMPLETE_ALREADY:
            reply.ok()

    def _open_again(self, opened: Open) -> None:
        """Open by handle what could not be reclaimed: another client may have changed it meanwhile."""
        reply = self._live.session.compound(
            op.putfh(opened.handle), op.open(None, opened.access, opened.deny, owner=opened.owner)
        )
        if reply.status != OK:
            opened.lost = True
            return
        result = reply.of(p.OPEN).resok4
        assert result is not None
        opened.stateid, opened.lost = result.stateid, False
        self._live.held.delegated(opened.handle, result.delegation)

    def test(self) -> bool:
        """TEST_STATEID of everything held, FREE_STATEID of what is revoked (section 8.5); whether any was."""
        stateids = self._live.held.all_stateids()
        if not stateids:
            return False
        reply = self._live.session.compound(op.test_stateid(*stateids))
        result = reply.of(p.TEST_STATEID).tsr_resok4
        if reply.status != OK or result is None:
            return False
        changed = False
        for stateid, status in zip(stateids, result.tsr_status_codes, strict=False):
            if status == OK:
                continue
            changed = True
            self._live.session.compound(op.free_stateid(stateid))
            lost = self._live.held.revoked(stateid)
            if isinstance(lost, Delegation) and self._live.on_delegation_gone is not None:
                self._live.on_delegation_gone(lost.handle)
            if isinstance(lost, Open):
                for locks in self._live.held.locks.values():
                    locks.lost = locks.lost or locks.opened is lost
                self._open_again(lost)
        return changed
