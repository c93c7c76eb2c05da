# SPDX-License-Identifier: MIT
"""The codec: compiled against reflective, strictness, errors with paths, printer, malformer."""

from __future__ import annotations

import linecache
from typing import Annotated

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfsclient.rpc.plan import carries_bulk
from nfsclient.xdr import (
    Array,
    AttributeMap,
    Bit,
    Buffer,
    Bulk,
    Case,
    Choice,
    ChoiceTable,
    Default,
    FixedArray,
    FixedOpaque,
    Lazy,
    LinkedList,
    NotAWireType,
    Opaque,
    String,
    Struct,
    Union,
    Unread,
    Void,
    XdrEnum,
    XdrError,
    XdrType,
    format_value,
    i32,
    i64,
    malformations,
    mask_of,
    reflect,
    replace,
    source_of,
    u32,
    u64,
)
from nfsclient.xdr.attributes import codecs_of
from tests.strategies import xdr_values


class Colour(XdrEnum):
    RED = 1
    GREEN = 2


class Point(Struct):
    x: u32
    y: i64


class Stamp(Struct):
    colour: Colour
    at: Point
    verf: Annotated[bytes, FixedOpaque(8)]


class Shape(Union):
    colour: Colour
    point: Annotated[Point | None, Case(Colour.RED)] = None
    names: Annotated[list[bytes] | None, Case(Colour.GREEN), Default()] = None

    __void_default__ = True


class Strict(Union):
    flag: bool
    number: Annotated[u64 | None, Case(1)] = None

    __void__ = (0,)


class Wide(Union):
    kind: u32
    a: Annotated[Point | None, Case(0, 7)] = None
    b: Annotated[Stamp | None, Case(1)] = None
    c: Annotated[u32 | None, Case(2)] = None
    d: Annotated[Void | None, Default()] = None


class Entry(Struct):
    fileid: u64
    name: Annotated[bytes, String(255)]
    stamp: Annotated[Stamp | None, Lazy()]
    handle: Annotated[bytes, Opaque(64)] | None


class Tree(Struct):
    """Names itself: recursion must not be inlined."""

    value: i32
    child: Tree | None = None


class Everything(Struct):
    flag: bool
    odd: Annotated[bytes, FixedOpaque(5)]
    entries: Annotated[list[Entry], LinkedList()]
    few: Annotated[list[u32], Array(3)]
    points: Annotated[list[Point], Array(4)]
    pair: Annotated[list[Colour], FixedArray(2)]
    shape: Strict
    wide: Wide
    tree: Tree
    data: Annotated[Buffer, Bulk()]


ALTERNATIVES = ChoiceTable(
    {3: ("POINT", Point), 4: ("STAMP", Stamp), 9: ("SHAPE", Shape), 10: ("VOID", Void)}
)


class Answers(Struct):
    status: u32
    items: Annotated[list[Annotated[XdrType, Choice(ALTERNATIVES)]], Array()]
    item: Annotated[XdrType, Choice(ALTERNATIVES)]


class Requests(Struct):
    tag: Annotated[bytes, Opaque()]
    items: Annotated[list[Annotated[XdrType, Choice(ALTERNATIVES, keeps_rest=True)]], Array(9)]


class Traits(AttributeMap):
    size: Annotated[u64 | None, Bit(4)] = None
    hidden: Annotated[bool | None, Bit(5)] = None
    colour: Annotated[Colour | None, Bit(31)] = None
    at: Annotated[Point | None, Bit(32)] = None
    name: Annotated[bytes | None, String(12), Bit(33)] = None
    numbers: Annotated[list[u32] | None, Array(3), Bit(64)] = None
    verf: Annotated[bytes | None, FixedOpaque(5), Bit(40)] = None


class Listing(Struct):
    entries: Annotated[list[Traits], LinkedList()]
    traits: Traits


