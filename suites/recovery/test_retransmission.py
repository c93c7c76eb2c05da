# SPDX-License-Identifier: MIT
"""Calls that are sent again after a crash, with the same XID (RFC 1831 section 4).

A server may remember replies or execute the call again: the answer is recorded. Whatever it does, the effect of one
execution must be there.
"""

from __future__ import annotations

import pytest

from fixtures.checks.across import ARRANGED, CRASH, Steps, across
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import TargetView
from fixtures.checks.wire import SUCCESS, MakeWire
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import WRITE, Nfsstat3, StableHow, Write3Args
from nfsjudge import expect_data, expect_names, observe, proves, skip
from nfsjudge.duplicates import cell_key
from suites.faults.duplicated import outcome_of
from suites.nfs3.calls import CALLS
from suites.nfs3.contents import pattern, read_range
from suites.recovery.after_crash import directory_again, file_again, names_again
from suites.rpc.clauses import EXECUTES_AT_LEAST_ONCE
from suites.rpc.damaged_calls import NAME, need


@pytest.mark.parametrize(
    "procedure", ["create", "mkdir", "symlink", "mknod", "link", "remove", "rmdir", "rename"]
)
@across(CRASH, by="procedure")
@proves(EXECUTES_AT_LEAST_ONCE, killed_by="repeated-call-of-before-a-restart-makes-another-file")
def test_effect(wire: MakeWire, scratch: Nfs3Scratch, target: TargetView, procedure: str) -> Steps:
    """A call that is sent again after a crash leaves what one execution leaves."""
    call, peer = CALLS[procedure], wire()
    message = peer.make(call.procedure.number, call.arranged(scratch, NAME).to_xdr())
    yield ARRANGED
    need(call, peer.call(message))
    yield CRASH
    directory = directory_again(target, scratch)
    answer = wire().try_message(message.message())
    is_answered = answer.outcome == SUCCESS
    observe(
        f"{call.procedure.name} again after the crash",
        answer.decode(call.procedure.res).status if is_answered else answer.outcome,
    )
    is_second = is_answered and answer.decode(call.procedure.res).status in call.again
    found = outcome_of(answer, is_made=None, is_second=is_second, is_alike=not call.again)
    name = "CREATE GUARDED" if procedure == "create" else call.procedure.name
    observe(cell_key(3, name, "crash-tcp"), found)
    scratch.move_to(target.client(Nfs3), target.root(Nfs3))

    def find() -> bytes:
        return scratch.lookup(scratch.name, directory=target.root(Nfs3)) or directory

    names = [name for name in names_again(scratch, find) if name != b"may-be-lost"]
    expect_names(names, call.names_after(NAME), f"names after {call.procedure.name} and its retransmission")


@across(CRASH, "UNSTABLE")
@proves(EXECUTES_AT_LEAST_ONCE, killed_by="write3-repeats-its-answer-after-a-crash")
def test_unstable_write(wire: MakeWire, scratch: Nfs3Scratch, target: TargetView) -> Steps:
    """WRITE with UNSTABLE that is sent again after a crash, and is answered with success, has written its data."""
    file, data = scratch.file("f"), pattern(4000)
    peer = wire()
    arguments = Write3Args(file, 0, len(data), StableHow.UNSTABLE, data)
    message = peer.make(WRITE.number, arguments.to_xdr())
    yield ARRANGED
    first = peer.call(message).decode(WRITE.res).resok
    yield CRASH
    if first is None or target.client(Nfs3).getattr(file).resok is None:
        skip("WRITE failed before the crash, or the handle is stale after it")
    answer = wire().try_message(message.message())
    again = answer.decode(WRITE.res) if answer.outcome == SUCCESS else None
    observe("WRITE again after the crash", answer.outcome if again is None else again.status)
    if again is None or again.status != Nfsstat3.NFS3_OK or again.resok is None:
        return
    count = again.resok.count
    seen = read_range(target.client(Nfs3), file_again(target, scratch, file, b"f"), 0, count)
    expect_data(seen, data[:count], "data after the retransmission", of="range")
