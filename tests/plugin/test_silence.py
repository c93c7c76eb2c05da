# SPDX-License-Identifier: MIT
"""A procedure that is never answered costs a run one patience: the first check waits for it, later ones wait less."""

from __future__ import annotations

from collections.abc import Callable

from tests.plugin.conftest import Suite
from tests.plugin.test_interrupted import Server, serve
from tests.plugin.test_plugin_verdicts import check

__all__ = ["serve"]

PATIENCE = 8


def waited(expected: list[str]) -> float:
    """Seconds that a check has waited: `a reply within 8 s`."""
    return float(expected[0].split()[-2])


def test_later_checks_wait_shortly_and_prove_nothing(suite: Suite, serve: Callable[..., Server]) -> None:
    server = serve("mute-commit", now=True)
    names = [f"it_{number}" for number in range(6)]
    body = "expect(nfs3.commit(scratch.file('f'))).ok()"
    suite.write("".join(check(name, body, "nfs3, scratch") for name in names) + check("other", "pass"))
    outcome = suite.run("--target", server.url, f"--call-timeout={PATIENCE}")
    records = [outcome.checks[name] for name in names]
    assert [record.verdict for record in records] == ["FAIL"] + ["VOID"] * 5
    assert records[0].observed == "none"
    assert waited(records[0].expected) == PATIENCE
    procedure = "COMMIT (program 100003 version 3 procedure 21)"
    not_asked = f"not asked: the target does not answer {procedure}, first in nfs3/fake/it-0"
    assert {record.reason for record in records[1:3]} == {f"{not_asked}, and this check did not wait as long"}
    assert {record.reason for record in records[3:]} == {not_asked}
    assert outcome.verdicts["other"] == "PASS"


def test_cleaning_up_waits_once_and_leaves_the_verdicts_of_checks_alone(
    suite: Suite, serve: Callable[..., Server]
) -> None:
    server = serve("mute-readdir", now=True)
    names = [f"it_{number}" for number in range(6)]
    suite.write("".join(check(name, "pass", "scratch") for name in names))
    outcome = suite.run("--target", server.url, f"--call-timeout={PATIENCE}")
    verdicts = [outcome.verdicts[name] for name in names]
    assert verdicts == ["VOID"] + ["PASS"] * 5
    assert "left in the export: 6 directories" in outcome.text


def test_looking_whether_the_target_has_died_needs_no_procedure_that_is_given_up(
    suite: Suite, serve: Callable[..., Server]
) -> None:
    """That look makes a directory and removes it again, which needs READDIR."""
    server = serve("mute-readdir", now=True)
    names = [f"it_{number}" for number in range(5)]
    body = "scratch.file('f', b'data'); expect(nfs3.readdir(scratch.handle, 0, bytes(8), 1000)).ok()"
    suite.write("".join(check(name, body, "nfs3, scratch") for name in names))
    outcome = suite.run("--target", server.url, "--call-timeout=2")
    verdicts = [outcome.verdicts[name] for name in names]
    assert (verdicts[0], verdicts[3:]) == ("FAIL", ["VOID"] * 2)
    assert set(verdicts[1:3]) <= {"FAIL", "VOID"}  # FAIL if this machine is so busy that they wait as long
    assert "INTERNALERROR" not in outcome.text
