# SPDX-License-Identifier: MIT
"""A plugin for runs on the embedded server that writes down what the server received and sent, check by check.

It stands on the sockets of the server and knows nothing of what the client side records.
"""

from __future__ import annotations

import json
import os
import socket
import typing as t
from pathlib import Path

from fixtures.plugin import evidence, hooks
from fixtures.stage.connections import Connections
from fixtures.stage.stage import Stage
from fixtures.stage.traffic import Book, Traffic
from nfsclient.rpc import server
from nfsclient.rpc.blocking import RpcClient

HEARD = "NFSPROOF_HEARD"
"""The environment variable with the file to write: a line of JSON per check. Workers add their names to that of it."""


class Heard(t.TypedDict):
    """What passed on one connection, or between a socket for datagrams and one client, since the last check."""

    transport: str
    client: int
    """The port of the client."""
    port: int
    received: list[str]
    sent: list[str]
    closed: bool


_heard: dict[tuple[str, int, int, int], Heard] = {}
_of_paused: dict[tuple[str, int], dict[tuple[str, int, int, int], Heard]] = {}
"""Transport and port of a client that belongs to a check that pauses -> what was heard in it. A socket for datagrams
may have the port of a connection, and so may a later connection."""


def _of(transport: str, sock: socket.socket, client: int, number: int = 0) -> Heard:
    port = sock.getsockname()[1]
    key = (transport, client, port, number)
    return _of_paused.get((transport, client), _heard).setdefault(
        key, Heard(transport=transport, client=client, port=port, received=[], sent=[], closed=False)
    )


class _Stream(socket.socket):
    """A connection, as the server has it."""

    count = 0

    def __init__(self, sock: socket.socket, client: int) -> None:
        self.client = client  # getpeername() fails where the client has reset the connection already
        super().__init__(fileno=sock.detach())
        self.setblocking(False)
        _Stream.count += 1
        self.number = _Stream.count

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        data = super().recv(size, flags)
        if not flags & socket.MSG_PEEK and data:
            _of("tcp", self, self.client, self.number)["received"].append(data.hex())
        return data

    def sendmsg(self, buffers: t.Any, *more: t.Any) -> int:
        kept = list(buffers)
        count = super().sendmsg(kept, *more)
        _of("tcp", self, self.client, self.number)["sent"].append(b"".join(kept)[:count].hex())
        return count

    def send(self, data: t.Any, *more: t.Any) -> int:
        count = super().send(data, *more)
        _of("tcp", self, self.client, self.number)["sent"].append(bytes(data)[:count].hex())
        return count

    def close(self) -> None:
        if self.fileno() >= 0:
            _of("tcp", self, self.client, self.number)["closed"] = True
            _of_paused.pop(("tcp", self.client), None)
        super().close()


class _Datagrams(socket.socket):
    """A socket for datagrams of the server."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(fileno=sock.detach())
        self.setblocking(False)

    def recvfrom(self, *sizes: t.Any) -> tuple[bytes, t.Any]:
        data, peer = super().recvfrom(*sizes)
        _of("udp", self, peer[1])["received"].append(data.hex())
        return data, peer

    def sendto(self, data: t.Any, *where: t.Any) -> int:
        count = super().sendto(data, *where)
        _of("udp", self, where[-1][1])["sent"].append(bytes(data).hex())
        return count


def pytest_configure() -> None:
    """Put the sockets in their places, and write at the end of each check."""
    began, served = server.Connection.__init__, server.RpcServer._serve
    cleared, kept = Traffic.clear, evidence.keep
    took, put_back, took_own = Traffic.take, Traffic.put, Connections.take_own
    paused: dict[int, dict[tuple[str, int, int, int], Heard]] = {}

    def begin(self: server.Connection, owner: server.RpcServer, sock: socket.socket, peer: t.Any) -> None:
        began(self, owner, _Stream(sock, peer[1]), peer)

    def serve(self: server.RpcServer, member: t.Any) -> t.Any:
        if isinstance(member, server._Datagrams):
            member.sock = _Datagrams(member.sock)
        return served(self, member)

    def clear(self: Traffic) -> None:
        cleared(self)
        _heard.clear()

    def take(self: Traffic) -> Book:
        found = took(self)
        paused.pop(
            id(found.exchanges), None
        )  # of a check that was never put back: the last one must be this one
        paused[id(found.exchanges)] = dict(_heard)
        _heard.clear()
        return found

    def take_own(self: Connections) -> list[RpcClient]:
        clients = took_own(self)
        of_check = list(paused.values())[-1]  # whose traffic was taken just before
        for client in clients:
            _of_paused[client.core.transport, int(client.core.local.rpartition(":")[2])] = of_check
        return clients

    def put(self: Traffic, taken: Book) -> None:
        put_back(self, taken)
        of_check = paused.pop(id(taken.exchanges), {})
        for place in [place for place, heard in _of_paused.items() if heard is of_check]:
            del _of_paused[place]
        _heard.clear()
        _heard.update(of_check)

    def keep(record: t.Any, marks: t.Any, clock_began: float, stage: Stage) -> t.Any:
        stage.loop.catch_up()
        result = kept(record, marks, clock_began, stage)
        with Path(os.environ[HEARD] + os.environ.get("PYTEST_XDIST_WORKER", "")).open("a") as file:
            file.write(json.dumps({"check": record.id, "connections": list(_heard.values())}) + "\n")
        return result

    server.Connection.__init__ = begin  # type: ignore[assignment, method-assign]
    server.RpcServer._serve = serve  # type: ignore[method-assign]
    Traffic.clear = clear  # type: ignore[method-assign]
    Traffic.take = take  # type: ignore[method-assign]
    Traffic.put = put  # type: ignore[method-assign]
    Connections.take_own = take_own  # type: ignore[method-assign]
    vars(hooks)["keep"] = keep
