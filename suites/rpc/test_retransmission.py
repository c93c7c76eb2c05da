# SPDX-License-Identifier: MIT
"""Retransmissions: the same call sent again with the same XID (RFC 1831 section 4, RFC 1813 section 4.5).

A server may repeat its first reply, execute the call again at any later moment, or drop it: RPC does not promise
exactly-once. So a valid reply is the first one, or that of a second execution, and a valid state is one that some
executions of the calls sent leave. The check records which it was.
"""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.wire import CLOSED, SILENCE, SUCCESS, Answer, MakeWire, Proto, RawCall, Wire
from nfsclient.clients import Nfs3
from nfsclient.protocol import nfs3 as v3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import (
    Harm,
    expect,
    expect_names,
    expect_that,
    must,
    observe,
    proves,
    should,
    show,
    skip,
    stated,
)
from suites.catalogue import Call
from suites.nfs3.calls import CALLS
from suites.nfs3.clauses import EXCLUSIVE_KEEPS_DATA
from suites.rpc.clauses import EXECUTES_AT_LEAST_ONCE
from suites.rpc.damaged_calls import NAME, each_call, executed, need
from suites.rpc.parameters import TRANSPORTS

ANSWERS_RETRANSMISSION = should(
    "RFC 1831", "4", "a server should answer a retransmission as before, execute it again, or drop it"
)
GUARD_HOLDS_FOR_COPIES = must(
    "RFC 1813",
    "3.3.2",
    "if the guard differs from the ctime of the object, SETATTR changes nothing, also when it comes again",
    harm=Harm.SUCCESS,
)
WRITES_AT_OFFSET = stated(
    "RFC 1813", "3.3.7", "WRITE writes its data at its offset, also when it is executed again", harm=Harm.DATA
)
each_change = each_call("create", "mkdir", "symlink", "mknod", "link", "remove", "rmdir", "rename")
EACH_WAY = pytest.mark.parametrize("way", ["same", "new"])
"""On which connection a copy is sent: the one of the first call, or a new one after that was closed."""
MOST_CHANGES: t.Final = 100
"""Changes until ctime differs from the guard: the clock of the server may be coarse."""
EARLIER, LATER = b"the earlier data", b"data that came later"


def _send_copy(wire: MakeWire, peer: Wire, message: RawCall, way: str) -> Answer:
    """The answer to a copy of a call that was answered."""
    if way == "new":
        peer.client.close()
        peer = wire()
    return peer.try_message(message.message())


def _status(call: Call, answer: Answer) -> Nfsstat3:
    """The status of a reply. Expects that the call was not refused below NFS."""
    __tracebackhide__ = True
    what = f"answer to a retransmitted {call.procedure.name}"
    expect(answer.outcome, what, of=answer, because=ANSWERS_RETRANSMISSION).equals(SUCCESS)
    return t.cast("Nfsstat3", answer.decode(call.procedure.res).status)


def _expect_reply_of_copy(call: Call, answer: Answer) -> None:
    """Expect the first reply, that of a second execution, or none."""
    __tracebackhide__ = True
    if answer.outcome in {SILENCE, CLOSED}:
        observe("retransmission", answer.outcome)
        return
    status = _status(call, answer)
    observe("retransmission", "answered as before" if status == Nfsstat3.NFS3_OK else "executed again")
    expect(
        status, f"status of a retransmitted {call.procedure.name}", of=answer, because=ANSWERS_RETRANSMISSION
    ).one_of(Nfsstat3.NFS3_OK, *call.again, Nfsstat3.NFS3ERR_JUKEBOX)


def _observe_copy(call: Call, answer: Answer) -> None:
    refused = answer.outcome != SUCCESS
    observe("retransmission", answer.outcome if refused else answer.decode(call.procedure.res).status)


# ---------------------------------------------------------------- after the reply, on the same connection


