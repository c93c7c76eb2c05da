# SPDX-License-Identifier: MIT
"""WRITEs and COMMITs that are lost, doubled, reordered or cut, with and without a crash; mostly of NFSv3.

A server of NFSv3 may execute a copy of a WRITE at any time. So these checks fail only if a byte of the file comes from
no WRITE that may have been executed last there: `possible` knows which these are.
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.across import ARRANGED, CRASH, Steps, across
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.faults import Drop, Duplicate, FaultyWire, Hold, MakeFaulty, Truncate, on
from fixtures.checks.wire import SUCCESS, Answer, Proto, RawCall, Wire
from nfsclient.clients import Nfs3
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import ConnectionLost
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs3 import COMMIT, WRITE, Commit3Args, StableHow, Write3Args, Write3ResOk
from nfsclient.rpc.program import Procedure
from nfsjudge import Harm, Requirement, expect, observe, proves, show, skip, stated
from nfsjudge.deviation import Deviation, OutcomeRecord
from nfsjudge.expect import fail
from nfsjudge.terms import NUMBER
from suites.faults.lost import connection_of, retry
from suites.faults.possible import Possible, Sent
from suites.faults.test_sessions import CALL_IS_SENT_AGAIN
from suites.faults.test_transport import ONLY_WHOLE_RECORDS
from suites.losses import Losses
from suites.nfs3.clauses import COMMIT_FLUSHES_DATA, FILE_SYNC_DATA_IS_STABLE
from suites.nfs3.contents import pattern, read_range
from suites.nfs4.opens import BOTH, open_file
from suites.nfs4.retries import own_session
from suites.recovery.after_crash import file_again
from suites.recovery.test_consistency import UNSTABLE_STAYS_IN_ITS_RANGE
from suites.rpc.clauses import EXECUTES_AT_LEAST_ONCE
from suites.rpc.parameters import TRANSPORTS

WRITES_ITS_DATA = stated(
    "RFC 1813",
    "3.3.7",
    "WRITE writes the bytes of its arguments at its offset; count in the result is how many it has written",
    harm=Harm.DATA,
)
_SIZE: t.Final = 6000
_OLD: t.Final = pattern(_SIZE)
_PIECE: t.Final = 2000
_PLAIN, _UNSTABLE = StableHow.FILE_SYNC, StableHow.UNSTABLE


class Writer:
    """A file whose WRITEs go over a faulty connection, and what it may hold."""

    def __init__(self, peer: FaultyWire, file: bytes) -> None:
        self.peer = peer
        self.file = file
        self.possible = Possible(_OLD)
        self._xid = peer.make().xid
        self.verifiers: set[bytes] = set()
        """Of UNSTABLE data."""

    def make(self, offset: int, data: bytes, stable: StableHow = _PLAIN) -> tuple[RawCall, Sent]:
        """A WRITE that is about to be sent."""
        args = Write3Args(self.file, offset, len(data), stable, data)
        self._xid = (self._xid + 1) % (1 << 32)
        call, sent = (
            self.peer.make(WRITE.number, args.to_xdr(), xid=self._xid),
            self.possible.send(offset, data),
        )
        if self.peer.proto == "udp":
            self.possible.copy(sent)  # while there is no answer it is sent again
        return call, sent

    def take(self, answer: Answer, sent: Sent) -> None:
        """The answer to a WRITE. SKIP if it failed."""
        result = _resok(answer, WRITE)
        if result is None:
            skip("WRITE fails")
        is_stable = result.committed != _UNSTABLE
        if not is_stable:
            self.verifiers.add(bytes(result.verf))
        self.possible.answer(sent, result.count, is_stable=is_stable)

    def write(self, offset: int, data: bytes, stable: StableHow = _PLAIN) -> None:
        """A WRITE that is answered."""
        call, sent = self.make(offset, data, stable)
        self.take(self.peer.call(call), sent)

    def judge(self, seen: bytes, when: str, because: Requirement) -> None:
        """Fail if a byte cannot be there."""
        __tracebackhide__ = True
        expect_possible(self.possible, seen, when, because)


def expect_possible(possible: Possible, seen: bytes, when: str, because: Requirement) -> None:
    """Fail if a byte of a file cannot be there."""
    __tracebackhide__ = True
    if len(seen) != _SIZE:
        outcome = OutcomeRecord(str(Deviation.FIELD), "", [NUMBER], NUMBER, "size")
        fail(f"size {when}", (str(_SIZE),), str(len(seen)), because, outcome=outcome)
    wrong = possible.judge(seen)
    if wrong is not None:
        expected = tuple(f"{value:02x}" for value in sorted(wrong.possible))
        texts = expected, f"{wrong.seen:02x}"
        fail(f"byte at offset {wrong.offset} {when}", *texts, because, kind=Deviation.DATA)


def _resok(answer: Answer, procedure: Procedure[t.Any, t.Any]) -> Write3ResOk | None:
    if answer.outcome != SUCCESS:
        return None
    return t.cast("Write3ResOk | None", answer.decode(procedure.res).resok)


def _written(faults: MakeFaulty, scratch: Nfs3Scratch, proto: Proto, *rules: t.Any) -> Writer:
    file = scratch.file("f", _OLD)
    return Writer(faults(proto, 3, *rules), file)


@TRANSPORTS
@proves(EXECUTES_AT_LEAST_ONCE, killed_by="write3-copies-write-zeros")
def test_write_lost(nfs3: Nfs3, scratch: Nfs3Scratch, faults: MakeFaulty, proto: Proto) -> None:
    """Bytes of a WRITE whose reply was lost, and of its copy, are its bytes or those of a later WRITE."""
    writer = _written(faults, scratch, proto, on("reply", WRITE, Drop()))
    call, first = writer.make(0, pattern(_PIECE, 1))
    lost = writer.peer.call_and_lose(call)
    writer.take(lost, first)
    later = writer.possible.send(1000, pattern(_PIECE, 2))
    result = expect(nfs3.write(writer.file, 1000, pattern(_PIECE, 2))).ok()
    writer.possible.answer(later, result.count, is_stable=True)
    writer.possible.copy(first)
    again = writer.peer.try_message(call.message())
    observe("copy of a WRITE after another one", again.outcome)
    seen = read_range(nfs3, writer.file, 0, _SIZE + 1)
    observe("effect of the copy", "executed again" if seen[1500:1501] == pattern(1501, 1)[1500:] else "none")
    writer.judge(seen, "after a copy of WRITE", EXECUTES_AT_LEAST_ONCE)


@TRANSPORTS
@proves(EXECUTES_AT_LEAST_ONCE, killed_by="write3-copies-write-zeros")
def test_write_doubled(nfs3: Nfs3, scratch: Nfs3Scratch, faults: MakeFaulty, proto: Proto) -> None:
    """A WRITE that the network doubles writes its bytes, and none but a later WRITE replaces them."""
    writer = _written(faults, scratch, proto, on("call", WRITE, Duplicate()))
    call, first = writer.make(0, pattern(_PIECE, 1))
    writer.possible.copy(first)
    writer.take(writer.peer.call(call), first)
    writer.write(1000, pattern(_PIECE, 2))
    writer.judge(read_range(nfs3, writer.file, 0, _SIZE + 1), "after a doubled WRITE", EXECUTES_AT_LEAST_ONCE)


@TRANSPORTS
@pytest.mark.parametrize("stable", ["unstable", "file-sync"])
@proves(WRITES_ITS_DATA, killed_by="write3-earlier-calls-are-late")
def test_out_of_order(
    nfs3: Nfs3, scratch: Nfs3Scratch, faults: MakeFaulty, proto: Proto, stable: str
) -> None:
    """Of two WRITEs that overlap and arrive in the other order, each writes its bytes."""
    how = _UNSTABLE if stable == "unstable" else _PLAIN
    writer = _written(faults, scratch, proto, on("call", WRITE, Hold()))
    calls = [writer.make(offset, pattern(_PIECE, salt), how) for salt, offset in ((1, 0), (2, 1000))]
    for call, _ in calls:
        writer.peer.send_record(call.message())
    answers = [(writer.peer.receive_reply(call), sent) for call, sent in calls]
    for answer, sent in answers:
        writer.take(answer, sent)
    seen = read_range(nfs3, writer.file, 0, _SIZE + 1)
    observe("WRITE that is there", "first" if seen[1500:1501] == pattern(1501, 1)[1500:] else "second")
    writer.judge(seen, "after WRITEs out of order", WRITES_ITS_DATA)


# ---------------------------------------------------------------- a stream that is cut

_CUTS: t.Final = pytest.mark.parametrize("at", [500, 1500])
_ENDS: t.Final = pytest.mark.parametrize("end", ["close", "reset"])
_End: t.TypeAlias = t.Literal["close", "reset"]


def _cut_stream(writer: Writer) -> None:
    """Five UNSTABLE WRITEs, of which the third is cut; the others go over a new connection."""
    for number in range(5):
        data = pattern(_PIECE, number + 1)
        call, sent = writer.make(number * 1000, data, _UNSTABLE)
        if number != 2:
            writer.take(writer.peer.call(call), sent)
            continue
        writer.possible.cut(sent)
        _send_to_the_end(writer.peer, call)


def _send_to_the_end(peer: Wire, call: RawCall) -> None:
    """Send a call that ends its connection, and call on another one until the end has passed through the server."""
    peer.send_record(call.message())
    peer.client.wait_closed()
    peer.note(call, None)
    peer.client.reconnect()
    for _ in range(2):
        peer.call(peer.make())


@_CUTS
@_ENDS
@proves(ONLY_WHOLE_RECORDS, killed_by="rpc-executes-calls-that-are-cut")
def test_stream_cut(nfs3: Nfs3, scratch: Nfs3Scratch, faults: MakeFaulty, end: _End, at: int) -> None:
    """A stream of UNSTABLE WRITEs that is cut: what was answered is there, and nothing of what was cut."""
    writer = _written(faults, scratch, "tcp", on("call", WRITE, Truncate(at, end), nth=3))
    _cut_stream(writer)
    writer.judge(read_range(nfs3, writer.file, 0, _SIZE + 1), "after a cut stream", ONLY_WHOLE_RECORDS)


@_ENDS
@proves(WRITES_ITS_DATA, killed_by="write3-unstable-ends-with-connections")
def test_stream_kept(nfs3: Nfs3, scratch: Nfs3Scratch, faults: MakeFaulty, end: _End) -> None:
    """UNSTABLE data that was answered is there after its connection was cut, and can be committed."""
    writer = _written(faults, scratch, "tcp", on("call", WRITE, Truncate(0, end), nth=3))
    _cut_stream(writer)
    expect(nfs3.commit(writer.file)).ok()
    writer.judge(read_range(nfs3, writer.file, 0, _SIZE + 1), "after a cut stream", WRITES_ITS_DATA)


@_ENDS
@proves(CALL_IS_SENT_AGAIN, killed_by="sequence4-new-connection-is-misordered")
def test_stream_cut4(v4: Nfs4Dialect, faults: MakeFaulty, end: _End) -> None:
    """By NFSv4.1, the WRITE in which a stream of UNSTABLE ones was cut is sent again: all data is there."""
    session, scratch = own_session(v4), v4.scratch
    file, possible = scratch.file("f", _OLD), Possible(_OLD)
    stateid = open_file(session, file, BOTH).stateid
    faults.before(connection_of(session), on("call", p.COMPOUND, Truncate(1500, end), nth=3))
    for number in range(5):
        data = pattern(_PIECE, number + 1)
        sent = possible.send(number * 1000, data)
        writing = [op.putfh(file), op.write(stateid, sent.offset, data, p.StableHow4.UNSTABLE4)]
        request = session.state.begin(writing, cache_this=True)
        try:
            reply = session.perform(request)
        except ConnectionLost:
            reply = retry(v4, session, request)
        result = expect(reply).ok().of(p.WRITE).resok4
        assert result is not None
        possible.answer(sent, result.count)
    expect_possible(possible, scratch.read(file), "after a cut stream", CALL_IS_SENT_AGAIN)


# ---------------------------------------------------------------- crashes


def _committed(writer: Writer, call: RawCall, answer: Answer, number: int) -> None:
    """The answer to COMMIT, or to its copy. SKIP if it does not say that the data is committed."""
    result = _resok(answer, COMMIT)
    if result is None:
        skip(f"COMMIT with XID 0x{call.xid:08x} has no success: {show(answer.outcome)}")
    if writer.verifiers - {bytes(result.verf)}:
        skip("COMMIT returned another verifier than WRITE: the server says that it may have lost data")
    writer.possible.committed(number)


def _judge_after_crash(writer: Writer, scratch: Nfs3Scratch, losses: Losses, because: Requirement) -> None:
    __tracebackhide__ = True
    again = file_again(losses.target, scratch, writer.file, b"f")
    seen = read_range(losses.target.client(Nfs3), again, 0, _SIZE + 1)
    writer.possible.crash()
    writer.judge(seen, "after the crash", because)
    losses.need_data()


@TRANSPORTS
@across(CRASH, "COMMIT")
@proves(COMMIT_FLUSHES_DATA, killed_by="commit3-flushes-nothing")
def test_commit_lost(scratch: Nfs3Scratch, faults: MakeFaulty, losses: Losses, proto: Proto) -> Steps:
    """Data survives a crash after a COMMIT whose reply was lost, and whose copy was answered."""
    writer = _written(faults, scratch, proto, on("reply", COMMIT, Drop()))
    yield ARRANGED
    writer.write(0, pattern(4000, 1), _UNSTABLE)
    call = writer.peer.make(COMMIT.number, Commit3Args(writer.file, 0, 0).to_xdr())
    number = writer.possible.commit()
    writer.peer.call_and_lose(call)
    _committed(writer, call, writer.peer.try_message(call.message()), number)
    yield CRASH
    _judge_after_crash(writer, scratch, losses, COMMIT_FLUSHES_DATA)


@TRANSPORTS
@across(CRASH, "COMMIT")
@proves(COMMIT_FLUSHES_DATA, killed_by="commit3-flushes-nothing")
def test_commit_doubled(scratch: Nfs3Scratch, faults: MakeFaulty, losses: Losses, proto: Proto) -> Steps:
    """Data survives a crash after a COMMIT that the network has doubled."""
    writer = _written(faults, scratch, proto, on("call", COMMIT, Duplicate()))
    yield ARRANGED
    writer.write(0, pattern(4000, 1), _UNSTABLE)
    call = writer.peer.make(COMMIT.number, Commit3Args(writer.file, 0, 0).to_xdr())
    number = writer.possible.commit()
    _committed(writer, call, writer.peer.call(call), number)
    yield CRASH
    _judge_after_crash(writer, scratch, losses, COMMIT_FLUSHES_DATA)


@TRANSPORTS
@across(CRASH, "WRITE UNSTABLE")
@proves(UNSTABLE_STAYS_IN_ITS_RANGE, killed_by="write3-crash-leaves-other-bytes")
def test_crash_after_loss(scratch: Nfs3Scratch, faults: MakeFaulty, losses: Losses, proto: Proto) -> Steps:
    """After a crash, each byte of an UNSTABLE WRITE whose reply was lost is the old one, the new one or zero."""
    writer = _written(faults, scratch, proto, on("reply", WRITE, Drop()))
    yield ARRANGED
    call, first = writer.make(1000, pattern(4000, 1), _UNSTABLE)
    writer.take(writer.peer.call_and_lose(call), first)
    yield CRASH
    _judge_after_crash(writer, scratch, losses, UNSTABLE_STAYS_IN_ITS_RANGE)


@TRANSPORTS
@across(CRASH, "WRITE FILE_SYNC")
@proves(FILE_SYNC_DATA_IS_STABLE, killed_by="write3-lies-about-file-sync")
def test_stable_write_lost(scratch: Nfs3Scratch, faults: MakeFaulty, losses: Losses, proto: Proto) -> Steps:
    """FILE_SYNC data survives a crash if the copy of its WRITE was answered."""
    writer = _written(faults, scratch, proto, on("reply", WRITE, Drop()))
    yield ARRANGED
    call, first = writer.make(1000, pattern(4000, 1))
    writer.peer.call_and_lose(call)
    writer.possible.copy(first)
    writer.take(writer.peer.try_message(call.message()), first)
    yield CRASH
    _judge_after_crash(writer, scratch, losses, FILE_SYNC_DATA_IS_STABLE)
