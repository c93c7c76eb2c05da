# SPDX-License-Identifier: MIT
"""Runs on a URL with commands that crash and restart its server."""

from __future__ import annotations

import subprocess
import sys
import typing as t
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reports import load
from reports.run import Run
from tests.nfstargets.controlled_server import command, controlled
from tests.plugin.conftest import Suite
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
CRASHES = "recovery/names/survive[create]"

RunOn: t.TypeAlias = Callable[..., tuple[subprocess.CompletedProcess[str], Run]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "control"
    place.mkdir()
    return place


@pytest.fixture
def url(folder: Path) -> Iterator[str]:
    with controlled(folder) as found:
        yield found


def _run(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "nfsproof", *words],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=AT_MOST,
        check=False,
    )


@pytest.fixture
def run_on(url: str, tmp_path: Path) -> RunOn:
    def run(*words: str) -> tuple[subprocess.CompletedProcess[str], Run]:
        done = _run(tmp_path, "run", url, *words, "--report=report")
        return done, load(tmp_path / "report")

    return run


def test_checks_of_crashes_are_judged_on_a_url_with_control(run_on: RunOn, folder: Path) -> None:
    done, run = run_on(CRASHES, f"--control=crash={command(folder, 'crash')}")
    assert done.returncode == 0, done.stdout
    assert [check.verdict for check in run.checks] == ["PASS"]


def test_without_control_they_are_skip(run_on: RunOn) -> None:
    _, run = run_on(CRASHES)
    assert [(check.verdict, check.reason) for check in run.checks] == [
        ("SKIP", "needs control of the server, by --control crash=COMMAND")
    ]


def test_a_control_that_fails_is_void_with_its_output(run_on: RunOn) -> None:
    done, run = run_on(CRASHES, "--control=crash=echo no such machine; exit 3")
    (check,) = run.checks
    assert check.verdict == "VOID"
    assert done.returncode != 0
    assert "control crash: the command ended with exit status 3" in check.reason
    assert "no such machine" in check.reason
    assert (check.elsewhere, check.others) == ([], 0)  # it says nothing of the server
    void_line = next(
        line for line in done.stdout.splitlines() if line.startswith("VOID  ") and "1 check" in line
    )
    assert "no such machine; exit 3: 1 check" in void_line
    assert "'--control=crash=echo no such machine; exit 3'" in check.rerun


def test_an_interrupt_during_a_crash_says_only_what_is_known(run_on: RunOn, folder: Path) -> None:
    down = f"{command(folder, 'stop')}; kill -TERM $PPID; sleep 600"
    done, _ = run_on(CRASHES, f"--control=crash={down}")
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "interrupted during control crash, and the target did not answer then" in done.stdout
    assert "the target is down at the end" not in done.stdout
    assert "left in the export: 1 directory" in done.stdout


STALE = """
    @proves(RULE, killed_by=MUTANT)
    def test_a_crash(target, scratch):
        target.crash()

    @proves(RULE, killed_by=MUTANT)
    def test_b_later(scratch):
        scratch.file("f")
"""


def test_an_export_that_a_crash_made_stale_is_one_cause(suite: Suite) -> None:
    suite.write(STALE)
    outcome = suite.run("--mutant=export-is-stale-after-a-restart")
    assert outcome.verdicts == {"a_crash": "PASS", "b_later": "FAIL"}, outcome.text
    symptom = (
        "since the server came back, for the handle that MNT returns: expected success, got NFS3ERR_STALE"
    )
    assert f"{symptom} (70) (RFC 1813 5.2.1): 1 check" in outcome.text


def test_an_export_that_must_be_mounted_again_is_none(suite: Suite) -> None:
    suite.write(STALE)
    outcome = suite.run("--mutant=root-is-stale-after-a-restart")
    assert outcome.verdicts == {"a_crash": "PASS", "b_later": "PASS"}, outcome.text


OBSERVES = """
    from fixtures.checks.across import DATA
    from nfsjudge import observe

    @proves(RULE, killed_by=MUTANT)
    def test_a_crash(target):
        target.crash()
        observe(DATA, "{seen}")
"""


@pytest.mark.parametrize("seen", ["committed at once", "lost"])
def test_a_crash_that_is_not_known_to_lose_anything_is_reported(suite: Suite, seen: str) -> None:
    suite.write(OBSERVES.format(seen=seen))
    outcome = suite.run()
    assert outcome.verdicts == {"a_crash": "PASS"}, outcome.text
    assert ("this crash is not known to lose anything" in outcome.text) == (seen != "lost")


HOOKS = """
    @proves(RULE, killed_by=MUTANT)
    def test_a_hooks(target):
        target.set_lease(20)
        target.end_grace()
        target.drop_caches()

    @proves(RULE, killed_by=MUTANT)
    def test_b_view(target):
        target.known_clients()
"""


