# SPDX-License-Identifier: MIT
"""Sessions of NFSv4.1 that lose messages (RFC 5661 sections 2.10.6 and 2.10.13).

A session promises what NFSv3 does not: each request is executed exactly once, whichever of its messages was lost. A
request whose connection is lost is sent again in the same slot, with the same sequence id, on a new connection.
"""

from __future__ import annotations

import contextlib
import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, new_state_owner
from fixtures.checks.faults import Drop, Hold, KeptPacket, MakeFaulty, Truncate, on
from fixtures.checks.wire import SUCCESS, MakeWire
from nfsclient.clients.nfs4 import CompoundReply, Session, new_owner
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import ConnectionLost
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.blocking import RpcClient
from nfsclient.sessions.session import Request
from nfsclient.xdr import XdrType
from nfsjudge import expect, expect_data, observe, proves, skip, stated
from suites.faults.changes import CHANGES, PAIRS, VISIBLE
from suites.faults.lost import (
    Lost,
    connection_of,
    expect_executed,
    expect_lost_reply,
    expect_same_state,
    lose_call,
    lose_reply,
    lose_single,
    retry,
    state_of,
)
from suites.faults.test_transport import ONLY_WHOLE_RECORDS
from suites.nfs3.contents import pattern
from suites.nfs4.clauses import RETRY_GETS_THE_CACHED_REPLY, RETRY_IS_NOT_EXECUTED
from suites.nfs4.locks import WRITE_LT, lock_range, try_lock
from suites.nfs4.opens import BOTH, another_client, open_file
from suites.nfs4.retries import own_session, reconnect, send_another, without_sequence
from suites.nfs4.test_create_session import REPLAY_IS_CACHED
from suites.nfs4.test_exchange_id import UNCONFIRMED_IS_REPLACED

CALL_IS_SENT_AGAIN = stated(
    "RFC 5661",
    "2.10.13.1.2",
    "after the connection is lost, the client sends the request again on a new one, and the server executes it",
)
SESSION_OUTLIVES_CONNECTIONS = stated(
    "RFC 5661",
    "2.10.13.1.2",
    "a client that has lost the last connection of a session retains it by making another connection",
)
SLOTS_ARE_INDEPENDENT = stated(
    "RFC 5661",
    "2.10.6.1",
    "each slot has a separate sequence id, so requests in different slots may arrive in any order",
)
CREATION_NEEDS_NO_CONNECTION = stated(
    "RFC 5661",
    "2.10.3.1",
    "CREATE_SESSION associates the connection that carries it, which need not be that of EXCHANGE_ID",
)
_SIZE: t.Final = 4000
_OLD: t.Final = b"\xaa" * _SIZE

EACH_CHANGE = pytest.mark.parametrize("change", CHANGES)
EACH_VISIBLE = pytest.mark.parametrize("change", VISIBLE)


@EACH_CHANGE
@proves(
    RETRY_GETS_THE_CACHED_REPLY,
    RETRY_IS_NOT_EXECUTED,
    killed_by=("sequence4-forgets-replies", "sequence4-executes-retries"),
)
def test_reply_lost(v4: Nfs4Dialect, faults: MakeFaulty, change: str) -> None:
    """A change whose reply is lost is executed once: its retry gets the lost reply, and changes nothing."""
    session, scratch = own_session(v4), v4.scratch
    made = CHANGES[change](session, scratch)
    lost = lose_reply(faults, session, made.operations)
    if made.meddle is not None:
        made.meddle()
    before = state_of(scratch, made.file, with_data=made.with_data)
    again = retry(v4, session, lost.request)
    expect_same_state(before, state_of(scratch, made.file, with_data=made.with_data))
    expect_lost_reply(lost, again)


