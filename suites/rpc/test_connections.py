# SPDX-License-Identifier: MIT
"""Connections over TCP: many at once, idle, half closed, or abandoned (RFC 1831 sections 3 and 10)."""

from __future__ import annotations

import contextlib
import itertools
import resource
import typing as t
from collections import Counter

import pytest

from fixtures.checks.bystanders import WhyNotServed
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.scratch import need
from fixtures.checks.target import TargetView
from fixtures.checks.unread import UnreadClient
from fixtures.checks.wire import MARK, SUCCESS, MakeWire, Wire, auth, opaque, words
from nfsclient.clients import Nfs3
from nfsclient.errors import ConnectFailed, ConnectionLost, NfsClientError, RpcTimeout
from nfsclient.protocol import nfs3 as v3
from nfsclient.rpc.record import fragment
from nfsjudge import expect, expect_that, observe, proves, stated
from suites.rpc.calls import null_call, show_xid
from suites.rpc.clauses import SERVES_OTHERS_AFTERWARDS
from suites.rpc.serving import expect_others_served, expect_served_afterwards, observe_meanwhile

ANSWERS_EACH_CALL_ONCE = stated("RFC 1831", "3", "a server answers each call, and answers it once")
REPLIES_ON_SAME_CONNECTION = stated(
    "RFC 1831", "3", "a server sends the reply to its caller: over TCP, on the connection of the call"
)
SENDS_ONLY_REPLIES = stated(
    "RFC 1831",
    "8",
    "a server sends only replies to calls, also after the client has half-closed the connection",
)
READ_SIZE: t.Final = 65_536
UNREAD_DATA: t.Final = 64 << 20
"""Bytes that are read at most by a client that does not receive them. Kernels were seen to take 4 MiB of replies."""
UNREAD_NULLS: t.Final = 16_000
CLOSED_CONNECTIONS: t.Final = 320
"""Connections one after another. A server that leaks a descriptor for each may have 256."""
OPEN_CONNECTIONS: t.Final = 192
"""Connections at once. Linux has a limit of 220 with 8 threads, and closes the oldest above it."""
PRIVILEGED_CONNECTIONS: t.Final = 64
"""The same where each takes one of few source ports, which is not free again at once."""


def _received_at_once(peer: Wire, calls: bytes, count: int) -> Counter[bytes]:
    """The XIDs of `count` messages that come after these calls; they are sent again on a connection that was idle."""
    received: Counter[bytes] = Counter()
    peer.send_raw(calls)
    while received.total() < count:
        try:
            received[peer.receive_record()[:4]] += 1
        except ConnectionLost:
            if received or not peer.idleness.replaces_unread():
                raise
            peer.send_raw(calls)
    return received


@pytest.mark.parametrize("count", [2, 40, 300])
@proves(ANSWERS_EACH_CALL_ONCE, killed_by="rpc-answers-the-second-of-a-segment-twice")
def test_answered_once(wire: MakeWire, count: int) -> None:
    """The server answers each of many pipelined calls exactly once."""
    peer = wire()
    calls = [null_call(peer) for _ in range(count)]
    received = _received_at_once(peer, b"".join(fragment(call.message(), ()) for call in calls), count)
    # Replies may come in any order. Two more calls flush out replies that are sent twice.
    for last in (null_call(peer), null_call(peer)):
        try:
            peer.send_record(last.message())
            while (reply := peer.receive_record()[:4]) != words(last.xid):
                received[reply] += 1
        except ConnectionLost:
            if not peer.idleness.replaces_unread():
                raise
            break  # it was closed while it was idle: nothing more comes
    expected = Counter(words(call.xid) for call in calls)
    times = Counter(received[xid] for xid in expected)
    others = sum((received - expected).values()) - sum(
        (number - 1) * times[number] for number in times if number
    )
    seen = [f"{times[number]} answered {number} times" for number in sorted(times) if number != 1]
    seen += [f"{others} replies to other xids"] if others else []
    expect_that(received == expected, "one reply each, and no other", ", ".join(seen), f"{count} calls")


@proves(REPLIES_ON_SAME_CONNECTION, killed_by="rpc-answers-on-the-latest-connection")
def test_reply_on_same_connection(wire: MakeWire) -> None:
    """The server sends a reply on the connection of its call."""
    peers = [wire() for _ in range(3)]
    calls = [null_call(peer) for peer in peers]
    for peer in peers:
        peer.call(null_call(peer))
    for peer, call in zip(peers, calls, strict=True):
        peer.send_record(call.message())
    received = []
    for peer, call in zip(peers, calls, strict=True):
        try:
            received.append(peer.receive_record()[:4] == words(call.xid))
        except RpcTimeout:
            received.append(False)
    seen = f"it on {sum(received)} of 3 connections"
    expect_that(all(received), "the reply on the connection of its call", seen)


@proves(SENDS_ONLY_REPLIES, killed_by="rpc-half-close-gets-a-surplus-reply")
def test_half_close(wire: MakeWire) -> None:
    """After a half-close the server sends nothing but the reply to the call."""
    peer = wire()
    call = null_call(peer)
    peer.send_record(call.message())
    peer.half_close()
    # No RFC requires an answer after a half-close.
    received: list[bytes] = []
    try:
        while True:
            received.append(peer.receive_record(peer.soon))
    except ConnectionLost:
        observe("connection", "closed by the server")
    except RpcTimeout:
        observe("connection", "left open")
    observe("half-closed call", "answered" if received else "not answered")
    xids = [show_xid(reply) for reply in received]
    expect(xids, "xids of the messages after a half-close").one_of([], [show_xid(call.message())])


