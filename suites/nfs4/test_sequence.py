# SPDX-License-Identifier: MIT
"""SEQUENCE (RFC 5661 sections 18.46 and 2.10.6): sessions, slots, and requests that are executed exactly once."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Nfs4, Request, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, expect_names, must, observe, proves, should, skip, stated, unsupported
from nfsjudge.requirement import SEQUENCE_ECHOES
from suites.nfs4.clauses import MISORDERED_IS_REFUSED, RETRY_GETS_THE_CACHED_REPLY, RETRY_IS_NOT_EXECUTED
from suites.nfs4.minors import MINORS
from suites.nfs4.retries import own_session, performed, send_again, send_another, without_sequence

STANDS_FIRST = must(
    "RFC 5661", "18.46.3", "SEQUENCE in any position of a COMPOUND beyond the first gets NFS4ERR_SEQUENCE_POS"
)
UNKNOWN_IS_BADSESSION = stated(
    "RFC 5661", "15.1.11.1", "a session id that the server does not know gets NFS4ERR_BADSESSION"
)
SLOTS_ARE_LIMITED = stated(
    "RFC 5661", "15.1.11.2", "a slot that the replier does not have in its slot table gets NFS4ERR_BADSLOT"
)
CACHE_HAS_A_SIZE = must(
    "RFC 5661",
    "2.10.6.4",
    "a reply that is to be cached and exceeds ca_maxresponsesize_cached gets NFS4ERR_REP_TOO_BIG_TO_CACHE",
)
FIRST_SEQUENCE_ID_IS_ONE = must(
    "RFC 5661", "2.10.6.1", "the first request in each slot of a new session has sequence id 1"
)
ERRORS_KEEP_THE_SLOT = must(
    "RFC 5661", "2.10.6.1.2", "if SEQUENCE returns an error, the sequence id of the slot does not change"
)
HIGH_SLOT_HAS_A_NAME = stated(
    "RFC 5661",
    "15.1.11.3",
    "NFS4ERR_BAD_HIGH_SLOT: sa_highest_slotid exceeds the highest slot that is enforced",
)
HIGHEST_SLOT = should("RFC 5661", "18.46.3", "sr_highest_slotid should not be less than sa_highest_slotid")
_MOST = 8
"""Requests until the slots of two sessions have the same sequence id: a server may have asked one of them to wait."""


@MINORS
@proves(SEQUENCE_ECHOES, killed_by=("sequence4-answers-the-next-sequence-id", "sequence4-answers-slot-0"))
def test_echo(nfs4: Nfs4, session: Session) -> None:
    """SEQUENCE returns the session, slot and sequence id that it was sent."""
    if session.state.slots.allowed < 2:
        skip("the session has one slot")
    sent = session.sequence(1)
    result = expect(nfs4.compound(sent)).of(p.SEQUENCE).ok()
    expect(result).field("sr_sessionid", "session id").equals(sent.sa_sessionid)
    expect(result).field("sr_slotid", "slot id").equals(sent.sa_slotid)
    expect(result).field("sr_sequenceid", "sequence id").equals(sent.sa_sequenceid)


@MINORS
@proves(STANDS_FIRST, killed_by="sequence4-second-is-inval")
def test_second(session: Session) -> None:
    """A second SEQUENCE in the same COMPOUND fails with SEQUENCE_POS."""
    reply = session.compound(session.sequence(1))
    expect(reply).refused(Nfsstat4.NFS4ERR_SEQUENCE_POS, because=STANDS_FIRST)


@MINORS
@proves(UNKNOWN_IS_BADSESSION, killed_by="sequence4-unknown-session-is-stale")
def test_unknown_session(nfs4: Nfs4, session: Session) -> None:
    """SEQUENCE of a session that does not exist fails with BADSESSION."""
    unknown = bytes(byte ^ 0xA5 for byte in session.id)
    expect(nfs4.compound(op.sequence(unknown, 1))).status(Nfsstat4.NFS4ERR_BADSESSION)


@MINORS
@proves(SLOTS_ARE_LIMITED, killed_by="sequence4-takes-any-slot")
def test_beyond_last_slot(nfs4: Nfs4, session: Session) -> None:
    """A slot id that the session does not have is refused."""
    beyond = session.state.fore.ca_maxrequests + 1000
    reply = nfs4.compound(op.sequence(session.id, 1, beyond, beyond))
    expect(reply).status(Nfsstat4.NFS4ERR_BADSLOT, Nfsstat4.NFS4ERR_BAD_HIGH_SLOT)


@MINORS
@pytest.mark.parametrize("sequence_id", [0, 2, 0xFFFF_FFFF])
@proves(FIRST_SEQUENCE_ID_IS_ONE, killed_by="sequence4-takes-any-first-number")
def test_first_number(nfs4: Nfs4, session: Session, sequence_id: int) -> None:
    """The first sequence id of a slot is 1: others are misordered."""
    if session.state.slots.allowed < 2:
        skip("the session has one slot")
    reply = nfs4.compound(op.sequence(session.id, sequence_id, 1, 1))
    expect(reply).status(Nfsstat4.NFS4ERR_SEQ_MISORDERED)


@MINORS
@pytest.mark.parametrize("step", [-2, 1, 1000], ids=["earlier", "next-but-one", "far"])
@proves(MISORDERED_IS_REFUSED, killed_by="sequence4-takes-later-numbers")
def test_misordered(session: Session, scratch: Nfs4Scratch, step: int) -> None:
    """A sequence id that is neither the slot's nor the next one gets SEQ_MISORDERED, and nothing is executed."""
    for _ in range(3):
        expect(session.compound(op.putfh(scratch.handle), slot=0)).ok()
    wrong = session.state.slots[0].sequence_id + step
    reply = session.compound(op.putfh(scratch.handle), op.mkdir(b"made"), slot=0, sequence_id=wrong)
    expect(reply).of(p.SEQUENCE).status(Nfsstat4.NFS4ERR_SEQ_MISORDERED)
    expect(scratch.names(), "names", field="entries").equals([])


