# SPDX-License-Identifier: MIT
"""Client ids and sessions of before a restart of the server (RFC 5661 sections 2.4, 2.10.13 and 8.4.2).

A server may keep them: then these requests succeed, and the checks end as SKIP or pass.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.across import Pause, Steps, across
from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from nfsclient.clients.nfs4 import CompoundReply, Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.clients.nfs4.client import new_owner
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, observe, proves, should, skip, stated
from suites.nfs4.minors import MINORS
from suites.recovery.either import ENDINGS
from suites.recovery.reclaims import STATE

SESSION_IS_GONE = stated(
    "RFC 5661",
    "8.4.2",
    "the id of a session that was lost in a restart gets NFS4ERR_BADSESSION, or DEADSESSION if it is persistent",
)
CLIENT_IS_GONE = stated(
    "RFC 5661",
    "2.4",
    "a client id that the server does not know after a restart gets NFS4ERR_STALE_CLIENTID",
)
IDS_ARE_NEW = should(
    "RFC 5661",
    "2.4",
    "a client id does not conflict with one that was assigned before, also before a restart of the server",
)
COMES_BACK = stated(
    "RFC 5661",
    "8.4.2",
    "after a restart the client establishes a new client id by EXCHANGE_ID, and a new session",
)
_GONE: t.Final = (Nfsstat4.NFS4ERR_BADSESSION, Nfsstat4.NFS4ERR_DEADSESSION)
_NOT_BOUND: t.Final = Nfsstat4.NFS4ERR_CONN_NOT_BOUND_TO_SESSION
_WITH_SESSION: t.Final[dict[str, Callable[[Nfs4, Session], CompoundReply]]] = {
    "sequence": lambda nfs4, old: nfs4.compound(old.state.begin([]).args.argarray[0]),
    "destroy": lambda nfs4, old: nfs4.compound(op.destroy_session(old.id)),
    "bind": lambda nfs4, old: nfs4.compound(op.bind_conn_to_session(old.id)),
}
_WITH_CLIENT: t.Final[dict[str, Callable[[Nfs4, int, int], CompoundReply]]] = {
    "create": lambda nfs4, old, sequence: nfs4.compound(op.create_session(old, sequence)),
    "destroy": lambda nfs4, old, _: nfs4.compound(op.destroy_clientid(old)),
}


@MINORS
@ENDINGS
@across("ending", STATE)
@pytest.mark.parametrize("operation", _WITH_SESSION)
@proves(SESSION_IS_GONE, killed_by="sessions4-of-before-are-stale")
def test_session(v4: Nfs4Dialect, operation: str, ending: str) -> Steps:
    """An operation with a session of before the restart fails with BADSESSION, or the session is still there."""
    old = v4.new_session(v4.connections.connect("nfs"))
    yield Pause(ending)
    reply = _WITH_SESSION[operation](v4.client(v4.connections.connect("nfs")), old)
    observe("session of before the restart", reply.status.name)
    # DESTROY_SESSION alone, on a connection that a session which is still there does not have (section 18.37.3).
    kept = {Nfsstat4.NFS4_OK, *([_NOT_BOUND] if operation == "destroy" else [])}
    if reply.status not in kept:
        expect(reply).refused(*_GONE, because=SESSION_IS_GONE)


@MINORS
@ENDINGS
@across("ending", STATE)
@pytest.mark.parametrize("operation", _WITH_CLIENT)
@proves(CLIENT_IS_GONE, killed_by="clients4-of-before-are-inval")
def test_client(v4: Nfs4Dialect, operation: str, ending: str) -> Steps:
    """An operation with a client id of before the restart fails with STALE_CLIENTID, or the id is still known."""
    old = v4.new_session(v4.connections.connect("nfs")).client
    assert old is not None
    yield Pause(ending)
    nfs4 = v4.client(v4.connections.connect("nfs"))
    reply = _WITH_CLIENT[operation](nfs4, old.id, old.sequence_id)
    observe("client id of before the restart", reply.status.name)
    known = {Nfsstat4.NFS4_OK, Nfsstat4.NFS4ERR_CLIENTID_BUSY, Nfsstat4.NFS4ERR_SEQ_MISORDERED}
    if reply.status not in known:
        expect(reply).refused(Nfsstat4.NFS4ERR_STALE_CLIENTID, because=CLIENT_IS_GONE)


@MINORS
@ENDINGS
@across("ending", STATE)
@proves(IDS_ARE_NEW, killed_by="exchangeid4-counts-from-one-again")
def test_other_client(v4: Nfs4Dialect, ending: str) -> Steps:
    """A client that the server did not know before a restart gets none of the client ids of before."""
    old = {v4.new_session(v4.connections.connect("nfs")).state.clientid for _ in range(3)}
    yield Pause(ending)
    nfs4 = v4.client(v4.connections.connect("nfs"))
    for _ in range(3):
        result = expect(nfs4.compound(op.exchange_id(new_owner()))).of(p.EXCHANGE_ID).ok()
        expect(result).field("eir_clientid", "client id").satisfies(
            lambda number: number not in old, "none of those of before the restart"
        )


@MINORS
@ENDINGS
@across("ending", STATE)
@proves(COMES_BACK, killed_by="createsession4-takes-no-former-clients")
def test_comes_back(v4: Nfs4Dialect, ending: str) -> Steps:
    """The owner of a client id of before a restart gets a client id, and a session that works."""
    old = v4.new_session(v4.connections.connect("nfs")).client
    assert old is not None
    yield Pause(ending)
    nfs4 = v4.client(v4.connections.connect("nfs"))
    result = expect(nfs4.compound(op.exchange_id(old.owner))).of(p.EXCHANGE_ID).ok()
    if result.eir_flags & p.EXCHGID4_FLAG_CONFIRMED_R:
        skip("the server knows the client id of before the restart")
    made = nfs4.compound(op.create_session(result.eir_clientid, result.eir_sequenceid))
    created = expect(made).of(p.CREATE_SESSION).ok()
    expect(nfs4.compound(op.sequence(created.csr_sessionid, 1), op.reclaim_complete())).ok()
    expect(nfs4.compound(op.destroy_session(created.csr_sessionid))).ok()
    expect(nfs4.compound(op.destroy_clientid(result.eir_clientid))).ok()
