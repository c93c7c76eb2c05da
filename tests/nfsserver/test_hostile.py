# SPDX-License-Identifier: MIT
"""The server answers or drops any bytes, no handler fails, and it keeps serving others."""

from __future__ import annotations

import contextlib
import socket
import typing as t

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfsclient.clients import Nfs3
from nfsclient.protocol import mount, nfs3, portmap
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.messages import ReplyHeader
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.record import fragment, frame
from nfsclient.xdr import XdrType, fields_of
from nfsclient.xdr.malform import malformations
from tests.nfsserver.conftest import Rig
from tests.strategies import xdr_values

AnyProcedure: t.TypeAlias = Procedure[t.Any, t.Any]
PROCEDURES: t.Final[list[AnyProcedure]] = [
    *nfs3.NFS3.by_number.values(),
    *mount.MOUNT3.by_number.values(),
    *mount.MOUNT1.by_number.values(),
    *portmap.PORTMAP2.by_number.values(),
]
HANDLES = {"object", "dir", "file", "fsroot", "symlink"}
PEER = ("127.0.0.1", 700)
CREDENTIAL, VERIFIER = AuthSys(0, 0).opaque()

several = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def message_of(procedure: AnyProcedure, arguments: bytes, credential: bytes = CREDENTIAL) -> bytes:
    words = (7, 0, 2, procedure.program, procedure.version, procedure.number)
    return b"".join(word.to_bytes(4, "big") for word in words) + credential + VERIFIER + arguments


def answer(rig: Rig, message: bytes) -> bytes | None:
    """The answer of the server, which must be a valid reply; no handler may have failed."""
    reply = rig.server.messages.answer(message, PEER, "tcp")
    assert list(rig.server.messages.faults) == []
    if reply is None:
        return None
    data = b"".join(reply)
    header, _ = ReplyHeader.unpack_from(data)
    assert header.xid == int.from_bytes(message[:4], "big")
    return data


def point_at(value: XdrType, handle: bytes) -> None:
    """Put a valid handle into every handle field of the arguments."""
    for field in fields_of(type(value)) if type(value).__xdr_role__ == "struct" else ():  # type: ignore[attr-defined]
        held = getattr(value, field.name)
        if isinstance(held, XdrType):
            point_at(held, handle)
        elif field.name in HANDLES and isinstance(held, bytes):
            setattr(value, field.name, handle)


@pytest.mark.parametrize("procedure", PROCEDURES, ids=lambda each: f"{each.label}")
def test_any_arguments_of_any_procedure(rig: Rig, procedure: AnyProcedure) -> None:
    """Every value that the declaration allows, and every damage to it that the malformer knows."""

    handles = [rig.root, rig.file(b"file", b"data")]

    @several
    @given(xdr_values(procedure.args), st.sampled_from([None, *handles]))
    def ask(args: XdrType, handle: bytes | None) -> None:
        if handle is not None:
            point_at(args, handle)
        for data in (args.to_xdr(), *(each.data for each in malformations(args))):
            reply = answer(rig, message_of(procedure, data))
            # CALLIT is silent about what it cannot do (RFC 1833 section 2.2.1).
            assert reply is not None or procedure.name == "CALLIT"

    ask()


@several
@given(
    message=st.sampled_from(PROCEDURES).flatmap(
        lambda each: st.binary(max_size=200).map(lambda data: message_of(each, data))
    ),
    cuts=st.lists(st.integers(0, 300), max_size=3),
    bent=st.lists(st.tuples(st.integers(0, 300), st.integers(0, 255)), max_size=4),
)
def test_messages_with_bytes_changed_and_cut(
    rig: Rig, message: bytes, cuts: list[int], bent: list[tuple[int, int]]
) -> None:
    data = bytearray(message)
    for at, value in bent:
        if at < len(data):
            data[at] = value
    answer(rig, bytes(data[: min([len(data), *cuts])]))


@several
@given(flavor=st.integers(0, 8), body=st.binary(max_size=420), length=st.integers(0, 2**32 - 1))
def test_any_credential(rig: Rig, flavor: int, body: bytes, length: int) -> None:
    head = flavor.to_bytes(4, "big")
    padded = body + bytes(-len(body) % 4)
    for said in (len(body), length):
        answer(rig, message_of(nfs3.GETATTR, b"", head + said.to_bytes(4, "big") + padded))


PIECES = st.one_of(
    st.binary(max_size=100),
    st.sampled_from(PROCEDURES).map(lambda each: b"".join(frame([message_of(each, bytes(40))]))),
    st.lists(st.integers(0, 80), max_size=6).map(lambda sizes: fragment(message_of(nfs3.NULL, b""), sizes)),
    st.integers(0, 2**32 - 1).map(lambda mark: mark.to_bytes(4, "big")),
)


@several
@given(st.lists(PIECES, max_size=6))
def test_streams_and_datagrams_leave_it_serving_others(rig: Rig, pieces: list[bytes]) -> None:
    address = (rig.host, rig.server.port)
    with contextlib.ExitStack() as stack:
        stream = stack.enter_context(socket.create_connection(address))
        datagrams = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        for piece in pieces:
            with contextlib.suppress(OSError):
                stream.sendall(piece)
                datagrams.sendto(piece, address)
            rig.loop.run_once(rig.loop.clock())
        for proto in ("tcp", "udp"):
            with rig.rpc(proto=proto) as rpc:
                Nfs3(rpc).null()
    assert [error for _, error in rig.server.messages.faults] == []