@EACH_VISIBLE
@proves(
    RETRY_GETS_THE_CACHED_REPLY,
    RETRY_IS_NOT_EXECUTED,
    killed_by=("sequence4-forgets-replies", "sequence4-executes-retries"),
)
def test_same_bytes(v4: Nfs4Dialect, faults: MakeFaulty, wire: MakeWire, change: str) -> None:
    """A change whose reply is lost, replayed with the same bytes and XID, gets that reply, and changes nothing."""
    session, scratch, kept = own_session(v4), v4.scratch, KeptPacket()
    made = CHANGES[change](session, scratch)
    rules = on("call", p.COMPOUND, kept.keep), on("reply", p.COMPOUND, Drop("close"))
    disturbed = faults.before(connection_of(session), *rules)
    request = session.state.begin(made.operations, cache_this=True)
    with contextlib.suppress(ConnectionLost):  # if its reply comes through, the check is VOID
        session.perform(request)
    first = CompoundReply(request.args, disturbed.result(p.COMPOUND), supplied=1)
    expect_executed(first)
    if made.meddle is not None:
        made.meddle()
    before = state_of(scratch, made.file, with_data=made.with_data)
    reconnect(v4, session)
    answer = wire().try_message(kept.data)
    expect(answer.outcome, "answer to the same bytes", of=answer).equals(SUCCESS)
    again = session.state.finish(request, answer.decode(p.COMPOUND.res))
    if again.status == Nfsstat4.NFS4ERR_DELAY:
        skip("the server answers NFS4ERR_DELAY to a retry")
    expect_same_state(before, state_of(scratch, made.file, with_data=made.with_data))
    expect_lost_reply(Lost(request, first), again)


@EACH_CHANGE
@proves(CALL_IS_SENT_AGAIN, killed_by="sequence4-new-connection-is-misordered")
def test_call_lost(v4: Nfs4Dialect, faults: MakeFaulty, change: str) -> None:
    """A change whose call is lost is executed when it comes again, and its slot goes on."""
    session, scratch = own_session(v4), v4.scratch
    made = CHANGES[change](session, scratch)
    request = lose_call(faults, session, made.operations)
    expect_executed(retry(v4, session, request))
    expect(session.compound(op.putrootfh(), slot=request.slot.id)).ok()


@EACH_VISIBLE
@proves(RETRY_IS_NOT_EXECUTED, killed_by="sequence4-executes-uncached-retries")
def test_uncached_reply_lost(v4: Nfs4Dialect, faults: MakeFaulty, change: str) -> None:
    """The retry of a change whose reply was not to be cached, and is lost, executes nothing."""
    session, scratch = own_session(v4), v4.scratch
    made = CHANGES[change](session, scratch)
    lost = lose_reply(faults, session, made.operations, cache_this=False)
    if made.meddle is not None:
        made.meddle()
    before = state_of(scratch, made.file, with_data=made.with_data)
    again = retry(v4, session, lost.request)
    expect_same_state(before, state_of(scratch, made.file, with_data=made.with_data))
    expect(again).of(p.SEQUENCE).ok()
    observe("retry of an uncached request", again.status.name)
    if again.status == Nfsstat4.NFS4_OK:
        expect(without_sequence(again), "results of the retry").equals(without_sequence(lost.reply))
    else:
        expect(len(again), "results after SEQUENCE").equals(1)


@pytest.mark.parametrize("change", PAIRS)
@proves(RETRY_IS_NOT_EXECUTED, killed_by="sequence4-executes-false-retries")
def test_false_retry(v4: Nfs4Dialect, faults: MakeFaulty, change: str) -> None:
    """Other arguments, sent with the slot and sequence id of a change whose reply is lost, change nothing."""
    session, scratch = own_session(v4), v4.scratch
    pair = PAIRS[change](scratch)
    has_data = change == "write"
    lost = lose_reply(faults, session, pair.first)
    before = state_of(scratch, pair.file, with_data=has_data)
    reply = send_another(v4, session, lost.request, *pair.other)
    expect_same_state(before, state_of(scratch, pair.file, with_data=has_data))
    observe("false retry", reply.status.name)
    if reply.status == Nfsstat4.NFS4_OK:
        expect(without_sequence(reply), "results").equals(without_sequence(lost.reply))


# ---------------------------------------------------------------- requests that are cut


@pytest.mark.parametrize("at", [600, 2000, 4000])
@pytest.mark.parametrize("end", ["close", "reset"])
@proves(ONLY_WHOLE_RECORDS, killed_by="rpc-executes-calls-that-are-cut")
def test_half_sent(v4: Nfs4Dialect, faults: MakeFaulty, end: t.Literal["close", "reset"], at: int) -> None:
    """A WRITE whose connection ends in the middle is not executed; it is when it comes again."""
    session, scratch = own_session(v4), v4.scratch
    file = scratch.file("file", _OLD)
    writing = op.write(open_file(session, file, BOTH).stateid, 0, pattern(_SIZE))
    request = lose_call(faults, session, [op.putfh(file), writing], Truncate(at, end))
    expect_data(scratch.read(file), _OLD, "data after half a WRITE")
    result = expect(retry(v4, session, request)).ok().of(p.WRITE).resok4
    assert result is not None
    wanted = pattern(_SIZE)[: result.count] + _OLD[result.count :]
    expect_data(scratch.read(file), wanted, "data after the whole WRITE")


