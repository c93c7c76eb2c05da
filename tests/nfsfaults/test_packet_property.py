# SPDX-License-Identifier: MIT
# ruff: noqa: E402 - what is imported last needs scapy
"""Any message survives bytes -> layer -> bytes; damaged bytes never raise, and take bounded memory."""

from __future__ import annotations

import tracemalloc
import typing as t

import pytest

from tests.needs import need, needs

need("scapy")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scapy.config import conf
from scapy.packet import Packet, Raw

from nfsclient.protocol import nfs3, nfs4
from nfsclient.protocol.registry import families
from nfsclient.rpc.messages import CallHeader, MsgType, OpaqueAuth, ReplyHeader, accepted
from nfsclient.rpc.program import Procedure
from nfsfaults import packet as p
from nfsfaults.packet import wire_types
from tests.strategies import xdr_values

pytestmark = needs("scapy")

PROCEDURES: t.Final = [
    procedure for versions in families().values() for program in versions for procedure in program.procedures
]
CARRIED: t.Final = [
    cls for operation in (*nfs4.OPERATIONS, *nfs4.CALLBACKS) for cls in (operation.args, operation.res)
]
relaxed = settings(
    deadline=None,
    max_examples=8,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.fixture(autouse=True, scope="module")
def _loud() -> t.Iterator[None]:
    """scapy hides errors of dissectors by default."""
    conf.debug_dissector, before = True, conf.debug_dissector
    yield
    conf.debug_dissector = before


def call_header(procedure: Procedure[t.Any, t.Any], xid: int = 7) -> bytes:
    numbers = (procedure.program, procedure.version, procedure.number)
    return CallHeader(xid, MsgType.CALL, 2, *numbers, OpaqueAuth(), OpaqueAuth()).to_xdr()


def classes_of(packet: Packet) -> list[type]:
    found = []
    while packet:
        found.append(type(packet))
        packet = packet.payload
        if packet.name == "NoPayload":
            break
    return found


@pytest.mark.parametrize(
    "procedure", PROCEDURES, ids=lambda procedure: f"{procedure.program}.{procedure.version}.{procedure.name}"
)
@relaxed
@given(data=st.data())
def test_messages_survive(procedure: Procedure[t.Any, t.Any], data: st.DataObject) -> None:
    call = call_header(procedure) + data.draw(xdr_values(procedure.args)).to_xdr()
    read = p.RpcMessage(call)
    assert Raw not in classes_of(read)
    assert bytes(read) == call
    reply = accepted(7, 0).to_xdr() + data.draw(xdr_values(procedure.res)).to_xdr()  # type: ignore[arg-type]
    answer = p.RpcMessage(reply)
    assert Raw not in classes_of(answer)
    assert bytes(answer) == reply


@pytest.mark.parametrize("cls", CARRIED, ids=lambda cls: cls.__name__)
@relaxed
@given(data=st.data())
def test_operations_survive(cls: type[t.Any], data: st.DataObject) -> None:
    value = data.draw(xdr_values(cls))
    encoded = value.to_xdr()
    layer = p.layer_of(cls)
    assert bytes(p.packet_of(value)) == encoded
    if encoded:
        assert bytes(layer(encoded)) == encoded
        assert bytes(layer(encoded).copy()) == encoded


@pytest.mark.parametrize("cls", [CallHeader, ReplyHeader], ids=lambda cls: cls.__name__)
@relaxed
@given(data=st.data(), rest=st.binary(max_size=40))
def test_headers_survive(cls: type[t.Any], data: st.DataObject, rest: bytes) -> None:
    message = data.draw(xdr_values(cls)).to_xdr() + rest
    assert bytes(p.RpcCall(message)) == message
    assert bytes(p.RpcMessage(message)) == message


@pytest.mark.parametrize(
    "procedure",
    PROCEDURES[::3],
    ids=lambda procedure: f"{procedure.program}.{procedure.version}.{procedure.name}",
)
@relaxed
@given(data=st.data(), at=st.integers(0, 300), noise=st.binary(max_size=8), cut=st.integers(0, 300))
def test_damaged_messages_never_raise(
    procedure: Procedure[t.Any, t.Any], data: st.DataObject, at: int, noise: bytes, cut: int
) -> None:
    whole = call_header(procedure) + data.draw(xdr_values(procedure.args)).to_xdr()
    damaged = (whole[:at] + noise + whole[at + len(noise) :])[: len(whole) - cut % len(whole)]
    for layer in (p.RpcMessage, p.RpcCall, p.RpcReply, p.RecordMark):
        assert bytes(layer(damaged)) == damaged


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_survive_as_a_stream(data: bytes) -> None:
    assert bytes(p.RecordMark(data) if data else b"") == data


@settings(deadline=None)
@given(st.binary(max_size=200), st.lists(st.integers(0, 60), max_size=6))
def test_any_division_of_a_record_survives(message: bytes, sizes: list[int]) -> None:
    record = bytes(p.RecordMark(sizes=sizes) / Raw(message))
    assert bytes(p.RecordMark(record)) == record


def test_counts_without_data_take_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four bytes announce two thousand million elements; a message of operations of four bytes each is refused.

    Here a tenth of the usual structures is allowed in a message, and a tenth of 400 MiB for them.
    """
    assert wire_types._MOST_PACKETS <= 50_000
    monkeypatch.setattr(wire_types, "_MOST_PACKETS", 5_000)
    hostile = [
        call_header(nfs4.COMPOUND) + bytes(8) + b"\x7f\xff\xff\xff",
        call_header(nfs3.WRITE) + b"\xff\xff\xff\xff" * 8,
        call_header(nfs4.COMPOUND)
        + bytes(8)
        + (90_000).to_bytes(4, "big")
        + (24).to_bytes(4, "big") * 90_000,
    ]
    tracemalloc.start()
    try:
        for message in hostile:
            read = p.RpcMessage(message)
            assert isinstance(read.payload, Raw)
            assert bytes(read) == message
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40 << 20


def test_a_record_that_is_too_long_to_wait_for_is_given_up() -> None:
    announced = b"\x7f\xff\xff\xff" + bytes(100)
    given_up = p.RecordMark.tcp_reassemble(announced, {}, {})
    assert given_up is not None
    assert given_up.load == bytes(100)
    assert p.RecordMark.tcp_reassemble(b"\x80\0\0\xff" + bytes(10), {}, {}) is None
