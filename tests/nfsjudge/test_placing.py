# SPDX-License-Identifier: MIT
"""Where messages lie in what passed, whatever pieces a stream was sent in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nfsclient.rpc.exchange import Exchange, Segment
from nfsclient.rpc.record import fragment
from nfsjudge.placing import Placing, fragment_sizes, made_up, records

PEER, LOCAL = "s:2049", "c:1"


def own(call: bytes, reply: bytes | None = None) -> Exchange:
    return Exchange(1, None, None, None, call, 1.0, PEER, "tcp", reply=reply, local=LOCAL)


def pieces(stream: bytes, cuts: list[int], *, sent: bool = True) -> list[Segment]:
    ends = sorted({cut % (len(stream) + 1) for cut in cuts} - {0, len(stream)})
    bounds = zip([0, *ends], [*ends, len(stream)], strict=True)
    return [Segment(1.0, sent, stream[low:high], PEER, "tcp", LOCAL, 1) for low, high in bounds]


@given(
    st.lists(
        st.tuples(st.binary(max_size=40), st.lists(st.integers(0, 9), max_size=5)), min_size=1, max_size=6
    ),
    st.lists(st.integers(0, 500), max_size=8),
)
def test_messages_are_found_in_fragments_and_pieces(
    calls: list[tuple[bytes, list[int]]], cuts: list[int]
) -> None:
    stream = b"".join(fragment(call, sizes) for call, sizes in calls)
    assert [message for _, _, message in records(stream)] == [call for call, _ in calls]
    placing = Placing([own(call) for call, _ in calls if call], pieces(stream, cuts))
    assert [message.data for message in placing.messages] == [call for call, _ in calls]
    left = b"".join(data for _, _, data in placing.left(lambda message: message.exchange is not None))
    assert [message for _, _, message in records(left)] == [call for call, _ in calls if not call]


@given(st.binary(max_size=200))
def test_any_bytes_are_left_where_no_exchange_has_them(data: bytes) -> None:
    placing = Placing([], pieces(data, [3, 50]) if data else [])
    assert b"".join(piece for _, _, piece in placing.left(lambda _: False)) == data


def test_a_copy_is_known_as_one_and_another_connection_is_not() -> None:
    stream = fragment(b"abcd", ())
    other = Segment(1.0, True, stream, PEER, "tcp", "c:2", 2)
    placing = Placing([own(b"abcd")], [*pieces(stream * 2, []), other])
    assert [(message.exchange, message.is_again) for message in placing.messages] == [
        (0, False),
        (None, True),
        (None, True),
    ]


def test_sizes_of_fragments() -> None:
    assert fragment_sizes(fragment(b"abcdefgh", [3, 0])) == [3, 0]
    assert fragment_sizes(fragment(b"abcdefgh", ())) == []
    assert fragment_sizes(fragment(b"ab", ()) * 2) is None
    assert fragment_sizes(b"\x80\x00") is None


def test_exchanges_of_unknown_connections_are_made_up() -> None:
    both = own(b"call", b"reply")
    assert [(segment.sent, segment.data) for segment in made_up([both], set())] == [
        (True, b"\x80\x00\x00\x04call"),
        (False, b"\x80\x00\x00\x05reply"),
    ]
    assert made_up([both], {("tcp", PEER, LOCAL)}) == []
