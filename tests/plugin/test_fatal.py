# SPDX-License-Identifier: MIT
"""When a death is the server's own doing: the table of `fixtures.plugin.fatal`, and what proves nothing."""

from __future__ import annotations

import signal

import pytest

from fixtures.plugin.fatal import GREW, MUCH, Attempt, is_own_doing
from nfstargets.watching import Ending

CRASHES = [-signal.SIGSEGV, -signal.SIGABRT, 128 + signal.SIGBUS, 2, 101]
"""Signals of a crash, the same in a shell, and the panics of Go and Rust."""
CRASH = Ending(17, 2049, -signal.SIGSEGV)
ERROR = Ending(17, 2049, 1)
STOPPED = Ending(17, 2049, -signal.SIGTERM)
KILLED = Ending(17, 2049, -signal.SIGKILL)
STARVED = Ending(17, 2049, -signal.SIGKILL, oom_kills=1)
IN_ORDER = Ending(17, 2049, 0)
BY_A_SHELL = Ending(17, 2049, 128 + signal.SIGTERM)
UNKNOWN = Ending(17, 2049, None)


def attempt(
    ending: Ending | None,
    *,
    passed: int = 100,
    growth: int = 0,
    lacks: bool = False,
    lives: bool = False,
    refuses: bool = False,
    how: str = "",
    steered: bool = False,
) -> Attempt:
    return Attempt(ending, how, "", passed, growth, lacks, None, lives, refuses, steered)


@pytest.mark.parametrize(
    ("last", "is_failure"),
    [
        (attempt(CRASH), True),
        (attempt(UNKNOWN), True),
        (attempt(ERROR), True),  # what proves nothing once does so when it happens again, alone
        (attempt(None), False),
        (attempt(None, how="it ended"), True),
        (attempt(None, refuses=True), True),
        (attempt(None, refuses=True, lives=True), False),
        (attempt(None, refuses=True, steered=True), False),
        (attempt(STOPPED), False),
        (attempt(KILLED), False),
        (attempt(STARVED), True),
        (attempt(STARVED, passed=MUCH + 1), False),
        (attempt(ERROR, lacks=True), True),
        (attempt(ERROR, lacks=True, passed=MUCH + 1), False),
    ],
)
def test_a_server_that_dies_again_alone(last: Attempt, is_failure: bool) -> None:
    assert is_own_doing("confirmed", [attempt(CRASH), last], is_shared=False) is is_failure
    assert is_own_doing("confirmed", [attempt(CRASH), last], is_shared=True) is is_failure


@pytest.mark.parametrize(
    ("last", "is_failure"),
    [
        (attempt(CRASH), True),
        (attempt(ERROR), False),  # log.Fatal(Serve()) of Go, after SIGTERM
        (attempt(STOPPED), False),
        (attempt(KILLED), False),
        (attempt(IN_ORDER), False),
        (attempt(BY_A_SHELL), False),
        (attempt(UNKNOWN), False),
        (attempt(None), False),
        (attempt(None, refuses=True), False),
        (attempt(STARVED), False),
        (attempt(STARVED, growth=GREW), True),
        (attempt(STARVED, growth=GREW, passed=GREW), False),
    ],
)
def test_a_server_that_stays_away(last: Attempt, is_failure: bool) -> None:
    assert is_own_doing("untested", [last], is_shared=False) is is_failure
    assert not is_own_doing("untested", [last], is_shared=True)  # checks of other workers may have done it


@pytest.mark.parametrize("status", CRASHES)
def test_how_a_crash_ends(status: int) -> None:
    assert is_own_doing("untested", [attempt(Ending(17, 2049, status))], is_shared=False)


def test_silence_in_either_attempt_is_no_death() -> None:
    silent, refused = attempt(None), attempt(None, refuses=True)
    assert is_own_doing("confirmed", [refused, refused], is_shared=False)
    assert not is_own_doing("confirmed", [silent, refused], is_shared=False)
    assert not is_own_doing("confirmed", [refused, silent], is_shared=False)
    assert not is_own_doing("confirmed", [silent, silent], is_shared=False)


@pytest.mark.parametrize("death", ["once", "other"])
def test_a_death_that_does_not_happen_again(death: str) -> None:
    assert not is_own_doing(death, [attempt(CRASH), attempt(None)], is_shared=False)
