# SPDX-License-Identifier: MIT
"""A server and its clients in one loop."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.clients import Mount, Nfs3, Portmap
from nfsclient.protocol.nfs3 import StableHow
from nfsclient.rpc.auth import AuthSys, Credential
from nfsclient.rpc.blocking import RpcClient, connect_tcp, connect_udp
from nfsclient.rpc.loop import Loop
from nfsmutants import Mutants
from nfsserver import ManualClock, Server

if t.TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT_USER = AuthSys(0, 0)
ALICE = AuthSys(1000, 1000)
BOB = AuthSys(1001, 1001)

AnyNfs3: t.TypeAlias = t.Any
"""An `Nfs3` whose replies have type Any, so that tests may read optional parts without checks."""

HOSTS = {"127.0.0.1": "IPv4", "::1": "IPv6"}


class Rig:
    """A server in a loop, with a connection for each call of `rpc`. Faults of handlers fail the test."""

    def __init__(self, mutants: Iterable[str] = (), **options: t.Any) -> None:
        self.loop = Loop()
        self.clock = ManualClock()
        self.server = Server(clock=self.clock, seed=1, **options)
        self.mutants = Mutants(self.server, mutants)
        self._clients: list[RpcClient] = []

    def listen(self, host: str = "127.0.0.1") -> None:
        self.host = host
        self.server.listen(self.loop, host)

    def rpc(
        self, credential: Credential = ROOT_USER, *, proto: str = "tcp", source_port: int | None = None
    ) -> RpcClient:
        connect = connect_udp if proto == "udp" else connect_tcp
        client = connect(
            self.host, self.server.port, loop=self.loop, credential=credential, source_port=source_port
        )
        self._clients.append(client)
        return client

    def nfs3(self, credential: Credential = ROOT_USER, *, proto: str = "tcp") -> AnyNfs3:
        return Nfs3(self.rpc(credential, proto=proto))

    def mount(self, credential: Credential = ROOT_USER, version: int = 3) -> Mount:
        return Mount(self.rpc(credential), version)

    def portmap(self) -> Portmap:
        return Portmap(self.rpc())

    @property
    def root(self) -> bytes:
        return self.server.backend.handle_of(self.server.fs.root)

    def file(self, name: bytes, data: bytes = b"", credential: Credential = ROOT_USER) -> bytes:
        """A new file in the root directory with stable data; its handle."""
        client = self.nfs3(credential)
        handle: bytes = client.create(self.root, name).resok.obj
        if data:
            client.write(handle, 0, data, StableHow.FILE_SYNC)
        return handle

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self.server.close()
        self.loop.close()
        assert not self.server.messages.faults


@pytest.fixture
def rig() -> Iterator[Rig]:
    rig = Rig()
    rig.listen()
    yield rig
    rig.close()


@pytest.fixture
def make_rig() -> Iterator[t.Callable[..., Rig]]:
    """Rigs with options of `Rig` or `Server`, listening on 127.0.0.1."""
    rigs: list[Rig] = []

    def make(**options: t.Any) -> Rig:
        rig = Rig(**options)
        rig.listen()
        rigs.append(rig)
        return rig

    yield make
    for rig in rigs:
        rig.close()


@pytest.fixture
def nfs3(rig: Rig) -> AnyNfs3:
    return rig.nfs3()


@pytest.fixture
def root(rig: Rig) -> bytes:
    return rig.root


__all__ = ["ALICE", "BOB", "HOSTS", "ROOT_USER", "AnyNfs3", "Rig"]
