# SPDX-License-Identifier: MIT
"""The command line as a stranger meets it: help, errors in one line, exit statuses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import click
import pytest

from fixtures.plugin import options
from fixtures.plugin.suite_version import suite_version
from nfsproof.cli import commands, run_command_line
from nfsproof.exits import EXIT_CODES, Exit
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]


def nfsproof(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """The command line in its own process."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "nfsproof", *words],
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(cwd)},
        capture_output=True,
        text=True,
        timeout=AT_MOST,
        check=False,
    )


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["--version"]) == Exit.OK
    assert capsys.readouterr().out == f"nfsproof {suite_version()}\n"


def test_help_shows_every_command_and_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["--help"]) == Exit.OK
    text = " ".join(capsys.readouterr().out.split())
    assert all(f" {name} " in text for name in commands.commands)
    assert all(f"{code.value} {meaning}" in text for code, meaning in EXIT_CODES.items())


@pytest.mark.parametrize("command", sorted(commands.commands))
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line([command, "--help"]) == Exit.OK
    assert capsys.readouterr().out.startswith(f"Usage: nfsproof {command} ")


COMMANDS = [
    [name] for name, command in sorted(commands.commands.items()) if not isinstance(command, click.Group)
]
PARTS = [
    [name, part]
    for name, command in commands.commands.items()
    if isinstance(command, click.Group)
    for part in command.commands
]


@pytest.mark.parametrize("words", [*COMMANDS, *PARTS], ids=" ".join)
def test_every_command_tells_its_exit_statuses(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line([*words, "--help"]) == Exit.OK
    assert "Exit status: " in capsys.readouterr().out


def test_the_help_of_run_has_every_option_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    named: list[str] = []
    parser = mock.Mock()
    parser.getgroup.return_value.options = []
    parser.getgroup.return_value.addoption = lambda name, **_: named.append(name)
    options.add_options(parser)
    assert len(named) > 10
    run_command_line(["run", "--help"])
    text = capsys.readouterr().out
    # --strict stands for --strict-should; the others are for those who work on nfsproof.
    left_out = {name for name in named if f"{name} " not in text}
    assert left_out == {
        "--strict-should",
        "--ids",
        "--mutants",
        "--write-knob-trace",
        "--knob-trace",
        "--set",
        "--again",
    }


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["no-such-command"], "No such command"),
        (["--no-such-option"], "No such option"),
        (["run", "server:/export"], "nfs://server/export"),
        (["run", "nfs://a/b", "nfs://c/d"], "expected one target"),
        (["doctor"], "URL"),
    ],
    ids=["command", "option", "mount-syntax", "two-targets", "argument"],
)
def test_wrong_usage_ends_with_a_hint(
    words: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(words) == Exit.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert hint in err
    assert "Traceback" not in err


@pytest.mark.parametrize("words", [["run", "--help"], ["--version"], ["doctor", "--help"]], ids=" ".join)
def test_help_loads_neither_pytest_nor_a_room(words: list[str]) -> None:
    program = (
        f"import sys; from nfsproof.cli import run_command_line; run_command_line({words});"
        "heavy = {'pytest', '_pytest', 'rich', 'hypothesis', 'jinja2', 'nfsserver', 'nfsmutants', 'fixtures.checks'};"
        "heavy |= {'nfsclient', 'nfsjudge', 'nfstargets', 'reports', 'nfsproof.commands.serve'};"
        "sys.exit(' '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    ended = subprocess.run(
        [sys.executable, "-P", "-c", program],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=AT_MOST,
    )
    assert ended.returncode == 0, ended.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    program = f"{sys.executable} -P -m nfsproof --help | :"
    ended = subprocess.run(
        ["/bin/sh", "-c", program],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=AT_MOST,
    )
    assert ended.stderr == ""


@pytest.mark.parametrize(
    ("words", "status"),
    [("serve --list-mutants", Exit.OK), ("run --list-requirements", Exit.INTERRUPTED)],
    ids=["list", "run"],
)
def test_a_run_without_its_reader_is_not_green(words: str, status: Exit) -> None:
    """The output is longer than a pipe holds, and nobody reads it."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as output:
        ended = subprocess.run(
            [sys.executable, "-P", "-m", "nfsproof", *words.split()],
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT)},
            stdout=output,
            stderr=subprocess.PIPE,
            check=False,
            timeout=AT_MOST,
        )
    assert (ended.returncode, ended.stderr) == (status, b"")


def test_without_its_dependencies_it_names_the_launcher(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-S", "-P", "-m", "nfsproof"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=AT_MOST,
    )
    assert ended.returncode == Exit.USAGE
    assert (
        ended.stderr
        == "nfsproof: the package click is not installed; start nfsproof with bin/nfsproof, which installs it\n"
    )


@pytest.mark.parametrize(
    "work",
    [
        "from nfsproof.doctor import diagnose; diagnose('nfs://127.0.0.1:1/export')",
        "from nfsproof.events.known import what_is_known; what_is_known()",
    ],
    ids=["doctor", "event"],
)
def test_doctor_and_event_load_no_pytest(work: str) -> None:
    program = (
        f"import sys; from nfsproof.starter import put_home_first; put_home_first(); {work};"
        "sys.exit(' '.join(sorted({'pytest', '_pytest'} & set(sys.modules))) or 0)"
    )
    ended = subprocess.run(
        [sys.executable, "-P", "-c", program],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=AT_MOST,
    )
    assert ended.returncode == 0, ended.stderr
