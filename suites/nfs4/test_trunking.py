# SPDX-License-Identifier: MIT
"""Several connections of a session, several sessions of a client and of a connection (RFC 5661 section 2.10.5)."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Nfs4, Session, new_owner
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsjudge import expect, expect_data, must, proves, should, stated
from suites.nfs4.locks import WRITE_LT, lock_range, test_range
from suites.nfs4.opens import BOTH, another_client, open_file

SAME_SERVER = must(
    "RFC 5661",
    "2.10.5",
    "EXCHANGE_IDs of one client owner on two connections return the same client id, so_major_id and server scope",
)
ONE_SERVER_OWNER = should(  # no sentence says so: clients compare what they got themselves
    "RFC 5661",
    "2.5",
    "the server owner and the server scope are those of the server, whichever client owner asks",
)
SESSION_TRUNKING = must(
    "RFC 5661",
    "2.10.5",
    "several connections to one address of the server may be associated with the same session",
)
ANY_CONNECTION_JOINS = stated(
    "RFC 5661",
    "2.10.3.1",
    "without state protection, SEQUENCE on another connection associates that with the fore channel",
)
CONNECTIONS_ARE_SHARED = stated(
    "RFC 5661",
    "2.10.3.1",
    "a connection may be associated with several sessions at the same time, of several client ids, too",
)
CLIENT_TRUNKING = must(
    "RFC 5661",
    "2.10.5",
    "several sessions may be associated with the same client id, each on another connection",
)
STATE_IS_SHARED = stated("RFC 5661", "2.10.5", "locking state is shared across the sessions of a client id")
_LOOK: t.Final = [op.putrootfh(), op.getattr("type")]


def _on_another_connection(v4: Nfs4Dialect) -> Nfs4:
    return v4.client(v4.connections.connect("nfs"))


def _expect_same_server(first: p.ExchangeId4ResOk, second: p.ExchangeId4ResOk) -> None:
    major = first.eir_server_owner.so_major_id
    expect(second).field("eir_server_owner.so_major_id", "so_major_id").equals(major)
    expect(second).field("eir_server_scope", "server scope").equals(first.eir_server_scope)


@proves(SAME_SERVER, killed_by="exchangeid4-connections-are-clients")
def test_same_owner(v4: Nfs4Dialect, nfs4: Nfs4) -> None:
    """A confirmed client that sends its owner on a second connection gets the same client id, from the same server."""
    client = nfs4.new_client(new_owner())
    client.create_session()
    result = expect(_on_another_connection(v4).exchange_id(client.owner)).ok()
    expect(result).field("eir_clientid", "client id").equals(client.id)
    _expect_same_server(client.result, result)


@proves(ONE_SERVER_OWNER, killed_by="exchangeid4-has-an-owner-for-each-client")
def test_other_owner(v4: Nfs4Dialect, nfs4: Nfs4) -> None:
    """Another client owner on another connection is answered by the same server owner, of the same scope."""
    first = expect(nfs4.exchange_id(new_owner())).ok()
    _expect_same_server(first, expect(_on_another_connection(v4).exchange_id(new_owner())).ok())


@proves(ANY_CONNECTION_JOINS, killed_by="sequence4-wants-bound-connections")
def test_joins(v4: Nfs4Dialect, session: Session) -> None:
    """A request on a connection that the session has not had before is executed."""
    expect(_on_another_connection(v4).compound(session.sequence(0), *_LOOK)).ok()


@proves(SESSION_TRUNKING, killed_by="sequence4-newest-connection-only")
def test_in_turn(v4: Nfs4Dialect, session: Session) -> None:
    """Two connections carry requests of the same slot in turn."""
    connections = [_on_another_connection(v4) for _ in range(2)]
    for _ in range(3):
        for nfs4 in connections:
            expect(session.perform(session.state.begin(_LOOK, slot=0), via=nfs4)).ok()


@pytest.mark.parametrize("whose", ["one-client", "two-clients"])
@proves(CONNECTIONS_ARE_SHARED, killed_by="sequence4-connections-have-a-session")
def test_two_sessions(v4: Nfs4Dialect, whose: str) -> None:
    """Two sessions use the same connection in turn."""
    nfs4 = _on_another_connection(v4)
    client = nfs4.new_client()
    other = client if whose == "one-client" else nfs4.new_client()
    sessions = [client.create_session(), other.create_session()]
    for session in sessions * 2:
        expect(session.compound(*_LOOK)).ok()


@proves(CLIENT_TRUNKING, killed_by="createsession4-one-session-per-client")
def test_two_connections(v4: Nfs4Dialect, nfs4: Nfs4) -> None:
    """A client makes a second session on another connection, and uses both."""
    client = nfs4.new_client()
    first = client.create_session()
    client.nfs4 = _on_another_connection(v4)
    second = client.create_session()
    for session in (first, second, first):
        expect(session.compound(*_LOOK)).ok()


def _two_sessions(v4: Nfs4Dialect) -> tuple[Session, Session]:
    """Two sessions of a client, each on a separate connection."""
    client = _on_another_connection(v4).new_client()
    first = client.create_session()
    expect(first.compound(op.reclaim_complete())).ok()
    client.nfs4 = _on_another_connection(v4)
    return first, client.create_session()


@proves(STATE_IS_SHARED, killed_by="read4-opens-are-of-sessions")
def test_open_elsewhere(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """A file that was opened in one session is read and closed in another session of the client."""
    first, second = _two_sessions(v4)
    file = scratch.file("file", b"data")
    opened = open_file(first, file, BOTH)
    reading = second.compound(op.putfh(file), op.read(opened.stateid, 0, 4))
    data = bytes(expect(reading).of(p.READ).ok().data)
    expect_data(data, b"data"[: len(data)], of="range")
    expect(second.compound(op.putfh(file), op.close(opened.stateid))).ok()


@proves(STATE_IS_SHARED, killed_by="locku4-locks-are-of-sessions")
def test_lock_elsewhere(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """A range that was locked in one session is unlocked in another session of the client."""
    first, second = _two_sessions(v4)
    file, other = scratch.file("file", b"data"), another_client(v4)
    stateid = lock_range(first, open_file(first, file, BOTH), WRITE_LT, 0, 10)
    expect(second.compound(op.putfh(file), op.locku(stateid, 0, 10))).ok()
    expect(test_range(other, file, WRITE_LT, 0, 10)).ok()
