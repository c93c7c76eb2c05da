# SPDX-License-Identifier: MIT
"""A server and clients of Spritely NFS on one loop, whose clock a test can put forward."""

from __future__ import annotations

import time
import typing as t
from collections import Counter
from collections.abc import Iterator

import nfsclient
from nfsclient.highlevel.snfs import NfsClient, connect
from nfsclient.protocol import snfs as p
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.service import CallContext
from nfsserver import ManualClock, Server
from nfsserver.handlers import ServerApi
from nfsserver.state.spritely import NFS

BLOCK: t.Final = 16
NAMED: t.Final = (
    p.OPEN,
    p.CLOSE,
    p.READ,
    p.WRITE,
    p.GETATTR,
    p.LOOKUP,
    p.REMOVE,
    p.SETATTR,
    p.REOPEN,
    p.RECOVERED,
)


def staged(**knobs: t.Any) -> Iterator[Stage]:
    """A stage for one test, whose server has raised nothing."""
    made = Stage(**knobs)
    yield made
    made.close()
    assert [str(error) for _, error in made.server.messages.faults] == []


def put(client: NfsClient, name: str, data: bytes) -> None:
    """Write a file, and leave the data in memory."""
    with client.open(name, "w") as file:
        file.write(data)


class Stage:
    """Counts calls by name; `loop` has the real time, and what `pass_time` adds."""

    def __init__(self, **knobs: t.Any) -> None:
        self._ahead = 0.0
        self.loop = Loop(lambda: time.monotonic() + self._ahead)
        self.clock = ManualClock()
        self.server = Server(clock=self.clock, seed=1, knobs=knobs)
        self.server.listen(self.loop)
        self.calls: Counter[str] = Counter()
        self.callbacks: list[p.CbMode] = []
        self.clients: list[NfsClient] = []
        self._raw: list[RpcClient] = []
        for procedure in NAMED:
            self.server.interpose(t.cast("Procedure[t.Any, t.Any]", procedure), self._note)

    def _note(self, _server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        self.calls[context.operation.name] += 1
        return proceed(context, args)

    def pass_time(self, seconds: float) -> None:
        """The clock of all clients goes on; nothing happens."""
        self._ahead += seconds

    def end_recovery(self) -> None:
        """The server has restarted, and does not wait for clients any longer (section 2.4)."""
        self.clock.advance(self.server.knobs.now.snfs_grace + 1)

    def client(self, *, block: int = BLOCK, **more: t.Any) -> NfsClient:
        """A further client, with small blocks."""
        made = connect(self.url(rsize=block), loop=self.loop, **more)
        self.clients.append(made)
        answer = made.caching._called

        def note(callback: t.Any) -> None:
            self.callbacks.append(callback.args.cbmode)
            answer(callback)

        made.caching.service.on_callback = note
        return made

    def url(self, version: str = "snfs", **more: int) -> str:
        words = "".join(f"&{name}={value}" for name, value in more.items())
        return f"nfs://127.0.0.1:{self.server.port}/export?version={version}&uid=0&gid=0{words}"

    def other(self, version: str = "3") -> nfsclient.NfsClient:
        """A client of another version, which keeps nothing."""
        return nfsclient.connect(self.url(version), loop=self.loop)

    def raw(self) -> RpcClient:
        """A connection of somebody who makes calls singly, and answers no callbacks."""
        made = connect_tcp("127.0.0.1", self.server.port, loop=self.loop, credential=AuthSys())
        self._raw.append(made)
        return made

    def cut(self, client: NfsClient) -> None:
        """End the connection of a client, from the side of the server: the client may connect again from its port."""
        rpc = self.server._rpc
        assert rpc is not None
        for connection in list(rpc.connections):
            if connection.peer == client.session.rpc.local_address:
                connection.close()

    def give_up(self, client: NfsClient, name: str) -> bool:
        """Let the server give a client up for a file, as if it had not answered. False: it has nothing of it."""
        directory = self.server.fs.root.directory
        assert directory is not None
        table = self.server.spritely
        entry = table.entry(t.cast("t.Any", directory.get(name.encode())))
        blocks: list[t.Any] = [] if entry is None else list(entry.blocks)
        port = client.session.rpc.local_address[1]
        keys = [key for key in blocks if key != NFS and key[1] == port]
        for key in keys:
            table.give_up(t.cast("t.Any", entry), key, lost=False)
        return bool(keys)

    def during(
        self, procedure: Procedure[t.Any, t.Any], act: t.Callable[[], None], *, after: bool = False
    ) -> None:
        """Do something once, just before the next call of a procedure is carried out, or just after."""
        left = [act]

        def middleware(_server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
            if left and not after:
                left.pop()()
            reply = proceed(context, args)
            if left:
                left.pop()()
            return reply

        self.server.interpose(procedure, middleware)

    def contents(self, name: str) -> bytes:
        """What the server has of a file."""
        directory = self.server.fs.root.directory
        assert directory is not None
        inode = directory.get(name.encode())
        assert inode is not None
        assert inode.data is not None
        return inode.data.read(0, inode.size)

    def close(self) -> None:
        for rpc in (*self._raw, *(client.session.rpc for client in self.clients)):
            rpc.close()
        self.server.close()
        self.loop.close()
