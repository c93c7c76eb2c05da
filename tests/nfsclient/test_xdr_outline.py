# SPDX-License-Identifier: MIT
"""Messages that are checked by their outline: never anything else than what the ordinary decoder says."""

from __future__ import annotations

import typing as t

from hypothesis import given
from hypothesis import strategies as st

from nfsclient.protocol import nfs3 as p3
from nfsclient.protocol import nfs4 as p4
from nfsclient.xdr import XdrError, XdrType
from nfsclient.xdr.outline import GroupReader, PageReader

NUMBERS = st.integers(0, 2**64 - 1)
SMALL = st.integers(0, 2**32 - 1)
VERIFIERS = st.binary(min_size=8, max_size=8)
FATTR3 = st.builds(p3.Fattr3.from_xdr, st.binary(min_size=84, max_size=84))
NAMES = st.binary(max_size=12)
PLAIN = st.builds(p3.Entry3, NUMBERS, NAMES, NUMBERS)
PLUS = st.builds(
    p3.Entryplus3,
    NUMBERS,
    NAMES,
    NUMBERS,
    st.none() | FATTR3,
    st.none() | st.sampled_from([b"h" * 28, b"h" * 3]),
)
FATTR4 = st.builds(
    p4.Fattr4,
    size=NUMBERS,
    mode=SMALL,
    filehandle=st.none() | st.sampled_from([b"h" * 28, b"h" * 5]),
    owner=st.none() | st.sampled_from([b"0", b"root", b"user@domain"]),
    named_attr=st.none() | st.booleans(),
)
ENTRIES4 = st.builds(p4.Entry4, NUMBERS, NAMES, FATTR4)
SEQUENCE = p4.Sequence4Res(p4.Nfsstat4.NFS4_OK, p4.Sequence4ResOk(b"s" * 16, 7, 0, 5, 5, 0))
OK3, OK4 = p3.Nfsstat3.NFS3_OK, p4.Nfsstat4.NFS4_OK


def plain_page(entries: list[t.Any], eof: bool, attributes: p3.Fattr3 | None) -> p3.Readdir3Res:
    return p3.Readdir3Res(OK3, p3.Readdir3ResOk(attributes, b"verifier", entries, eof))


def plus_page(entries: list[t.Any], eof: bool, attributes: p3.Fattr3 | None) -> p3.Readdirplus3Res:
    return p3.Readdirplus3Res(OK3, p3.Readdirplus3ResOk(attributes, b"verifier", entries, eof))


def page4(entries: list[t.Any], eof: bool, _attributes: object = None) -> p4.Compound4Res:
    result = p4.Readdir4Res(OK4, p4.Readdir4ResOk(b"verifier", p4.Dirlist4(entries, eof)))
    return p4.Compound4Res(OK4, b"", [SEQUENCE, p4.Putfh4Res(OK4), result])


def entries3(reply: t.Any) -> list[t.Any] | None:
    return None if reply.resok is None else reply.resok.entries


def entries4(reply: p4.Compound4Res) -> list[t.Any] | None:
    last = reply.resarray[-1] if reply.resarray else None
    return None if not isinstance(last, p4.Readdir4Res) or last.resok4 is None else last.resok4.reply.entries


KINDS: tuple[tuple[t.Any, t.Any, t.Any, t.Any, t.Any], ...] = (
    (p3.Readdir3Res, p3.Entry3, entries3, plain_page, st.lists(PLAIN, max_size=6)),
    (p3.Readdirplus3Res, p3.Entryplus3, entries3, plus_page, st.lists(PLUS, max_size=6)),
    (p4.Compound4Res, p4.Entry4, entries4, page4, st.lists(ENTRIES4, max_size=6)),
)
Drawn: t.TypeAlias = tuple[PageReader[t.Any, t.Any], t.Any, t.Any, list[XdrType]]


