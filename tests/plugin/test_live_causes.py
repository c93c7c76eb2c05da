# SPDX-License-Identifier: MIT
"""Causes appear while a run goes on: a line each, with the first check that fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.plugin.live_causes import MOST
from tests.plugin.conftest import Suite
from tests.plugin.test_plugin_verdicts import check

MANY = "\n@pytest.mark.parametrize('number', range(6))\n@proves(RULE, killed_by=MUTANT)\n"
TWO = (
    f"{MANY}def test_many(number):\n    expect(number, 'size').equals(99)\n"
    + check("good", "pass")
    + check("other", "raise OSError('out of luck')")
    + check("weak", "pass")
)
SIZE = "FAIL       size: expected 99, got 0 (RFC 1813 3.3.1)  nfs3/fake/many[0]"


def before_the_summary(text: str) -> list[str]:
    head = text.partition("first of each cause")[0].partition("verdicts ===")[0]
    return [line for line in head.splitlines() if line.startswith(("FAIL ", "VOID ", "NONSTRICT "))]


@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "2")], ids=["alone", "workers"])
def test_each_cause_has_one_line_when_its_first_check_has_failed(
    suite: Suite, workers: tuple[str, ...]
) -> None:
    suite.write(TWO)
    lines = before_the_summary(suite.run_apart("--progress=plain", *workers).text)
    assert len(lines) == 2
    sizes = [line for line in lines if line.startswith("FAIL       size: expected 99, got ")]
    assert len(sizes) == 1
    assert sum(line.startswith("VOID       ") for line in lines) == 1


def test_the_line_names_clause_and_check(suite: Suite) -> None:
    suite.write(TWO)
    assert before_the_summary(suite.run("--progress=plain").text)[0] == SIZE


@pytest.mark.parametrize("option", ["-q", "-v"])
def test_there_are_none_where_they_would_be_noise(suite: Suite, option: str) -> None:
    suite.write(TWO)
    assert before_the_summary(suite.run(option, "--progress=plain").text) == []


def test_their_number_is_bounded(suite: Suite) -> None:
    # Of VOID, each reason is a cause.
    reasons = "".join(
        check(f"broken_{letter}", f"raise OSError('reason {letter * 3}')")
        for letter in "abcdefghijklmnopqrstuvwx"
    )
    suite.write(reasons)
    text = suite.run("--progress=plain").text
    assert len(before_the_summary(text)) == MOST
    assert text.count("further causes are listed when the run is over") == 1


def test_what_a_baseline_knows_is_not_printed(suite: Suite, tmp_path: Path) -> None:
    suite.write(TWO)
    file = tmp_path / "known.toml"
    file.write_text('[[entry]]\nid = "nfs3/fake/many*"\nreason = "known"\nverdict = "FAIL"\n')
    (line,) = before_the_summary(suite.run("--progress=plain", f"--baseline={file}").text)
    assert line.startswith("VOID ")


def test_a_run_that_is_red_by_the_lint_alone_says_so_in_its_last_line(suite: Suite) -> None:
    suite.write(
        check("unseen", "nfs3.write(scratch.file('f'), 0, b'data', StableHow.FILE_SYNC)", "nfs3, scratch")
    )
    outcome = suite.run("--mutant=write3-reports-more-than-sent")
    last = [line for line in outcome.text.splitlines() if line.startswith("=") and " in " in line][-1]
    assert outcome.exit_code == 1
    assert "1 passed, 1 rule of the lint broken" in last