# ---------------------------------------------------------------- slots


@proves(RETRY_GETS_THE_CACHED_REPLY, killed_by="sequence4-lone-retry-is-misordered")
def test_sequence_lost(v4: Nfs4Dialect, faults: MakeFaulty) -> None:
    """A request of SEQUENCE alone whose reply is lost gets it again, and its slot goes on."""
    session = own_session(v4)
    lost = lose_reply(faults, session, [], cache_this=False)
    expect(retry(v4, session, lost.request)).ok()
    expect(session.compound(slot=lost.request.slot.id)).ok()


def _send(rpc: RpcClient, *requests: Request) -> None:
    """Send requests, and wait until all are answered or lost."""
    pending = [rpc.submit(p.COMPOUND, request.args) for request in requests]
    rpc.loop.run_until(lambda: all(pending.done for pending in pending), rpc.loop.clock() + rpc.timeout)


def _making(session: Session, directory: bytes, slot: int) -> Request:
    operations: list[XdrType] = [op.putfh(directory), op.mkdir(b"slot %d" % slot), op.getfh()]
    return session.state.begin(operations, slot=slot, cache_this=True)


def _need_slots(session: Session, count: int) -> None:
    if session.state.slots.allowed < count:
        skip(f"the session has {session.state.slots.allowed} slots")


@pytest.mark.parametrize("order", ["same", "reversed"])
@proves(RETRY_GETS_THE_CACHED_REPLY, killed_by="sequence4-slots-share-a-reply")
def test_replies_of_slots_lost(v4: Nfs4Dialect, faults: MakeFaulty, order: str) -> None:
    """Requests in two slots whose replies are lost get their own replies, in whichever order they come again."""
    session, scratch = own_session(v4), v4.scratch
    _need_slots(session, 2)
    rules = on("reply", p.COMPOUND, Drop()), on("reply", p.COMPOUND, Drop("close"), nth=2)
    disturbed = faults.before(connection_of(session), *rules)
    requests = [_making(session, scratch.handle, slot) for slot in (0, 1)]
    _send(connection_of(session), *requests)
    replies = [disturbed.result(p.COMPOUND, at) for at in (0, 1)]
    if any(reply.status == Nfsstat4.NFS4ERR_DELAY for reply in replies):
        skip("the server answers NFS4ERR_DELAY")
    lost = {_slot_of(reply): reply for reply in replies}
    reconnect(v4, session)
    for request in requests if order == "same" else reversed(requests):
        again = session.perform(request)
        first = CompoundReply(request.args, lost[request.slot.id], supplied=1)
        expect(first).ok()
        expect(without_sequence(again), "results of the retry").equals(without_sequence(first))


def _slot_of(reply: p.Compound4Res) -> int | None:
    first = reply.resarray[0] if reply.resarray else None
    found = first.sr_resok4 if isinstance(first, p.Sequence4Res) else None
    return None if found is None else found.sr_slotid


@proves(SLOTS_ARE_INDEPENDENT, killed_by="sequence4-first-slot-comes-first")
def test_calls_reordered(v4: Nfs4Dialect, faults: MakeFaulty) -> None:
    """Requests in new slots are executed, though that in the higher slot arrives first."""
    session, scratch = own_session(v4), v4.scratch
    _need_slots(session, 3)
    faults.before(connection_of(session), on("call", p.COMPOUND, Hold()))
    requests = [_making(session, scratch.handle, slot) for slot in (1, 2)]
    pending = [connection_of(session).submit(p.COMPOUND, request.args) for request in requests]
    for request, call in zip(requests, pending, strict=True):
        result = connection_of(session).wait(call)
        expect(session.state.finish(request, result)).ok()


# ---------------------------------------------------------------- clients and sessions


@pytest.mark.parametrize("lost", ["call", "reply"])
@proves(CREATION_NEEDS_NO_CONNECTION, killed_by="createsession4-wants-the-first-connection")
def test_create_session_lost(v4: Nfs4Dialect, faults: MakeFaulty, lost: t.Literal["call", "reply"]) -> None:
    """CREATE_SESSION comes again after its call or its reply was lost: it makes one session, which works."""
    rpc = v4.connections.connect("nfs")
    client = v4.client(rpc).new_client()
    creating = op.create_session(client.id, client.sequence_id, fore=op.channel(requests=2))
    lose_single(faults, rpc, creating, lost)
    again = v4.client(v4.connections.connect("nfs")).compound(creating)
    made = expect(again).ok().of(p.CREATE_SESSION).csr_resok4
    assert made is not None
    carrier = v4.client(v4.connections.connect("nfs"))
    expect(carrier.compound(op.sequence(made.csr_sessionid, 1), op.putrootfh())).of(p.SEQUENCE).ok()
    carrier.destroy_session(made.csr_sessionid)


