# SPDX-License-Identifier: MIT
"""Knobs and controls in a run: for one check by fixtures, for all of them by `--knob`."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Suite

CHECKS = """
    @proves(RULE, killed_by=MUTANT)
    def test_a_turned(nfs3, scratch, knobs):
        knobs.set(write_accepts=3)
        expect(nfs3.write(scratch.file("f"), 0, b"12345").resok.count, "count").equals(3)

    @proves(RULE, killed_by=MUTANT)
    def test_b_turned_back(nfs3, scratch):
        expect(nfs3.write(scratch.file("f"), 0, b"12345").resok.count, "count").equals(5)

    @proves(RULE, killed_by=MUTANT)
    def test_c_full(nfs3, scratch, target):
        handle = scratch.file("f")
        target.fill_disk()
        expect(nfs3.write(handle, 0, b"12345").status, "status").equals(Nfsstat3.NFS3ERR_NOSPC)

    @proves(RULE, killed_by=MUTANT)
    def test_d_room_again(nfs3, scratch):
        expect(nfs3.write(scratch.file("f"), 0, b"12345").resok.count, "count").equals(5)

    @proves(RULE, killed_by=MUTANT)
    def test_e_touched(scratch, target):
        handle = scratch.file("f", b"12345")
        target.touch_locally(scratch.name + b"/f")
        expect(scratch.attributes(handle).size, "size").at_least(6)
        target.touch_locally(scratch.name + b"/f", remove=True)
        expect(scratch.lookup("f"), "the handle").is_absent()

    @proves(RULE, killed_by=MUTANT)
    def test_f_crashes(scratch, target):
        scratch.file("f", b"12345")
        target.restart(clean=False)
        target.restart()
"""


def test_knobs_and_controls_last_for_one_check(suite: Suite) -> None:
    suite.write(CHECKS)
    outcome = suite.run()
    assert set(outcome.verdicts.values()) == {"PASS"}, outcome.text


def test_knob_for_the_whole_run(suite: Suite) -> None:
    suite.write(CHECKS)
    outcome = suite.run("--knob", "write_accepts=2", "--knob=readdir_page=1")
    assert outcome.verdicts["a_turned"] == "PASS"
    assert outcome.verdicts["b_turned_back"] == "FAIL"
    assert "embedded (write_accepts=2 readdir_page=1)" in outcome.text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--knob", "nosuch=1"], "--knob: no knob is named 'nosuch'"),
        (["--knob", "read_only=2"], "--knob: read_only is yes or no, not '2'"),
        (
            ["--target", "ganesha", "--knob", "read_only=yes"],
            "--knob requires the embedded server, got ganesha",
        ),
    ],
)
def test_wrong_knobs_are_wrong_usage(suite: Suite, words: list[str], said: str) -> None:
    suite.write(CHECKS)
    outcome = suite.run(*words)
    assert outcome.exit_code == 4
    assert said in outcome.text
    assert "Traceback" not in outcome.text


MADE = """
    @proves(RULE, killed_by=MUTANT)
    def test_a_fixture_meets_it(nfs3, scratch):
        expect(nfs3.write(scratch.file("f"), 0, b"12345").resok.count, "count").equals(5)
"""


def test_mutant_for_the_whole_run(suite: Suite) -> None:
    suite.write(MADE)
    outcome = suite.run("--mutant=write3-reports-more-than-sent")
    assert set(outcome.verdicts.values()) == {"FAIL"}
    assert "embedded (write3-reports-more-than-sent)" in outcome.text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mutant=nosuch"], "--mutant: "),
        (
            ["--target=ganesha", "--mutant=write3-reports-more-than-sent"],
            "--mutant requires the embedded server",
        ),
        (
            ["--mutants", "--mutant=write3-reports-more-than-sent"],
            "--mutant and --mutants cannot be combined",
        ),
    ],
)
def test_wrong_mutants_are_wrong_usage(suite: Suite, words: list[str], said: str) -> None:
    suite.write(CHECKS)
    outcome = suite.run(*words)
    assert outcome.exit_code == 4
    assert said in outcome.text
    assert "Traceback" not in outcome.text