@st.composite
def readers(draw: st.DrawFn) -> Drawn:
    """A reader that has seen some pages, how a page is made, its decoder, and pages to read."""
    cls, element, entries_of, make, lists = draw(st.sampled_from(KINDS))
    reader: PageReader[t.Any, t.Any] = PageReader(cls, element, entries_of)
    pages = [
        make(draw(lists), draw(st.booleans()), draw(st.none() | FATTR3))
        for _ in range(draw(st.integers(1, 4)))
    ]
    for page in pages[:-1]:
        reader.learn(page)
        if (skimmed := reader.skim(page.to_xdr())) is not None:
            skimmed.rows()
    return reader, cls, entries_of, pages


def decoded(cls: t.Any, wire: bytes) -> t.Any:
    try:
        return cls.from_xdr(wire)
    except XdrError:
        return None


def require_same(reader: PageReader[t.Any, t.Any], cls: t.Any, entries_of: t.Any, wire: bytes) -> bool:
    """What the reader makes of a message is what the decoder says; whether it made anything."""
    skimmed = reader.skim(wire)
    if skimmed is None:
        return False
    rows = skimmed.rows()
    if rows is None:
        return False
    value = decoded(cls, wire)
    assert value is not None, "the reader accepts what the decoder refuses"
    entries = entries_of(value)
    assert rows.names == [entry.name for entry in entries]
    assert [skimmed.element(start) for start in rows.starts] == entries
    entries.clear()
    assert skimmed.value == value
    return True


@given(readers())
def test_whole_pages_are_what_the_decoder_says(drawn: Drawn) -> None:
    reader, cls, entries_of, pages = drawn
    require_same(reader, cls, entries_of, pages[-1].to_xdr())
    reader.learn(t.cast("t.Any", pages[-1]))
    assert require_same(reader, cls, entries_of, pages[-1].to_xdr())


@given(readers(), st.data())
def test_damaged_pages_are_what_the_decoder_says(drawn: Drawn, data: st.DataObject) -> None:
    reader, cls, entries_of, pages = drawn
    reader.learn(t.cast("t.Any", pages[-1]))
    wire = bytearray(pages[-1].to_xdr())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(wire) - 1))
        wire[at] = data.draw(st.integers(0, 255) | st.sampled_from([0, 1, 2, 4, wire[at] ^ 1]))
    require_same(reader, cls, entries_of, bytes(wire))
    require_same(reader, cls, entries_of, bytes(wire[: data.draw(st.integers(0, len(wire)))]))
    require_same(reader, cls, entries_of, bytes(wire) + data.draw(st.binary(max_size=9)))


def test_every_byte_of_a_page_may_be_damaged() -> None:
    for cls, element, entries_of, make, _ in KINDS:
        attributes = p3.Fattr3.from_xdr(bytes(range(84)))
        rows: dict[t.Any, list[t.Any]] = {
            p3.Entry3: [p3.Entry3(1, b"one", 3), p3.Entry3(2, b"three", 4)],
            p3.Entryplus3: [p3.Entryplus3(1, b"n" * at, 3, attributes, b"h" * 28) for at in (3, 4, 5)],
            p4.Entry4: [
                p4.Entry4(1, b"n" * at, p4.Fattr4(size=at, owner=b"root", mode=1)) for at in (3, 4, 5)
            ],
        }
        reader: PageReader[t.Any, t.Any] = PageReader(cls, element, entries_of)
        page = make(rows[element], False, attributes)
        reader.learn(page)
        good = page.to_xdr()
        assert require_same(reader, cls, entries_of, good)
        for at in range(len(good)):
            for value in {0, 1, 0xFF, good[at] ^ 1, good[at] ^ 4}:
                require_same(reader, cls, entries_of, good[:at] + bytes([value]) + good[at + 1 :])


@given(readers())
def test_the_last_entry_is_usually_found_from_its_end(drawn: Drawn) -> None:
    reader, _, entries_of, pages = drawn
    page = pages[-1]
    reader.learn(t.cast("t.Any", page))
    skimmed = reader.skim(page.to_xdr())
    assert skimmed is not None
    skimmed.last()  # whatever it is: nothing is raised
    rows, entries = skimmed.rows(), entries_of(page)
    assert rows is not None
    if len(entries) == 1 and b"\0" not in page.to_xdr()[-200:-100]:
        assert skimmed.last() == entries[-1]


