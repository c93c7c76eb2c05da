# SPDX-License-Identifier: MIT
from __future__ import annotations

import contextlib
import typing as t
from types import SimpleNamespace

import pytest

from fixtures.stage.connections import Connections
from fixtures.stage.liveness import Liveness
from fixtures.stage.stage import Stage
from fixtures.stage.waits import Waits


def test_what_was_waited_for_in_vain_is_waited_for_briefly_until_it_comes() -> None:
    waits = Waits(0.0)
    assert waits.seconds("grant", 12.0, 0.5) == 12.0
    waits.note("grant", came=False)
    assert waits.seconds("grant", 12.0, 0.5) == 0.5
    assert waits.seconds("recall", 12.0, 0.5) == 12.0
    waits.note("grant", came=True)
    assert waits.seconds("grant", 12.0, 0.5) == 12.0


def test_one_that_came_is_no_longer_one_that_never_comes() -> None:
    waits = Waits(0.0)
    assert not waits.never_came("CB_GETATTR")
    waits.note("CB_GETATTR", came=False)
    assert waits.never_came("CB_GETATTR")
    waits.note("CB_GETATTR", came=True)
    waits.note("CB_GETATTR", came=False)
    assert not waits.never_came("CB_GETATTR")


@pytest.mark.parametrize(("is_in_process", "is_known"), [(True, False), (False, True)])
def test_nothing_is_learnt_of_a_server_in_this_process(is_in_process: bool, is_known: bool) -> None:
    """It may be another mutant for each check."""
    life: t.Any = SimpleNamespace(is_in_process=is_in_process)
    loop: t.Any = SimpleNamespace(clock=lambda: 0.0)
    rest: t.Any = None
    connections = Connections(life, loop, rest, rest, 10.0)
    connections.waits.note("CB_GETATTR", came=False)
    assert connections.is_known_never_to("CB_GETATTR") is is_known


def test_time_since_the_start_of_the_server_counts_but_never_all_of_it() -> None:
    waits = Waits(100.0)
    assert waits.after_start(12.0, 2.0, 100.0) == 12.0
    assert waits.after_start(12.0, 2.0, 107.0) == 5.0
    assert waits.after_start(12.0, 2.0, 500.0) == 2.0
    waits.starts_again(500.0)
    assert waits.after_start(12.0, 2.0, 501.0) == 11.0


def test_a_server_that_starts_again_is_still_one_that_never_did_it() -> None:
    waits = Waits(0.0)
    waits.note("grant", came=False)
    waits.starts_again(50.0)
    assert waits.seconds("grant", 12.0, 0.0) == 0.0


class Started:
    """The parts of a run that see a server start, with a clock that only the start moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waits = Waits(self.now)
        self.loop: t.Any = SimpleNamespace(clock=lambda: self.now)
        self.connections: t.Any = SimpleNamespace(waits=self.waits, loop=self.loop, close_shared=lambda: None)
        self.life: t.Any = SimpleNamespace(start=self.take_time, can_restart=False, find_again=lambda: None)
        self.report, self.worker = None, ""

    def take_time(self, *_: object, **__: object) -> bool:
        self.now += 30.0
        return True

    def liveness(self, restarts: int = 0) -> Liveness:
        reviver: t.Any = SimpleNamespace(can_revive=True, revive=self.take_time)
        traffic: t.Any = SimpleNamespace(forget_verifiers=lambda: None)
        dialects: t.Any = SimpleNamespace(forget_roots=self.take_time)
        made = Liveness(self.life, self.connections, traffic, dialects, reviver)
        made.lock = t.cast(
            "t.Any",
            SimpleNamespace(
                alone=contextlib.nullcontext, note_restart=lambda: None, restarts=lambda: restarts
            ),
        )
        return made


def test_time_begins_when_the_server_has_started_and_not_with_the_run() -> None:
    run = Started()
    Stage.start(t.cast("Stage", run))
    assert run.waits.began == run.now == 130.0


@pytest.mark.parametrize("can_restart", [True, False])
def test_time_begins_again_when_the_server_was_brought_back(can_restart: bool) -> None:
    run = Started()
    run.life.can_restart = can_restart
    assert run.liveness().recover()
    assert run.waits.began == run.now == 130.0


def test_time_begins_again_when_another_process_has_brought_the_server_back() -> None:
    run = Started()
    run.liveness(restarts=1).keep_up()
    assert run.waits.began == run.now == 130.0
