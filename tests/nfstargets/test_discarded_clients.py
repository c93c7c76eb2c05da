# SPDX-License-Identifier: MIT
"""What a check of NFSv4 has left on the embedded server goes without calls."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from contextlib import closing

import pytest

from nfsclient.clients.nfs4 import Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.discovery import open_connection
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl
from nfstargets.embedded import EmbeddedTarget


@pytest.fixture
def target() -> Iterator[EmbeddedTarget]:
    found = EmbeddedTarget()
    with closing(Loop()) as loop:
        found.loop = loop
        found.start()
        yield found
        found.stop()


@pytest.fixture
def nfs4(target: EmbeddedTarget) -> Iterator[Nfs4]:
    port = target.address().nfs_port
    with closing(open_connection(NfsUrl("127.0.0.1", b"/"), port, loop=t.cast("Loop", target.loop))) as rpc:
        yield Nfs4(rpc, minor=1)


def new(nfs4: Nfs4) -> tuple[Session, int]:
    """A session, and the id of its client."""
    session = nfs4.establish()
    assert session.client is not None
    return session, session.client.id


def test_clients_go_with_all_that_they_have(target: EmbeddedTarget, nfs4: Nfs4) -> None:
    (session, client), (other, _) = new(nfs4), new(nfs4)
    session.compound(op.putrootfh(), op.lookup(b"export"), op.open(b"file", how=op.guarded())).ok()
    assert target.discard_clients([client])
    assert session.compound(op.putrootfh()).status == Nfsstat4.NFS4ERR_BADSESSION
    assert nfs4.destroy_clientid(client).dcr_status == Nfsstat4.NFS4ERR_STALE_CLIENTID
    assert other.compound(op.putrootfh()).status == Nfsstat4.NFS4_OK


def test_states_go_and_the_session_stays(target: EmbeddedTarget, nfs4: Nfs4) -> None:
    session, client = new(nfs4)
    reply = session.compound(
        op.putrootfh(), op.lookup(b"export"), op.open(b"file", how=op.guarded()), op.getfh()
    ).ok()
    assert target.discard_states(client)
    tested = session.compound(op.test_stateid(reply.stateid)).ok().of(p.TEST_STATEID).tsr_resok4
    assert tested is not None
    assert tested.tsr_status_codes == [Nfsstat4.NFS4ERR_BAD_STATEID]
    assert session.destroy().dsr_status == Nfsstat4.NFS4_OK
    assert nfs4.destroy_clientid(client).dcr_status == Nfsstat4.NFS4_OK


def test_what_the_server_does_not_know_is_ignored(target: EmbeddedTarget, nfs4: Nfs4) -> None:
    _, client = new(nfs4)
    assert target.discard_clients([1, client])
    assert target.discard_clients([client])
    target.stop()
    assert not target.discard_clients([client])
    assert not target.discard_states(client)
