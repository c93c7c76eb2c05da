# SPDX-License-Identifier: MIT
"""Where the programs of a check run: two connections of two machines to the target, and directories in its scratch."""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

from fixtures.checks.dialects.nfs2 import Nfs2Dialect
from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.target import TargetView
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import skip
from suites.model.player2 import Player2
from suites.model.player3 import Player3
from suites.model.player4 import Player4
from suites.model.players import Player

_NEEDS: t.Final = {
    "v2": {"LINK": "nfs2_hardlink", "SYMLINK": "nfs2_symlink"},
    "v3": {
        "LINK": "hardlink",
        "SYMLINK": "symlink",
        "FIFO": "mknod",
        "EXCLUSIVE": "exclusive_create",
        "READDIRPLUS": "readdirplus",
    },
    "v4": {"LINK": "nfs4_hardlink", "SYMLINK": "nfs4_symlink"},
}


def lacking(target: TargetView, *versions: str) -> list[str]:
    """The steps of programs that the target does not have, or fails to do for every check."""
    return [verb for version in versions for verb, name in _NEEDS[version].items() if not target.has(name)]


def _connect(dialect: Nfs2Dialect | Nfs3Dialect | Nfs4Dialect, number: int) -> tuple[RpcClient, AuthSys]:
    """A connection, and the user of the run on a machine of another name."""
    connections = dialect.connections
    user = connections.credential
    machine = AuthSys(user.uid, user.gid, user.gids, b"client-%d" % number)
    return connections.connect("nfs"), machine


def _leave_unrecorded(rpc: RpcClient) -> None:
    """Keep hundreds of calls out of the evidence, the capture and the script."""
    rpc.on_exchange = None
    rpc.on_wire = None


def client_of(
    dialect: Nfs2Dialect | Nfs3Dialect | Nfs4Dialect, number: int, *, recorded: bool
) -> tuple[RpcClient, AuthSys]:
    """The connection of a client, and its user."""
    rpc, user = _connect(dialect, number)
    if not recorded:
        _leave_unrecorded(rpc)
    return rpc, user


class Ground3:
    """Two clients of NFSv3."""

    def __init__(self, v3: Nfs3Dialect) -> None:
        self._v3 = v3

    def player(self, number: int, *, recorded: bool) -> Player3:
        """A client on a new connection."""
        rpc, user = client_of(self._v3, number, recorded=recorded)
        return Player3(self._v3.client(rpc, user), self._v3.root)

    def join(self, *, recorded: bool) -> list[Player]:
        """Two clients, on new connections."""
        return [self.player(number, recorded=recorded) for number in (1, 2)]

    def directory(self, name: str, players: Sequence[Player]) -> dict[str, bytes]:
        """A new, empty directory."""
        return {"v3": self._v3.scratch.directory(name, mode=0o777)}


class Ground4:
    """Two clients of NFSv4.1, each with a session."""

    def __init__(self, v4: Nfs4Dialect) -> None:
        self._v4 = v4

    def player(self, number: int, *, recorded: bool) -> Player4:
        """A client on a new connection."""
        rpc, user = client_of(self._v4, number, recorded=recorded)
        return Player4(self._v4.new_session(rpc, user), self._v4.root)

    def join(self, *, recorded: bool) -> list[Player]:
        """Two clients, on new connections."""
        return [self.player(number, recorded=recorded) for number in (1, 2)]

    def directory(self, name: str, players: Sequence[Player]) -> dict[str, bytes]:
        """A new, empty directory."""
        return {"v4": self._v4.scratch.directory(name, mode=0o777)}


class Ground34:
    """A client of NFSv3 and one of NFSv4.1 in the same directory."""

    def __init__(self, v3: Nfs3Dialect, v4: Nfs4Dialect) -> None:
        self._v3, self._v4 = v3, v4
        self._three, self._four = Ground3(v3), Ground4(v4)

    @property
    def scratch_name(self) -> bytes:
        """The name of the scratch directory in the root of the export."""
        return self._v3.scratch.name

    def join(self, *, recorded: bool) -> list[Player]:
        """Two clients, on new connections."""
        return [self._three.player(1, recorded=recorded), self._four.player(2, recorded=recorded)]

    def directory(self, name: str, players: Sequence[Player]) -> dict[str, bytes]:
        """A new, empty directory, made by NFSv3. SKIP if NFSv4 does not find it."""
        made = self._v3.scratch.directory(name, mode=0o777)
        found = _found(players[1], self._v4.root, self._v3.scratch.name, name.encode())
        return {"v3": made, "v4": found}


class Ground234:
    """A client of NFSv2, one of NFSv3 and one of NFSv4.1 in the same directory."""

    def __init__(self, v2: Nfs2Dialect, v3: Nfs3Dialect, v4: Nfs4Dialect) -> None:
        self._v2, self._two = v2, Ground34(v3, v4)

    def join(self, *, recorded: bool) -> list[Player]:
        """Three clients, on new connections."""
        rpc, user = client_of(self._v2, 3, recorded=recorded)
        others, made = self._two.join(recorded=recorded), Player2(self._v2.client(rpc, user))
        made.learn_times(others)
        return [*others, made]

    def directory(self, name: str, players: Sequence[Player]) -> dict[str, bytes]:
        """A new, empty directory, made by NFSv3. SKIP if the others do not find it."""
        made = self._two.directory(name, players)
        found = _found(players[2], self._v2.root, self._two.scratch_name, name.encode())
        return {**made, "v2": found}


def _found(player: Player, root: bytes, *path: bytes) -> bytes:
    """The handle of a directory that NFSv3 has made, in another version. SKIP if that does not find it."""
    handle = root
    for name in path:
        found = player.lookup(handle, name).handle
        if found is None:
            skip(f"{player.title} does not find the scratch directory of NFSv3 in its root")
        handle = found
    return handle
