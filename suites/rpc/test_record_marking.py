# SPDX-License-Identifier: MIT
"""Record marking over TCP (RFC 1831 section 10), and which call a reply belongs to.

A record consists of one or more fragments of 0 to 2^31-1 bytes each. TCP is a byte stream: a receiver cannot rely on
segment boundaries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import pytest

from fixtures.raw import MARK, SUCCESS, MakeWire, RawCall, Wire, words
from nfsclient.errors import ConnectionLost, RpcTimeout
from nfsclient.rpc.record import fragment
from nfsjudge import Requirement, expect, observe, proves

REASSEMBLES_FRAGMENTS = Requirement(
    rfc="RFC 1831",
    section="10",
    gist="one or more fragments form a record, wherever the message is cut",
)
ACCEPTS_EMPTY_FRAGMENTS = Requirement(
    rfc="RFC 1831", section="10", gist="a fragment has 0 to 2^31-1 bytes, so it may be empty"
)
RECORD_MARKS_DELIMIT = Requirement(
    rfc="RFC 1831",
    section="10",
    gist="only record marks delimit messages in a byte stream, however TCP segments it",
)
ANSWERS_EACH_CALL_ONCE = Requirement(
    rfc="RFC 1831",
    section="3",
    gist="a server answers each call, and answers it once",
)
XID_IS_PER_CALLER = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="an xid belongs to one caller: calls from two callers with the same xid are two calls",
)
REPLIES_ON_SAME_CONNECTION = Requirement(
    rfc="RFC 1831",
    section="3",
    gist="a server sends the reply to its caller: over TCP, on the connection of the call",
)
SENDS_ONLY_REPLIES = Requirement(
    rfc="RFC 1831",
    section="8",
    gist="a server sends only replies to calls, also after the client has half-closed the connection",
)

SIZE = 68
"""Length in bytes of the NULL call that `_null` makes."""


def _null(peer: Wire) -> RawCall:
    """A NULL call whose message has `SIZE` bytes, with a machine name of eight bytes."""
    body = words(0, 8) + b"nfsproof" + words(0, 0, 0)
    return peer.make(cred=words(1, len(body)) + body)


def _outcomes(peer: Wire, calls: Iterable[RawCall]) -> list[str]:
    """The outcomes of calls already sent, up to the first that was not executed."""
    outcomes: list[str] = []
    for call in calls:
        outcomes.append(peer.risk(call, told=True).outcome)
        if outcomes[-1] != SUCCESS:
            break
    return outcomes


@pytest.mark.parametrize("cut", [2, 4, 8, 22, 24, 31, 32, 60, 67])
@proves(REASSEMBLES_FRAGMENTS, killed_by="rpc-takes-fragments-for-records")
def test_a_message_may_be_cut_in_two(wire: MakeWire, cut: int) -> None:
    """The server answers a call that is split into two fragments."""
    peer = wire()
    said = peer.risk(_null(peer), [cut])
    expect(said.outcome, f"the answer to a call cut after {cut} of {SIZE} bytes").equals(SUCCESS)


@proves(REASSEMBLES_FRAGMENTS, killed_by="rpc-loses-fragments-that-end-in-an-opaque")
def test_a_message_may_be_cut_anywhere(wire: MakeWire) -> None:
    """The server answers calls that are split into two fragments after any byte."""
    peer = wire()
    calls = [_null(peer) for _ in range(1, SIZE)]
    peer.send(b"".join(fragment(call.message(), [cut]) for cut, call in enumerate(calls, 1)))
    outcomes = _outcomes(peer, calls)
    expect(outcomes, "the answers to calls cut after 1 to 67 bytes").equals([SUCCESS] * len(calls))


@pytest.mark.parametrize("size", [1, 3, 4, 16])
@proves(REASSEMBLES_FRAGMENTS, killed_by="rpc-takes-four-fragments-at-most")
def test_a_message_may_have_many_fragments(wire: MakeWire, size: int) -> None:
    """The server answers a call that is split into many small fragments."""
    peer = wire()
    said = peer.risk(_null(peer), [size] * (SIZE // size))
    expect(said.outcome, f"the answer to a call in fragments of {size} bytes").equals(SUCCESS)


@proves(REASSEMBLES_FRAGMENTS, killed_by="rpc-drops-one-byte-fragments")
def test_a_message_may_come_byte_by_byte(wire: MakeWire) -> None:
    """The server answers a call whose first and last fragments have one byte each."""
    peer = wire()
    said = peer.risk(_null(peer), [1, SIZE - 2])
    expect(said.outcome, "the answer to a call with a first and last fragment of one byte").equals(SUCCESS)


EMPTY_FRAGMENTS = {
    "first": ("first", [0, SIZE]),
    "middle": ("between", [40, 0, SIZE - 40]),
    "last": ("last", [SIZE, 0]),
    "three": ("three in a row", [20, 0, 0, 0, SIZE - 20]),
    "hundred": ("a hundred", [20, *[0] * 100, SIZE - 20]),
}
"""Id -> description, and the sizes of the fragments."""


@pytest.mark.parametrize("where", EMPTY_FRAGMENTS)
@proves(ACCEPTS_EMPTY_FRAGMENTS, killed_by="rpc-closes-on-empty-fragments")
def test_a_fragment_may_be_empty(wire: MakeWire, where: str) -> None:
    """The server answers a call that has empty fragments."""
    peer = wire()
    description, sizes = EMPTY_FRAGMENTS[where]
    said = peer.risk(_null(peer), sizes)
    expect(said.outcome, f"the answer to a call with empty fragments ({description})").equals(SUCCESS)


@pytest.mark.parametrize("count", [2, 3, 20])
@proves(RECORD_MARKS_DELIMIT, killed_by="rpc-answers-one-record-of-a-segment")
def test_records_may_share_a_segment(wire: MakeWire, count: int) -> None:
    """The server answers every call of several records sent in one TCP segment."""
    peer = wire()
    calls = [_null(peer) for _ in range(count)]
    peer.send(b"".join(fragment(call.message(), ()) for call in calls))
    outcomes = _outcomes(peer, calls)
    expect(outcomes, f"the answers to {count} calls in one segment").equals([SUCCESS] * count)


@pytest.mark.parametrize("cut", [1, 2, 3, 4, 5, 12, 40, 71])
@proves(RECORD_MARKS_DELIMIT, killed_by="rpc-forgets-half-a-record")
def test_a_record_may_span_segments(wire: MakeWire, passes_by: Callable[[], None], cut: int) -> None:
    """The server answers a call whose record is sent in two TCP segments."""
    peer = wire()
    call = _null(peer)
    stream = fragment(call.message(), ())
    peer.send(stream[:cut])
    # After this pause the server has most likely read the first segment.
    passes_by()
    peer.send(stream[cut:])
    expect(peer.risk(call, told=True).outcome, f"the answer to a record cut after {cut} bytes").equals(
        SUCCESS
    )


@proves(RECORD_MARKS_DELIMIT, killed_by="rpc-forgets-half-a-record")
def test_a_segment_may_end_in_the_next_record(wire: MakeWire, passes_by: Callable[[], None]) -> None:
    """The server answers two calls when the first segment ends within the second record."""
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
@proves(ANSWERS_EACH_CALL_ONCE, killed_by="rpc-answers-the-second-of-a-segment-twice")
def test_calls_in_a_row_are_answered_once_each(wire: MakeWire, count: int) -> None:
    """The server answers each of many pipelined calls exactly once."""
    peer = wire()
    calls = [_null(peer) for _ in range(count)]
    peer.send(b"".join(fragment(call.message(), ()) for call in calls))
    heard = Counter(peer.hear()[:4] for _ in calls)
    # Replies may come in any order. Two more calls flush out replies that are sent twice.
    for last in (_null(peer), _null(peer)):
        peer.tell(last.message())
        while (reply := peer.hear()[:4]) != words(last.xid):
            heard[reply] += 1
    expected = Counter(words(call.xid) for call in calls)
    expect(heard, f"how often each of {count} calls is answered").satisfies(
        lambda times: times == expected, "once each, and nothing else"
    )


@proves(XID_IS_PER_CALLER, killed_by="rpc-takes-one-xid-for-one-caller")
def test_one_xid_on_two_connections_is_two_calls(wire: MakeWire) -> None:
    """Two connections that use the same xid each get their own reply."""
    first, second = wire(), wire()
    call = _null(first)
    unknown = second.make(1000, xid=call.xid)
    first.ask(call)
    said = second.ask(unknown)
    expect(said.outcome, "the answer to a call with the xid of another client's NULL").differs_from(SUCCESS)


@proves(REPLIES_ON_SAME_CONNECTION, killed_by="rpc-answers-on-the-latest-connection")
def test_a_reply_comes_on_the_connection_of_its_call(wire: MakeWire) -> None:
    """The server sends a reply on the connection of its call."""
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


@proves(SENDS_ONLY_REPLIES, killed_by="rpc-says-goodbye-to-half-closed-connections")
def test_what_comes_after_a_half_close_is_the_reply(wire: MakeWire) -> None:
    """After a half-close the server sends nothing but the reply to the call."""
    peer = wire()
    call = _null(peer)
    peer.tell(call.message())
    peer.half_close()
    # No RFC requires an answer after a half-close.
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
@proves(RECORD_MARKS_DELIMIT, killed_by="rpc-answers-empty-records")
def test_a_record_without_a_message_is_no_call(wire: MakeWire, length: int) -> None:
    """The server does not answer a record that holds no message."""
    # A complete record of zero or one byte: the server may drop it or close the connection.
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
