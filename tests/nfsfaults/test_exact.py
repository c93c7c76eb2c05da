# SPDX-License-Identifier: MIT
"""Exact timers: when the loop sleeps, when it looks, and that a plan with links runs on it. Time is given."""

from __future__ import annotations

import asyncio
import functools
import socket
import typing as t
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsfaults import exact


class _Machine:
    """Time that goes on by what is done: a sleep ends late, and each look takes a microsecond."""

    def __init__(self, late: float = 0.0, event_at: float = float("inf")) -> None:
        self.now = 0.0
        self.naps: list[float] = []
        self.looks = 0
        self._late = late
        self._event_at = event_at

    def clock(self) -> float:
        return self.now

    def nap(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now = max(self.now, min(self.now + seconds + self._late, self._event_at))

    def look(self) -> list[t.Any]:
        self.looks += 1
        self.now += 1e-6
        return ["event"] if self.now >= self._event_at else []

    def wait(self, seconds: float) -> list[t.Any]:
        return exact.wait_exactly(self.look, self.nap, self.clock, seconds)


@given(st.floats(1e-6, 0.1), st.floats(0, exact.SPIN))
def test_a_wait_ends_at_its_time_although_sleeps_end_late(seconds: float, late: float) -> None:
    machine = _Machine(late)
    assert machine.wait(seconds) == []
    assert seconds <= machine.now <= seconds + 2e-6
    assert sum(machine.naps) <= seconds


def test_a_long_wait_sleeps_once_and_spins_for_the_rest_alone() -> None:
    machine = _Machine()
    machine.wait(0.01)
    assert machine.naps == [pytest.approx(0.01 - exact.SPIN)]
    assert machine.looks <= exact.SPIN / 1e-6 + 2
    machine = _Machine()
    machine.wait(exact.SPIN)
    assert machine.naps == []


@given(st.floats(0, 0.02))
def test_an_event_ends_a_wait(event_at: float) -> None:
    machine = _Machine(event_at=event_at)
    assert machine.wait(0.03) == ["event"]
    assert machine.now <= event_at + 2e-6


def test_the_selector_sees_events_and_waits_without_any() -> None:
    clock = iter(float(n) for n in range(100))
    left, right = socket.socketpair()
    with closing(exact.ExactSelector(lambda: next(clock))) as selector, left, right:
        selector.register(left, 1)
        assert selector.select(0) == []
        assert selector.select(1e-5) == []  # the clock has gone on by a second
        right.send(b"x")
        for seconds in (0, 1e-5, 0.5, None):
            assert [key.fileobj for key, _ in selector.select(seconds)] == [left]


def test_timers_of_asyncio_are_in_order_and_not_early() -> None:
    async def run() -> list[tuple[int, bool]]:
        loop, seen = asyncio.get_running_loop(), list[tuple[int, bool]]()
        begin, done = loop.time(), asyncio.Event()

        def note(at: float, number: int) -> None:
            seen.append((number, loop.time() >= at - 1e-6))

        for number in (3, 1, 2):
            at = begin + number * 3e-4
            loop.call_at(at, functools.partial(note, at, number))
        loop.call_at(begin + 2e-3, done.set)
        await done.wait()
        return seen

    with asyncio.Runner(loop_factory=exact.new_loop) as runner:
        assert runner.run(run()) == [(1, True), (2, True), (3, True)]
