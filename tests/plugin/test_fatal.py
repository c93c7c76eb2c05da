# SPDX-License-Identifier: MIT
"""When a death is the server's own doing: the table of `fixtures.plugin.fatal`, and what proves nothing."""

from __future__ import annotations

import signal

import pytest

from fixtures.plugin.fatal import GREW, MUCH, Attempt, is_own_doing
from nfstargets.watching import Ending

CRASH = Ending(17, 2049, -signal.SIGSEGV)
ERROR = Ending(17, 2049, 2)
STOPPED = Ending(17, 2049, -signal.SIGTERM)
KILLED = Ending(17, 2049, -signal.SIGKILL)
STARVED = Ending(17, 2049, -signal.SIGKILL, oom_kills=1)
IN_ORDER = Ending(17, 2049, 0)
BY_A_SHELL = Ending(17, 2049, 128 + signal.SIGTERM)
UNKNOWN = Ending(17, 2049, None)


def attempt(
    ending: Ending | None, *, passed: int = 100, growth: int = 0, lacks: bool = False, raw: bool = False
) -> Attempt:
    return Attempt(ending, "", "", passed, growth, lacks, raw, None)


@pytest.mark.parametrize(
    ("last", "is_failure"),
    [
        (attempt(CRASH), True),
        (attempt(UNKNOWN), True),
        (attempt(None), True),
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
        (attempt(ERROR), True),
        (attempt(STOPPED, raw=True), False),
        (attempt(KILLED, raw=True), False),
        (attempt(IN_ORDER, raw=True), False),
        (attempt(BY_A_SHELL, raw=True), False),
        (attempt(UNKNOWN), False),
        (attempt(UNKNOWN, raw=True), True),
        (attempt(None, raw=True), False),
        (attempt(STARVED, raw=True), False),
        (attempt(STARVED, growth=GREW), True),
        (attempt(STARVED, growth=GREW, passed=GREW), False),
    ],
)
def test_a_server_that_stays_away(last: Attempt, is_failure: bool) -> None:
    assert is_own_doing("untested", [last], is_shared=False) is is_failure
    assert not is_own_doing("untested", [last], is_shared=True)  # checks of other workers may have done it


@pytest.mark.parametrize("death", ["once", "other"])
def test_a_death_that_does_not_happen_again(death: str) -> None:
    assert not is_own_doing(death, [attempt(CRASH), attempt(None)], is_shared=False)