@MINORS
@proves(ERRORS_KEEP_THE_SLOT, killed_by="sequence4-errors-move-the-slot")
def test_error_keeps_slot(session: Session) -> None:
    """After a misordered request the slot goes on where it was."""
    expect(session.compound(op.putrootfh(), slot=0)).ok()
    wrong = session.state.slots[0].sequence_id + 1
    expect(session.compound(slot=0, sequence_id=wrong)).status(Nfsstat4.NFS4ERR_SEQ_MISORDERED)
    expect(session.compound(op.putrootfh(), slot=0)).ok()


@MINORS
@proves(
    ERRORS_KEEP_THE_SLOT,
    HIGH_SLOT_HAS_A_NAME,
    killed_by=("sequence4-high-slot-moves-the-slot", "sequence4-high-slot-is-inval"),
)
def test_high_slot(nfs4: Nfs4, session: Session) -> None:
    """After a request whose highest slot is refused, the slot goes on where it was."""
    expect(session.compound(op.putrootfh(), slot=0)).ok()
    beyond = session.state.fore.ca_maxrequests + 1000
    reply = nfs4.compound(session.sequence(0, highest_slot=beyond))
    if reply.status == Nfsstat4.NFS4_OK:
        session.state.slots[0].advance()
        unsupported("the server accepts a highest slot beyond its slot table")
    expect(reply).refused(Nfsstat4.NFS4ERR_BAD_HIGH_SLOT, because=HIGH_SLOT_HAS_A_NAME)
    expect(session.compound(op.putrootfh(), slot=0)).ok()