Shape.__annotations__["names"] = (
    "Annotated[list[Annotated[bytes, String(8)]] | None, LinkedList(), Case(Colour.GREEN)]"
)

TYPES: list[type[XdrType]] = [Point, Stamp, Shape, Strict, Wide, Entry, Tree, Everything, Void]
TYPES += [Answers, Requests, Traits, Listing, Unread]
relaxed = settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@pytest.mark.parametrize("cls", TYPES)
@relaxed
@given(data=st.data())
def test_both_codecs_agree_and_round_trip(cls: type[XdrType], data: st.DataObject) -> None:
    value = data.draw(xdr_values(cls))
    encoded = value.to_xdr()
    assert encoded == reflect.encode(value)
    assert cls.from_xdr(encoded) == reflect.decode(cls, encoded)[0] == value
    assert cls.from_xdr(bytearray(encoded)) == value
    assert cls.from_xdr(memoryview(encoded)) == value
    more = b"" if any(token.role == "rest" for token in reflect.tokens(value)) else b"\xff"
    assert cls.unpack_from(b"\xff" * 4 + encoded + more, 4) == (value, 4 + len(encoded))


@pytest.mark.parametrize("cls", TYPES)
@relaxed
@given(data=st.data(), noise=st.binary(max_size=200), at=st.integers(0, 400))
def test_both_codecs_agree_on_hostile_bytes(
    cls: type[XdrType], data: st.DataObject, noise: bytes, at: int
) -> None:
    whole = data.draw(xdr_values(cls)).to_xdr()
    hostile = whole[:at] + noise + whole[at + len(noise) :]
    for candidate in (noise, hostile):
        try:
            expected = reflect.decode(cls, candidate)
        except XdrError as slow:
            with pytest.raises(XdrError) as fast:
                cls.unpack_from(candidate)
            assert (fast.value.path, fast.value.detail) == (slow.path, slow.detail)  # noqa: PT017
        else:
            assert cls.unpack_from(candidate) == expected
            assert cls.unpack_from(bytearray(candidate)) == expected


@pytest.mark.parametrize("cls", TYPES)
@relaxed
@given(data=st.data())
def test_every_malformation_is_refused_or_an_unknown_value(cls: type[XdrType], data: st.DataObject) -> None:
    value = data.draw(xdr_values(cls))
    for flaw in malformations(value):
        if flaw.flaw in ("enum", "discriminant"):
            continue  # unknown values are preserved; what they select may fit the bytes after them
        with pytest.raises(XdrError) as caught:
            cls.from_xdr(flaw.data)
        assert caught.value.path.startswith(cls.__name__)


def test_unknown_enum_values_are_kept() -> None:
    stamp = Stamp.from_xdr((77).to_bytes(4, "big") + bytes(20))
    assert stamp.colour == 77
    assert not stamp.colour.is_known
    assert str(stamp.colour) == "UNKNOWN_77"
    assert Colour.RED.is_known
    assert stamp.to_xdr()[:4] == (77).to_bytes(4, "big")
    assert 77 not in Colour._value2member_map_


def test_errors_say_the_path_of_the_field() -> None:
    entry = Entry(1, b"name", None, b"h" * 64)
    damaged = bytearray(entry.to_xdr())
    damaged[24:28] = (65).to_bytes(4, "big")
    with pytest.raises(XdrError, match=r"Entry\.handle at byte 24: length 65 exceeds the limit of 64"):
        Entry.from_xdr(damaged)
    with pytest.raises(XdrError, match=r"Tree\.child\.value at byte 8: needs 4 more bytes, only 0"):
        Tree.from_xdr(Tree(1, Tree(2)).to_xdr()[:8])
    with pytest.raises(XdrError, match="4 bytes are left over"):
        Point.from_xdr(bytes(16))


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (Point(2**32, 0), "Point.x"),
        (Point("1", 0), "Point.x"),  # type: ignore[arg-type]
        (Entry(1, b"x" * 256, None, None), "Entry.name"),
        (Entry(1, "text", None, None), "Entry.name"),  # type: ignore[arg-type]
        (Stamp(Colour.RED, Point(1, 2), bytes(7)), "Stamp.verf"),
        (Stamp(Colour.RED, None, bytes(8)), "Stamp.at"),  # type: ignore[arg-type]
        (Strict(flag=True), "Strict.number"),
        (Strict(flag=False, number=3), "Strict.number"),
        (Strict(flag=7), "Strict.flag"),  # type: ignore[arg-type]
    ],
)
def test_values_that_cannot_be_encoded_are_refused_with_their_path(value: XdrType, path: str) -> None:
    with pytest.raises(XdrError) as caught:
        value.to_xdr()
    assert caught.value.path == path


