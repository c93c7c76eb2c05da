# SPDX-License-Identifier: MIT
"""Sessions of the server: what the reply cache has room for, and recalls that outlive a session."""

from __future__ import annotations

import pytest

from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import Unread, XdrType
from tests.nfsserver.nfs4.conftest import Rig4, S

_LONE = 84
"""Bytes of a reply that has SEQUENCE only."""


@pytest.mark.parametrize(("cached", "status"), [(10, S.NFS4ERR_REP_TOO_BIG_TO_CACHE), (_LONE, S.NFS4_OK)])
def test_lone_sequence_must_fit_into_the_cache(rig4: Rig4, cached: int, status: p.Nfsstat4) -> None:
    session = rig4.session(reclaim_complete=False, fore=op.channel(responsesize_cached=cached))
    reply = session.compound(cache_this=True)
    assert (reply.status, len(reply.res.resarray)) == (status, 1)
    # An error of SEQUENCE leaves the slot as it is: what was refused can be sent without the wish.
    assert session.compound(cache_this=False).status == S.NFS4_OK


def test_refusal_of_what_follows_must_fit_too(rig4: Rig4) -> None:
    session = rig4.session(reclaim_complete=False, fore=op.channel(responsesize_cached=_LONE))
    reply = session.compound(op.putrootfh(), cache_this=True)
    assert reply.status == S.NFS4ERR_REP_TOO_BIG_TO_CACHE
    assert len(reply.res.resarray) == 1


def test_operations_that_do_not_fit_are_refused_where_they_stand(rig4: Rig4) -> None:
    session = rig4.session(reclaim_complete=False, fore=op.channel(responsesize_cached=_LONE + 8))
    reply = session.compound(op.putrootfh(), op.getfh(), cache_this=True)
    assert p.status_of(reply.res.resarray[0]) == S.NFS4_OK
    assert reply.status == S.NFS4ERR_REP_TOO_BIG_TO_CACHE


@pytest.mark.parametrize(
    ("operation", "status"),
    [
        (Unread(10043, b""), S.NFS4ERR_OP_ILLEGAL),
        (p.Renew4Args(1), S.NFS4ERR_NOTSUPP),
        (op.putrootfh(), S.NFS4ERR_RETRY_UNCACHED_REP),
    ],
    ids=["illegal", "removed", "usual"],
)
def test_retry_of_what_is_illegal_is_never_uncached(
    rig4: Rig4, operation: XdrType, status: p.Nfsstat4
) -> None:
    session = rig4.session()
    request = session.state.begin([operation], cache_this=False)
    first, again = session.perform(request), session.perform(request)
    assert (again.status, len(again.res.resarray)) == (status, 2)
    assert type(again.res.resarray[1]) is type(first.res.resarray[1])


def test_sequence_ids_of_a_slot_wrap(rig4: Rig4) -> None:
    """After 2^32 - 1 comes 0, which is then that of the retry."""
    session = rig4.session()
    kept = rig4.server.states.sessions.require(session.id).slots[0]
    kept.sequence_id = last = (1 << 32) - 1
    assert session.compound(op.putrootfh(), slot=0, sequence_id=0).status == S.NFS4_OK
    assert kept.sequence_id == 0
    assert session.compound(op.putrootfh(), slot=0, sequence_id=0, cache_this=False).status in {
        S.NFS4_OK,
        S.NFS4ERR_RETRY_UNCACHED_REP,
    }
    for wrong in (last, 2):
        reply = session.compound(op.putrootfh(), slot=0, sequence_id=wrong)
        assert reply.status == S.NFS4ERR_SEQ_MISORDERED
    assert session.compound(op.putrootfh(), slot=0, sequence_id=1).status == S.NFS4_OK


@pytest.mark.parametrize("when", ["before", "after"])
def test_recall_outlives_its_session(rig4: Rig4, when: str) -> None:
    """It goes over the session that the client has, or over the one that it makes."""
    file = rig4.make(rig4.session(), b"f", b"data")
    holder = rig4.session(callbacks=True)
    client = holder.client
    assert client is not None
    access = p.OPEN4_SHARE_ACCESS_READ | p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG
    opened = holder.compound(op.putfh(file), op.open(None, access, owner=b"holder")).ok().of(p.OPEN).resok4
    assert opened is not None
    assert opened.delegation.read is not None
    stateid = opened.delegation.read.stateid

    holder.nfs4.callbacks.silent = True
    changing = op.putfh(file), op.setattr(p.Fattr4(size=1))
    other = rig4.session()
    assert other.compound(*changing).status == S.NFS4ERR_DELAY
    assert holder.await_callbacks(1, 10)

    client.nfs4 = rig4.nfs4()  # another connection, which answers
    next_session = client.create_session(callbacks=True) if when == "before" else None
    assert holder.nfs4.destroy_session(holder.id).dsr_status == S.NFS4_OK
    session = next_session or client.create_session(callbacks=True)
    session.renew()
    assert session.await_callbacks(1, 10)
    (recall,) = session.callbacks.received
    assert recall.args.stateid.other == stateid.other
    session.compound(op.putfh(file), op.delegreturn(stateid)).ok()
    other.compound(*changing).ok()


def test_recall_of_what_came_back_is_not_sent_again(rig4: Rig4) -> None:
    file = rig4.make(rig4.session(), b"f", b"data")
    holder = rig4.session(callbacks=True)
    client = holder.client
    assert client is not None
    access = p.OPEN4_SHARE_ACCESS_READ | p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG
    opened = holder.compound(op.putfh(file), op.open(None, access, owner=b"holder")).ok().of(p.OPEN).resok4
    assert opened is not None
    assert opened.delegation.read is not None
    holder.nfs4.callbacks.silent = True
    other = rig4.session()
    assert other.compound(op.putfh(file), op.setattr(p.Fattr4(size=1))).status == S.NFS4ERR_DELAY
    assert holder.await_callbacks(1, 10)
    holder.compound(op.putfh(file), op.delegreturn(opened.delegation.read.stateid)).ok()
    client.nfs4 = rig4.nfs4()
    assert holder.nfs4.destroy_session(holder.id).dsr_status == S.NFS4_OK
    session = client.create_session(callbacks=True)
    session.renew()
    assert session.callbacks.count == 0
