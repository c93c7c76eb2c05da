# SPDX-License-Identifier: MIT
"""DESTROY_CLIENTID (RFC 5661 section 18.50)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Nfs4
from nfsclient.clients.nfs4 import operations as op
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
