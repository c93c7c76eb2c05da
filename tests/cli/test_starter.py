# SPDX-License-Identifier: MIT
"""`nfsproof run` from a folder that does its best to break it, and what its exit status says.

The same from an installed wheel: .ci/wheel-test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nfsproof import starter
from nfsproof.exits import Exit
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
CHECK = "nfs3/NULL/no-results"
LINTED = "nfs3/ACCESS/group-member"
"""It writes, and passes whatever WRITE says of that."""
TRAPS = (
    "json",
    "pytest",
    "execnet",
    "nfsclient",
    "click",
    "conftest",
    "suites/__init__",
    "fixtures/__init__",
)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Modules, a conftest and settings that end every pytest that looks at them."""
    folder = tmp_path / "a hostile folder"
    for name in (*TRAPS, "nfs3/conftest"):
        trap = folder / f"{name}.py"
        trap.parent.mkdir(parents=True, exist_ok=True)
        trap.write_text(f"raise SystemExit('{name} was imported from the current folder')\n")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    (folder / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = "--no-such-option"\n')
    return folder


def run(*words: str, cwd: Path, command: str = "run") -> subprocess.CompletedProcess[str]:
    """`nfsproof run` or another command, with variables meant for somebody else's pytest."""
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "PYTEST_ADDOPTS": "--no-such-option",
        "PYTEST_PLUGINS": "no_such_plugin",
        "HOME": str(cwd),
        "XDG_CACHE_HOME": str(cwd / ".cache"),
    }
    return subprocess.run(
        [sys.executable, "-P", "-m", "nfsproof", command, *words],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=AT_MOST,
        check=False,
    )


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "two-workers"])
def test_the_current_folder_cannot_disturb(workers: tuple[str, ...], hostile: Path) -> None:
    before = {path.name for path in hostile.iterdir()}
    ended = run("embedded", CHECK, *workers, cwd=hostile)
    assert ended.returncode == Exit.OK, ended.stdout + ended.stderr
    assert "1 passed" in ended.stdout
    left = {path.name for path in hostile.iterdir()} - before - {".cache"}
    assert left == {"nfsproof-report"}
    assert (hostile / "nfsproof-report" / "latest" / "records.jsonl").is_file()


def test_the_report_goes_where_it_is_wanted(tmp_path: Path) -> None:
    ended = run(CHECK, "--report", "out/put", cwd=tmp_path)
    assert ended.returncode == Exit.OK, ended.stdout + ended.stderr
    assert (tmp_path / "out" / "put" / "records.jsonl").is_file()
    assert f"report: {tmp_path / 'out' / 'put'}" in ended.stdout


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("--time-limt=9", "ERROR: unknown option --time-limt; similar: --time-limit"),
        ("--strickt", "ERROR: unknown option --strickt; similar: --strict, --strict-should, --strict-config"),
        ("--time-limit=soon", "ERROR: --time-limit: expected a time such as 90s, 10m or 2h, got 'soon'"),
        ("--floor=x", "ERROR: --floor: invalid int value: 'x'"),
    ],
)
def test_a_wrong_option_is_reported_in_one_line(tmp_path: Path, word: str, message: str) -> None:
    ended = run(word, cwd=tmp_path)
    assert (ended.returncode, ended.stderr.split("\n\n")[0], ended.stdout) == (4, message, "")


