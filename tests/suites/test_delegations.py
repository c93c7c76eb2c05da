# SPDX-License-Identifier: MIT
"""Checks of delegations on servers that say DELAY for their own reasons, that never recall, and that never grant."""

from __future__ import annotations

import sys
import typing as t

from tests.suites.test_broken_servers import SERVE, RunOn, run_on

__all__ = ["run_on"]
DELAYS: t.Final = (sys.executable, "-P", "-m", "tests.suites.delays_often")
CHECKS: t.Final = (
    *("nfs4/delegation/recall[read-4.1]", "nfs4/delegation/recall-by-remove[write-4.1]"),
    *(
        "nfs4/delegation/waits[read-4.1]",
        "nfs4/delegation/returned[write-4.2]",
        "nfs4/delegation/getattr-waits[4.1]",
    ),
    *("faults/backchannel/recall-after-loss", "faults/backchannel/recall-lost"),
    *("nfs3/delegations/recall[write-read]", "nfs3/delegations/recall[remove-write]"),
    *("nfs4/delegation/recall-by[link-read]", "nfs4/delegation/recall-by[replace-write]"),
    *("nfs4/delegation/recall-by[read-write]", "nfs3/delegations/truncating-create[read]"),
)


def test_a_server_that_says_delay_for_its_own_reasons_is_right(run_on: RunOn) -> None:
    ended = run_on((), *CHECKS, program=DELAYS)
    assert {check.verdict for check in ended.run.checks} == {"PASS"}, ended.text


def test_one_that_never_recalls_is_found_though_it_says_delay(run_on: RunOn) -> None:
    checks = ("nfs4/delegation/recall[read-4.1]", "nfs4/delegation/recall[write-4.1]")
    ended = run_on(("silent",), *checks, program=DELAYS)
    verdicts = {check.id: check.verdict for check in ended.run.checks}
    assert set(verdicts.values()) == {"FAIL"}, ended.text


def test_one_that_grants_nothing_costs_one_patience(run_on: RunOn) -> None:
    checks = (
        "nfs4/delegation/waits[read-4.1]",
        "nfs4/delegation/waits[read-4.2]",
        "nfs4/delegation/returned[read-4.1]",
    )
    ended = run_on(("--knob=delegations=none",), *checks, program=SERVE)
    assert {check.verdict for check in ended.run.checks} == {"SKIP"}, ended.text
    tries = [check.exchanges for check in ended.run.checks]
    # A check asks again and again, the others ask once.
    assert len(tries) == len(checks)
    assert sum(number > 2 * min(tries) for number in tries) == 1


def test_a_call_of_version_3_may_be_put_off_after_the_return(run_on: RunOn) -> None:
    """No text names a time, and a separate service of NFSv3 may learn of the return late: no FAIL."""
    late = ("--mutant=nfs3-delays-after-the-return",)
    ended = run_on(late, "nfs3/delegations/recall[write-read]", "--call-timeout=2", program=SERVE)
    assert ended.of("NONSTRICT") == {"nfs3/delegations/recall[write-read]"}, ended.text


def test_a_call_of_version_4_may_not(run_on: RunOn) -> None:
    """One server grants and sees the return: section 10.2 lets the conflicting request proceed then."""
    late = ("--mutant=open4-delays-after-the-return",)
    ended = run_on(late, "nfs4/delegation/recall[write-4.1]", "--call-timeout=2", program=SERVE)
    assert ended.of("FAIL") == {"nfs4/delegation/recall[write-4.1]"}, ended.text
