# SPDX-License-Identifier: MIT
"""A divided stream loses and invents nothing, however its bytes arrive."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.rpc.record import LAST_FRAGMENT, RecordAssembler, fragment
from nfsfaults.records import DECIDING, MOST_KEPT, RecordDivider, TooLong, Whole

MESSAGES = st.lists(
    st.tuples(st.booleans(), st.binary(max_size=80), st.lists(st.integers(0, 40), max_size=4)), max_size=6
)


def encoded(messages: list[tuple[bool, bytes, list[int]]]) -> bytes:
    """Each message begins with its wish."""
    return b"".join(fragment((b"p" if passes else b"k") + data, sizes) for passes, data, sizes in messages)


def divided(stream: bytes, cuts: list[int]) -> list[bytes | Whole]:
    divider = RecordDivider(lambda head: head.startswith(b"p"))
    bounds = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    out: list[bytes | Whole] = []
    for start, end in itertools.pairwise(bounds):
        out += divider.feed(stream[start:end])
    assert divider.waiting == 0
    return out


@given(MESSAGES, st.lists(st.integers(0, 600), max_size=8))
def test_every_record_comes_out_whole_and_in_order(
    messages: list[tuple[bool, bytes, list[int]]], cuts: list[int]
) -> None:
    stream = encoded(messages)
    rebuilt = b""
    for part in divided(stream, cuts):
        rebuilt += fragment(part.data, part.sizes) if isinstance(part, Whole) else part
    assert rebuilt == stream
    payloads = [record.payload() for record in RecordAssembler().feed(stream)]
    kept = [part.data for part in divided(stream, cuts) if isinstance(part, Whole)]
    # Of equal messages one may pass, and another one be kept for its short first fragment.
    left = iter(payloads)
    assert all(data in left for data in kept)  # in this order
    assert [data for data in payloads if not data.startswith(b"p")] == [
        data for data in kept if not data.startswith(b"p")
    ]


@given(MESSAGES, st.integers(0, 600))
def test_an_ended_stream_gives_back_what_was_kept(
    messages: list[tuple[bool, bytes, list[int]]], end: int
) -> None:
    stream = encoded(messages)[:end]
    divider = RecordDivider(lambda head: head.startswith(b"p"))
    rebuilt = b""
    for part in divider.feed(stream):
        rebuilt += fragment(part.data, part.sizes) if isinstance(part, Whole) else part
    assert rebuilt + divider.pending == stream


def test_a_passing_record_is_not_kept() -> None:
    divider = RecordDivider(lambda head: True)
    mark = (LAST_FRAGMENT | MOST_KEPT * 2).to_bytes(4, "big")
    assert b"".join(map(bytes, divider.feed(mark + bytes(DECIDING)))) == mark + bytes(DECIDING)  # type: ignore[arg-type]
    assert list(divider.feed(bytes(1000))) == [bytes(1000)]
    assert divider.waiting == 0


def test_a_kept_record_has_a_bound() -> None:
    divider = RecordDivider(lambda head: False)
    with pytest.raises(TooLong):
        list(divider.feed((LAST_FRAGMENT | (MOST_KEPT + 1)).to_bytes(4, "big") + bytes(DECIDING)))
