# SPDX-License-Identifier: MIT
"""What clients of the server may reclaim after a restart (RFC 5661 sections 8.4.2.1 and 8.4.3)."""

from __future__ import annotations

from nfsclient.clients.nfs4 import CompoundReply, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from tests.nfsserver.conftest import ALICE
from tests.nfsserver.nfs4.conftest import Rig4, S


def come_back(rig4: Rig4, session: Session) -> Session:
    assert session.client is not None
    return rig4.nfs4().new_client(session.client.owner).create_session()


def reclaim(session: Session, file: bytes, access: int = 3) -> CompoundReply:
    return session.compound(op.putfh(file), op.open(op.claim_previous(), access, owner=b"o"))


def hold(rig4: Rig4, session: Session, access: int = 3, deny: int = 0) -> tuple[bytes, p.Open4ResOk]:
    """A new file that a client has open; somebody else is waited for after a crash, so the grace period lasts."""
    file = rig4.make(session, b"f")
    reply = session.compound(op.putfh(file), op.open(None, access, deny, owner=b"o")).ok()
    opened = reply.of(p.OPEN).resok4
    assert opened is not None
    other = rig4.session()
    rig4.make(other, b"other")
    return file, opened


def test_what_expired_is_not_reclaimed(rig4: Rig4) -> None:
    holder = rig4.session()
    file, _ = hold(rig4, holder, deny=3)
    rig4.clock.advance(100)
    other = rig4.session()
    other.compound(op.putfh(file), op.open(None, 1, owner=b"o")).ok()
    rig4.server.crash()
    assert reclaim(come_back(rig4, holder), file).status == S.NFS4ERR_RECLAIM_BAD


def test_what_is_opened_after_all_losses_are_freed_is_reclaimed(rig4: Rig4) -> None:
    holder = rig4.session()
    file, opened = hold(rig4, holder, deny=3)
    rig4.clock.advance(100)
    rig4.session().compound(op.putfh(file), op.open(None, 1, owner=b"o")).ok()
    again = op.open(None, 1, owner=b"again")
    holder.compound(op.putfh(file), again).ok()
    holder.compound(op.free_stateid(opened.stateid)).ok()
    rig4.server.crash()
    assert reclaim(come_back(rig4, holder), file, 1).status == S.NFS4_OK


def test_after_a_revoked_delegation_nothing_is_reclaimed(rig4: Rig4) -> None:
    holder, other = rig4.session(callbacks=True), rig4.session()
    holder.callbacks.on(p.CB_RECALL, S.NFS4_OK)
    file, _ = hold(rig4, holder, 1 | p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG)
    writing = (op.putfh(file), op.open(None, 2, owner=b"o"))
    assert other.compound(*writing).status == S.NFS4ERR_DELAY
    rig4.clock.advance(60)
    holder.renew()
    rig4.clock.advance(60)
    holder.renew()
    assert other.compound(*writing).status == S.NFS4_OK
    rig4.server.crash()
    assert reclaim(come_back(rig4, holder), file, 1).status == S.NFS4ERR_RECLAIM_BAD


def test_nobody_waits_for_a_client_that_was_destroyed(rig4: Rig4) -> None:
    holder = rig4.session()
    file = rig4.make(holder, b"f")
    holder.compound(op.putfh(file), op.open(None, 1, owner=b"o")).ok()
    rig4.server.crash()
    again = come_back(rig4, holder)
    assert again.client is not None
    again.destroy()
    again.client.destroy()
    opening = op.open(None, 1, owner=b"o")
    assert rig4.session().compound(op.putfh(file), opening).status == S.NFS4_OK


def test_reclaim_by_a_user_without_permission(rig4: Rig4) -> None:
    holder = rig4.session(ALICE)
    other = rig4.session()
    file = rig4.make(other, b"f")
    other.compound(op.putfh(file), op.setattr(p.Fattr4(mode=0o644))).ok()
    holder.compound(op.putfh(file), op.open(None, 1, owner=b"o")).ok()
    other.compound(op.putfh(file), op.setattr(p.Fattr4(mode=0o600))).ok()
    rig4.server.crash()
    assert holder.client is not None
    again = rig4.nfs4(ALICE).new_client(holder.client.owner).create_session()
    assert reclaim(again, file, 1).status == S.NFS4ERR_ACCESS


def test_open_that_denies_reading_recalls_a_read_delegation(rig4: Rig4) -> None:
    holder, other = rig4.session(callbacks=True), rig4.session()
    holder.callbacks.on(p.CB_RECALL, S.NFS4_OK)
    file, opened = hold(rig4, holder, 1 | p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG)
    holder.compound(op.putfh(file), op.close(opened.stateid)).ok()
    opening = op.open(None, 1, p.OPEN4_SHARE_DENY_READ, owner=b"o")
    assert other.compound(op.putfh(file), opening).status == S.NFS4ERR_DELAY
