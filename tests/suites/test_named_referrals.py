# SPDX-License-Identifier: MIT
"""Checks of referrals on a server that is not ours: its owner names one, by `--referral`."""

from __future__ import annotations

import pytest

from tests.suites.test_broken_servers import RunOn, run_on

__all__ = ["run_on"]
CHECKS = ("nfs4/referrals", "nfs4/absent")
HAS_REFERRAL = ("--knob=referral=yes",)


def test_the_one_that_the_owner_names_is_judged(run_on: RunOn) -> None:
    ended = run_on(HAS_REFERRAL, *CHECKS, "--referral=/referrals/absent")
    assert {check.verdict for check in ended.run.checks} == {"PASS"}, ended.text
    assert not any(check.steered for check in ended.run.checks)


def test_without_a_name_no_check_asks(run_on: RunOn) -> None:
    ended = run_on(HAS_REFERRAL, *CHECKS)
    assert {check.verdict for check in ended.run.checks} == {"UNSUPPORTED"}, ended.text
    assert ended.text.count("--referral PATH names one") == 1


@pytest.mark.parametrize(
    "path", ["/export", "/referrals/present", "/", "/nowhere", "/referrals/absent/below"]
)
def test_another_object_is_not_judged(run_on: RunOn, path: str) -> None:
    ended = run_on(HAS_REFERRAL, *CHECKS, f"--referral={path}")
    assert {check.verdict for check in ended.run.checks} == {"SKIP"}, ended.text
    assert "is no referral" in ended.text
