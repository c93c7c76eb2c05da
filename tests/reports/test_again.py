# SPDX-License-Identifier: MIT
"""The command that runs a check again."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from fixtures.plugin.evidence import again
from fixtures.stage.options import Options
from nfsproof import starter
from nfsproof.cli import run_command_line
from reports.again import for_others, kept_options

URL = "nfs://filer/export"
FILE = """
[[target]]
target = "nfs://filer/export"
label = "lab"
[target.control]
crash = "ssh bmc.secret reset"
"""


def test_what_decides_which_server_a_check_meets_is_kept() -> None:
    words = ["nfs3/WRITE", "--knob", "a=1", "--control=crash=ssh x", "-n", "2", "--report=r", "--mutant"]
    assert kept_options(words) == ["--knob=a=1", "--control=crash=ssh x"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([URL], [URL, "ID"]),
        ([], ["embedded", "ID"]),
        (["nfs3/WRITE", "--mutant", "m"], ["embedded", "ID", "--mutant=m"]),
        (["recovery", "--seed", "5"], ["embedded", "ID", "--seed=5"]),
        ([URL, "--referral", "/moved"], [URL, "ID", "--referral=/moved"]),
        (["--thorough", "nfs3/READDIR"], ["embedded", "ID", "--thorough"]),
        ([URL, "--control", "crash=ssh a b"], [URL, "ID", "--control=crash=ssh a b"]),
        (["my.toml#lab", "nfs3/WRITE"], ["my.toml#lab", "ID"]),
        (["my.toml", "--control-timeout=9"], ["my.toml", "ID", "--control-timeout=9"]),
    ],
)
def test_the_command_names_the_target_as_the_user_did(
    words: list[str], expected: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.toml").write_text(FILE, encoding="utf-8")
    given: list[str] = []

    def run_suite(args: list[str]) -> int:
        given.extend(args)
        return 0

    monkeypatch.setattr(starter, "run_suite", run_suite)
    assert run_command_line(["run", *words]) == 0
    (command,) = (option.removeprefix("--again=") for option in given if option.startswith("--again="))
    options = Options.__new__(Options)
    object.__setattr__(options, "again", tuple(shlex.split(command)))
    assert shlex.split(again(options, "ID"))[2:] == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (f"nfsproof run {URL} a", "nfsproof run TARGET a"),
        (
            f"nfsproof run {URL} a '--control=crash=ssh bmc' --control-timeout=9",
            "nfsproof run TARGET a --control=crash=COMMAND --control-timeout=9",
        ),
        (
            "nfsproof run x a --control 'crash=ssh bmc' --control manual",
            "nfsproof run x a --control crash=COMMAND --control manual",
        ),
        ("nfsproof run x a '--restart=ssh bmc'", "nfsproof run x a --restart=COMMAND"),
        (f"nfsproof run {URL} a --referral=/acme/moved", "nfsproof run TARGET a --referral=PATH"),
        ("nfsproof run /home/me/my.toml#lab a", "nfsproof run 'my.toml#lab' a"),
        ("nfsproof run 'x --control", ""),
    ],
)
def test_others_see_no_commands_and_no_folders(command: str, expected: str) -> None:
    assert for_others(command, URL) == expected
