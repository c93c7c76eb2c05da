# SPDX-License-Identifier: MIT
"""`Identity`: a mark in declarations that costs the codec nothing, and where in an encoding the marked fields stand."""

from __future__ import annotations

from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.protocol import nfs4
from nfsclient.xdr import (
    Array,
    Case,
    FixedOpaque,
    Identity,
    NotAWireType,
    Opaque,
    String,
    Struct,
    Union,
    XdrType,
    fields_of,
    i32,
    source_of,
    u32,
)
from nfsclient.xdr.identity import identities, names_anybody, octets_in
from tests.strategies import xdr_values

Host = Annotated[bytes, String(64), Identity("host")]


class Marked(Struct):
    number: u32
    name: Host
    others: Annotated[list[Host], Array(4)]
    data: Annotated[bytes, Opaque(16)]


class Unmarked(Struct):
    number: u32
    name: Annotated[bytes, String(64)]
    others: Annotated[list[Annotated[bytes, String(64)]], Array(4)]
    data: Annotated[bytes, Opaque(16)]


class Where(Union):
    kind: i32
    who: Annotated[Host | None, Case(1)] = None
    direct: Annotated[Annotated[bytes, Opaque()] | None, Case(2), Identity("client")] = None
    __void_default__ = True


class Misplaced(Struct):
    id: Annotated[bytes, FixedOpaque(8), Identity("host")]


def test_the_generated_codec_is_the_same() -> None:
    assert source_of(Marked).replace("Marked", "Unmarked") == source_of(Unmarked)


def test_marks_are_found_in_declarations() -> None:
    found = {(octet.owner.__name__, octet.name): octet.node.identity for octet in octets_in([Marked, Where])}
    assert found == {
        ("Marked", "name"): "host",
        ("Marked", "others"): "host",
        ("Marked", "data"): None,
        ("Where", "who"): "host",
        ("Where", "direct"): "client",
    }
    assert names_anybody(Marked)
    assert not names_anybody(Unmarked)


def test_only_bytes_of_variable_length_can_be_marked() -> None:
    with pytest.raises(NotAWireType, match="variable length, can be an Identity"):
        fields_of(Misplaced)


def test_places_in_an_encoding() -> None:
    data = b"head" + Marked(7, b"acme", [b"a", b"bc"], b"data").to_xdr()
    found, failed = identities(Marked, data, 4)
    assert failed is None
    assert [(octets.path, octets.data) for octets in found] == [
        ("Marked.name", b"acme"),
        ("Marked.others[0]", b"a"),
        ("Marked.others[1]", b"bc"),
    ]
    assert all(data[octets.start : octets.start + len(octets.data)] == octets.data for octets in found)


@pytest.mark.parametrize("size", [10, 14, 20])
def test_of_an_encoding_that_ends_too_early_what_is_there_is_found(size: int) -> None:
    data = Marked(7, b"acme-filer01", [b"bc"], b"").to_xdr()[:size]
    found, failed = identities(Marked, data)
    assert [octets.data for octets in found] == [b"acme-filer01"[: size - 8]]
    assert failed is not None


@pytest.mark.parametrize("cls", [Marked, Where, nfs4.ExchangeId4Res, nfs4.Fattr4])
@given(data=st.data())
def test_what_is_found_stands_where_it_is_said_to(cls: type[XdrType], data: st.DataObject) -> None:
    encoded = data.draw(xdr_values(cls)).to_xdr()
    cut = data.draw(st.integers(0, len(encoded)))
    for buffer in (encoded, encoded[:cut]):
        found, failed = identities(cls, buffer)
        assert buffer is not encoded or failed is None
        assert all(buffer[octets.start : octets.start + len(octets.data)] == octets.data for octets in found)
