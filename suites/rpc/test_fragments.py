# SPDX-License-Identifier: MIT
"""Record marking over TCP (RFC 1831 section 10).

A record is any number of fragments, each of 0 to 2^31-1 bytes. A stream has no segments that a receiver may rely on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from fixtures.checks.wire import MARK, SUCCESS, MakeWire, RawCall, Wire, words
from nfsclient.errors import ConnectionLost, RpcTimeout
from nfsclient.rpc.record import fragment
from nfsjudge import expect, observe, proves, stated
from suites.rpc.calls import NULL_CALL_SIZE, null_call, show_xid

REASSEMBLES_FRAGMENTS = stated(
    "RFC 1831", "10", "one or more fragments form a record, wherever the message is cut"
)
ACCEPTS_EMPTY_FRAGMENTS = stated("RFC 1831", "10", "a fragment has 0 to 2^31-1 bytes, so it may be empty")
RECORD_MARKS_DELIMIT = stated(
    "RFC 1831", "10", "only record marks delimit messages in a byte stream, however TCP segments it"
)


def _expect_answers(peer: Wire, calls: Iterable[RawCall], what: str) -> None:
    """Expect that calls already sent are executed. `what` has a place for the number of a call, from 1."""
    __tracebackhide__ = True
    for number, call in enumerate(calls, 1):
        answer = peer.try_call(call, sent=True)
        expect(answer.outcome, what.format(number), of=answer).equals(SUCCESS)


@proves(
    REASSEMBLES_FRAGMENTS,
    killed_by=("rpc-treats-fragments-as-records", "rpc-drops-fragments-that-end-in-an-opaque"),
)
def test_split_anywhere(wire: MakeWire) -> None:
    """The server answers calls that are split into two fragments after any byte."""
    peer = wire()
    calls = [null_call(peer) for _ in range(1, NULL_CALL_SIZE)]
    peer.send_raw(b"".join(fragment(call.message(), [cut]) for cut, call in enumerate(calls, 1)))
    _expect_answers(peer, calls, f"answer to a call cut after {{}} of {NULL_CALL_SIZE} bytes")


@pytest.mark.parametrize("size", [3, 4, 16])
@proves(REASSEMBLES_FRAGMENTS, killed_by="rpc-drops-fragments-after-the-third")
def test_many(wire: MakeWire, size: int) -> None:
    """The server answers a call that is split into many small fragments."""
    peer = wire()
    answer = peer.try_call(null_call(peer), [size] * (NULL_CALL_SIZE // size))
    expect(answer.outcome, f"answer to a call in fragments of {size} bytes", of=answer).equals(SUCCESS)


@proves(REASSEMBLES_FRAGMENTS, killed_by="rpc-drops-one-byte-fragments")
def test_byte_by_byte(wire: MakeWire) -> None:
    """The server answers a call whose fragments have one byte each."""
    peer = wire()
    answer = peer.try_call(null_call(peer), [1] * NULL_CALL_SIZE)
    expect(answer.outcome, "answer to a call in fragments of one byte", of=answer).equals(SUCCESS)


EMPTY_FRAGMENTS = {
    "first": ("an empty first fragment", [0, NULL_CALL_SIZE]),
    "middle": ("an empty fragment in the middle", [40, 0, NULL_CALL_SIZE - 40]),
    "last": ("an empty last fragment", [NULL_CALL_SIZE, 0]),
    "three": ("three empty fragments", [20, 0, 0, 0, NULL_CALL_SIZE - 20]),
    "hundred": ("a hundred empty fragments", [20, *[0] * 100, NULL_CALL_SIZE - 20]),
}
"""Id -> description, and the sizes of the fragments."""


@pytest.mark.parametrize("where", EMPTY_FRAGMENTS)
@proves(ACCEPTS_EMPTY_FRAGMENTS, killed_by="rpc-closes-on-empty-fragments")
def test_empty(wire: MakeWire, where: str) -> None:
    """The server answers a call that has empty fragments."""
    peer = wire()
    description, sizes = EMPTY_FRAGMENTS[where]
    answer = peer.try_call(null_call(peer), sizes)
    expect(answer.outcome, f"answer to a call with {description}", of=answer).equals(SUCCESS)


@pytest.mark.parametrize("count", [2, 3, 20])
@proves(RECORD_MARKS_DELIMIT, killed_by="rpc-executes-one-record-of-a-segment")
def test_records_in_one_segment(wire: MakeWire, count: int) -> None:
    """The server answers every call of several records sent in one TCP segment."""
    peer = wire()
    calls = [null_call(peer) for _ in range(count)]
    peer.send_raw(b"".join(fragment(call.message(), ()) for call in calls))
    _expect_answers(peer, calls, f"answer to call {{}} of {count} in one segment")


@pytest.mark.parametrize("cut", [1, 2, 3, 4, 5, 12, 40, 71])
@proves(RECORD_MARKS_DELIMIT, killed_by="rpc-drops-partial-records")
def test_record_across_segments(
    wire: MakeWire, null_on_other_connection: Callable[[], None], cut: int
) -> None:
    """The server answers a call whose record is sent in two TCP segments."""
    peer = wire()
    call = null_call(peer)
    stream = fragment(call.message(), ())
    peer.send_raw(stream[:cut])
    # After this pause the server has most likely read the first segment.
    null_on_other_connection()
    peer.send_raw(stream[cut:])
    answer = peer.try_call(call, sent=True)
    expect(answer.outcome, f"answer to a record in two segments, the first of {cut} bytes", of=answer).equals(
        SUCCESS
    )


@proves(RECORD_MARKS_DELIMIT, killed_by="rpc-drops-partial-records")
def test_partial_second_record(wire: MakeWire, null_on_other_connection: Callable[[], None]) -> None:
    """The server answers two calls when the first segment ends within the second record."""
    peer = wire()
    first, second = null_call(peer), null_call(peer)
    stream = fragment(first.message(), ()) + fragment(second.message(), [32])
    peer.send_raw(stream[:90])
    null_on_other_connection()
    peer.send_raw(stream[90:])
    _expect_answers(peer, [first, second], "answer to record {} of 2, the second cut by a segment")


@pytest.mark.parametrize("length", [0, 1])
@proves(RECORD_MARKS_DELIMIT, killed_by="rpc-answers-empty-records")
def test_empty_record(wire: MakeWire, length: int) -> None:
    """The server does not answer a record that holds no message."""
    # A complete record of zero or one byte: the server may drop it or close the connection.
    peer = wire()
    null = null_call(peer)
    peer.send_raw(words(MARK | length) + bytes(length) + fragment(null.message(), ()))
    try:
        reply = peer.receive_record(peer.soon)
    except (ConnectionLost, RpcTimeout) as error:
        observe("empty record", "connection closed" if isinstance(error, ConnectionLost) else "no reply")
        return
    observe("empty record", "next call answered")
    expect(show_xid(reply), "xid of the reply after an empty record").equals(show_xid(null.message()))