def test_a_count_is_bounded_before_memory_is_taken() -> None:
    class Hoard(Struct):
        numbers: Annotated[list[u64], Array()]

    with pytest.raises(XdrError, match="4294967295 elements cannot fit"):
        reflect.decode(Hoard, b"\xff" * 12)


def test_bulk_data_is_not_copied() -> None:
    class Write(Struct):
        offset: u64
        data: Annotated[Buffer, Bulk()]

    payload = bytearray(b"x" * 4097)
    buffers = Write(0, payload).to_buffers()
    assert any(buffer is payload for buffer in buffers)
    encoded = b"".join(buffers)
    decoded = Write.from_xdr(encoded)
    assert isinstance(decoded.data, memoryview)
    assert decoded.data.obj is encoded
    assert decoded.data == payload


def test_lazy_fields_decode_when_they_are_read() -> None:
    entry = Entry(1, b"n", Stamp(Colour.RED, Point(1, 2), bytes(8)), None)
    decoded = Entry.from_xdr(entry.to_xdr())
    raw: object = decoded._lazy_stamp  # type: ignore[attr-defined]
    assert isinstance(raw, bytes)
    assert decoded.stamp == entry.stamp
    assert decoded._lazy_stamp is decoded.stamp  # type: ignore[attr-defined]


class Dated(Struct):
    number: u32
    stamp: Annotated[Stamp, Lazy()]


def test_lazy_fields_need_not_be_optional() -> None:
    dated = Dated(1, Stamp(Colour.RED, Point(1, 2), bytes(8)))
    decoded = Dated.from_xdr(dated.to_xdr())
    raw: object = decoded._lazy_stamp  # type: ignore[attr-defined]
    assert isinstance(raw, bytes)
    assert decoded.to_xdr() == dated.to_xdr()
    assert decoded == dated
    assert decoded._lazy_stamp is decoded.stamp  # type: ignore[attr-defined]


def test_only_structures_can_be_lazy() -> None:
    class Wrong(Struct):
        number: Annotated[u32, Lazy()]

    with pytest.raises(NotAWireType, match="Lazy"):
        Wrong(1).to_xdr()


@pytest.mark.parametrize("size", [0, 15, 17, 40])
def test_fixed_width_types_fill_their_buffer_exactly(size: int) -> None:
    with pytest.raises(XdrError):
        Point.from_xdr(bytes(size))


def test_its_own_decoder_stays() -> None:
    class Rest(Struct):
        data: Annotated[bytes, Opaque()]

        @classmethod
        def unpack_from(cls, buf: Buffer, pos: int = 0) -> tuple[Rest, int]:
            return cls(bytes(buf[pos:])), len(buf)

    source_of(Rest)
    assert Rest.from_xdr(b"abcde").data == b"abcde"
    assert Rest.unpack_from(b"abcde", 1)[0].data == b"bcde"


def test_linked_lists_are_not_recursive() -> None:
    class Page(Struct):
        entries: Annotated[list[Point], LinkedList()]

    page = Page([Point(i, i) for i in range(20_000)])
    assert Page.from_xdr(page.to_xdr()) == page


