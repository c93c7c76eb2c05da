# SPDX-License-Identifier: MIT
"""Checks that share a crash: one for all of the same act, and the verdict of each as if it had been alone."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Outcome, Suite
from tests.plugin.test_plugin_xdist import TWO

IMPORTS = """
from fixtures.checks.across import ARRANGED, CRASH, RESTART, across
"""
AFTER = """    survivor = target.client(Nfs3)
    observe("verf", survivor.write(file, 0, b"x", StableHow.UNSTABLE).resok.verf.hex())
    expect(survivor.getattr(file)).ok()
"""
WRONG = AFTER + "    expect(survivor.getattr(b'no handle')).ok()\n"


def check(name: str, first: str = "", act: str = "WRITE", after: str = AFTER, ending: str = "CRASH") -> str:
    """A check that pauses twice, with other calls before it acts."""
    return f'''
@across({ending}, "{act}")
@proves(RULE, killed_by=MUTANT)
def test_{name}(nfs3, scratch, target):
    """{name}"""
    file = scratch.file("f", b"data")
    yield ARRANGED
    {first or "nfs3.write(file, 0, b'x', StableHow.FILE_SYNC)"}
    yield {ending}
{after}
'''


FIRST_HALVES = {
    "passes": "pass",
    "fails": "expect(scratch.attributes(file).size, 'size').equals(2)",
    "skips": "skip('a reason')",
    "lacks": "unsupported('a reason')",
    "breaks": "raise ValueError",
}
VERDICTS = {"passes": "PASS", "fails": "FAIL", "skips": "SKIP", "lacks": "UNSUPPORTED", "breaks": "VOID"}


def verifier(outcome: Outcome, name: str) -> str:
    """The write verifier that a check saw after the crash: one instance of the server has one."""
    return outcome.checks[name].observations["verf"]


def test_checks_of_one_act_share_a_crash(suite: Suite) -> None:
    acts = {"a": "WRITE", "b": "MKDIR", "c": "WRITE", "d": "WRITE", "e": "MKDIR"}
    suite.write(IMPORTS + "".join(check(name, act=act) for name, act in acts.items()))
    outcome = suite.run()
    assert set(outcome.verdicts.values()) == {"PASS"}
    of_write, of_mkdir = ({verifier(outcome, name) for name in names} for names in ("acd", "be"))
    assert len(of_write) == len(of_mkdir) == 1
    assert of_write != of_mkdir
    assert all(record.steered == ["crash"] for record in outcome.checks.values())


def test_a_restart_is_no_crash(suite: Suite) -> None:
    suite.write(
        IMPORTS + check("a") + check("b") + check("c", ending="RESTART") + check("d", ending="RESTART")
    )
    outcome = suite.run()
    assert [outcome.checks[name].steered for name in "abcd"] == [["crash"]] * 2 + [["restart"]] * 2


def test_what_goes_wrong_in_a_first_half_is_of_that_check_only(suite: Suite) -> None:
    suite.write(IMPORTS + "".join(check(name, first) for name, first in FIRST_HALVES.items()))
    assert suite.run().verdicts == VERDICTS


@pytest.mark.parametrize("name", FIRST_HALVES)
def test_a_check_alone_has_the_same_verdict(suite: Suite, name: str) -> None:
    suite.write(IMPORTS + check(name, FIRST_HALVES[name]))
    assert suite.run().verdicts == {name: VERDICTS[name]}


def test_what_fails_after_the_crash_is_of_that_check_only(suite: Suite) -> None:
    suite.write(IMPORTS + check("a") + check("b", after=WRONG) + check("c"))
    outcome = suite.run()
    assert outcome.verdicts == {"a": "PASS", "b": "FAIL", "c": "PASS"}
    assert verifier(outcome, "a") == verifier(outcome, "c")


def test_a_second_crash_is_a_mistake_of_the_check(suite: Suite) -> None:
    suite.write(IMPORTS + check("a", after=AFTER + "    yield CRASH\n") + check("b"))
    outcome = suite.run()
    assert outcome.verdicts == {"a": "VOID", "b": "PASS"}
    assert "may share one crash only" in outcome.checks["a"].reason


def test_the_same_verdicts_with_workers(suite: Suite) -> None:
    suite.write(
        IMPORTS
        + "".join(
            check(f"{name}{number}", first) for name, first in FIRST_HALVES.items() for number in range(3)
        )
    )
    outcome = suite.run_apart(*TWO)
    assert outcome.verdicts == {
        f"{name}{number}": verdict for name, verdict in VERDICTS.items() for number in range(3)
    }


def test_nothing_is_left_of_checks_that_never_had_their_turn(suite: Suite) -> None:
    suite.write(IMPORTS + check("a", after=WRONG) + check("b") + check("c"))
    outcome = suite.run("-x")
    assert outcome.verdicts == {"a": "FAIL"}
    assert outcome.exit_code == 1
