# SPDX-License-Identifier: MIT
"""The codec: compiled against reflective, strictness, errors with paths, printer, malformer."""

from __future__ import annotations

import linecache
from typing import Annotated

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfsclient.xdr import (
    Array,
    Buffer,
    Bulk,
    Case,
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
    Void,
    XdrEnum,
    XdrError,
    XdrType,
    format_value,
    i32,
    i64,
    malformations,
    reflect,
    replace,
    source_of,
    u32,
    u64,
)
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


Shape.__annotations__["names"] = (
    "Annotated[list[Annotated[bytes, String(8)]] | None, LinkedList(), Case(Colour.GREEN)]"
)

TYPES: list[type[XdrType]] = [Point, Stamp, Shape, Strict, Wide, Entry, Tree, Everything, Void]
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
    assert cls.unpack_from(b"\xff" * 4 + encoded + b"\xff", 4) == (value, 4 + len(encoded))


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


def test_a_decoder_of_its_own_stays() -> None:
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
