# SPDX-License-Identifier: MIT
"""What happens to packets below messages: copies from a forged sender, and a RST that neither side has sent.

They need a server in a private network. As in test_drc.py, a check fails only if no sequence of executions of the calls
leaves what is there.
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.faults import ForgeReset, IpFragments, MakeFaulty, Replay, on
from fixtures.checks.scratch import Scratch
from fixtures.checks.wire import SUCCESS
from nfsclient.protocol.nfs3 import WRITE
from nfsjudge import expect_data, expect_names, observe, proves, skip
from suites.faults.cases import EACH_CHANGE, EACH_VERSION, Case
from suites.faults.clauses import COPIES_ARE_EXECUTIONS
from suites.faults.test_recovery import WRITES_ITS_DATA
from suites.faults.test_transport import ONLY_WHOLE_RECORDS
from suites.faults.writes import SIZE, make_write, procedure_of, written
from suites.nfs3.contents import pattern
from suites.rpc.clauses import EXECUTES_AT_LEAST_ONCE

_OLD, _NEW = b"\xaa" * SIZE, pattern(SIZE)
FRAGMENTS: t.Final = {
    "in-order": IpFragments(512),
    "reversed": IpFragments(512, reverse=True),
    "overlapping": IpFragments(512, overlap=64),
    "first-lost": IpFragments(512, lose=1),
    "last-lost": IpFragments(512, lose=100),
}
"""Id -> how the datagram of a WRITE arrives. One that is not assembled is sent again, whole."""


@EACH_CHANGE
@proves(COPIES_ARE_EXECUTIONS, killed_by="first-copy-of-a-change-makes-a-file")
def test_forged_copy(
    faults: MakeFaulty, scratch: Scratch[t.Any, t.Any], nfs_version: str, procedure: str
) -> None:
    """A change and a copy of it from another address have the effect of one change."""
    case = Case(nfs_version, procedure, scratch)
    peer = faults("udp", case.version, on("call", case.call.procedure, Replay(via="forged")))
    case.need(peer.call(case.arrange(peer)))
    peer.call(peer.make())  # datagrams stay in order here: the copy has arrived
    expect_names(
        scratch.names(), case.after, f"names after {case.name}, and a copy of it from another address"
    )


@EACH_CHANGE
@proves(EXECUTES_AT_LEAST_ONCE, killed_by="first-copy-of-a-change-makes-a-file")
def test_reset_before_reply(
    faults: MakeFaulty, scratch: Scratch[t.Any, t.Any], nfs_version: str, procedure: str
) -> None:
    """A change whose connection is reset before its reply, and that is sent again, has the effect of one change."""
    case = Case(nfs_version, procedure, scratch)
    peer = faults("tcp", case.version, on("call", case.call.procedure, ForgeReset("client")))
    message = case.arrange(peer)
    peer.send_record(message.message())
    if not peer.client.wait_closed():
        skip("the reset has not reached the client")
    peer.note(message, None)
    peer.client.reconnect()
    answer = peer.try_message(message.message())
    observe("copy after a reset", case.told(answer))
    if answer.outcome != SUCCESS or case.status(answer) not in {int(one) for one in case.call.again}:
        case.need(answer)  # else the first call has made the change
    expect_names(scratch.names(), case.after, f"names after {case.name}, a reset, and its copy")


@EACH_VERSION
@proves(ONLY_WHOLE_RECORDS, killed_by="rpc-executes-calls-that-are-cut")
def test_reset_in_a_record(faults: MakeFaulty, scratch: Scratch[t.Any, t.Any], nfs_version: str) -> None:
    """A WRITE whose connection is reset after its first segment writes nothing."""
    version = int(nfs_version[1:])
    file = scratch.file("f")
    reset = on("call", procedure_of(version), ForgeReset("server"), nth=2)
    peer = faults("tcp", version, reset)
    if written(peer, make_write(peer, file, _OLD)) < SIZE:
        skip(f"WRITE takes fewer than {SIZE} bytes")
    call = make_write(peer, file, _NEW)
    peer.send_record(call.message())
    peer.client.wait_closed()
    peer.note(call, None)
    peer.client.reconnect()
    peer.call(peer.make())
    expect_data(scratch.read(file), _OLD, "data after a WRITE of which one segment arrived before a reset")


@pytest.mark.parametrize("way", FRAGMENTS)
@proves(WRITES_ITS_DATA, killed_by="write3-over-udp-zeroes-the-last-byte")
def test_ip_fragments(faults: MakeFaulty, scratch: Nfs3Scratch, way: str) -> None:
    """WRITE over UDP writes the data that were sent, whatever happens to the IP fragments of its datagram."""
    peer = faults("udp", 3, on("call", WRITE, FRAGMENTS[way]))
    file = scratch.file("f", _OLD)
    count = written(peer, make_write(peer, file, _NEW))
    expect_data(scratch.read(file), _NEW[:count] + _OLD[count:], f"data of a WRITE in IP fragments ({way})")
