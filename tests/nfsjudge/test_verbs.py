# SPDX-License-Identifier: MIT
"""Verbs for contents, names and attributes: the texts that an author of a server reads, and what they mark."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.protocol import nfs3
from nfsclient.protocol.nfs3 import (
    Entry3,
    Fattr3,
    Ftype3,
    Getattr3Res,
    Getattr3ResOk,
    Nfsstat3,
    Nfstime3,
    Read3Args,
    Read3Res,
    Read3ResOk,
    Readdir3Res,
    Readdir3ResOk,
    Specdata3,
)
from nfsclient.rpc.exchange import Exchange
from nfsjudge import (
    Nonconformance,
    expect_all,
    expect_attributes,
    expect_data,
    expect_names,
    expect_once,
    expect_that,
    expect_unchanged,
)
from nfsjudge.pointing import find, locate

OLD, NEW = Nfstime3(1), Nfstime3(2)
MANY = [b"f%03d" % number for number in range(300)]


def attributes(size: int = 5, mtime: Nfstime3 = OLD, mode: int = 0o644) -> Fattr3:
    return Fattr3(Ftype3.NF3REG, mode, 1, 0, 0, size, size, Specdata3(0, 0), 1, 2, OLD, mtime, OLD)


TEXTS: dict[str, Callable[[], object]] = {
    "data at offset 4: expected 05, got 00 (file of 5 bytes)": lambda: expect_data(
        b"\1\2\3\4\0", b"\1\2\3\4\5"
    ),
    "data at offset 1: expected 6c64 'ld', got 6577 'ew' (file of 3 bytes; 2 differ)": lambda: expect_data(
        b"new", b"nld"
    ),
    "data at offset 100: expected 0505050505050505..., got 0000000000000000... (range of 20 bytes; 20 differ)": (
        lambda: expect_data(bytes(20), b"\5" * 20, at=100)
    ),
    "data, length: expected 5 bytes, got 3 (the first 3 are as expected)": lambda: expect_data(
        b"abc", b"abcde"
    ),
    "data, length: expected 5 bytes, got 0": lambda: expect_data(b"", b"abcde"),
    "data, length: expected 3 bytes, got 5, ending in 0000 (the first 3 are as expected)": lambda: (
        expect_data(b"abc\0\0", b"abc")
    ),
    "data at offset 0: expected 61 'a', got 62 'b' (link of 2 bytes, not 1)": lambda: expect_data(
        b"bb", b"a", of="link"
    ),
    "names: expected 'a', 'b', got 'a' (missing 'b')": lambda: expect_names([b"a"], [b"b", b"a"]),
    "names: expected 'b', got none": lambda: expect_names({}, {b"b": 3}),
    "names: expected 'a', got 'a', 'c' (unexpected 'c')": lambda: expect_names([b"c", b"a"], [b"a"]),
    "names: expected 'a', got 'a', 'a' (repeated 'a')": lambda: expect_names([b"a", b"a"], [b"a"]),
    "names: expected none, got 'x'": lambda: expect_names([b"x"], []),
    "names: expected 'x', got none": lambda: expect_names([], [b"x"]),
    "names: expected 300 names, got 299 names (missing 'f298')": lambda: expect_names(
        [name for name in MANY if name != b"f298"], MANY
    ),
    "names: expected 'a', got 'b'": lambda: expect_names([b"b"], [b"a"]),
    "names: expected 'b' among them, got 'a'": lambda: expect_names([b"a"], [b"b"], others=True),
    "names: expected each of 300 names exactly once, got 298 once; 'f007' 2 times; missing 'f298'": lambda: (
        expect_once([b"f007", *(name for name in MANY if name != b"f298")], MANY)
    ),
    "names: expected each at most once, got 'a' 3 times": lambda: expect_once([b"a", b"b", b"a", b"a"]),
    "mtime: expected 1.0, got 2.0": lambda: expect_unchanged(
        attributes(), attributes(mtime=NEW), ("size", "mtime")
    ),
    "size and mtime of the directory: expected 5, 1.0, got 4, 2.0": lambda: expect_unchanged(
        attributes(), attributes(4, NEW), ("size", "mtime"), "the directory"
    ),
    "mode: expected 0600, got 0644": lambda: expect_attributes(attributes(), size=5, mode=0o600),
    "addresses: expected universal addresses, got [1] (1 of 2)": lambda: expect_all(
        [1, 2], lambda number: number > 1, "addresses", "universal addresses"
    ),
    "expected eof or more entries, got neither": lambda: expect_that(False, "eof or more entries", "neither"),
}


@pytest.mark.parametrize("text", TEXTS)
def test_what_its_receiver_reads(text: str) -> None:
    with pytest.raises(Nonconformance) as failed:
        TEXTS[text]()
    assert str(failed.value) == text


def failure(act: Callable[[], object]) -> Nonconformance | None:
    try:
        act()
    except Nonconformance as failed:
        return failed
    return None


@given(st.binary(max_size=40), st.binary(max_size=40), st.integers(0, 2**63))
def test_data_fails_where_it_first_differs_and_nowhere_else(seen: bytes, expected: bytes, at: int) -> None:
    failed = failure(lambda: expect_data(seen, expected, at=at))
    assert (failed is None) == (seen == expected)
    if failed is None:
        return
    assert len(str(failed)) < 200
    found = re.fullmatch(r"data at offset (\d+)", failed.what)
    place = int(found[1]) - at if found else min(len(seen), len(expected))
    assert seen[:place] == expected[:place]
    assert seen[place : place + 1] != expected[place : place + 1]


@given(st.integers(1, 10**6), st.data())
def test_texts_about_data_stay_short(size: int, draw: st.DataObject) -> None:
    place = draw.draw(st.integers(0, size - 1))
    failed = failure(lambda: expect_data(bytes(size), bytes(place) + b"\1" + bytes(size - place - 1)))
    assert failed is not None
    assert failed.what == f"data at offset {place}"
    assert len(str(failed)) < 120


NAMES = st.lists(st.sampled_from([b"a", b"b", b"c", b"dd"]), max_size=6)


@given(NAMES, NAMES)
def test_names_hold_as_multisets(seen: list[bytes], expected: list[bytes]) -> None:
    assert (failure(lambda: expect_names(seen, expected)) is None) == (sorted(seen) == sorted(expected))
    atleast = failure(lambda: expect_names(seen, expected, others=True))
    assert (atleast is None) == (set(expected) <= set(seen))


@given(NAMES, st.sets(st.sampled_from([b"a", b"b", b"dd"])))
def test_once_is_neither_never_nor_twice(seen: list[bytes], wanted: set[bytes]) -> None:
    times = Counter(seen)
    holds = all(times[name] == 1 for name in wanted)
    assert (failure(lambda: expect_once(seen, wanted)) is None) == holds
    assert (failure(lambda: expect_once(seen)) is None) == (len(set(seen)) == len(seen))


@given(st.integers(0, 3000), st.integers(0, 3000))
def test_texts_about_names_stay_short(seen: int, expected: int) -> None:
    every = [b"name-%06d" % number for number in range(max(seen, expected))]
    failed = failure(lambda: expect_names(every[:seen], every[:expected]))
    assert (failed is None) == (seen == expected)
    assert len(str(failed)) < 600


@given(st.integers(0, 9), st.integers(0, 9), st.booleans())
def test_unchanged_looks_at_the_named_fields_only(before: int, after: int, moves: bool) -> None:
    old, new = attributes(before), attributes(after, NEW if moves else OLD)
    assert (failure(lambda: expect_unchanged(old, new, ("size",))) is None) == (before == after)
    assert (failure(lambda: expect_attributes(new, mtime=OLD)) is None) == (not moves)


def test_no_item_is_no_failure() -> None:
    expect_all([], lambda _: False, "addresses", "universal addresses")
    expect_that(True, "anything", "")


# ---------------------------------------------------------------- what is marked


def read(offset: int, data: bytes) -> Exchange:
    reply = Read3Res(Nfsstat3.NFS3_OK, Read3ResOk(None, len(data), True, data))
    args = Read3Args(b"handle", offset, 100)
    return Exchange(1, nfs3.READ, args, None, b"", 0.0, "", "tcp", result=reply)


def page(names: Sequence[bytes]) -> Exchange:
    entries = [Entry3(number, name, number) for number, name in enumerate(names, 1)]
    reply = Readdir3Res(Nfsstat3.NFS3_OK, Readdir3ResOk(None, bytes(8), entries, eof=True))
    return Exchange(1, nfs3.READDIR, None, None, b"", 0.0, "", "tcp", result=reply)


def marked(exchanges: Sequence[Exchange], act: Callable[[], object]) -> tuple[int, str | None] | None:
    failed = failure(act)
    assert failed is not None
    assert failed.claim is not None
    found = find(exchanges, failed.claim)
    if found is None:
        return None
    return next(at for at, exchange in enumerate(exchanges) if exchange.result is found[0]), found[1]


@given(st.integers(1, 50), st.integers(1, 20), st.data())
def test_data_is_marked_in_the_read_that_gave_it(size: int, piece: int, draw: st.DataObject) -> None:
    place = draw.draw(st.integers(0, size - 1))
    wanted = bytes(size)
    seen = wanted[:place] + b"\1" + wanted[place + 1 :]
    reads = [read(at, seen[at : at + piece]) for at in range(0, size, piece)]
    assert marked(reads, lambda: expect_data(seen, wanted)) == (place // piece, "resok.data")


def test_data_that_ends_too_early_is_marked_in_the_last_read() -> None:
    reads = [read(0, b"ab"), read(2, b"c")]
    assert marked(reads, lambda: expect_data(b"abc", b"abcd")) == (1, "resok.data")


def test_a_name_is_marked_in_its_page() -> None:
    pages = [page(MANY), page([b"a", b"b"]), page([b"c", b"a"])]
    assert marked(pages, lambda: expect_names([b"a", b"f298"], [b"a"])) == (0, "resok.entries[298].name")
    assert marked(pages, lambda: expect_once([b"a", b"a"])) == (2, "resok.entries[1].name")
    assert marked(pages, lambda: expect_names([b"a", b"b"], [b"a", b"b", b"z"])) == (1, "resok.entries")


def test_an_attribute_is_marked_in_the_reply_that_it_is_part_of() -> None:
    replies = [Getattr3Res(Nfsstat3.NFS3_OK, Getattr3ResOk(attributes(4))) for _ in range(3)]
    exchanges = [
        Exchange(1, nfs3.GETATTR, None, None, b"", 0.0, "", "tcp", result=reply) for reply in replies
    ]
    second = replies[1].resok
    assert second is not None
    place = marked(exchanges, lambda: expect_attributes(second.obj_attributes, size=5))
    assert place == (1, "resok.obj_attributes.size")


def test_a_reply_that_is_given_is_the_subject() -> None:
    shown = read(0, b"a")
    failed = failure(lambda: expect_data(b"a", b"b", reply=shown.result, field="resok.data"))
    assert failed is not None
    assert (failed.subject, failed.field, failed.claim) == (shown.result, "resok.data", None)


class Answer:
    """As raw answers are: the bytes that came."""

    reply = b"yes"


def test_a_raw_answer_that_is_given_is_marked_as_a_whole() -> None:
    exchanges = [
        Exchange(1, None, None, None, b"call", 0.0, "", "tcp", reply=reply)
        for reply in (b"no", b"yes", b"no")
    ]
    for judge in (
        lambda: expect_that(False, "an error", "success", reply=Answer()),
        lambda: expect_data(b"a", b"b", reply=Answer()),
    ):
        failed = failure(judge)
        assert failed is not None
        assert locate(exchanges, failed.subject, failed.field) == (exchanges[1], None)


@pytest.mark.parametrize("name", [b".nfs000000000000002a00000001", ".fuse_hidden0000002a00000001"])
def test_a_removed_file_that_is_open_may_show_another_name(name: bytes | str) -> None:
    expect_names([b"a", name], [b"a"])
    expect_names([name], [name])
    with pytest.raises(Nonconformance, match="missing"):
        expect_names([name], [b"a", name])
