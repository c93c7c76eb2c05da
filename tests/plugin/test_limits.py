# SPDX-License-Identifier: MIT
"""Which calls the breaker lets through, and how times are printed."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.stage.limits import Limits, NotAsked, as_time
from nfsclient.errors import ConnectionLost, RpcTimeout
from nfsclient.protocol.nfs3 import NULL, READ, WRITE
from nfsclient.rpc.exchange import Exchange

TIMEOUT = 10.0


class Run:
    """Checks on a server, by a clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.limits = Limits(lambda: self.now, TIMEOUT)

    def call(
        self, check: str, procedure: t.Any, *, answered: bool = False, error: Exception | None = None
    ) -> bool:
        """A check makes a call; whether it was sent."""
        self.limits.begin_check(check)
        try:
            self.limits.before_call(procedure, "tcp")
        except NotAsked:
            return False
        finally:
            self.limits.leave_check()
        self.limits.begin_check(check)
        reply, failure = (b"reply", None) if answered else (None, error or RpcTimeout("it", TIMEOUT))
        exchange = Exchange(
            1, procedure, None, None, b"", self.now, "peer", "tcp", reply=reply, error=failure
        )
        self.limits.note(exchange)
        return True


@pytest.fixture
def run() -> Run:
    return Run()


def test_one_procedure_is_given_up_after_three_checks(run: Run) -> None:
    for check in ("a", "a", "a", "b", "c"):
        assert run.call("other", WRITE, answered=True)
        assert run.call(check, READ)
    assert not run.call("d", READ)
    assert run.call("d", WRITE, answered=True)
    assert run.call("d", NULL)


def test_an_answer_starts_over(run: Run) -> None:
    for check in ("a", "b", "c", "d", "e"):
        run.call("other", WRITE, answered=True)
        assert run.call(check, READ)
        assert run.call(check, READ, answered=True)


def test_each_procedure_is_called_once_when_nothing_is_answered(run: Run) -> None:
    assert run.call("a", READ)
    assert run.call("b", READ)
    assert not run.call("c", READ)
    assert run.call("c", WRITE)
    assert not run.call("c", WRITE)
    run.call("d", NULL, answered=True)
    assert not run.call("d", WRITE)


def test_it_is_tried_again_after_a_while_with_its_full_time(run: Run) -> None:
    for check in ("a", "b"):
        run.call(check, READ)
    run.now = 61
    assert run.call("c", READ, answered=True)
    assert run.call("d", READ)


@pytest.mark.parametrize("error", [RpcTimeout("it", 1.0), ConnectionLost("it", "closed")])
def test_only_calls_that_took_the_whole_time_count(run: Run, error: Exception) -> None:
    for check in ("a", "b", "c", "d", "e"):
        assert run.call(check, READ, error=error)


def test_the_text_says_what_and_since_when(run: Run) -> None:
    run.call("nfs3/READ/first", READ)
    run.call("nfs3/READ/second", READ)
    run.limits.begin_check("nfs3/READ/third")
    with pytest.raises(
        NotAsked, match=r"^not asked: the target does not answer READ .*, first in nfs3/READ/first$"
    ):
        run.limits.before_call(READ, "tcp")
    run.limits.before_call(READ, "udp")
    run.limits.leave_check()
    run.limits.before_call(READ, "tcp")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(5, "5 s"), (90, "90 s"), (60, "1 min"), (600, "10 min"), (7200, "2 h"), (0.5, "0.5 s")],
)
def test_times_are_printed_as_they_are_given(seconds: float, text: str) -> None:
    assert as_time(seconds) == text
