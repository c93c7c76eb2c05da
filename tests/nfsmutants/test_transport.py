# SPDX-License-Identifier: MIT
"""Mutants below messages bend what they say while they are on, and the server is right again when they are off."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.errors import ConnectionLost
from nfsclient.protocol.nfs3 import NULL, Sattr3
from nfsclient.rpc.record import Record, RecordAssembler
from nfsclient.rpc.sockets import Address
from nfsclient.xdr import Void
from nfsmutants import all_mutants, form
from nfsmutants.form import transport_mutant
from nfsserver.transport import AnswerDatagram, AnswerRecord, TransportMiddleware
from tests.nfsserver.conftest import Rig

if t.TYPE_CHECKING:
    import socket

    from nfsclient.rpc.server import Connection


@pytest.fixture
def scratch_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutants declared in a test are forgotten after it."""
    monkeypatch.setattr(form, "_registry", dict(form._registry))


def declare(transport: type[TransportMiddleware]) -> str:
    transport.__doc__ = "Something is wrong"
    transport_mutant()(transport)
    return f"rpc-{transport.__name__.removeprefix('Rpc').lower()}"


def test_connections_are_turned_away_while_it_is_on(rig: Rig, scratch_registry: None) -> None:
    class RpcClosed(TransportMiddleware):
        def admits(self, _peer: Address, /) -> bool:
            return False

    name = declare(RpcClosed)
    before = rig.rpc()
    before.call(NULL, Void())
    rig.mutants.add(name)
    with pytest.raises(ConnectionLost):
        rig.rpc().call(NULL, Void())
    before.call(NULL, Void())
    rig.mutants.clear()
    rig.rpc().call(NULL, Void())


def test_streams_records_and_datagrams_pass_through_it(rig: Rig, scratch_registry: None) -> None:
    seen: list[str] = []

    class RpcWatching(TransportMiddleware):
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

    rig.mutants.add(declare(RpcWatching))
    rig.rpc().call(NULL, Void())
    rig.rpc(proto="udp").call(NULL, Void())
    assert seen == ["bytes", "record", "datagram"]


def test_it_starts_again_each_time_that_it_is_switched_on(rig: Rig, scratch_registry: None) -> None:
    class RpcCounting(TransportMiddleware):
        def __init__(self) -> None:
            self.count = 0

        def admits(self, _peer: Address, /) -> bool:
            self.count += 1
            return self.count <= 1

    name = declare(RpcCounting)
    for _ in range(2):
        rig.mutants.add(name)
        rig.rpc().call(NULL, Void())
        with pytest.raises(ConnectionLost):
            rig.rpc().call(NULL, Void())
        rig.mutants.clear()


def workload(rig: Rig) -> list[t.Any]:
    """What typed clients do: statuses of calls of every kind, over both transports."""
    seen: list[t.Any] = []
    for proto in ("tcp", "udp"):
        nfs3 = rig.nfs3(proto=proto)
        name = proto.encode()
        nfs3.null()
        file = nfs3.create(rig.root, name).resok.obj
        replies = [
            nfs3.getattr(rig.root),
            nfs3.setattr(file, Sattr3(mode=0o600)),
            nfs3.lookup(rig.root, name),
            nfs3.lookup(rig.root, b"nothing"),
            nfs3.write(file, 0, bytes(range(256)) * 8),
            nfs3.read(file, 0, 4096),
            nfs3.mkdir(rig.root, name),
            nfs3.mkdir(rig.root, name + b"-d"),
            nfs3.readdir(rig.root),
            nfs3.readdirplus(rig.root),
            nfs3.rename(rig.root, name, rig.root, name + b"-2"),
            nfs3.remove(rig.root, name + b"-2"),
            nfs3.rmdir(rig.root, name + b"-d"),
            nfs3.getattr(b"no handle"),
            nfs3.fsinfo(rig.root),
        ]
        seen += [reply.status for reply in replies]
        seen.append(bytes(replies[5].resok.data))
    seen.append(rig.mount().mnt(b"/export").status)
    seen.append(rig.mount().mnt(b"/nothing").status)
    return seen


@pytest.mark.parametrize("name", [each.name for each in all_mutants() if each.only_raw])
def test_what_only_raw_checks_can_see_leaves_typed_clients_alone(make_rig: t.Any, name: str) -> None:
    rig = make_rig(mutants=(name,))
    assert workload(rig) == workload(make_rig())
