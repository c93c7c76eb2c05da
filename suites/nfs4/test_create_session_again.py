# SPDX-License-Identifier: MIT
"""CREATE_SESSION sent again, refused, by another principal, and in sessions (RFC 5661 section 18.36.4)."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Client, CompoundReply, Nfs4, Session, new_owner
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.sessions.slots import next_sequence_id
from nfsjudge import Part, expect, must, observe, proves, should, skip, stated
from suites.nfs4.opens import another_session
from suites.nfs4.principals import holder_of, need_two_principals, stranger_of
from suites.nfs4.test_create_session import REPLAY_IS_CACHED

FIRST_SLOT_IS_MISORDERED = should(
    "RFC 5661",
    "18.36.4",
    "before the first session, the sequence id below eir_sequenceid has the cached result NFS4ERR_SEQ_MISORDERED",
    part=Part.IMPLEMENTATION,
)
OLDER_IS_MISORDERED = stated(
    "RFC 5661",
    "18.36.4",
    "a sequence id that is neither that of the last CREATE_SESSION nor the next one gets NFS4ERR_SEQ_MISORDERED",
)
HAS_A_SEPARATE_CACHE = must(
    "RFC 5661",
    "18.36.4",
    "the reply cache of CREATE_SESSION is separate from that of the session of a SEQUENCE in front of it",
)
FAILURE_CHANGES_NO_RECORD = should(
    "RFC 5661",
    "18.36.4",
    "if the session is not created, no client record is changed, neither the new one nor that of before",
    part=Part.IMPLEMENTATION,
)
CONFIRMED_BY_ITS_PRINCIPAL = should(
    "RFC 5661",
    "18.36.4",
    "CREATE_SESSION by another principal than that of EXCHANGE_ID confirms nothing: NFS4ERR_CLID_INUSE",
    part=Part.IMPLEMENTATION,
)
NOT_OF_THE_SENDING_SESSION = stated(
    "RFC 5661",
    "18.36.3",
    "a session that CREATE_SESSION makes has no direct relation to the session of the SEQUENCE in front of it",
)
_TINY: t.Final = op.channel(responsesize=8, responsesize_cached=8)
"""Limits with which no reply is possible."""


# ---------------------------------------------------------------- the sequence id


@proves(FIRST_SLOT_IS_MISORDERED, killed_by="createsession4-earlier-first-is-ok")
def test_below_first(nfs4: Nfs4) -> None:
    """The sequence id before the first one gets SEQ_MISORDERED, and the first one works afterwards."""
    client = nfs4.new_client()
    wrong = (client.sequence_id - 1) % (1 << 32)
    expect(nfs4.create_session(client.id, wrong)).status(Nfsstat4.NFS4ERR_SEQ_MISORDERED)
    expect(nfs4.create_session(client.id, client.sequence_id)).ok()


@proves(OLDER_IS_MISORDERED, killed_by="createsession4-remembers-all-replies")
def test_older(nfs4: Nfs4) -> None:
    """The sequence id of the last CREATE_SESSION but one gets SEQ_MISORDERED."""
    client = nfs4.new_client()
    first = client.sequence_id
    client.create_session()
    client.create_session()
    expect(nfs4.create_session(client.id, first)).status(Nfsstat4.NFS4ERR_SEQ_MISORDERED)


# ---------------------------------------------------------------- replays


@proves(REPLAY_IS_CACHED, killed_by="createsession4-compares-arguments")
def test_replay_changed(nfs4: Nfs4) -> None:
    """CREATE_SESSION with the sequence id of the last one and other limits makes no other session."""
    client = nfs4.new_client()
    small = op.channel(requestsize=32768, responsesize=32768, operations=16, requests=2)
    first = expect(nfs4.create_session(client.id, client.sequence_id, fore=small)).ok()
    result = nfs4.create_session(client.id, client.sequence_id)
    observe("replay with other arguments", result.csr_status.name)
    if result.csr_resok4 is None:
        return
    expect(result.csr_resok4).field("csr_sessionid", "session id").equals(first.csr_sessionid)


_WAYS: t.Final = {
    "alone-first": ("alone", "session"),
    "session-first": ("session", "alone"),
    "two-sessions": ("session", "other"),
}


@pytest.mark.parametrize("way", _WAYS)
@proves(HAS_A_SEPARATE_CACHE, killed_by="createsession4-sessions-have-other-caches")
def test_replay_inside(v4: Nfs4Dialect, nfs4: Nfs4, way: str) -> None:
    """CREATE_SESSION sent again in a session, in another one or without any, makes no other session."""
    carriers = {"session": another_session(v4), "other": another_session(v4)}
    client = nfs4.new_client()
    creating = op.create_session(client.id, client.sequence_id, fore=op.channel(requests=2))

    def send(where: str) -> CompoundReply:
        carrier = carriers.get(where)
        return nfs4.compound(creating) if carrier is None else carrier.compound(creating)

    before, after = _WAYS[way]
    first = expect(send(before)).of(p.CREATE_SESSION).ok()
    again = expect(send(after)).of(p.CREATE_SESSION).ok()
    expect(again).field("csr_sessionid", "session id").equals(first.csr_sessionid)


def _refused(nfs4: Nfs4, client: Client) -> Nfsstat4:
    """The error of a CREATE_SESSION. SKIP if the server makes a session of it."""
    result = nfs4.create_session(client.id, client.sequence_id, fore=_TINY)
    if result.csr_status == Nfsstat4.NFS4_OK:
        skip("the server makes a session with which no reply is possible")
    expect(result).refused()
    observe("CREATE_SESSION with impossible limits", result.csr_status.name)
    return result.csr_status


@proves(REPLAY_IS_CACHED, killed_by="createsession4-forgets-failures")
def test_replay_of_failure(nfs4: Nfs4) -> None:
    """CREATE_SESSION that failed gets the same error when it comes again."""
    client = nfs4.new_client()
    status = _refused(nfs4, client)
    again = nfs4.create_session(client.id, client.sequence_id, fore=_TINY)
    expect(again).status(status)


# ---------------------------------------------------------------- refusals


def _expect_works(nfs4: Nfs4, client: Client) -> None:
    """A session is made with the sequence id that is right now: the same one if the refusal did not count."""
    number = next_sequence_id(client.sequence_id)
    result = nfs4.create_session(client.id, number)
    if result.csr_status == Nfsstat4.NFS4ERR_SEQ_MISORDERED:
        result = nfs4.create_session(client.id, client.sequence_id)
    expect(result).ok()


@proves(FAILURE_CHANGES_NO_RECORD, killed_by="createsession4-failure-ends-the-client")
def test_after_failure(nfs4: Nfs4) -> None:
    """A client whose CREATE_SESSION was refused for its limits can make a session with others."""
    client = nfs4.new_client()
    _refused(nfs4, client)
    _expect_works(nfs4, client)


@proves(FAILURE_CHANGES_NO_RECORD, killed_by="createsession4-failure-ends-the-old")
def test_failure_keeps_old(nfs4: Nfs4) -> None:
    """CREATE_SESSION of a new incarnation that is refused does not end the session of the earlier one."""
    owner = new_owner()
    old = nfs4.new_client(owner).create_session()
    _refused(nfs4, nfs4.new_client(new_owner(owner.co_ownerid)))
    expect(old.renew()).ok()


# ---------------------------------------------------------------- other principals


@proves(CONFIRMED_BY_ITS_PRINCIPAL, killed_by="createsession4-anybody-confirms", needs="other_users")
def test_stranger(v4: Nfs4Dialect, nfs4: Nfs4, scratch: Nfs4Scratch) -> None:
    """CREATE_SESSION by another user than that of EXCHANGE_ID fails with CLID_INUSE."""
    client = nfs4.new_client()
    result = stranger_of(v4).create_session(client.id, client.sequence_id)
    if result.csr_status == Nfsstat4.NFS4_OK:
        need_two_principals(v4, holder_of(v4, scratch))
    expect(result).refused(Nfsstat4.NFS4ERR_CLID_INUSE, because=CONFIRMED_BY_ITS_PRINCIPAL)


@proves(FAILURE_CHANGES_NO_RECORD, killed_by="createsession4-stranger-ends-the-client", needs="other_users")
def test_after_stranger(v4: Nfs4Dialect, nfs4: Nfs4) -> None:
    """After another user was refused a session of a client id, its own user can make one."""
    client = nfs4.new_client()
    result = stranger_of(v4).create_session(client.id, client.sequence_id)
    if result.csr_status == Nfsstat4.NFS4_OK:
        skip("the server makes a session for another user")
    _expect_works(nfs4, client)


# ---------------------------------------------------------------- in sessions


@proves(NOT_OF_THE_SENDING_SESSION, killed_by="createsession4-session-ends-with-its-parent")
def test_in_session(nfs4: Nfs4) -> None:
    """A session that is made in the session of another client works after that session and client have ended."""
    parent = nfs4.new_client().create_session()
    client = nfs4.new_client()
    reply = parent.compound(op.create_session(client.id, client.sequence_id, fore=op.channel(requests=2)))
    made = expect(reply).of(p.CREATE_SESSION).ok()
    assert isinstance(parent.client, Client)
    expect(parent.destroy()).ok()
    expect(parent.client.destroy()).ok()
    expect(nfs4.compound(op.sequence(made.csr_sessionid, 1))).ok()


@proves(NOT_OF_THE_SENDING_SESSION, killed_by="createsession4-of-the-sender")
def test_of_another_client(nfs4: Nfs4, session: Session) -> None:
    """A session that is made in the session of another client belongs to the client id of its arguments."""
    client = nfs4.new_client()
    reply = session.compound(op.create_session(client.id, client.sequence_id, fore=op.channel(requests=2)))
    expect(reply).of(p.CREATE_SESSION).ok()
    expect(client.destroy()).status(Nfsstat4.NFS4ERR_CLIENTID_BUSY)
