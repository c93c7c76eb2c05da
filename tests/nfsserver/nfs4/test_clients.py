# SPDX-License-Identifier: MIT
"""Client records, sessions and leases of the server."""

from __future__ import annotations

import pytest

from nfsclient.clients.nfs4 import CompoundReply, new_owner
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsserver.state.clients import CASES
from tests.nfsserver.conftest import ALICE, BOB
from tests.nfsserver.nfs4.conftest import Rig4, S

UPDATE = p.EXCHGID4_FLAG_UPD_CONFIRMED_REC_A


def flags_of(reply: CompoundReply) -> int:
    result = reply.of(p.SEQUENCE).sr_resok4
    assert result is not None
    return result.sr_status_flags


def test_cases_are_those_of_the_rfc() -> None:
    """RFC 5661 section 18.35.4 has nine; case 4 does what case 1 does."""
    assert {case.number for case in CASES} | {4} == set(range(1, 10))


@pytest.mark.parametrize(
    ("flags", "verifier", "user", "status"),
    [
        (0, "same", ALICE, S.NFS4_OK),
        (0, "other", ALICE, S.NFS4_OK),
        (0, "same", BOB, S.NFS4ERR_CLID_INUSE),
        (0, "other", BOB, S.NFS4ERR_CLID_INUSE),
        (UPDATE, "same", ALICE, S.NFS4_OK),
        (UPDATE, "other", ALICE, S.NFS4ERR_NOT_SAME),
        (UPDATE, "same", BOB, S.NFS4ERR_PERM),
    ],
)
def test_exchange_id_with_a_confirmed_record(
    rig4: Rig4, flags: int, verifier: str, user: object, status: p.Nfsstat4
) -> None:
    """Of a client that has a file open."""
    nfs4 = rig4.nfs4(ALICE)
    session = nfs4.establish()
    assert session.client is not None
    opening = op.open(b"f", 3, owner=b"o", how=op.guarded())
    session.compound(op.putfh(rig4.root), opening).ok()
    known = session.client.owner
    owner = known if verifier == "same" else new_owner(known.co_ownerid)
    result = rig4.nfs4(user).exchange_id(owner, flags)  # type: ignore[arg-type]
    assert result.eir_status == status
    if result.eir_resok4 is not None:
        is_same = verifier == "same"
        assert (result.eir_resok4.eir_clientid == session.client.id) == is_same
        assert bool(result.eir_resok4.eir_flags & p.EXCHGID4_FLAG_CONFIRMED_R) == is_same
    assert session.renew().status == S.NFS4_OK


def test_owner_without_state_goes_to_another_principal(rig4: Rig4) -> None:
    """Case 3: a collision with a client that holds nothing."""
    session = rig4.session(ALICE)
    assert session.client is not None
    assert rig4.nfs4(BOB).exchange_id(session.client.owner).eir_status == S.NFS4_OK
    assert session.renew().status == S.NFS4ERR_BADSESSION


def test_expired_client_keeps_its_state_until_somebody_needs_it(rig4: Rig4) -> None:
    first, other = rig4.session(), rig4.session()
    file = rig4.make(first, b"f")
    opened = first.compound(op.putfh(file), op.open(None, 1, 2, owner=b"o")).ok()
    rig4.clock.advance(100)
    assert first.compound(op.putfh(file), op.read(opened.stateid, 0, 1)).status == S.NFS4_OK
    rig4.clock.advance(100)
    other.renew()
    assert other.compound(op.putfh(file), op.open(None, 2, owner=b"o")).status == S.NFS4_OK
    reply = first.compound(op.putfh(file), op.read(opened.stateid, 0, 1))
    assert reply.status == S.NFS4ERR_EXPIRED
    assert flags_of(reply) & p.SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED
    tested = first.compound(op.test_stateid(opened.stateid)).of(p.TEST_STATEID).tsr_resok4
    assert tested is not None
    assert tested.tsr_status_codes == [S.NFS4ERR_EXPIRED]
    assert first.compound(op.free_stateid(opened.stateid)).status == S.NFS4_OK
    assert not flags_of(first.renew()) & p.SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED


