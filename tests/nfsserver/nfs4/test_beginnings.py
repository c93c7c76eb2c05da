# SPDX-License-Identifier: MIT
"""The engine of compounds with a beginning that has no sessions: NFSv4.0 and 4.1 on one server."""

from __future__ import annotations

import pytest

from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsserver import nfs4
from tests.nfs40.beginning import OPERATIONS, WithoutSession
from tests.nfs40.client import Client40
from tests.nfsserver.nfs4.conftest import Rig4, S

WRITE_LT = p.NfsLockType4.WRITE_LT
BOTH = p.OPEN4_SHARE_ACCESS_BOTH


@pytest.fixture
def minor0(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every server answers minor version 0, too."""
    monkeypatch.setitem(nfs4.BEGINNINGS, 0, WithoutSession())
    for operation, handler in OPERATIONS.items():
        monkeypatch.setitem(nfs4.OPERATIONS, operation, handler)


def client40(rig4: Rig4) -> Client40:
    return Client40.begin(rig4.nfs4(minor=0))


def made(client: Client40, rig4: Rig4, name: bytes, deny: int = 0) -> tuple[bytes, p.Stateid4]:
    """A new file that the client has open; its handle, and the stateid."""
    opening = op.open(name, BOTH, deny, owner=b"opener", how=op.guarded())
    reply = client.compound(op.putfh(rig4.root), opening, op.getfh()).ok()
    return reply.handle, reply.stateid


def test_minor_versions_without_a_beginning_are_not_served(rig4: Rig4) -> None:
    assert rig4.nfs4(minor=0).compound(op.putrootfh()).status == S.NFS4ERR_MINOR_VERS_MISMATCH
    assert rig4.nfs4(minor=3).compound(op.putrootfh()).status == S.NFS4ERR_MINOR_VERS_MISMATCH


@pytest.mark.usefixtures("minor0")
def test_operations_need_no_sequence_and_no_client(rig4: Rig4) -> None:
    plain = rig4.nfs4(minor=0)
    reply = plain.compound(op.putrootfh(), op.lookup(b"export"), op.getattr("type"), op.readdir()).ok()
    assert reply.attributes.type == p.NfsFtype4.NF4DIR
    assert plain.compound(op.sequence(bytes(16), 1)).statuses == [S.NFS4ERR_OP_ILLEGAL]
    assert plain.compound(op.putfh(rig4.root), op.savefh(), op.putrootfh()).status == S.NFS4_OK
    session = rig4.session()
    assert session.nfs4.compound(op.putrootfh()).statuses == [S.NFS4ERR_OP_NOT_IN_SESSION]


@pytest.mark.usefixtures("minor0")
def test_a_file_is_opened_written_and_read(rig4: Rig4) -> None:
    client = client40(rig4)
    handle, stateid = made(client, rig4, b"file")
    client.compound(op.putfh(handle), op.write(stateid, 0, b"data")).ok()
    read = client.compound(op.putfh(handle), op.read(stateid, 0, 10)).ok().of(p.READ).resok4
    assert read is not None
    assert bytes(read.data) == b"data"
    anonymous = rig4.nfs4(minor=0).compound(op.putfh(handle), op.read(op.ANONYMOUS, 0, 10)).ok()
    assert anonymous.statuses == [S.NFS4_OK, S.NFS4_OK]
    client.compound(op.putfh(handle), op.close(stateid)).ok()
    closed = client.compound(op.putfh(handle), op.read(stateid, 0, 10))
    assert closed.status == S.NFS4ERR_BAD_STATEID
    assert client.renew().status == S.NFS4_OK


@pytest.mark.usefixtures("minor0")
def test_a_client_id_that_was_not_confirmed_opens_nothing(rig4: Rig4) -> None:
    client = client40(rig4)
    for clientid in (client.clientid + 1, 1):
        owner = p.StateOwner4(clientid, b"opener")
        opening = op.open(b"file", BOTH, owner=owner, how=op.guarded())
        assert rig4.nfs4(minor=0).compound(op.putfh(rig4.root), opening).status == S.NFS4ERR_STALE_CLIENTID


@pytest.mark.usefixtures("minor0")
def test_both_minor_versions_exclude_each_other(rig4: Rig4) -> None:
    client, session = client40(rig4), rig4.session()
    handle, stateid = made(client, rig4, b"file")
    client.compound(op.putfh(handle), op.lock(stateid, WRITE_LT, 0, 10, owner=b"old")).ok()
    opened = session.compound(op.putfh(handle), op.open(None, BOTH, owner=b"opener")).ok().stateid
    denied = session.compound(op.putfh(handle), op.lock(opened, WRITE_LT, 5, 10, owner=b"new"))
    assert denied.status == S.NFS4ERR_DENIED
    assert denied.of(p.LOCK).denied == p.Lock4Denied(0, 10, WRITE_LT, p.StateOwner4(client.clientid, b"old"))
    session.compound(op.putfh(handle), op.lock(opened, WRITE_LT, 10, 10, owner=b"new")).ok()
    refused = client.compound(op.putfh(handle), op.lockt(WRITE_LT, 15, 1, owner=b"old"))
    assert refused.status == S.NFS4ERR_DENIED
    other, _ = made(client, rig4, b"denied", deny=p.OPEN4_SHARE_DENY_BOTH)
    opening = session.compound(op.putfh(other), op.open(None, BOTH, owner=b"opener"))
    assert opening.status == S.NFS4ERR_SHARE_DENIED
