# SPDX-License-Identifier: MIT
"""EXCHANGE_ID by other principals and of unconfirmed records, updates, and in sessions (RFC 5661 section 18.35.4)."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from fixtures.checks.side_by_side import Waiting, side_by_side
from fixtures.checks.target import TargetView
from nfsclient.clients.nfs4 import Nfs4, Session, new_owner
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, expect_data, must, observe, proves, should, stated
from suites.nfs4.leases import kept_leases, lease_passes, lease_to_wait_for, need_all
from suites.nfs4.locks import WRITE_LT, lock_range, test_range
from suites.nfs4.opens import BOTH, another_client, open_file, try_open
from suites.nfs4.principals import holder_of, need_two_principals, stranger_of
from suites.nfs4.test_exchange_id import CONFIRMED_R, UNCONFIRMED_IS_REPLACED, UPDATE_OF_NOTHING

COLLISION_IS_REFUSED = must(
    "RFC 5661",
    "2.4.3",
    "another principal with the owner of a client that has state and an unexpired lease gets NFS4ERR_CLID_INUSE",
)
COLLISION_CHANGES_NOTHING = stated(
    "RFC 5661",
    "18.35.4",
    "case 3: no state of the client is changed if another principal sends its owner while the lease is valid",
)
WITHOUT_STATE_IS_ALLOWED = must(
    "RFC 5661",
    "2.4.3",
    "an owner without state may be sent by anybody: the new client id is granted, and confirmed by CREATE_SESSION",
)
UPDATE_IS_ALLOWED = stated(
    "RFC 5661",
    "18.35.4",
    "case 6: an update with the verifier and the principal of the confirmed record is allowed",
)
UPDATE_KEEPS_THE_RECORD = stated(
    "RFC 5661", "18.35.4", "case 6: an update leaves the client record, and what belongs to it, intact"
)
UPDATE_BY_ANOTHER = stated("RFC 5661", "18.35.4", "case 9: an update by another principal gets NFS4ERR_PERM")
NOENT_KEEPS_UNCONFIRMED = stated(
    "RFC 5661", "18.35.4", "case 7: an update that gets NFS4ERR_NOENT leaves an unconfirmed record intact"
)
NOT_SAME_KEEPS_THE_RECORD = stated(
    "RFC 5661", "18.35.4", "case 8: an update that gets NFS4ERR_NOT_SAME leaves the client record intact"
)
STANDS_IN_A_SESSION = stated(
    "RFC 5661", "18.35.3", "EXCHANGE_ID may be sent in a COMPOUND that starts with SEQUENCE"
)
RESTART_RELEASES = stated(
    "RFC 5661",
    "2.4",
    "a new incarnation of a client that is confirmed releases the locking state of the earlier one",
)
OWNERS_ARE_STRINGS = stated(
    "RFC 5661",
    "2.4",
    "the co_ownerid is an opaque string that identifies the client: others are other clients",
)
UNCONFIRMED_IS_REMOVED = should(
    "RFC 5661", "18.35.4", "a record that is not confirmed within a lease period should be removed"
)
_UPDATE: t.Final = p.EXCHGID4_FLAG_UPD_CONFIRMED_REC_A


def _expect_confirmed_flag(result: p.ExchangeId4ResOk) -> None:
    flag = result.eir_flags & p.EXCHGID4_FLAG_CONFIRMED_R
    expect(flag, "CONFIRMED_R", of=result, field="eir_flags", because=CONFIRMED_R).equals(
        p.EXCHGID4_FLAG_CONFIRMED_R
    )


# ---------------------------------------------------------------- records that are not confirmed


@pytest.mark.parametrize("other", ["verifier", "principal", "both"])
@proves(UNCONFIRMED_IS_REPLACED, killed_by="exchangeid4-unconfirmed-is-in-use", needs="other_users")
def test_unconfirmed_other(v4: Nfs4Dialect, nfs4: Nfs4, other: str) -> None:
    """An owner whose client id is not confirmed gets a new one, whoever sends it and with whichever verifier."""
    owner = new_owner()
    first = expect(nfs4.exchange_id(owner)).ok()
    sender = nfs4 if other == "verifier" else stranger_of(v4)
    result = sender.exchange_id(owner if other == "principal" else new_owner(owner.co_ownerid))
    second = expect(result).granted()
    expect(second).field("eir_clientid", "second client id").differs_from(first.eir_clientid)


@pytest.mark.parametrize("other", ["nothing", "verifier"])
@proves(UPDATE_OF_NOTHING, killed_by="exchangeid4-updates-unconfirmed")
def test_update_unconfirmed(nfs4: Nfs4, other: str) -> None:
    """An update of a client id that is not confirmed fails with NOENT."""
    owner = new_owner()
    expect(nfs4.exchange_id(owner)).ok()
    result = nfs4.exchange_id(owner if other == "nothing" else new_owner(owner.co_ownerid), _UPDATE)
    expect(result).refused(Nfsstat4.NFS4ERR_NOENT, because=UPDATE_OF_NOTHING)


@proves(NOENT_KEEPS_UNCONFIRMED, killed_by="exchangeid4-noent-forgets-unconfirmed")
def test_noent_keeps_unconfirmed(nfs4: Nfs4) -> None:
    """After an update that fails with NOENT, the unconfirmed client id can be confirmed."""
    owner = new_owner()
    first = expect(nfs4.exchange_id(owner)).ok()
    expect(nfs4.exchange_id(new_owner(owner.co_ownerid), _UPDATE)).refused()
    expect(nfs4.create_session(first.eir_clientid, first.eir_sequenceid)).ok()


@side_by_side(short_lease=True)
@proves(UNCONFIRMED_IS_REMOVED, killed_by="createsession4-unconfirmed-lasts")
def test_unconfirmed_expires(target: TargetView, v4: Nfs4Dialect) -> Waiting[None]:
    """A client id that is not confirmed within two leases is not known any more."""
    lease = lease_to_wait_for(target, v4)
    since = v4.connections.now()
    nfs4 = v4.client(v4.connections.connect("nfs"))
    made = expect(nfs4.exchange_id(new_owner())).ok()
    kept = kept_leases(v4, lease, since, v4.session)
    for _ in range(2):
        yield from lease_passes(lease, kept)
    result = nfs4.create_session(made.eir_clientid, made.eir_sequenceid)
    need_all(kept)
    expect(result).refused(Nfsstat4.NFS4ERR_STALE_CLIENTID, because=UNCONFIRMED_IS_REMOVED)


# ---------------------------------------------------------------- the same owner by another principal


@pytest.mark.parametrize("verifier", ["same", "other"])
@proves(COLLISION_IS_REFUSED, killed_by="exchangeid4-takes-owners-over", needs="other_users")
def test_collision(v4: Nfs4Dialect, scratch: Nfs4Scratch, verifier: str) -> None:
    """Another user with the owner of a client that has a file open gets CLID_INUSE."""
    holder = holder_of(v4, scratch)
    owner = holder.client.owner
    result = stranger_of(v4).exchange_id(owner if verifier == "same" else new_owner(owner.co_ownerid))
    if result.eir_status == Nfsstat4.NFS4_OK:
        need_two_principals(v4, holder)
    expect(result).refused(Nfsstat4.NFS4ERR_CLID_INUSE, because=COLLISION_IS_REFUSED)


@proves(COLLISION_CHANGES_NOTHING, killed_by="exchangeid4-collision-ends-state", needs="other_users")
def test_collision_keeps_state(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """After another user has sent the owner of a client, that reads with its open stateid as before."""
    holder = holder_of(v4, scratch)
    result = stranger_of(v4).exchange_id(new_owner(holder.client.owner.co_ownerid))
    observe("owner of another principal", result.eir_status.name)
    reading = op.read(holder.opened.stateid, 0, 4)
    found = expect(holder.session.compound(op.putfh(holder.opened.handle), reading)).of(p.READ).ok()
    expect_data(bytes(found.data), b"data"[: len(found.data)], of="range")


@proves(WITHOUT_STATE_IS_ALLOWED, killed_by="exchangeid4-owners-are-of-users", needs="other_users")
def test_takeover(v4: Nfs4Dialect, nfs4: Nfs4) -> None:
    """Another user with the owner of a client without session and state gets a client id and a session."""
    client = nfs4.new_client(new_owner())
    expect(client.create_session().destroy()).ok()
    stranger = stranger_of(v4)
    made = expect(stranger.exchange_id(new_owner(client.owner.co_ownerid))).granted()
    expect(made).field("eir_clientid", "client id").differs_from(client.id)
    expect(stranger.create_session(made.eir_clientid, made.eir_sequenceid)).granted()


@proves(WITHOUT_STATE_IS_ALLOWED, killed_by="createsession4-old-owner-is-misordered", needs="other_users")
def test_takeover_ends_old(v4: Nfs4Dialect, nfs4: Nfs4) -> None:
    """Once another user has confirmed a client id with its owner, the earlier client id is not known any more."""
    client = nfs4.new_client(new_owner())
    expect(client.create_session().destroy()).ok()
    stranger = stranger_of(v4)
    made = expect(stranger.exchange_id(new_owner(client.owner.co_ownerid))).ok()
    expect(stranger.create_session(made.eir_clientid, made.eir_sequenceid)).ok()
    expect(nfs4.create_session(client.id, client.sequence_id)).status(Nfsstat4.NFS4ERR_STALE_CLIENTID)


# ---------------------------------------------------------------- updates


@pytest.mark.parametrize("where", ["alone", "in-session"])
@proves(UPDATE_IS_ALLOWED, killed_by="exchangeid4-refuses-updates")
def test_update(nfs4: Nfs4, where: str) -> None:
    """An update of a confirmed client id by the client itself succeeds, and returns this client id."""
    client = nfs4.new_client(new_owner())
    session = client.create_session()
    asked = op.exchange_id(client.owner, _UPDATE)
    # Not cached: how large its reply may become is another claim (section 2.10.6.4).
    in_session = where == "in-session"
    reply = session.compound(asked, cache_this=False) if in_session else nfs4.compound(asked)
    result = expect(reply).of(p.EXCHANGE_ID).granted()
    expect(result).field("eir_clientid", "client id").equals(client.id)


@proves(CONFIRMED_R, killed_by="exchangeid4-updates-without-the-flag")
def test_update_is_confirmed(nfs4: Nfs4) -> None:
    """The result of an update has CONFIRMED_R."""
    client = nfs4.new_client(new_owner())
    client.create_session()
    _expect_confirmed_flag(expect(nfs4.exchange_id(client.owner, _UPDATE)).ok())


@proves(UPDATE_KEEPS_THE_RECORD, killed_by="exchangeid4-update-ends-state")
def test_update_keeps_state(v4: Nfs4Dialect, nfs4: Nfs4, scratch: Nfs4Scratch) -> None:
    """After an update the session and the open stateid of the client work as before."""
    holder = holder_of(v4, scratch)
    expect(nfs4.exchange_id(holder.client.owner, _UPDATE)).ok()
    reading = op.read(holder.opened.stateid, 0, 4)
    expect(holder.session.compound(op.putfh(holder.opened.handle), reading)).ok()


@proves(UPDATE_BY_ANOTHER, killed_by="exchangeid4-anybody-updates", needs="other_users")
def test_update_by_stranger(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """An update by another user than that of the confirmed client id fails with PERM."""
    holder = holder_of(v4, scratch)
    result = stranger_of(v4).exchange_id(holder.client.owner, _UPDATE)
    if result.eir_status == Nfsstat4.NFS4_OK:
        need_two_principals(v4, holder)
    expect(result).refused(Nfsstat4.NFS4ERR_PERM, because=UPDATE_BY_ANOTHER)


@proves(NOT_SAME_KEEPS_THE_RECORD, killed_by="exchangeid4-not-same-ends-the-client")
def test_not_same_keeps(nfs4: Nfs4) -> None:
    """After an update with another verifier the session goes on, and the owner has the same client id."""
    client = nfs4.new_client(new_owner())
    session = client.create_session()
    expect(nfs4.exchange_id(new_owner(client.owner.co_ownerid), _UPDATE)).refused()
    expect(session.renew()).ok()
    result = expect(nfs4.exchange_id(client.owner)).ok()
    expect(result).field("eir_clientid", "client id").equals(client.id)


# ---------------------------------------------------------------- in sessions


@proves(STANDS_IN_A_SESSION, killed_by="exchangeid4-is-always-alone")
def test_in_session(nfs4: Nfs4, session: Session) -> None:
    """EXCHANGE_ID of another client in a session, with operations after it, gives a client id that works."""
    reply = session.compound(op.exchange_id(new_owner()), op.putrootfh(), op.getfh(), cache_this=False)
    made = expect(reply).of(p.EXCHANGE_ID).ok()
    expect(reply).ok()
    expect(nfs4.create_session(made.eir_clientid, made.eir_sequenceid)).ok()


# ---------------------------------------------------------------- what a restart ends


@proves(RESTART_RELEASES, killed_by="open4-denials-outlive-restarts")
def test_restart_releases_share(v4: Nfs4Dialect, nfs4: Nfs4, scratch: Nfs4Scratch) -> None:
    """Once a new incarnation of a client is confirmed, what the earlier one has denied is granted to others."""
    file, other = scratch.file("file", b"data"), another_client(v4)
    client = nfs4.new_client(new_owner())
    session = client.create_session()
    expect(session.compound(op.reclaim_complete())).ok()
    open_file(session, file, BOTH, p.OPEN4_SHARE_DENY_BOTH)
    expect(try_open(other, file, BOTH)).status(Nfsstat4.NFS4ERR_SHARE_DENIED)
    nfs4.new_client(new_owner(client.owner.co_ownerid)).create_session()
    expect(try_open(other, file, BOTH)).ok()


@proves(RESTART_RELEASES, killed_by="lockt4-locks-outlive-restarts")
def test_restart_releases_lock(v4: Nfs4Dialect, nfs4: Nfs4, scratch: Nfs4Scratch) -> None:
    """Once a new incarnation of a client is confirmed, the locks of the earlier one exclude nobody."""
    file, other = scratch.file("file", b"data"), another_client(v4)
    client = nfs4.new_client(new_owner())
    session = client.create_session()
    expect(session.compound(op.reclaim_complete())).ok()
    lock_range(session, open_file(session, file, BOTH), WRITE_LT, 0, 10)
    expect(test_range(other, file, WRITE_LT, 0, 10)).status(Nfsstat4.NFS4ERR_DENIED)
    nfs4.new_client(new_owner(client.owner.co_ownerid)).create_session()
    expect(test_range(other, file, WRITE_LT, 0, 10)).ok()


# ---------------------------------------------------------------- owners


def _expect_two_clients(nfs4: Nfs4, *owners: bytes) -> None:
    first, second = (expect(nfs4.exchange_id(new_owner(each))).ok() for each in owners)
    expect(second).field("eir_clientid", "client id of the second").differs_from(first.eir_clientid)
    for made in (first, second):
        expect(nfs4.create_session(made.eir_clientid, made.eir_sequenceid)).ok()


_ENDS: t.Final = {
    "prefix": (b"", b" and more"),
    "high-bit": (b"\x7f", b"\xff"),
    "long": (b"x" * 960 + b"1", b"x" * 960 + b"2"),
}


@pytest.mark.parametrize("ends", _ENDS)
@proves(OWNERS_ARE_STRINGS, killed_by="exchangeid4-owners-are-of-23-bytes")
def test_owners_differ(nfs4: Nfs4, ends: str) -> None:
    """Two owners that differ in their ends only are two clients, and both can make a session."""
    whose = bytes(new_owner().co_ownerid)
    _expect_two_clients(nfs4, *(whose + end for end in _ENDS[ends]))


@proves(OWNERS_ARE_STRINGS, killed_by="exchangeid4-owners-end-at-nul")
def test_owners_with_nul(nfs4: Nfs4) -> None:
    """Two owners that differ after a NUL only are two clients, and both can make a session."""
    whose = bytes(new_owner().co_ownerid)
    _expect_two_clients(nfs4, whose + b"\0first", whose + b"\0second")
