# SPDX-License-Identifier: MIT
"""`--baseline` in a run: what is known is green, and never because the rest was left out."""

from __future__ import annotations

import pytest

from nfsjudge.records import EndRecord, read_records
from tests.plugin.conftest import Suite

SUITE = """
@proves(RULE, killed_by=MUTANT)
def test_known():
    expect(1, 'count').equals(2)

@proves(ADVICE, killed_by=MUTANT)
def test_other():
    expect(LATER, 'count').equals(2)
"""
KNOWN = '[[entry]]\nid = "nfs3/fake/known"\nreason = "r"\n'


def compared(suite: Suite, baseline: str, *options: str, later: int = 2) -> tuple[int, str]:
    suite.write(SUITE.replace("LATER", str(later)))
    file = suite.pytester.path / "b.toml"
    file.write_text(baseline)
    outcome = suite.run("--baseline", str(file), *options)
    return outcome.exit_code, "\n".join(
        line for line in outcome.text.splitlines() if line.startswith("BASELINE")
    )


def end_record(suite: Suite) -> EndRecord:
    with (suite.report / "records.jsonl").open() as lines:
        end = list(read_records(lines))[-1]
    assert isinstance(end, EndRecord)
    return end


def test_what_is_known_is_green(suite: Suite) -> None:
    status, lines = compared(suite, KNOWN, "-k", "known or other")
    end = end_record(suite)
    assert (end.baseline, end.differences) == ("b.toml", [])
    assert (status, lines) == (0, "BASELINE   the run agrees with the baseline (b.toml): 1 known deviation")


def test_a_run_that_stops_at_a_known_failure_is_red(suite: Suite) -> None:
    status, lines = compared(suite, KNOWN, "-k", "known or other", "-x")
    assert status == 11
    assert [line[:12] for line in end_record(suite).differences] == ["not finished"]
    assert "not finished: the run: the run was stopped early: stopping after 1 failures" in lines
    outcome = suite.run("-x")
    assert outcome.exit_code == 1
    end = outcome.lines[-1]
    assert isinstance(end, EndRecord)
    assert "stopped early" in end.note


def test_strict_holds_for_what_has_no_entry(suite: Suite) -> None:
    assert compared(suite, KNOWN, "-k", "known or other", later=3)[0] == 0
    status, lines = compared(suite, KNOWN, "-k", "known or other", "--strict-should", later=3)
    assert status == 11
    assert "new: nfs3/fake/other: NONSTRICT" in lines


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--mutants=pairs",), "--baseline and --mutants cannot be combined"),
        ((), "--baseline: {path}: Is a directory"),
    ],
)
def test_what_cannot_be_compared_with_a_baseline_is_reported(
    suite: Suite, options: tuple[str, ...], message: str
) -> None:
    suite.write(SUITE.replace("LATER", "2"))
    outcome = suite.run("--baseline", str(suite.pytester.path), *options)
    assert outcome.exit_code == 4
    assert message.format(path=suite.pytester.path) in outcome.text


def test_known_causes_are_marked(suite: Suite) -> None:
    suite.write(SUITE.replace("LATER", "1"))
    file = suite.pytester.path / "b.toml"
    file.write_text('[baseline]\nunlisted = ["PASS"]\n' + KNOWN)
    lines = suite.run("--baseline", str(file)).text.splitlines()
    assert "FAIL       known: count: expected 2, got 1 (RFC 1813 3.3.1): 1 check  nfs3/fake/known" in lines
    assert "NONSTRICT  count: expected 2, got 1 (RFC 1813 3.3.2): 1 check  nfs3/fake/other" in lines
    assert "FAIL  nfs3/fake/known" not in lines
    assert "NONSTRICT  nfs3/fake/other" in lines


def test_auto_needs_a_server_that_is_known(suite: Suite) -> None:
    suite.write(SUITE.replace("LATER", "2"))
    outcome = suite.run("--baseline=auto")
    assert outcome.exit_code == 4
    assert "--baseline auto: there is no baseline of embedded" in outcome.text
    assert "ganesha-4.3-vfs" in outcome.text
