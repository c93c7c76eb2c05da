# SPDX-License-Identifier: MIT
"""Programs of opens and locks: two clients of NFSv4.1, each program on a new file."""

from __future__ import annotations

import time
import typing as t
from collections import Counter
from collections.abc import Sequence

from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from nfsclient.clients.nfs4 import CompoundError
from nfsjudge import observe, skip
from suites.model.campaign import Campaign, Playing, Program
from suites.model.delegated_machine import DelegatedMachine
from suites.model.delegated_players import DelegatedPlayer, Nfs3Player, Patience, Place
from suites.model.delegated_steps import DelegatedDrawing
from suites.model.grounds import client_of
from suites.model.machine import Experience
from suites.model.state_claims import GROUPS, StateProperty
from suites.model.state_machine import StateMachine, StatePlayer
from suites.model.state_steps import StateDrawing
from suites.model.state_things import NFS3_CLIENT, SIZE
from suites.model.steps import Deck


class StateGround:
    """Two clients of NFSv4.1, each with a session, and files in the scratch directory."""

    def __init__(self, v4: Nfs4Dialect) -> None:
        self._v4 = v4
        self._joined = 0

    def join(self, *, recorded: bool) -> list[StatePlayer]:
        """Two clients, on new connections."""
        self._joined += 1
        return [self._player(number, recorded=recorded) for number in (1, 2)]

    def _player(self, number: int, *, recorded: bool) -> StatePlayer:
        rpc, user = client_of(self._v4, number, recorded=recorded)
        return StatePlayer(
            self._v4.new_session(rpc, user), f"client {number} of {self._joined}", time.monotonic
        )

    def directory(self, name: str, players: Sequence[StatePlayer]) -> bytes:
        """A new file of `SIZE` zeros."""
        return self._v4.scratch.file(name, bytes(SIZE), mode=0o666)


class StateCampaign(Campaign):
    """The programs of one check."""

    _group = ""

    def judged(self, group: str) -> frozenset[StateProperty]:
        """The properties that count in a group."""
        self._group = group
        return GROUPS[group]

    def draw(self, seed: str, deck: Deck) -> Program:
        """A program."""
        return StateDrawing(seed, self._group).program()

    def machine(self, name: str, players: t.Any, experience: Experience) -> Playing:
        """What runs a program on a new file."""
        file = self._ground.directory(name, players)
        return StateMachine(players, file, name, experience, self._judged, is_over=self._is_over)


class DelegatedGround:
    """Two clients of NFSv4.1 with backchannels, one of NFSv3 if `v3` is given, and files in the scratch directory."""

    def __init__(self, v4: Nfs4Dialect, v3: Nfs3Dialect | None = None) -> None:
        self._v4, self._v3 = v4, v3
        self._joined = 0
        self._directory3 = self._look_up(v3) if v3 is not None else b""
        links = v4.scratch.attributes(None, "numlinks").numlinks
        self.links_count = links is not None
        self.patience = _patience(v4)

    def _look_up(self, v3: Nfs3Dialect) -> bytes:
        status, found = v3.lookup(v3.root, self._v4.scratch.name)
        if found is None:
            skip(f"NFSv3 does not find the directory that NFSv4 has made: LOOKUP answers {status}")
        return found

    def join(self, *, recorded: bool) -> list[DelegatedPlayer | Nfs3Player]:
        """The clients, on new connections."""
        self._joined += 1
        players: list[DelegatedPlayer | Nfs3Player] = []
        for number in (1, 2):
            rpc, user = client_of(self._v4, number, recorded=recorded)
            try:
                session = self._v4.client(rpc, user).establish(callbacks=True)
            except CompoundError as error:
                skip(f"no session: {error}")
            players.append(DelegatedPlayer(session, f"client {number} of {self._joined}", time.monotonic))
        if self._v3 is not None:
            players.append(Nfs3Player(*client_of(self._v3, NFS3_CLIENT, recorded=recorded)))
        return players

    def directory(self, name: str, players: t.Any) -> Place:
        """A new file of `SIZE` zeros, by its handles."""
        scratch, here = self._v4.scratch, name.encode()
        # Nobody has opened it for writing: Linux has such a file open for a while, and grants no reader a delegation.
        file = scratch.file(name, bytes(SIZE), mode=0o666)
        file3 = b""
        if self._v3 is not None:
            status, found = self._v3.lookup(self._directory3, here)
            if found is None:
                skip(f"NFSv3 does not find the file that NFSv4 has made: LOOKUP answers {status}")
            file3 = found
        return Place(here, scratch.handle, file, self._directory3, file3)

    def make_another(self, name: bytes) -> None:
        """Another file."""
        self._v4.scratch.file(name)


def _patience(v4: Nfs4Dialect) -> Patience:
    wait, renew = v4.connections.wait_for, v4.session.renew
    call = v4.connections.call_timeout + wait(16.0)
    if not wait(1.0):
        return Patience(recall=0.1, reply=0.003, end=0.5, pause=0.002, call=call, renew=renew)
    return Patience(recall=wait(2.0), reply=0.05, end=wait(8.0), pause=0.1, call=call, renew=renew)


class DelegatedCampaign(StateCampaign):
    """The programs of a check with delegations."""

    _ground: DelegatedGround
    granted: Counter[str]

    def draw(self, seed: str, deck: Deck) -> Program:
        """A program."""
        return DelegatedDrawing(seed, with_nfs3=self._group == "with NFSv3").program()

    def judged(self, group: str) -> frozenset[StateProperty]:
        """The properties that count in a group."""
        self.granted = Counter()
        return super().judged(group)

    def machine(self, name: str, players: t.Any, experience: Experience) -> Playing:
        """What runs a program on a new file."""
        ground = self._ground
        return DelegatedMachine(
            players[:2],
            players[2] if len(players) > 2 else None,
            ground.directory(name, players),
            ground.make_another,
            ground.patience,
            experience,
            self._judged,
            self.granted,
            links_count=ground.links_count,
            is_over=self._is_over,
        )

    def _observe(self) -> None:
        super()._observe()
        observe("delegations granted", dict(sorted(self.granted.items())))