def test_a_value_of_another_class_is_another_value() -> None:
    assert Point(1, 2) != Tree(1, None)
    assert replace(Point(1, 2), y=5) == Point(1, 5)
    assert repr(Point(1, 2)) == "Point(x=1, y=2)"


def test_the_printer_escapes_and_marks() -> None:
    entry = Entry(1, b"\x1b[31mred\n", Stamp(Colour.RED, Point(1, 2), bytes(8)), None)
    text = format_value(entry, mark="stamp.at.y", note="expected 3")
    assert "name: '\\x1b[31mred\\n'" in text
    assert "  colour: RED (1)" in text
    assert "    y: 2    <-- expected 3" in text
    assert "handle: absent" in text
    assert "  at: x 1, y 2" in format_value(entry)


def test_generated_source_can_be_read_and_shows_in_tracebacks() -> None:
    source = source_of(Point)
    assert "def unpack_from(buf, pos=0):" in source
    name = f"<xdr {Point.__module__}.Point>"
    assert "".join(linecache.getlines(name)) == source


def test_an_annotation_without_a_kind_is_a_clear_error() -> None:
    class Wrong(Struct):
        number: int

    with pytest.raises(NotAWireType, match="names no XDR type"):
        Wrong(1).to_xdr()


def test_a_choice_is_the_object_of_the_alternative() -> None:
    value = Answers(0, [Point(1, 2), Void()], Void())
    wire = value.to_xdr()
    assert wire == bytes(7) + b"\2" + b"\0\0\0\3" + Point(1, 2).to_xdr() + b"\0\0\0\x0a" * 2
    assert Answers.from_xdr(wire) == value
    assert "  [0] POINT (3):" in format_value(value)


def test_an_unknown_alternative_is_refused_with_its_path_and_number() -> None:
    wire = Answers(0, [Void(), Void()], Void()).to_xdr()
    with pytest.raises(XdrError, match=r"Answers\.items\[1\] at byte 12: 11 is the number of no alternative"):
        Answers.from_xdr(wire[:12] + b"\0\0\0\x0b" + wire[16:])
    with pytest.raises(XdrError, match=r"items\[0\].*is no alternative of this choice"):
        Answers(0, [Colour.RED], Void()).to_xdr()  # type: ignore[list-item]
    with pytest.raises(XdrError, match=r"item: .*is no alternative of this choice"):
        Answers(0, [], Unread(1)).to_xdr()


def test_what_follows_an_unknown_alternative_stays_unread() -> None:
    value = Requests(b"tag", [Point(1, 2), Unread(77, b"whatever it is", following=3)])
    wire = value.to_xdr()
    assert wire[8:12] == (5).to_bytes(4, "big")
    assert Requests.from_xdr(wire) == Requests.from_xdr(memoryview(wire)) == value
    assert format_value(value)[-4] == "  [1] unknown (77):"
    with pytest.raises(XdrError, match="must be the last element"):
        Requests(b"", [Unread(77), Void()]).to_xdr()
    with pytest.raises(XdrError, match="elements cannot fit"):
        Requests.from_xdr(bytes(4) + b"\0\0\0\5" + b"\0\0\0\x0b" + bytes(12))
    with pytest.raises(XdrError, match="exceeds the limit of 9"):
        Requests.from_xdr(bytes(4) + b"\0\0\0\x0a" + b"\0\0\0\x0b" + bytes(100))


def test_a_class_stands_for_one_number_of_a_choice() -> None:
    with pytest.raises(NotAWireType, match="two numbers"):
        ChoiceTable({1: ("A", Point), 2: ("B", Point)})


class Piece(Struct):
    data: Annotated[Buffer, Bulk()]


PIECES = ChoiceTable({1: ("PIECE", Piece)})


class Pieces(Struct):
    items: Annotated[list[Annotated[XdrType, Choice(PIECES)]], Array()]


