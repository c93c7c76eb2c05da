# SPDX-License-Identifier: MIT
from __future__ import annotations

import socket
import time
import typing as t
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from nfsclient.clients import Rpcbind
from nfsclient.errors import ConnectionLost, ProcUnavail
from nfsclient.protocol.rpcbind import GETTIME4, Rpcb
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.messages import CallHeader, MsgType, OpaqueAuth, parse_reply
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.record import RecordAssembler, frame
from nfsclient.xdr import Void, XdrType
from nfstargets.rpcbind_stub import MAX_RECORD, MAX_REGISTRATIONS, Registry, UnixListener
from tests.waiting import AT_MOST

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

NFS = 100003
ADDRESS = "127.0.0.1.8.1"


class UnixCaller:
    """What a typed client stands on, over a unix socket, on the same loop as the stub."""

    def __init__(self, loop: Loop, path: Path) -> None:
        self.loop = loop
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(path))
        self.sock.setblocking(False)
        self.assembler = RecordAssembler()

    def close(self) -> None:
        self.sock.close()

    def receive(self) -> bytes:
        """The next record. Raises ConnectionLost when the stub closes the connection."""
        deadline = time.monotonic() + AT_MOST
        while time.monotonic() < deadline:
            self.loop.run_once(self.loop.clock() + 0.01)
            try:
                data = self.sock.recv(65_536)
            except BlockingIOError:
                continue
            if not data:
                raise ConnectionLost("a call", "closed")
            for record in self.assembler.feed(data):
                return record.payload()
        raise AssertionError("no answer")

    def call(
        self,
        procedure: Procedure[A, R],
        args: A,
        /,
        *,
        credential: Credential | None = None,
        timeout: float | None = None,
        into: memoryview | None = None,
    ) -> R:
        header = CallHeader(
            7,
            MsgType.CALL,
            2,
            procedure.program,
            procedure.version,
            procedure.number,
            OpaqueAuth(),
            OpaqueAuth(),
        )
        self.sock.sendall(b"".join(frame([header.to_xdr() + args.to_xdr()])))
        reply = self.receive()
        pos, error = parse_reply(reply, 0, procedure.name)
        if error is not None:
            raise error
        return procedure.res.from_xdr(reply[pos:])


class Stub:
    def __init__(self, path: Path) -> None:
        self.loop = Loop()
        self.announced: list[Rpcb] = []
        self.registry = Registry(self.announced.append)
        self.listener = UnixListener(self.loop, path, self.registry)
        self._callers: list[UnixCaller] = []

    def caller(self) -> UnixCaller:
        self._callers.append(UnixCaller(self.loop, self.listener.path))
        return self._callers[-1]

    def client(self, version: int = 4) -> Rpcbind:
        return Rpcbind(self.caller(), version)

    def close(self) -> None:
        for caller in self._callers:
            caller.close()
        self.listener.close()
        self.loop.close()


@pytest.fixture
def stub(tmp_path: Path) -> Iterator[Stub]:
    with closing(Stub(tmp_path / "rpcbind.sock")) as stub:
        yield stub


@pytest.mark.parametrize("version", [3, 4])
def test_a_registration_is_kept_and_announced(stub: Stub, version: int) -> None:
    client = stub.client(version)
    assert client.set(NFS, 3, "tcp", ADDRESS)
    assert client.getaddr(NFS, 3, "tcp") == ADDRESS
    assert [(entry.r_prog, entry.r_vers) for entry in client.dump()] == [(NFS, 3)]
    assert [(entry.r_prog, entry.r_vers, entry.r_netid) for entry in stub.announced] == [(NFS, 3, b"tcp")]


def test_a_second_set_of_the_same_is_refused(stub: Stub) -> None:
    client = stub.client()
    assert client.set(NFS, 3, "tcp", ADDRESS)
    assert not client.set(NFS, 3, "tcp", "127.0.0.1.9.9")
    assert client.getaddr(NFS, 3, "tcp") == ADDRESS


def test_unset_is_true_even_when_there_is_nothing(stub: Stub) -> None:
    assert stub.client().unset(NFS, 3)


def test_unset_without_a_transport_takes_all(stub: Stub) -> None:
    client = stub.client()
    client.set(NFS, 3, "tcp", ADDRESS)
    client.set(NFS, 3, "udp", ADDRESS)
    client.set(NFS, 4, "tcp", ADDRESS)
    assert client.unset(NFS, 3)
    assert [(entry.r_prog, entry.r_vers) for entry in client.dump()] == [(NFS, 4)]


def test_what_is_not_registered_has_an_empty_address(stub: Stub) -> None:
    assert not stub.client().getaddr(NFS, 3, "tcp")


def test_other_procedures_are_not_there(stub: Stub) -> None:
    with pytest.raises(ProcUnavail):
        stub.caller().call(GETTIME4, Void())


def test_registrations_are_bounded(stub: Stub) -> None:
    stub.registry.entries = [Rpcb(number, 1, b"tcp") for number in range(MAX_REGISTRATIONS)]
    assert not stub.client().set(NFS, 3, "tcp", ADDRESS)


def test_an_endless_record_ends_the_connection_and_nothing_else(stub: Stub) -> None:
    hostile = stub.caller()
    hostile.sock.sendall((0x8000_0000 | MAX_RECORD + 1).to_bytes(4, "big"))
    with pytest.raises(ConnectionLost):
        hostile.receive()
    assert stub.client().set(NFS, 3, "tcp", ADDRESS)


def test_a_client_that_goes_is_forgotten(stub: Stub) -> None:
    caller = stub.caller()
    assert stub.loop.run_until(lambda: bool(stub.listener.connections), stub.loop.clock() + AT_MOST)
    caller.close()
    assert stub.loop.run_until(lambda: not stub.listener.connections, stub.loop.clock() + AT_MOST)


def test_the_path_is_removed_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "rpcbind.sock"
    Stub(path).close()
    assert not path.exists()


def test_a_path_that_is_taken_raises(stub: Stub) -> None:
    with pytest.raises(OSError, match="in use"):
        UnixListener(stub.loop, stub.listener.path, stub.registry)
