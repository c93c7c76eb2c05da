# SPDX-License-Identifier: MIT
"""DESTROY_CLIENTID (RFC 5661 section 18.50)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Nfs4, Session, new_owner
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, must, proves, stated
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import READ, open_file

DESTROYS_THE_CLIENT = stated("RFC 5661", "18.50.3", "DESTROY_CLIENTID destroys the client id")
BUSY_WITH_SESSIONS = must(
    "RFC 5661", "18.50.3", "DESTROY_CLIENTID of a client id with sessions gets NFS4ERR_CLIENTID_BUSY"
)
BUSY_WITH_STATE = must(
    "RFC 5661",
    "18.50.3",
    "DESTROY_CLIENTID of a client id with opens gets NFS4ERR_CLIENTID_BUSY, also without a session",
)
UNKNOWN_IS_STALE = stated(
    "RFC 5661", "15.1.13.5", "a client id that the server does not recognize gets NFS4ERR_STALE_CLIENTID"
)
STANDS_IN_A_SESSION = stated(
    "RFC 5661", "18.50.3", "DESTROY_CLIENTID may be preceded by SEQUENCE of a session of another client id"
)
FORGETS_THE_OWNER = stated(
    "RFC 5661", "18.35.4", "case 1: an owner without a record gets a new client id, which is not confirmed"
)


@MINORS
@proves(DESTROYS_THE_CLIENT, killed_by="destroyclientid4-destroys-nothing")
def test_destroys(nfs4: Nfs4) -> None:
    """A client id that was destroyed does not exist any more."""
    client = nfs4.new_client()
    session = client.create_session()
    expect(session.destroy()).ok()
    expect(client.destroy()).ok()
    result = nfs4.create_session(client.id, client.sequence_id)
    expect(result).refused(Nfsstat4.NFS4ERR_STALE_CLIENTID, because=UNKNOWN_IS_STALE)


@MINORS
@proves(BUSY_WITH_SESSIONS, killed_by="destroyclientid4-is-never-busy")
def test_with_session(nfs4: Nfs4) -> None:
    """A client id with a session is busy, and its session goes on."""
    client = nfs4.new_client()
    session = client.create_session()
    expect(client.destroy()).status(Nfsstat4.NFS4ERR_CLIENTID_BUSY)
    expect(session.renew()).ok()


@MINORS
@proves(BUSY_WITH_STATE, killed_by="destroyclientid4-looks-at-sessions-only")
def test_with_open(nfs4: Nfs4, scratch: Nfs4Scratch) -> None:
    """A client id that has a file open is busy, although its session is gone, and the file stays open."""
    client = nfs4.new_client()
    session = client.create_session()
    expect(session.compound(op.reclaim_complete())).ok()
    opened = open_file(session, scratch.file("file"), READ)
    expect(session.destroy()).ok()
    expect(client.destroy()).status(Nfsstat4.NFS4ERR_CLIENTID_BUSY)
    again = client.create_session()
    expect(again.compound(op.putfh(opened.handle), op.close(opened.stateid))).ok()


@MINORS
@proves(BUSY_WITH_SESSIONS, killed_by="destroyclientid4-is-never-busy")
def test_own_client(nfs4: Nfs4) -> None:
    """DESTROY_CLIENTID after SEQUENCE of the same client fails with CLIENTID_BUSY."""
    client = nfs4.new_client()
    session = client.create_session()
    reply = session.compound(op.destroy_clientid(client.id))
    expect(reply).status(Nfsstat4.NFS4ERR_CLIENTID_BUSY)


@MINORS
@proves(UNKNOWN_IS_STALE, killed_by="destroyclientid4-unknown-is-ok")
def test_unknown(nfs4: Nfs4) -> None:
    """DESTROY_CLIENTID of a client id that was never given fails with STALE_CLIENTID."""
    client = nfs4.new_client()
    result = nfs4.destroy_clientid(client.id ^ 0x5A5A_5A5A_5A5A_5A5A)
    expect(result).refused(Nfsstat4.NFS4ERR_STALE_CLIENTID, because=UNKNOWN_IS_STALE)


@proves(UNKNOWN_IS_STALE, killed_by="destroyclientid4-again-is-ok")
def test_twice(nfs4: Nfs4) -> None:
    """DESTROY_CLIENTID of a client id that was destroyed fails with STALE_CLIENTID."""
    client = nfs4.new_client()
    expect(client.destroy()).ok()
    expect(client.destroy()).refused(Nfsstat4.NFS4ERR_STALE_CLIENTID, because=UNKNOWN_IS_STALE)


@proves(DESTROYS_THE_CLIENT, killed_by="destroyclientid4-spares-unconfirmed")
def test_unconfirmed(nfs4: Nfs4) -> None:
    """A client id that was never confirmed can be destroyed, and then not be confirmed."""
    client = nfs4.new_client()
    expect(client.destroy()).ok()
    result = nfs4.create_session(client.id, client.sequence_id)
    expect(result).refused(Nfsstat4.NFS4ERR_STALE_CLIENTID, because=UNKNOWN_IS_STALE)


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "unknown"])
@proves(STANDS_IN_A_SESSION, killed_by="destroyclientid4-is-always-alone")
def test_in_session(nfs4: Nfs4, session: Session, is_known: bool) -> None:
    """DESTROY_CLIENTID in a session of another client destroys the client id, and one that is unknown is stale."""
    client = nfs4.new_client()
    if not is_known:
        expect(client.destroy()).ok()
    reply = session.compound(op.destroy_clientid(client.id), op.putrootfh())
    if is_known:
        expect(reply).ok()
    else:
        expect(reply).of(p.DESTROY_CLIENTID).refused(
            Nfsstat4.NFS4ERR_STALE_CLIENTID, because=STANDS_IN_A_SESSION
        )


@proves(FORGETS_THE_OWNER, killed_by="destroyclientid4-remembers-the-owner")
def test_owner_again(nfs4: Nfs4) -> None:
    """The owner of a client id that was destroyed is a new client: it is not confirmed."""
    client = nfs4.new_client(new_owner())
    expect(client.create_session().destroy()).ok()
    expect(client.destroy()).ok()
    result = expect(nfs4.exchange_id(client.owner)).ok()
    flag = result.eir_flags & p.EXCHGID4_FLAG_CONFIRMED_R
    expect(flag, "CONFIRMED_R", of=result, field="eir_flags").equals(0)
    expect(nfs4.create_session(result.eir_clientid, result.eir_sequenceid)).ok()