@TRANSPORTS
@each_change
@proves(ANSWERS_RETRANSMISSION, killed_by="rpc-retransmission-is-io")
def test_reply(wire: MakeWire, scratch: Nfs3Scratch, proto: Proto, call: Call) -> None:
    """A retransmission gets the first reply, the reply of a second execution, or none."""
    peer = wire(proto)
    message = executed(peer, call, call.arranged(scratch, NAME).to_xdr())
    _expect_reply_of_copy(call, peer.try_message(message.message()))


@TRANSPORTS
@each_change
@proves(EXECUTES_AT_LEAST_ONCE, killed_by="rpc-retransmission-creates-a-file")
def test_effect_remains(wire: MakeWire, scratch: Nfs3Scratch, proto: Proto, call: Call) -> None:
    """A retransmission does not undo the effect of the call."""
    peer = wire(proto)
    message = executed(peer, call, call.arranged(scratch, NAME).to_xdr())
    peer.try_message(message.message())
    what = f"names after {call.procedure.name} and its retransmission"
    expect_names(scratch.names(), call.names_after(NAME), what)


# ---------------------------------------------------------------- while the first call is in progress


@TRANSPORTS
@each_change
@proves(EXECUTES_AT_LEAST_ONCE, ANSWERS_RETRANSMISSION, killed_by="rpc-copies-in-flight-create-a-file")
def test_in_flight(wire: MakeWire, scratch: Nfs3Scratch, proto: Proto, call: Call) -> None:
    """A call whose copy follows at once has the effect of one call."""
    peer = wire(proto)
    message = peer.make(call.procedure.number, call.arranged(scratch, NAME).to_xdr())
    answers = peer.call_twice(message)
    _need_execution(call, answers)
    what = f"names after {call.procedure.name} and its copy"
    expect_names(scratch.names(), call.names_after(NAME), what)
    for answer in answers:
        _expect_reply_of_copy(call, answer)


def _need_execution(call: Call, answers: Sequence[Answer]) -> None:
    """End the check unless a reply shows that one of two copies was executed. Replies may come in any order."""
    observe("replies to two copies", len(answers))
    if not answers:
        skip("the server closes the connection after two copies of a call")
    statuses = {answer.decode(call.procedure.res).status for answer in answers if answer.outcome == SUCCESS}
    if statuses.isdisjoint({Nfsstat3.NFS3_OK, *call.again}):
        need(call, answers[0])


@TRANSPORTS
@proves(EXECUTES_AT_LEAST_ONCE, killed_by="rpc-copies-in-flight-create-a-file", needs="exclusive_create")
def test_exclusive_in_flight(wire: MakeWire, scratch: Nfs3Scratch, proto: Proto) -> None:
    """CREATE EXCLUSIVE whose copy follows at once creates one file."""
    peer, call = wire(proto), CALLS["create"]
    message = _exclusive_create(peer, scratch)
    answers = peer.call_twice(message)
    _need_execution(call, answers)
    expect_names(scratch.names(), [NAME], "names after CREATE EXCLUSIVE and its copy")


# ---------------------------------------------------------------- on a new connection


@each_change
@proves(EXECUTES_AT_LEAST_ONCE, ANSWERS_RETRANSMISSION, killed_by="rpc-reconnect-creates-a-file")
def test_after_reconnect(wire: MakeWire, scratch: Nfs3Scratch, call: Call) -> None:
    """A retransmission on a new connection does not undo the effect of the call."""
    peer = wire()
    message = executed(peer, call, call.arranged(scratch, NAME).to_xdr())
    answer = _send_copy(wire, peer, message, "new")
    what = f"names after {call.procedure.name} and its retransmission on a new connection"
    expect_names(scratch.names(), call.names_after(NAME), what)
    _expect_reply_of_copy(call, answer)


# ---------------------------------------------------------------- after other calls