@proves(SERVES_OTHERS_AFTERWARDS, killed_by="rpc-stops-at-clients-that-do-not-read")
def test_client_never_reads(
    wire: MakeWire,
    nfs3: Nfs3,
    scratch: Nfs3Scratch,
    why_not_served: WhyNotServed,
    unread_client: UnreadClient,  # last: a server that serves one connection at a time has ended the check by then
) -> None:
    """The server serves other clients after a client has left that did not read its replies."""
    file = scratch.file("f")
    need(nfs3.setattr(file, v3.Sattr3(size=READ_SIZE)), f"a file of {READ_SIZE} bytes", "SETATTR")
    # A machine name of 255 bytes: the larger the calls, the sooner no more of them find room.
    body = words(0) + opaque(b"n" * 255) + words(0, 0, 0)
    peer, read = wire(), v3.Read3Args(file, 0, READ_SIZE).to_xdr()
    peer.client.close()
    # Once no more replies find room, calls fill the buffers in the other direction, whatever they ask for.
    reads = (peer.make(6, read, cred=auth(1, body)) for _ in range(UNREAD_DATA // READ_SIZE))
    nulls = (peer.make(cred=auth(1, body)) for _ in range(UNREAD_NULLS))
    calls = (fragment(call.message(), ()) for call in itertools.chain(reads, nulls))
    batches = iter(lambda: b"".join(itertools.islice(calls, 16)), b"")
    sent = unread_client.send_until_stalled(batches)
    if not unread_client.is_open:
        observe("client that does not read", "disconnected")
    else:
        seen = "all calls are received" if sent is None else "no more calls are received"
        observe("client that does not read", seen)
    observe_meanwhile(why_not_served)
    unread_client.close()
    expect_served_afterwards(why_not_served)


@proves(SERVES_OTHERS_AFTERWARDS, killed_by="rpc-stops-after-a-client-leaves")
def test_client_leaves(wire: MakeWire, why_not_served: WhyNotServed) -> None:
    """The server serves other clients after a client has left with calls outstanding."""
    peer = wire()
    peer.call(peer.make())
    peer.send_raw(b"".join(fragment(peer.make().message(), ()) for _ in range(260)))
    peer.client.close()
    expect_served_afterwards(why_not_served)


@proves(SERVES_OTHERS_AFTERWARDS, killed_by="rpc-limits-connections-including-closed")
def test_many_closed(wire: MakeWire, why_not_served: WhyNotServed, target: TargetView) -> None:
    """The server serves other clients after hundreds of connections were opened and closed."""
    for number in range(_affordable(CLOSED_CONNECTIONS, target)):
        peer = wire()
        if number % 32 == 0:
            peer.try_call(peer.make())  # a server that is slow to notice closed connections catches up
        elif number % 2:
            peer.send_raw(b"\x80")
        peer.client.close()
    expect_served_afterwards(why_not_served)


@pytest.mark.exclusive
@proves(SERVES_OTHERS_AFTERWARDS, killed_by="rpc-stops-at-its-limit-of-connections")
def test_many_open(wire: MakeWire, why_not_served: WhyNotServed, target: TargetView) -> None:
    """The server serves other clients after hundreds of connections were open at once."""
    wanted = min(_affordable(OPEN_CONNECTIONS, target), resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4)
    peers: list[Wire] = []
    with contextlib.suppress(ConnectFailed):
        while len(peers) < wanted:
            peers.append(wire())
            peers[-1].client.loop.catch_up()
    served = _count_served(peers)
    observe("connections served at once", served if served < wanted else f"{wanted} or more")
    for peer in peers:
        peer.client.close()
    expect_served_afterwards(why_not_served)


def _affordable(count: int, target: TargetView) -> int:
    return min(count, PRIVILEGED_CONNECTIONS) if target.address.privileged else count


def _count_served(peers: list[Wire]) -> int:
    """How many of the connections answer NULL."""
    calls = [null_call(peer) for peer in peers]
    for peer, call in zip(peers, calls, strict=True):
        with contextlib.suppress(ConnectionLost):
            peer.send_record(call.message())
    served, seconds = 0, max((peer.soon for peer in peers), default=0.0)
    for peer, call in zip(peers, calls, strict=True):
        try:
            served += peer.receive_reply(call, seconds).outcome == SUCCESS
        except RpcTimeout:
            seconds = 0.0  # the others had the same time
        except NfsClientError:
            continue
    return served


@pytest.mark.parametrize("what", ["nothing", "half-mark", "half-record", "fragment"])
@proves(SERVES_OTHERS_AFTERWARDS, killed_by="rpc-partial-records-keep-their-slots")
def test_slow_clients(wire: MakeWire, why_not_served: WhyNotServed, what: str) -> None:
    """The server serves other clients after slow clients have left, each within a record."""
    peers = [wire() for _ in range(20)]
    start = {"nothing": b"", "half-mark": b"\x80\0", "half-record": words(MARK | 80) + bytes(20)}
    for peer in peers:
        peer.send_raw(start.get(what, words(20) + bytes(20)))
    expect_others_served(peers, why_not_served)