def test_the_last_entry_of_an_ordinary_page() -> None:
    attributes = p3.Fattr3.from_xdr(b"a" * 84)
    entries = [p3.Entryplus3(at, b"file-%d" % at, at, attributes, b"h" * 28) for at in range(20)]
    page = plus_page(entries, False, attributes)
    reader: PageReader[t.Any, t.Any] = PageReader(p3.Readdirplus3Res, p3.Entryplus3, entries3)
    reader.learn(page)
    for _ in range(2):  # the first page brings the outline
        skimmed = reader.skim(page.to_xdr())
        assert skimmed is not None
        found = skimmed.last()
        assert skimmed.rows() is not None
    assert found == entries[-1]


def test_forms_that_a_peer_may_bring_are_bounded() -> None:
    entries = [p3.Entryplus3(at, b"n", at, None, b"h" * at) for at in range(1, 60)]
    page = plus_page(entries, False, None)
    reader: PageReader[t.Any, t.Any] = PageReader(p3.Readdirplus3Res, p3.Entryplus3, entries3)
    reader.learn(page)
    skimmed = reader.skim(page.to_xdr())
    assert skimmed is not None
    assert skimmed.rows() is None


# ---------------------------------------------------------------- results of a compound


CLASSES = (p4.Lookup4Res, p4.Getattr4Res, p4.Restorefh4Res)
GROUPS = st.lists(FATTR4, min_size=1, max_size=5)


def groups(attributes: list[p4.Fattr4]) -> bytes:
    out = b""
    for each in attributes:
        results = (p4.Lookup4Res(OK4), p4.Getattr4Res(OK4, p4.Getattr4ResOk(each)), p4.Restorefh4Res(OK4))
        for number, result in zip((15, 9, 31), results, strict=True):
            out += number.to_bytes(4, "big") + result.to_xdr()
    return out


def reader_of_groups() -> GroupReader:
    node = p4.RESULT_NODE
    return GroupReader(
        node, CLASSES, "[1].resok4.obj_attributes", lambda values: not any(map(p4.status_of, values))
    )


def require_same_groups(reader: GroupReader, wire: bytes, count: int) -> bool:
    found = reader.read(wire, 0, count)
    if found is None:
        return False
    pos = 0
    for raw in found[0]:
        for number, cls in zip((15, 9, 31), CLASSES, strict=True):
            assert wire[pos : pos + 4] == number.to_bytes(4, "big")
            result, pos = t.cast("t.Any", cls).unpack_from(wire, pos + 4)
            assert p4.status_of(result) == OK4
            if isinstance(result, p4.Getattr4Res):
                assert result.resok4 is not None
                assert result.resok4.obj_attributes == p4.Fattr4.from_xdr(raw)
    assert pos == found[1]
    return True


@given(st.lists(GROUPS, min_size=1, max_size=3), st.data())
def test_groups_are_what_the_decoder_says(lists: list[list[p4.Fattr4]], data: st.DataObject) -> None:
    reader = reader_of_groups()
    for attributes in lists:
        assert require_same_groups(reader, groups(attributes), len(attributes))
    wire = bytearray(groups(lists[-1]))
    at = data.draw(st.integers(0, len(wire) - 1))
    wire[at] = data.draw(st.integers(0, 255) | st.sampled_from([0, 1, wire[at] ^ 1]))
    require_same_groups(reader, bytes(wire), len(lists[-1]))
    require_same_groups(reader, bytes(wire[:at]), len(lists[-1]))


def test_every_byte_of_a_group_may_be_damaged() -> None:
    wire = groups([p4.Fattr4(size=1, owner=b"root", named_attr=True)] * 2)
    reader = reader_of_groups()
    assert require_same_groups(reader, wire, 2)
    for at in range(len(wire)):
        for value in {0, 1, 0xFF, wire[at] ^ 1, wire[at] ^ 4}:
            require_same_groups(reader, wire[:at] + bytes([value]) + wire[at + 1 :], 2)
