# SPDX-License-Identifier: MIT
"""Programs of opens and locks: two clients of NFSv4.1, each program on a new file."""

from __future__ import annotations

import time
import typing as t
from collections.abc import Sequence

from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from suites.model.campaign import Campaign, Playing, Program
from suites.model.grounds import client_of
from suites.model.machine import Experience
from suites.model.state_claims import GROUPS, StateProperty
from suites.model.state_machine import StateMachine, StatePlayer
from suites.model.state_steps import StateDrawing
from suites.model.state_things import SIZE
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