def test_nothing_runs_if_only_what_failed_is_wanted_and_nothing_failed(tmp_path: Path) -> None:
    wanted = ("nfs3/NULL", "--lf")
    first = run(*wanted, cwd=tmp_path)
    assert first.returncode == 0  # there was no run before: all of it
    ended = run(*wanted, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (5, "")
    assert "no check failed when it last ran on this target" in ended.stderr
    assert run(*wanted, "--lfnf=all", cwd=tmp_path).returncode == 0
    assert run(*wanted, "--knob=time_step=1s", cwd=tmp_path).returncode != 5  # another server


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "two-workers"])
def test_a_failure_that_is_not_selected_does_not_run_what_is(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    """One of another check, and one of a check that this version does not have."""
    mutant = "--mutant=null3-returns-results"
    assert run("nfs3/NULL", mutant, cwd=tmp_path).returncode == Exit.FAIL
    (failed,) = tmp_path.glob(".cache/nfsproof/last-runs/*/v/cache/lastfailed")
    failed.write_text(
        json.dumps({**json.loads(failed.read_text()), "suites/nfs3/test_gone.py::test_gone": True})
    )
    ended = run("nfs3/GETATTR", "--lf", mutant, *workers, cwd=tmp_path)
    assert ended.returncode == Exit.NOTHING, ended.stdout
    assert ended.stderr.count("none of these checks failed when it last ran on this target") == 1
    ended = run("nfs3", "--lf", mutant, *workers, cwd=tmp_path)
    assert "1 failed" in ended.stdout
    assert "passed" not in ended.stdout.splitlines()[-1]


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "two-workers"])
def test_a_check_in_which_only_the_lint_saw_a_broken_rule_runs_again(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    mutant, mark = "--mutant=write3-reports-more-than-sent", "1 passed, 1 rule of the lint broken"
    words = (LINTED, "nfs3/NULL", mutant, *workers)
    assert run(*words, cwd=tmp_path).returncode == Exit.FAIL
    ended = run(*words, "--lf", cwd=tmp_path)
    assert (ended.returncode, mark in ended.stdout) == (Exit.FAIL, True), ended.stdout
    assert run(*words, "--lf", "--lint=report", cwd=tmp_path).returncode == Exit.OK
    assert run(*words, "--lf", cwd=tmp_path).returncode == Exit.NOTHING  # it was green when it last ran


def test_an_unknown_check_is_wrong_usage(tmp_path: Path) -> None:
    ended = run("nfs3/nill", cwd=tmp_path)
    assert ended.returncode == Exit.USAGE
    assert "no check has the id nfs3/nill" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_nothing_selected_is_said(tmp_path: Path) -> None:
    ended = run("nfs3/null", "-k", "no_such_name", cwd=tmp_path)
    assert ended.returncode == Exit.NOTHING


def test_a_target_that_does_not_answer_is_wrong_usage(tmp_path: Path) -> None:
    ended = run("nfs://127.0.0.1/export?nfsport=9&mountport=9", cwd=tmp_path)
    assert ended.returncode == Exit.USAGE
    assert "127.0.0.1" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_check_may_follow_the_mutants_option(tmp_path: Path) -> None:
    ended = run("--mutants", CHECK, cwd=tmp_path, command="selftest")
    assert ended.returncode == Exit.OK, ended.stdout + ended.stderr
    assert "1 check, 1 mutant named, 1 killed" in ended.stdout


def test_drawn_mutants_take_no_checks(tmp_path: Path) -> None:
    ended = run("--mutants=drawn", CHECK, cwd=tmp_path, command="selftest")
    assert ended.returncode == Exit.USAGE
    assert f"it takes no checks and no options, got {CHECK}" in ended.stderr


@pytest.mark.parametrize("words", [("-n", "3"), ("-n0",), ("--pdb",), ("-x", "-s"), ("--collect-only",)])
def test_who_chooses_workers_or_must_be_alone_gets_no_others(words: tuple[str, ...]) -> None:
    assert starter.workers(words) == []


@pytest.mark.parametrize(("processors", "number"), [(2, 3), (4, 6), (64, 8)])
def test_there_are_three_workers_for_two_processors(
    monkeypatch: pytest.MonkeyPatch, processors: int, number: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert starter.workers(("-x", "-q")) == ["-n", str(number), "--dist", "worksteal"]


def test_a_single_processor_needs_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert starter.workers(()) == []


def switched_off(*args: str) -> set[str]:
    return {word.removeprefix("no:") for word in starter._without_unused(args) if word != "-p"}


def test_plugins_of_pytest_that_no_check_uses_are_off_until_one_of_their_options_is_there() -> None:
    every = switched_off("--target", "embedded", "nfs3/WRITE", "--log-wire=-")
    assert {"logging", "junitxml", "unraisableexception", "setuponly"} <= every
    assert every - switched_off("--log-level=INFO") == {"logging"}
    assert every - switched_off("-o", "log_cli=true") == {"logging"}
    assert every - switched_off("--junitxml=a.xml") == {"junitxml"}
    assert every - switched_off("--setup-plan") == {"setuponly", "setupplan"}
    assert not switched_off("--help")


@pytest.mark.parametrize("option", ["--setup-plan", "--log-cli-level=INFO", "--durations=3"])
def test_options_of_such_plugins_work(option: str, tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "nfsproof", "run", "embedded", CHECK, "--report", str(tmp_path), option],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=AT_MOST,
        check=False,
    )
    assert ended.returncode in {0, 10}, ended.stderr  # 10: a set-up plan judges nothing
    assert "unrecognized" not in ended.stderr
