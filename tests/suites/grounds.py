# SPDX-License-Identifier: MIT
"""Where programs of `suites.model` run in tests: the embedded server in this process, with any knobs and mutants."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable, Mapping, Sequence

from fixtures.checks.dialects.nfs4 import Grace, OwnNfs4
from nfsclient.clients import Mount, Nfs2, Nfs3, Patience
from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs3 import Sattr3
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp
from nfsclient.rpc.loop import Loop
from nfsmutants import Mutants
from nfsserver import Server
from suites.model.player2 import Player2
from suites.model.player3 import Player3
from suites.model.player4 import Player4
from suites.model.players import Player

NOBODY_WAITS: t.Final = 0.0001


class LocalGround:
    """Clients of a server; `versions` is that of each: "v2", "v3" or "v4"."""

    def __init__(
        self, versions: Sequence[str], knobs: Mapping[str, t.Any] | None = None, mutants: Iterable[str] = ()
    ) -> None:
        self._versions = versions
        self.loop = Loop()
        self._server = Server(knobs={**(knobs or {})}, seed=1)
        Mutants(self._server, mutants)
        self._server.listen(self.loop, udp=False)
        self._opened: list[RpcClient] = []
        self.on_exchange: Callable[[t.Any], None] | None = None
        self._patience = Patience.of(self.loop, first=NOBODY_WAITS, longest=0.01, total=2.0)

    def rpc(self, number: int) -> RpcClient:
        """A connection from a machine of this number."""
        made = connect_tcp(
            "127.0.0.1",
            self._server.port,
            loop=self.loop,
            credential=AuthSys(0, 0, (), b"client-%d" % number),
        )
        made.outlives_idleness = True  # as the connections of checks
        made.on_exchange = self.on_exchange
        self._opened.append(made)
        return made

    def join(self, *, recorded: bool) -> list[Player]:
        """Two clients, on new connections."""
        made: list[Player] = [
            {"v2": self._player2, "v3": self._player3, "v4": self._player4}[version](number)
            for number, version in enumerate(self._versions)
        ]
        for player in made:
            if isinstance(player, Player2):
                player.learn_times([each for each in made if each is not player])
        return made

    def _player2(self, number: int) -> Player2:
        return Player2(Nfs2(self.rpc(number)))

    def _player3(self, number: int) -> Player3:
        return Player3(Nfs3(self.rpc(number), patience=self._patience), self.root())

    def _player4(self, number: int) -> Player4:
        session = self.session(number)
        found = session.compound(op.putrootfh(), op.lookup(b"export"), op.getfh())
        return Player4(session, found.handle)

    def session(self, number: int, *, callbacks: bool = False) -> Session:
        """A session of a new client of NFSv4.1."""
        client = OwnNfs4(self.rpc(number), patience=self._patience)
        client.made, client.grace, client.to_give_back = [], Grace(lambda _seconds: None), []
        return client.establish(callbacks=callbacks)

    def root(self) -> bytes:
        """The handle of the export, by MOUNT 3."""
        reply = Mount(self.rpc(0)).mnt(b"/export").resok
        assert reply is not None
        return reply.fhandle

    def surround(self, middleware: t.Any) -> None:
        """Put a middleware around the server, as of `Server.surround`."""
        self._server.surround(middleware)

    def interpose(self, operation: t.Any, around: t.Any) -> None:
        """Put a function around an operation of the server, as of `Server.interpose`."""
        self._server.interpose(operation, around)

    def directory(self, name: str, players: Sequence[Player]) -> dict[str, bytes]:
        """A new, empty directory."""
        nfs3, root = Nfs3(self.rpc(0), patience=self._patience), self.root()
        nfs3.mkdir(root, name.encode(), Sattr3(mode=0o777))
        handles = {}
        for player in players:
            there = root
            if isinstance(player, Player2):
                mounted = Mount(self.rpc(0), 1).mnt1(b"/export").resok
                assert mounted is not None
                there = mounted
            if isinstance(player, Player4):
                there = player._session.compound(op.putrootfh(), op.lookup(b"export"), op.getfh()).handle
            found = player.lookup(there, name.encode()).handle
            assert found is not None
            handles[player.version] = found
        return handles

    def close(self) -> None:
        """End the server and all connections."""
        for rpc in self._opened:
            rpc.close()
        self._server.close()
