# SPDX-License-Identifier: MIT
"""The XID of a reply (RFC 1831 section 8): which call it answers."""

from __future__ import annotations

import pytest

from fixtures.checks.wire import PROC_UNAVAIL, SUCCESS, MakeWire, Proto, words
from nfsclient.errors import RpcTimeout
from nfsjudge import Harm, expect, proves, stated
from suites.rpc.calls import null_call, show_xid
from suites.rpc.parameters import HIGHEST, TRANSPORTS, short

XID_IS_PER_CALLER = stated(
    "RFC 1831",
    "8",
    "an xid belongs to one caller: calls from two callers with the same xid are two calls",
    harm=Harm.SECRET,
)
ECHOES_XID = stated("RFC 1831", "8", "a reply has the xid of its call, whatever its value")


@proves(XID_IS_PER_CALLER, killed_by="rpc-empty-reply-to-repeated-xid", needs="udp")
def test_two_udp_ports(wire: MakeWire) -> None:
    """Two UDP clients that use the same xid each get their own reply."""
    first, second = wire("udp"), wire("udp")
    null = first.make()
    unknown = second.make(1000, xid=null.xid)
    outcomes = [first.call(null).outcome, second.call(unknown).outcome]
    expect(outcomes, "answers to NULL and to procedure 1000 with the same xid").satisfies(
        lambda found: found[0] != PROC_UNAVAIL and found[1] != SUCCESS,
        "the first without PROC_UNAVAIL and the second without SUCCESS",
    )


@TRANSPORTS
@pytest.mark.parametrize("xid", [0, 2**31 - 1, 2**31, HIGHEST], ids=short)
@proves(ECHOES_XID, killed_by="rpc-changes-extreme-xids")
def test_echoed(wire: MakeWire, proto: Proto, xid: int) -> None:
    """A reply has the xid of its call."""
    peer = wire(proto)
    call = peer.make(xid=xid)
    peer.send_record(call.message())
    try:
        reply = peer.receive_record()
    except RpcTimeout:
        # Over UDP the datagram may be lost: `wait` sends it again, and reports a missing reply.
        reply = peer.receive_reply(call).reply
    peer.note(call, reply)
    expect(show_xid(reply), "xid of the reply").equals(show_xid(words(xid)))


@proves(ECHOES_XID, killed_by="rpc-refuses-decreasing-xids")
def test_decreasing(wire: MakeWire) -> None:
    """The server answers calls whose xids decrease."""
    peer = wire()
    answered = [peer.call(peer.make(xid=xid)).outcome for xid in (3_000_000_000, 2_000_000_000, 5, 4)]
    expect(answered, "answers to calls with decreasing xids").equals([SUCCESS] * 4)


@proves(XID_IS_PER_CALLER, killed_by="rpc-shares-replies-by-xid")
def test_two_connections(wire: MakeWire) -> None:
    """Two connections that use the same xid each get their own reply."""
    first, second = wire(), wire()
    call = null_call(first)
    unknown = second.make(1000, xid=call.xid)
    first.call(call)
    answer = second.call(unknown)
    expect(
        answer.outcome, "answer to procedure 1000 with the xid of another client's NULL", of=answer
    ).differs_from(SUCCESS)
