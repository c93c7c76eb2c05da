# SPDX-License-Identifier: MIT
"""Callbacks other than CB_RECALL: when they come, and what the server makes of the answers."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4
from nfsclient.rpc.blocking import RpcClient
from tests.nfsserver.nfs4.conftest import Rig4, S

_LATER = 5.0


def _delegated(session: Session, file: bytes, owner: bytes = b"holder") -> p.OpenDelegation4:
    access = p.OPEN4_SHARE_ACCESS_BOTH | p.OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG
    opened = session.compound(op.putfh(file), op.open(None, access, owner=owner)).ok().of(p.OPEN).resok4
    assert opened is not None
    return opened.delegation


def _size(session: Session, file: bytes) -> tuple[S, int | None]:
    reply = session.compound(op.putfh(file), op.getattr("size"))
    return reply.status, reply.attributes.size if reply.status == S.NFS4_OK else None


def test_a_writer_that_says_nothing_of_its_data_has_modified_nothing(rig4: Rig4) -> None:
    maker = rig4.session()
    file = rig4.make(maker, b"f", b"data")
    before = maker.compound(op.putfh(file), op.getattr("change")).ok().attributes.change
    holder = rig4.session(callbacks=True)
    assert _delegated(holder, file).write is not None
    holder.callbacks.on(p.CB_GETATTR, p.CbGetattr4Res(S.NFS4_OK, p.CbGetattr4ResOk(Fattr4())))
    assert _size(maker, file) == (S.NFS4ERR_DELAY, None)
    assert holder.await_callbacks(1, _LATER)
    assert _size(maker, file) == (S.NFS4_OK, 4)
    maker.compound(op.putfh(file), op.getattr("change"))
    assert holder.await_callbacks(2, _LATER)
    assert maker.compound(op.putfh(file), op.getattr("change")).ok().attributes.change == before


def test_a_lost_slot_recall_changes_nothing_but_the_target(rig4: Rig4) -> None:
    rig4.server.knobs.set("slots_kept", 2)
    session = rig4.session(callbacks=True, fore=op.channel(requests=8))
    assert session.await_callbacks(1, _LATER)
    assert session.state.slots.owes_return
    assert session.compound(op.putrootfh(), slot=5, highest_slot=5).status == S.NFS4_OK
    session.renew()  # the client has no request above the target, and says so
    assert session.state.slots.recalled is None
    assert session.compound(op.putrootfh(), slot=5, highest_slot=5).status == S.NFS4ERR_BADSLOT
    assert session.compound(op.putrootfh(), slot=1, highest_slot=1).status == S.NFS4_OK


@pytest.mark.parametrize("is_announced", [True, False])
def test_notices_of_locks_come_where_open_has_announced_them(rig4: Rig4, is_announced: bool) -> None:
    rig4.server.knobs.set("lock_notices", is_announced)
    maker = rig4.session()
    file = rig4.make(maker, b"f", b"data")
    waiting = rig4.session(callbacks=True)
    stateids = []
    for session in (maker, waiting):
        opening = op.open(None, p.OPEN4_SHARE_ACCESS_BOTH, owner=b"o")
        opened = session.compound(op.putfh(file), opening).ok().of(p.OPEN).resok4
        assert opened is not None
        assert bool(opened.rflags & p.OPEN4_RESULT_MAY_NOTIFY_LOCK) is is_announced
        stateids.append(opened.stateid)
    kind = p.NfsLockType4.WRITEW_LT
    first = maker.compound(op.putfh(file), op.lock(stateids[0], kind, 0, 1, owner=b"first")).ok().stateid
    denied = waiting.compound(op.putfh(file), op.lock(stateids[1], kind, 0, 1, owner=b"second"))
    assert denied.status == S.NFS4ERR_DENIED
    maker.compound(op.putfh(file), op.locku(first, 0, 1)).ok()
    waiting.renew()
    assert waiting.await_callbacks(1, _LATER if is_announced else 0.0) is is_announced


def test_any_recall_comes_once_until_there_are_few_again(rig4: Rig4) -> None:
    rig4.server.knobs.set("delegations_kept", 1)
    maker, holder = rig4.session(), rig4.session(callbacks=True)
    for number in range(4):
        _delegated(holder, rig4.make(maker, b"f%d" % number, b"data"), b"o%d" % number)
    assert holder.await_callbacks(1, _LATER)
    holder.renew()
    calls = [each.args for each in holder.callbacks.received]
    assert calls == [p.CbRecallAny4Args(1, [3])]


def test_types_that_nobody_defines_are_invalid(rig4: Rig4) -> None:
    session = rig4.session(callbacks=True)
    asked = [p.CbRecallAny4Args(0, [1 << bit]) for bit in (0, 4, 15, 17, 5, 18, 31)]
    answers = [session.callbacks.right_answer(p.CB_RECALL_ANY, args) for args in asked]
    assert answers == [S.NFS4_OK] * 4 + [S.NFS4ERR_INVAL] * 3


def test_a_recall_that_found_no_connection_comes_over_the_next_one(rig4: Rig4) -> None:
    """BIND_CONN_TO_SESSION names the session, so its client knows it: no further request is needed."""
    other, holder = rig4.session(), rig4.session(callbacks=True)
    file = rig4.make(other, b"f", b"data")
    _delegated(holder, file)
    t.cast("RpcClient", holder.nfs4.rpc).close()
    opening = op.open(None, p.OPEN4_SHARE_ACCESS_BOTH | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG, owner=b"other")
    assert other.compound(op.putfh(file), opening).status == S.NFS4ERR_DELAY
    holder.bind(rig4.nfs4())
    assert holder.await_callbacks(1, _LATER)