@proves(REPLAY_IS_CACHED, killed_by="createsession4-replay-makes-another")
def test_create_session_once(v4: Nfs4Dialect, faults: MakeFaulty) -> None:
    """The retry of a CREATE_SESSION whose reply is lost gets the lost session."""
    rpc = v4.connections.connect("nfs")
    client = v4.client(rpc).new_client()
    creating = op.create_session(client.id, client.sequence_id, fore=op.channel(requests=2))
    before = lose_single(faults, rpc, creating, "reply")
    assert before is not None
    first = before.of(p.CREATE_SESSION).csr_resok4
    carrier = v4.client(v4.connections.connect("nfs"))
    made = expect(carrier.compound(creating)).ok().of(p.CREATE_SESSION).csr_resok4
    assert first is not None
    assert made is not None
    carrier.destroy_session(made.csr_sessionid)
    expect(made).field("csr_sessionid", "session id").equals(first.csr_sessionid)


@proves(UNCONFIRMED_IS_REPLACED, killed_by="exchangeid4-repeat-is-in-use")
def test_exchange_id_lost(v4: Nfs4Dialect, faults: MakeFaulty) -> None:
    """EXCHANGE_ID comes again after its reply was lost: its client id can be used for a session."""
    rpc, owner = v4.connections.connect("nfs"), new_owner()
    lose_single(faults, rpc, op.exchange_id(owner), "reply")
    again = v4.client(v4.connections.connect("nfs"))
    made = expect(again.compound(op.exchange_id(owner))).ok().of(p.EXCHANGE_ID).eir_resok4
    assert made is not None
    created = expect(again.create_session(made.eir_clientid, made.eir_sequenceid)).ok()
    expect(again.compound(op.sequence(created.csr_sessionid, 1))).ok()
    again.destroy_session(created.csr_sessionid)
    again.destroy_clientid(made.eir_clientid)


@proves(RETRY_GETS_THE_CACHED_REPLY, killed_by="sequence4-executes-retries")
def test_reclaim_complete_lost(v4: Nfs4Dialect, faults: MakeFaulty) -> None:
    """RECLAIM_COMPLETE whose reply is lost succeeds when it comes again."""
    session = v4.client(v4.connections.connect("nfs")).establish(reclaim_complete=False)
    lost = lose_reply(faults, session, [op.reclaim_complete()])
    expect_lost_reply(lost, retry(v4, session, lost.request))


# ---------------------------------------------------------------- what a lost connection leaves


def _lose_connection(v4: Nfs4Dialect, faults: MakeFaulty, session: Session) -> None:
    """Lose the only connection of a session in the middle of a request, and make another one."""
    lost = lose_reply(faults, session, [], cache_this=False)
    expect(retry(v4, session, lost.request)).ok()


@proves(SESSION_OUTLIVES_CONNECTIONS, killed_by="write4-stateids-end-with-connections")
def test_open_kept(v4: Nfs4Dialect, faults: MakeFaulty) -> None:
    """A file that was opened before the connection was lost can be written by its stateid."""
    session, file = own_session(v4), v4.scratch.file("file", b"data")
    opened = open_file(session, file, BOTH)
    _lose_connection(v4, faults, session)
    expect(session.compound(op.putfh(file), op.write(opened.stateid, 0, b"more"))).ok()


@proves(SESSION_OUTLIVES_CONNECTIONS, killed_by="lock4-locks-end-with-connections")
def test_lock_kept(v4: Nfs4Dialect, faults: MakeFaulty) -> None:
    """A byte-range lock of a client that has lost its connection is still there for others."""
    session, file = own_session(v4), v4.scratch.file("file", b"data")
    lock_range(session, open_file(session, file, BOTH))
    _lose_connection(v4, faults, session)
    other = another_client(v4)
    reply = try_lock(other, open_file(other, file, BOTH), WRITE_LT, 0, 10, owner=new_state_owner())
    expect(reply).status(Nfsstat4.NFS4ERR_DENIED)
