# SPDX-License-Identifier: MIT
"""Record marking over TCP (RFC 1831 section 10), and which call a reply belongs to.

A record is any number of fragments, each of 0 to 2^31-1 bytes; a stream has no segments that a receiver may count on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import pytest

from fixtures.raw import MARK, SUCCESS, MakeWire, RawCall, Wire, words
from nfsclient.errors import ConnectionLost, RpcTimeout
from nfsclient.rpc.record import fragment
from nfsjudge import Requirement, expect, observe, proves

FRAGMENTS = Requirement(
    rfc="RFC 1831",
    section="10",
    gist="a record is one or more fragments: they are one message wherever they are cut",
)
EMPTY_FRAGMENTS = Requirement(
    rfc="RFC 1831", section="10", gist="a fragment has 0 to 2^31-1 bytes: it may be empty"
)
STREAM = Requirement(
    rfc="RFC 1831",
    section="10",
    gist="record marks alone delimit messages in a byte stream, however it is cut into segments",
)
EACH_ANSWERED = Requirement(
    rfc="RFC 1831",
    section="3",
    gist="a server sends a reply to a call, and then awaits the next one: each is answered, and once",
)
OWN_CONNECTION = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="the xid is for the client to match replies, and for retransmissions: calls of two callers are two calls",
)
REPLY_ON_ITS_CONNECTION = Requirement(
    rfc="RFC 1831",
    section="3",
    gist="the reply to a call is sent to its caller: over TCP, on the connection that the call came on",
)
HALF_CLOSED_REPLY = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="what a server sends on a connection that its client has half closed are replies to its calls",
)

SIZE = 68
"""Bytes of a NULL with the credential of the run, in the shape that `_null` gives it."""


def _null(peer: Wire) -> RawCall:
    """A NULL whose message has `SIZE` bytes: a machine name of eight."""
    body = words(0, 8) + b"nfsproof" + words(0, 0, 0)
    return peer.make(cred=words(1, len(body)) + body)


def _outcomes(peer: Wire, calls: Iterable[RawCall]) -> list[str]:
    """What became of calls that were sent, up to the first that was not executed."""
    outcomes: list[str] = []
    for call in calls:
        outcomes.append(peer.risk(call, told=True).outcome)
        if outcomes[-1] != SUCCESS:
            break
    return outcomes


@pytest.mark.parametrize("cut", [2, 4, 8, 22, 24, 31, 32, 60, 67])
@proves(FRAGMENTS, killed_by="rpc-takes-fragments-for-records")
def test_a_message_may_be_cut_in_two(wire: MakeWire, cut: int) -> None:
    peer = wire()
    said = peer.risk(_null(peer), [cut])
    expect(said.outcome, f"the answer to a call cut after {cut} of {SIZE} bytes").equals(SUCCESS)


@proves(FRAGMENTS, killed_by="rpc-loses-fragments-that-end-in-an-opaque")
def test_a_message_may_be_cut_anywhere(wire: MakeWire) -> None:
    peer = wire()
    calls = [_null(peer) for _ in range(1, SIZE)]
    peer.send(b"".join(fragment(call.message(), [cut]) for cut, call in enumerate(calls, 1)))
    outcomes = _outcomes(peer, calls)
    expect(outcomes, "the answers to calls cut after 1 to 67 bytes").equals([SUCCESS] * len(calls))


@pytest.mark.parametrize("size", [1, 3, 4, 16])
@proves(FRAGMENTS, killed_by="rpc-takes-four-fragments-at-most")
def test_a_message_may_have_many_fragments(wire: MakeWire, size: int) -> None:
    peer = wire()
    said = peer.risk(_null(peer), [size] * (SIZE // size))
    expect(said.outcome, f"the answer to a call in fragments of {size} bytes").equals(SUCCESS)


@proves(FRAGMENTS, killed_by="rpc-drops-one-byte-fragments")
def test_a_message_may_come_byte_by_byte(wire: MakeWire) -> None:
    peer = wire()
    said = peer.risk(_null(peer), [1, SIZE - 2])
    expect(said.outcome, "the answer to a call with a first and last fragment of one byte").equals(SUCCESS)


EMPTY = {
    "first": [0, SIZE],
    "between": [40, 0, SIZE - 40],
    "last": [SIZE, 0],
    "three in a row": [20, 0, 0, 0, SIZE - 20],
    "a hundred": [20, *[0] * 100, SIZE - 20],
}


@pytest.mark.parametrize("where", EMPTY)
@proves(EMPTY_FRAGMENTS, killed_by="rpc-closes-on-empty-fragments")
def test_a_fragment_may_be_empty(wire: MakeWire, where: str) -> None:
    peer = wire()
    said = peer.risk(_null(peer), EMPTY[where])
    expect(said.outcome, f"the answer to a call with empty fragments ({where})").equals(SUCCESS)


@pytest.mark.parametrize("count", [2, 3, 20])
@proves(STREAM, killed_by="rpc-answers-one-record-of-a-segment")
def test_records_may_share_a_segment(wire: MakeWire, count: int) -> None:
    peer = wire()
    calls = [_null(peer) for _ in range(count)]
    peer.send(b"".join(fragment(call.message(), ()) for call in calls))
    outcomes = _outcomes(peer, calls)
    expect(outcomes, f"the answers to {count} calls in one segment").equals([SUCCESS] * count)


@pytest.mark.parametrize("cut", [1, 2, 3, 4, 5, 12, 40, 71])
@proves(STREAM, killed_by="rpc-forgets-half-a-record")
def test_a_record_may_span_segments(wire: MakeWire, passes_by: Callable[[], None], cut: int) -> None:
    peer = wire()
    call = _null(peer)
    stream = fragment(call.message(), ())
    peer.send(stream[:cut])
    # By then the server has most likely taken the first segment in.
    passes_by()
    peer.send(stream[cut:])
    expect(peer.risk(call, told=True).outcome, f"the answer to a record cut after {cut} bytes").equals(
        SUCCESS
    )


@proves(STREAM, killed_by="rpc-forgets-half-a-record")
def test_a_segment_may_end_in_the_next_record(wire: MakeWire, passes_by: Callable[[], None]) -> None:
    peer = wire()
    first, second = _null(peer), _null(peer)
    stream = fragment(first.message(), ()) + fragment(second.message(), [32])
    peer.send(stream[:90])
    passes_by()
    peer.send(stream[90:])
    expect(_outcomes(peer, [first, second]), "the answers to two records, the second cut").equals(
        [SUCCESS, SUCCESS]
    )


@pytest.mark.parametrize("count", [2, 40, 300])
@proves(EACH_ANSWERED, killed_by="rpc-answers-the-second-of-a-segment-twice")
def test_calls_in_a_row_are_answered_once_each(wire: MakeWire, count: int) -> None:
    peer = wire()
    calls = [_null(peer) for _ in range(count)]
    peer.send(b"".join(fragment(call.message(), ()) for call in calls))
    heard = Counter(peer.hear()[:4] for _ in calls)
    # Any order will do. What comes after an answer to two more calls would be one too many.
    for last in (_null(peer), _null(peer)):
        peer.tell(last.message())
        while (reply := peer.hear()[:4]) != words(last.xid):
            heard[reply] += 1
    expected = Counter(words(call.xid) for call in calls)
    expect(heard, f"how often each of {count} calls is answered").satisfies(
        lambda times: times == expected, "once each, and nothing else"
    )


@proves(OWN_CONNECTION, killed_by="rpc-takes-one-xid-for-one-caller")
def test_one_xid_on_two_connections_is_two_calls(wire: MakeWire) -> None:
    first, second = wire(), wire()
    call = _null(first)
    unknown = second.make(1000, xid=call.xid)
    first.ask(call)
    said = second.ask(unknown)
    expect(said.outcome, "the answer to a call with the xid of another client's NULL").differs_from(SUCCESS)


@proves(REPLY_ON_ITS_CONNECTION, killed_by="rpc-answers-on-the-latest-connection")
def test_a_reply_comes_on_the_connection_of_its_call(wire: MakeWire) -> None:
    peers = [wire() for _ in range(3)]
    calls = [_null(peer) for peer in peers]
    for peer in peers:
        peer.ask(_null(peer))
    for peer, call in zip(peers, calls, strict=True):
        peer.tell(call.message())
    heard = []
    for peer, call in zip(peers, calls, strict=True):
        try:
            heard.append(peer.hear()[:4] == words(call.xid))
        except RpcTimeout:
            heard.append(False)
    expect(heard, "whether each of three connections got the reply to its own call").equals([True] * 3)


@proves(HALF_CLOSED_REPLY, killed_by="rpc-says-goodbye-to-half-closed-connections")
def test_what_comes_after_a_half_close_is_the_reply(wire: MakeWire) -> None:
    peer = wire()
    call = _null(peer)
    peer.tell(call.message())
    peer.half_close()
    # That it is answered at all is nowhere said.
    heard: list[bytes] = []
    try:
        while True:
            heard.append(peer.hear(min(1.0, peer.client.timeout)))
    except ConnectionLost:
        observe("connection", "closed by the server")
    except RpcTimeout:
        observe("connection", "left open")
    observe("half-closed call", "answered" if heard else "not answered")
    expect([reply[:4] for reply in heard], "the xids of what comes after a half-close").satisfies(
        lambda xids: xids in ([], [words(call.xid)]), "that of the call, or none"
    )


@pytest.mark.parametrize("length", [0, 1])
@proves(STREAM, killed_by="rpc-answers-empty-records")
def test_a_record_without_a_message_is_no_call(wire: MakeWire, length: int) -> None:
    # A whole record of no or one byte: dropped, or the end of the connection.
    peer = wire()
    null = _null(peer)
    peer.send(words(MARK | length) + bytes(length) + fragment(null.message(), ()))
    try:
        reply = peer.hear(min(1.0, peer.client.timeout))
    except (ConnectionLost, RpcTimeout) as error:
        observe("connection", type(error).__name__)
        return
    observe("connection", "goes on")
    expect(reply[:4], "the xid of what is answered").equals(words(null.xid))