def test_a_lease_time_lasts_for_one_check(suite: Suite, url: str, tmp_path: Path) -> None:
    written = tmp_path / "written"
    suite.write(HOOKS)
    hooks = [
        f"--control={name}=echo {name} $NFSPROOF_SECONDS >> {written}"
        for name in ("set_lease", "end_grace", "drop_caches")
    ]
    outcome = suite.run("--target", url, *hooks)
    assert outcome.verdicts == {"a_hooks": "PASS", "b_view": "SKIP"}, outcome.text
    assert written.read_text().splitlines() == ["set_lease 20", "end_grace", "drop_caches", "set_lease"]
    assert outcome.checks["a_hooks"].steered == ["drop_caches", "end_grace", "set_lease"]


def test_hooks_that_the_target_lacks_are_skip(suite: Suite, url: str) -> None:
    suite.write(HOOKS)
    outcome = suite.run("--target", url)
    assert outcome.verdicts == {"a_hooks": "SKIP", "b_view": "SKIP"}
    assert "needs control of the server, by --control set_lease=COMMAND" in outcome.text
    assert "the control known_clients cannot be given for a URL" in outcome.text


def test_the_embedded_server_has_the_hooks(suite: Suite) -> None:
    suite.write(HOOKS)
    outcome = suite.run()
    assert outcome.verdicts == {"a_hooks": "PASS", "b_view": "PASS"}, outcome.text


LOCALLY = """
    from fixtures.checks.side_by_side import side_by_side
    from suites.nfs4.delegations import ACCESS, delegated, recalls

    @side_by_side
    @proves(RULE, killed_by=MUTANT)
    def test_waits(target, v4):
        granted = yield from delegated(v4, v4.scratch, ACCESS["read"])
        change = target.begin_locally(v4.scratch.name + b"/file")
        assert not change.is_over
        assert (yield from granted.serve(lambda: bool(recalls(granted.holder)), 30))
        assert not change.wait(0)
        granted.give_back()
        assert (yield from change.ending(30))

    @side_by_side
    @proves(RULE, killed_by=MUTANT)
    def test_z_left(target, v4):
        yield from delegated(v4, v4.scratch, ACCESS["read"])
        target.begin_locally(v4.scratch.name + b"/file")
"""


def test_a_change_on_the_server_waits_for_a_delegation(suite: Suite) -> None:
    suite.write(LOCALLY)
    outcome = suite.run()
    assert outcome.verdicts == {"waits": "PASS", "z_left": "PASS"}, outcome.text


LOCALLY_BY_COMMAND = """
    @proves(RULE, killed_by=MUTANT)
    def test_change(nfs3, scratch, target):
        file = scratch.file("f", b"data")
        change = target.begin_locally(scratch.name + b"/f")
        scratch.attributes(file)  # calls go on meanwhile
        assert change.wait(30)
        assert scratch.attributes(file).size > 4

    @proves(RULE, killed_by=MUTANT)
    def test_fails(scratch, target):
        scratch.file("f")
        assert target.begin_locally(scratch.name + b"/f", remove=True).wait(30)
"""


def test_a_change_by_a_command_goes_on_during_calls(suite: Suite, url: str, folder: Path) -> None:
    suite.write(LOCALLY_BY_COMMAND)
    touching = f"--control=touch_locally={command(folder, 'touch_locally')}"
    outcome = suite.run("--target", url, touching)
    assert outcome.verdicts == {"change": "PASS", "fails": "SKIP"}, outcome.text
    assert "needs control of the server, by --control remove_locally=COMMAND" in outcome.text
    outcome = suite.run("--target", url, touching, "--control=remove_locally=false")
    assert outcome.verdicts["fails"] == "VOID", outcome.text


def test_a_target_file_serves_run_and_target_check(url: str, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "box.toml"
    file.write_text(
        f'''[[target]]
target = "{url}"
label = "Box"
checks = ["{CRASHES}"]
lacks = ["symlink"]
floor = 1
timeout = 3600
[target.control]
crash = """{command(folder, "crash")}"""
'''
    )
    checked = _run(tmp_path, "target", "check", "box.toml")
    assert checked.returncode == 0, checked.stdout
    assert "the server went down and lost data that was UNSTABLE" in checked.stdout
    done = _run(tmp_path, "run", "box.toml", "--report=report")
    assert done.returncode == 0, done.stdout
    run = load(tmp_path / "report")
    assert [check.verdict for check in run.checks] == ["PASS"]
    assert run.about is not None
    assert "declares it missing" in run.about.capabilities["symlink"]
    other = _run(tmp_path, "run", "box.toml#Bix", "--report=report")
    assert "no target has the label 'Bix'; similar: Box" in other.stderr


def test_control_of_a_server_that_nfsproof_starts_is_refused(tmp_path: Path) -> None:
    done = _run(tmp_path, "run", "embedded", "--control=manual")
    assert done.returncode == 4
    assert "nfsproof controls embedded itself" in done.stderr


def test_fewer_checks_than_the_floor_are_red(run_on: RunOn) -> None:
    done, run = run_on(CRASHES, "--floor=1")
    assert [check.verdict for check in run.checks] == ["SKIP"]
    assert done.returncode == 1
    assert "NOT JUDGED 0 checks executed, expected at least 1 (--floor)" in done.stdout
