# SPDX-License-Identifier: MIT
"""Mutants below messages bend what they say while they are on, and the server is as ever when they are off."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.errors import ConnectionLost
from nfsclient.protocol.nfs3 import NULL
from nfsclient.rpc.record import Record, RecordAssembler
from nfsclient.rpc.sockets import Address
from nfsclient.xdr import Void
from nfsserver import mutants as registry
from nfsserver import transport_mutant
from nfsserver.transport import AnswerDatagram, AnswerRecord, Bend
from tests.nfsserver.conftest import Rig

if t.TYPE_CHECKING:
    import socket

    from nfsclient.rpc.server import Connection


@pytest.fixture(autouse=True)
def scratch_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutants declared in a test are forgotten after it."""
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))


def declare(bend: type[Bend]) -> str:
    transport_mutant("rpc-is-bent", breaks="RFC 1831 section 10", gist="x")(bend)
    return "rpc-is-bent"


def test_connections_are_turned_away_while_it_is_on(rig: Rig) -> None:
    class Closed(Bend):
        def admits(self, _peer: Address, /) -> bool:
            return False

    name = declare(Closed)
    before = rig.rpc()
    before.call(NULL, Void())
    rig.server.mutants.add(name)
    with pytest.raises(ConnectionLost):
        rig.rpc().call(NULL, Void())
    before.call(NULL, Void())
    rig.server.mutants.clear()
    rig.rpc().call(NULL, Void())


def test_streams_records_and_datagrams_pass_through_it(rig: Rig) -> None:
    seen: list[str] = []

    class Watching(Bend):
        def make_assembler(self, max_record: int, /) -> RecordAssembler:
            class Assembler(RecordAssembler):
                def feed(self, data: bytes) -> list[Record]:
                    seen.append("bytes")
                    return super().feed(data)

            return Assembler(max_record)

        def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
            seen.append("record")
            proceed(connection, message)

        def answer_datagram(
            self, sock: socket.socket, message: bytes, peer: t.Any, proceed: AnswerDatagram, /
        ) -> None:
            seen.append("datagram")
            proceed(sock, message, peer)

    rig.server.mutants.add(declare(Watching))
    rig.rpc().call(NULL, Void())
    rig.rpc(proto="udp").call(NULL, Void())
    assert seen == ["bytes", "record", "datagram"]


def test_it_begins_anew_each_time_that_it_is_switched_on(rig: Rig) -> None:
    class Counting(Bend):
        def __init__(self) -> None:
            self.count = 0

        def admits(self, _peer: Address, /) -> bool:
            self.count += 1
            return self.count <= 1

    name = declare(Counting)
    for _ in range(2):
        rig.server.mutant_state(name).clear()
        rig.server.mutants.add(name)
        rig.rpc().call(NULL, Void())
        with pytest.raises(ConnectionLost):
            rig.rpc().call(NULL, Void())
        rig.server.mutants.clear()