def test_bulk_data_in_a_choice_is_not_copied() -> None:
    payload = bytearray(4096)
    assert any(buffer is payload for buffer in Pieces([Piece(payload)]).to_buffers())
    assert carries_bulk(Pieces)


def test_attributes_stand_in_the_order_of_their_bits() -> None:
    traits = Traits(name=b"name", size=7)
    assert traits.attrmask == (1 << 4, 1 << 1)
    wire = traits.to_xdr()
    assert wire == bytes.fromhex("00000002 00000010 00000002 00000010 0000000000000007 00000004") + b"name"
    decoded = Traits.from_xdr(wire)
    assert (decoded, decoded.size, decoded.name, decoded.hidden) == (traits, 7, b"name", None)
    assert repr(decoded) == "Traits(size=7, name=b'name')"
    assert not hasattr(decoded, "nothing")
    with pytest.raises(TypeError, match="no attribute 'nothing'"):
        Traits(nothing=1)  # type: ignore[call-arg]


def test_unknown_attributes_are_kept_with_what_follows_them() -> None:
    traits = Traits(size=7, attrmask=mask_of([4, 6, 32, 99]), rest=b"unreadable")
    for _ in range(6):  # by the reflective codec first, then compiled
        decoded = Traits.from_xdr(traits.to_xdr())
        assert (decoded, decoded.at) == (traits, None)
    assert format_value(decoded) == [
        "attrmask: 4 words, bits 4, 6, 32, 99",
        "size: 7",
        "rest: 756e7265616461626c65 (10 bytes)",
    ]
    assert replace(decoded, size=None).attrmask == mask_of([6, 32, 99])


def test_a_changed_map_has_the_bits_of_its_values() -> None:
    traits = replace(Traits(size=7, hidden=True), hidden=None, name=b"n")
    assert traits == Traits(size=7, name=b"n")
    assert Traits.from_xdr(traits.to_xdr()) == traits


def test_the_length_of_attributes_is_that_of_their_values() -> None:
    wire = bytearray(Traits(size=7, hidden=False).to_xdr())
    wire[11] += 4
    wire += bytes(4)
    for _ in range(6):
        with pytest.raises(
            XdrError, match=r"attr_vals at byte 24: 4 bytes are left over after the last attribute"
        ):
            Traits.from_xdr(wire)
        Traits.from_xdr(Traits(size=7, hidden=False).to_xdr())
    wire[11] -= 8
    with pytest.raises(XdrError, match=r"Traits\.hidden at byte 20: needs 4 more bytes, only 0"):
        Traits.from_xdr(wire)


def test_bitmaps_of_a_peer_take_bounded_memory() -> None:
    codecs = codecs_of(Traits)
    for number in range(3000):
        traits = Traits(attrmask=mask_of([4, 50 + number % 200, 49 + number // 200]), size=1, rest=b"x")
        for _ in range(2):
            assert Traits.from_xdr(traits.to_xdr()).attrmask == traits.attrmask
    Traits.from_xdr(Traits(attrmask=(0,) * 10_000).to_xdr())
    assert len(codecs.layouts) <= 1024
    assert len(codecs.plain) <= 128
    with pytest.raises(XdrError, match="elements cannot fit"):
        Traits.from_xdr(b"\xff" * 64)


def test_source_of_attributes_has_the_bitmaps_that_were_compiled() -> None:
    class Marks(AttributeMap):
        mark: Annotated[u32 | None, Bit(1)] = None

    assert "def" not in source_of(Marks)
    for _ in range(5):
        Marks.from_xdr(Marks(mark=3).to_xdr())
    assert "result.mark" in source_of(Marks)


def test_two_attributes_cannot_have_one_number() -> None:
    class Marks(AttributeMap):
        mark: Annotated[u32 | None, Bit(1)] = None
        other: Annotated[u32 | None, Bit(1)] = None

    with pytest.raises(NotAWireType, match="has the number of mark"):
        Marks().to_xdr()