@EACH_WAY
@proves(GUARD_HOLDS_FOR_COPIES, killed_by="rpc-retransmitted-setattr-ignores-the-guard")
def test_guarded_setattr(wire: MakeWire, nfs3: Nfs3, scratch: Nfs3Scratch, way: str) -> None:
    """A retransmitted SETATTR with a guard does not undo a later SETATTR."""
    file, peer, call = scratch.file("f", mode=0o600), wire(), CALLS["setattr"]
    guard = scratch.attributes(file).ctime
    message = executed(peer, call, v3.Setattr3Args(file, v3.Sattr3(mode=0o640), guard).to_xdr())
    mode = _change_mode_until_ctime_differs(nfs3, scratch, file, guard)
    _observe_copy(call, _send_copy(wire, peer, message, way))
    seen = scratch.attributes(file).mode & 0o777
    what = "mode after a later SETATTR and the retransmission of the earlier one"
    expect_that(seen == mode, show(mode, "mode"), show(seen, "mode"), what)


def _change_mode_until_ctime_differs(
    nfs3: Nfs3, scratch: Nfs3Scratch, file: bytes, guard: v3.Nfstime3
) -> int:
    """The last mode that was set. SKIP if ctime does not move."""
    for mode in (0o604, 0o606) * (MOST_CHANGES // 2):
        expect(nfs3.setattr(file, v3.Sattr3(mode=mode))).ok()
        found = scratch.attributes(file)
        if found.mode & 0o777 != mode:
            skip("the server does not set these modes")
        if found.ctime != guard:
            return mode
    return skip(f"ctime is the same after {MOST_CHANGES} changes")


@EACH_WAY
@proves(WRITES_AT_OFFSET, killed_by="rpc-retransmitted-write-appends")
def test_write(wire: MakeWire, scratch: Nfs3Scratch, way: str) -> None:
    """A retransmitted WRITE writes its data where it did before, or nothing."""
    file, peer, call = scratch.file("f"), wire(), CALLS["write"]
    args = v3.Write3Args(file, 0, len(EARLIER), v3.StableHow.FILE_SYNC, EARLIER)
    message = executed(peer, call, args.to_xdr())
    scratch.write(file, LATER)
    _observe_copy(call, _send_copy(wire, peer, message, way))
    data = scratch.read(file)
    observe("later data", "unchanged" if data == LATER else "overwritten by the retransmission")
    # A second execution is legal, even of a part: the server may write fewer bytes than it was sent.
    legal = [EARLIER[:size] + LATER[size:] for size in range(len(EARLIER) + 1)]
    what = "data after a later WRITE and the retransmission of the earlier one"
    expected = f"{show(LATER)}, or {show(legal[-1])}"
    expect_that(data in legal, expected, show(data), what)


@EACH_WAY
@proves(
    EXCLUSIVE_KEEPS_DATA,
    EXECUTES_AT_LEAST_ONCE,
    killed_by="rpc-retransmitted-exclusive-create-truncates",
    needs="exclusive_create",
)
def test_exclusive_create(wire: MakeWire, nfs3: Nfs3, scratch: Nfs3Scratch, way: str) -> None:
    """A retransmitted CREATE EXCLUSIVE keeps the data that were written since."""
    peer, call = wire(), CALLS["create"]
    message = _exclusive_create(peer, scratch)
    need(call, peer.call(message))
    file = scratch.lookup(NAME)
    if file is None:
        skip("LOOKUP does not find the new file; another check judges that")
    # The mode is undefined until it is set, and so is whether the user may write.
    expect(nfs3.setattr(file, v3.Sattr3(mode=0o644))).ok()
    scratch.write(file, LATER)
    _observe_copy(call, _send_copy(wire, peer, message, way))
    expect_names(scratch.names(), [NAME], "names after CREATE EXCLUSIVE and its retransmission")
    data = scratch.read(scratch.lookup(NAME) or b"")
    what = "data after CREATE EXCLUSIVE, WRITE and the retransmission of CREATE"
    expect_that(data == LATER, show(LATER), show(data), what)


def _exclusive_create(peer: Wire, scratch: Nfs3Scratch) -> RawCall:
    how = v3.Createhow3(v3.CreateMode3.EXCLUSIVE, verf=b"nfsproof")
    where = v3.Diropargs3(scratch.handle, NAME)
    return peer.make(CALLS["create"].procedure.number, v3.Create3Args(where, how).to_xdr())