@MINORS
@proves(RETRY_GETS_THE_CACHED_REPLY, killed_by=("sequence4-executes-retries", "sequence4-forgets-replies"))
def test_retry_of_success(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """A retry of a request to be cached gets the reply of the first time."""
    session = own_session(v4)
    making = [op.putfh(scratch.handle), op.mkdir(b"made"), op.getfh()]
    request, reply = performed(session, making, cache_this=True)
    first = expect(reply).ok()
    again = send_again(v4, session, request)
    expect(again).field("status", "status of the retry").equals(Nfsstat4.NFS4_OK)
    expect(without_sequence(again), "results of the retry").equals(without_sequence(first))


@MINORS
@proves(RETRY_GETS_THE_CACHED_REPLY, killed_by="sequence4-executes-retries-of-failures")
def test_retry_of_failure(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """A retry of a request that failed gets its error, though it would succeed now."""
    session = own_session(v4)
    request, reply = performed(session, [op.putfh(scratch.handle), op.lookup(b"later")], cache_this=True)
    expect(reply).status(Nfsstat4.NFS4ERR_NOENT)
    scratch.file("later")
    again = send_again(v4, session, request)
    expect(again).status(Nfsstat4.NFS4ERR_NOENT)


@MINORS
@proves(RETRY_IS_NOT_EXECUTED, killed_by="sequence4-executes-uncached-retries")
def test_uncached_retry(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """A retry of a request that need not be cached is not executed again, and SEQUENCE succeeds."""
    session = own_session(v4)
    making = [op.putfh(scratch.handle), op.mkdir(b"made"), op.getfh()]
    request, reply = performed(session, making, cache_this=False)
    first = expect(reply).ok()
    expect(scratch.run(op.putfh(scratch.handle), op.remove(b"made"))).ok()
    again = send_again(v4, session, request)
    expect(scratch.names(), "names", field="entries").equals([])
    expect(again).of(p.SEQUENCE).ok()
    observe("retry of an uncached request", again.status.name)
    if again.status == Nfsstat4.NFS4_OK:
        expect(without_sequence(again), "results of the retry").equals(without_sequence(first))
        return
    expect(len(again), "results after SEQUENCE").equals(1)
    expect(again).field("status").satisfies(lambda status: status.is_known, "a status of nfsstat4")


@MINORS
@proves(RETRY_IS_NOT_EXECUTED, killed_by="sequence4-executes-false-retries")
def test_false_retry(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """Other operations with the slot and sequence id of an earlier request are not executed."""
    session = own_session(v4)
    request, reply = performed(session, [op.putfh(scratch.handle), op.mkdir(b"first")], cache_this=True)
    expect(reply).ok()
    other = (op.putfh(scratch.handle), op.mkdir(b"second"))
    reply = send_another(v4, session, request, *other)
    observe("false retry", reply.status.name)
    expect(scratch.names(), "names", field="entries").equals([b"first"])


@MINORS
@proves(RETRY_GETS_THE_CACHED_REPLY, killed_by="sequence4-slots-share-a-reply")
def test_slots_are_separate(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """A request in one slot does not change what a retry in another slot gets."""
    session = own_session(v4)
    if session.state.slots.allowed < 2:
        skip("the session has one slot")
    making = [op.putfh(scratch.handle), op.mkdir(b"made"), op.getfh()]
    request, reply = performed(session, making, cache_this=True, slot=0)
    first = expect(reply).ok()
    expect(session.compound(op.putfh(scratch.handle), op.mkdir(b"other"), slot=1)).ok()
    again = send_again(v4, session, request)
    expect(without_sequence(again), "results of the retry").equals(without_sequence(first))


def _moved_like(session: Session, scratch: Nfs4Scratch, request: Request, name: bytes) -> None:
    """Requests that change something in a slot, up to the sequence id of a request in the same slot elsewhere."""
    for number in range(_MOST):
        making = [op.putfh(scratch.handle), op.mkdir(b"%s-%d" % (name, number)), op.getfh()]
        last, reply = performed(session, making, cache_this=True, slot=request.slot.id)
        expect(reply).ok()
        if last.sequence_id >= request.sequence_id:
            break
    if last.sequence_id != request.sequence_id:
        skip("the sequence ids of the two sessions never agreed: the server asked to wait")


@pytest.mark.parametrize("whose", ["others", "one-client"])
@proves(RETRY_GETS_THE_CACHED_REPLY, RETRY_IS_NOT_EXECUTED, killed_by="sequence4-sessions-share-replies")
def test_sessions_are_separate(v4: Nfs4Dialect, scratch: Nfs4Scratch, whose: str) -> None:
    """A request with the slot and sequence id of a retry, in another session, does not change what the retry gets."""
    session = own_session(v4)
    assert session.client is not None
    other = own_session(v4) if whose == "others" else session.client.create_session()
    request, reply = performed(
        session, [op.putfh(scratch.handle), op.mkdir(b"made"), op.getfh()], cache_this=True, slot=0
    )
    first = expect(reply).ok()
    _moved_like(other, scratch, request, b"other")
    names = sorted(scratch.names())
    again = send_again(v4, session, request)
    expect(without_sequence(again), "results of the retry").equals(without_sequence(first))
    expect_names(scratch.names(), names, because=RETRY_IS_NOT_EXECUTED)


@MINORS
@proves(HIGHEST_SLOT, killed_by="sequence4-halves-the-highest-slot")
def test_highest_slot(nfs4: Nfs4, session: Session) -> None:
    """SEQUENCE does not take away slots that are in use."""
    last = session.state.slots.allowed - 1
    result = expect(nfs4.compound(session.sequence(0, highest_slot=last))).of(p.SEQUENCE).ok()
    expect(result).field("sr_highest_slotid").at_least(last)


@MINORS
@proves(CACHE_HAS_A_SIZE, killed_by="sequence4-caches-any-size")
def test_too_big_to_cache(nfs4: Nfs4) -> None:
    """SEQUENCE alone, to be cached where even its own reply is too large, gets REP_TOO_BIG_TO_CACHE."""
    client = nfs4.new_client()
    result = nfs4.create_session(client.id, client.sequence_id, fore=op.channel(responsesize_cached=10))
    made = result.csr_resok4
    if made is None:
        skip(f"the server makes no session with so small a reply cache: {result.csr_status.name}")
    granted = made.csr_fore_chan_attrs.ca_maxresponsesize_cached
    if granted > 10:
        skip(f"the server grants {granted} bytes: another check judges that")
    reply = nfs4.compound(op.sequence(made.csr_sessionid, 1, cachethis=True))
    nfs4.destroy_session(made.csr_sessionid)
    expect(reply).status(Nfsstat4.NFS4ERR_REP_TOO_BIG_TO_CACHE)
