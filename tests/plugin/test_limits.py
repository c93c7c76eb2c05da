# SPDX-License-Identifier: MIT
"""Which calls the breaker lets through, and how times are printed."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.stage.limits import Limits, NeverAnswered, NotAsked, OfCheck, as_time
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import ConnectionLost, RpcTimeout
from nfsclient.protocol import nfs4 as p4
from nfsclient.protocol.nfs3 import NULL, READ, WRITE
from nfsclient.rpc.exchange import Exchange

TIMEOUT = 10.0


class Run:
    """Checks on a server, by a clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.limits = Limits(lambda: self.now, TIMEOUT, answer_time=lambda: 0.1)
        self._given: list[float | None] = []

    def call(
        self,
        check: str,
        procedure: t.Any,
        *,
        answered: bool = False,
        error: Exception | None = None,
        args: t.Any = None,
    ) -> bool:
        """A check makes a call; whether it was sent."""
        self.limits.begin_check(check)
        try:
            self._given.append(self.limits.before_call(procedure, args, "tcp"))
        except NotAsked:
            return False
        finally:
            self.limits.end_check()
        self.limits.begin_check(check)
        seconds = TIMEOUT if self._given[-1] is None else self._given[-1]
        reply, failure = (b"reply", None) if answered else (None, error or RpcTimeout("it", seconds))
        exchange = Exchange(
            1, procedure, args, None, b"", self.now, "peer", "tcp", reply=reply, error=failure
        )
        if answered and args is not None:
            results = [p4.operation_of(operation).res(p4.Nfsstat4.NFS4ERR_IO) for operation in args.argarray]
            exchange.result = p4.Compound4Res(p4.Nfsstat4.NFS4ERR_IO, b"", results)
        self.limits.note(exchange)
        return True

    def given(self) -> float | None:
        """The most seconds that the last call was given; None: those of its client."""
        return self._given[-1]


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
    run.limits.end_check()
    run.limits.begin_check("nfs3/READ/third")
    with pytest.raises(
        NotAsked, match=r"^not asked: the target does not answer READ .*, first in nfs3/READ/first$"
    ):
        run.limits.before_call(READ, None, "tcp")
    run.limits.before_call(READ, None, "udp")
    run.limits.end_check()
    run.limits.before_call(READ, None, "tcp")


def test_a_procedure_that_is_never_answered_costs_one_patience(run: Run) -> None:
    run.call("other", WRITE, answered=True)
    assert run.call("a", READ)
    assert run.given() is None
    run.call("other", WRITE, answered=True)
    for check in ("a", "b"):
        assert run.call(check, READ)
        assert run.given() == 2.0  # twenty times the usual answer
        run.call("other", WRITE, answered=True)
    assert run.call("c", READ)
    assert not run.call("d", READ)
    run.now = 61
    run.call("other", WRITE, answered=True)
    assert run.call("d", READ)
    assert run.given() == 2.0


def test_a_short_wait_is_known_as_one(run: Run) -> None:
    errors = [RpcTimeout("it", TIMEOUT), RpcTimeout("it", 2.0)]
    for check, error in zip(("a", "b"), errors, strict=True):
        run.call("other", WRITE, answered=True)
        run.call(check, READ, error=error)
        assert run.limits.why_short(error).endswith("did not wait as long" if check == "b" else "")
        assert bool(run.limits.why_short(error)) == (check == "b")
    run.limits.begin_check("c")
    assert not run.limits.why_short(errors[1])


def test_one_that_was_answered_before_has_its_full_time(run: Run) -> None:
    run.call("a", READ, answered=True)
    for check in ("a", "b"):
        assert run.call(check, READ)
        assert run.given() is None
        run.call("other", WRITE, answered=True)
    assert run.call("c", READ, answered=True)
    assert run.call("d", READ)
    assert run.given() is None


def test_short_time_is_only_for_a_target_that_answers_other_calls(run: Run) -> None:
    assert run.call("a", READ)
    assert run.call("a", READ)
    assert run.given() is None


def of(*operations: t.Any) -> p4.Compound4Args:
    return p4.Compound4Args(b"", 1, [op.putrootfh(), *operations])


def test_an_unanswered_compound_blames_what_was_never_answered(run: Run) -> None:
    listing, getattr_ = op.readdir(), op.getattr("type")
    run.call("other", p4.COMPOUND, args=of(getattr_), answered=True)
    assert run.call("a", p4.COMPOUND, args=of(listing, getattr_))
    run.call("other", p4.COMPOUND, args=of(getattr_), answered=True)
    assert run.call("b", p4.COMPOUND, args=of(listing))
    assert run.given() == 2.0
    assert run.call("b", p4.COMPOUND, args=of(getattr_), answered=True)
    assert run.given() is None
    run.limits.begin_check("c")
    run.limits.leave_check()
    with pytest.raises(NeverAnswered, match="the target does not answer READDIR, first in a"):
        run.limits.before_call(p4.COMPOUND, of(listing), "tcp")


def test_while_a_check_cleans_up_what_is_never_answered_is_called_once(run: Run) -> None:
    run.call("a", WRITE, answered=True)
    run.limits.begin_check("a")
    run.limits.leave_check()
    assert run.limits.before_call(READ, None, "tcp") is None
    error = RpcTimeout("it", TIMEOUT)
    run.limits.note(Exchange(1, READ, None, None, b"", 0.0, "peer", "tcp", error=error))
    run.call("b", WRITE, answered=True)
    run.limits.begin_check("b")
    run.limits.leave_check()
    with pytest.raises(NeverAnswered, match="first in a"):
        run.limits.before_call(READ, None, "tcp")
    with run.limits.paused():  # whether the target is there, must always be known
        assert run.limits.before_call(READ, None, "tcp") is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(5, "5 s"), (90, "90 s"), (60, "1 min"), (600, "10 min"), (7200, "2 h"), (0.5, "0.5 s")],
)
def test_times_are_printed_as_they_are_given(seconds: float, text: str) -> None:
    assert as_time(seconds) == text


def test_a_check_that_runs_again_has_all_of_its_time(run: Run) -> None:
    for check in ("a", "b"):
        run.call(check, READ)
        run.call("other", WRITE, answered=True)
    run.limits.forgive(OfCheck("a"))
    run.call("c", READ)
    assert run.given() is not None  # b has not been answered, and does not run again
    run.limits.forgive(OfCheck(cleaning="b"))
    run.limits.forgive(OfCheck("c"))
    run.call("a", READ)
    assert run.given() is None


def test_one_that_runs_again_is_none_of_those_without_an_answer(run: Run) -> None:
    run.call("a", READ)
    run.limits.forgive(OfCheck("a"))
    assert run.call("a", READ)
    assert run.call("b", READ)
    assert not run.call("c", READ)
