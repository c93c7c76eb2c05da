# SPDX-License-Identifier: MIT
"""The ladder of announced lengths: how often a server that does not grow is looked at, and waited for."""

from __future__ import annotations

import typing as t
from types import SimpleNamespace

import pytest

from fixtures.checks.announcing import MIB, Announced
from nfstargets.watching import Reading

TOP = (1 << 32) - 1


class Watched:
    """A stage whose server has these readings, one after another; the last one for ever."""

    def __init__(self, *memory: int) -> None:
        self._memory = list(memory)
        self.waits: list[float] = []
        self.now = 0.0
        self.watching: t.Any = SimpleNamespace(
            read=self._read, announced=0, is_watched=True, ending=lambda: None, grows_with_lengths_since=""
        )
        self.life: t.Any = SimpleNamespace(is_in_process=False)
        self.loop: t.Any = SimpleNamespace(clock=lambda: self.now)
        self.connections: t.Any = SimpleNamespace(stretch=lambda seconds: seconds)
        self.traffic: t.Any = SimpleNamespace(exchanges=[], raw=[])

    def _read(self) -> Reading:
        memory = self._memory.pop(0) if len(self._memory) > 1 else self._memory[0]
        return Reading(memory, memory, 1)

    def wait(self, seconds: float) -> None:
        """Time passes, and nothing else."""
        self.waits.append(seconds)
        self.now += seconds

    def lengths(self) -> list[int]:
        """What a check announces that is about 4 GiB, in MiB."""
        stage: t.Any = self
        return [length // MIB for length in Announced(stage)(TOP)]


LADDER = [16, 16, 16, 64, 64, 64, 256, 256, 256, 1024, 4095]


def test_a_server_that_does_not_grow_is_waited_for_once_for_each_length() -> None:
    stage = Watched(10 * MIB)
    assert stage.lengths() == LADDER
    assert len(stage.waits) == len(set(LADDER))


@pytest.mark.parametrize(("reply", "is_waited_for"), [(b"reply", False), (None, True)])
def test_a_server_that_has_answered_the_length_is_done_with_it(
    reply: bytes | None, is_waited_for: bool
) -> None:
    stage = Watched(10 * MIB)
    announced: t.Any = Announced(t.cast("t.Any", stage))
    for _ in announced(TOP):
        stage.now += 1e-3
        stage.traffic.exchanges.append(SimpleNamespace(sent_at=stage.now, received_at=stage.now, reply=reply))
    assert bool(stage.waits) == is_waited_for


def test_growth_that_comes_late_counts_for_the_next_try_of_the_same_length() -> None:
    """Others are served before the server is done with a length: between two looks, nothing is lost."""
    # The first look; and for each of two lengths one after each try, and two to see that it does not grow any more.
    before_256 = [10 * MIB] * (1 + 2 * (3 + 2))
    stage = Watched(*before_256, 10 * MIB, 300 * MIB)
    lengths = stage.lengths()
    # Nothing is seen after the first try of 256 MiB; after the second one the server has grown, which ends the rung.
    assert lengths == [*LADDER[:8], 1024, 4095]