def test_server_that_is_not_courteous(rig4: Rig4) -> None:
    rig4.server.knobs.set("courteous", False)
    first, other = rig4.session(), rig4.session()
    file = rig4.make(first, b"f")
    opened = first.compound(op.putfh(file), op.open(None, 1, owner=b"o")).ok()
    rig4.clock.advance(100)
    other.renew()
    assert first.compound(op.putfh(file), op.read(opened.stateid, 0, 1)).status == S.NFS4ERR_EXPIRED


def test_delegation_that_is_not_returned_is_revoked_after_a_lease(rig4: Rig4) -> None:
    holder, other = rig4.session(callbacks=True), rig4.session()
    file = rig4.make(other, b"f")
    holder.callbacks.on(p.CB_RECALL, S.NFS4_OK)
    granted = holder.compound(
        op.putfh(file), op.open(None, 1 | p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG, owner=b"o")
    ).ok()
    opened = granted.of(p.OPEN).resok4
    assert opened is not None
    delegation = opened.delegation.read
    assert delegation is not None
    writing = (op.putfh(file), op.open(None, 2, owner=b"o"))
    assert other.compound(*writing).status == S.NFS4ERR_DELAY
    rig4.clock.advance(80)
    holder.renew()
    assert other.compound(*writing).status == S.NFS4ERR_DELAY
    rig4.clock.advance(20)
    holder.renew()
    assert other.compound(*writing).status == S.NFS4_OK
    reply = holder.compound(op.putfh(file), op.delegreturn(delegation.stateid))
    assert reply.status == S.NFS4ERR_DELEG_REVOKED
    assert flags_of(reply) & p.SEQ4_STATUS_RECALLABLE_STATE_REVOKED


def test_grace_ends_when_all_have_reclaimed_or_after_a_lease(rig4: Rig4) -> None:
    first, other = rig4.session(), rig4.session()
    file = rig4.make(first, b"f")
    for session in (first, other):
        session.compound(op.putfh(file), op.open(None, 1, owner=b"o")).ok()
    rig4.server.crash()
    late = rig4.session()
    opening = (op.putfh(file), op.open(None, 1, owner=b"o"))
    assert late.compound(*opening).status == S.NFS4ERR_GRACE
    reclaim = op.open(op.claim_previous(), 1, owner=b"o")
    assert late.compound(op.putfh(file), reclaim).status == S.NFS4ERR_NO_GRACE
    rig4.clock.advance(100)
    assert late.compound(*opening).status == S.NFS4_OK


def test_rooms_of_replies_are_kept(rig4: Rig4) -> None:
    nfs4 = rig4.nfs4()
    client = nfs4.new_client()
    limits = op.channel(requestsize=2000, responsesize=1000, responsesize_cached=400)
    session = client.create_session(fore=limits)
    session.compound(op.reclaim_complete()).ok()
    file = rig4.make(session, b"f", b"x" * 900)
    reading = (op.putfh(file), op.read(p.ANONYMOUS_STATEID, 0, 900))
    assert session.compound(*reading).status == S.NFS4ERR_REP_TOO_BIG
    small = (op.putfh(file), op.read(p.ANONYMOUS_STATEID, 0, 500))
    assert session.compound(*small).status == S.NFS4_OK
    assert session.compound(*small, cache_this=True).status == S.NFS4ERR_REP_TOO_BIG_TO_CACHE
    many = [op.getattr("supported_attrs", "acl", "filehandle")] * 6
    making = (op.putfh(rig4.root), *many, op.mkdir(b"made"))
    assert session.compound(*making, cache_this=True).status == S.NFS4ERR_REP_TOO_BIG_TO_CACHE
    assert not rig4.server.fs.root.directory.get(b"made")  # type: ignore[union-attr]
    large = (op.putfh(file), op.write(p.ANONYMOUS_STATEID, 0, b"x" * 2000))
    assert session.compound(*large).status == S.NFS4ERR_REQ_TOO_BIG
